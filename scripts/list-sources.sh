#!/bin/sh
# Writes the list of the files that the package is built of, only if it has changed.
set -eu

list=$1
mkdir -p "$(dirname "$list")"
{
	printf '%s\n' pyproject.toml LICENSE NOTICE README.md
	find src tester -type f ! -path '*/__pycache__/*' ! -name '.*' | sort
} >"$list.new"
if cmp -s "$list.new" "$list"; then
	rm "$list.new"
else
	mv "$list.new" "$list"
fi
