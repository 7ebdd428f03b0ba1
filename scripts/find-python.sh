#!/bin/sh
# Prints the first Python that is new enough and can make virtual environments: the system's own
# before others.
set -eu

for python in /usr/bin/python3 python3 python3.14 python3.13 python3.12 python3.11; do
	if "$python" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' \
		>/dev/null 2>&1; then
		command -v "$python"
		exit 0
	fi
done
echo "No Python 3.11 or newer with venv and ensurepip." >&2
echo "Debian 12 has one: apt-get install python3 python3-venv" >&2
exit 1
