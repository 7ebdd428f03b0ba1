#!/bin/sh
# Counts what the tree is to have less of, and fails where there is more than its bound.
# A bound is only ever lowered, in the commit that removes some.
set -u

sources=src/wirespeed
failed=
# at_most BOUND NAME LINES
at_most() {
	count=$(printf '%s' "$3" | grep -c .)
	printf '%6d of at most %-6d %s\n' "$count" "$1" "$2"
	[ "$count" -le "$1" ] || failed="$failed $2;"
}
python_lines() {
	grep -rnE --include='*.py' "$1" "$sources"
}

kinds='is_(esxi|only_\w+|about_linux|of_windows)\(|has_windows_side\(|by_vsphere\('
kinds="$kinds|isinstance\([^)]*(Esxi|Windows|Switch|Vsphere)Host|Shell\.(POWERSHELL|SWITCH|VSPHERE)"
at_most 0 'branches on the kind of host outside platforms' \
	"$(python_lines "$kinds|\bSIDE\b" | grep -vE '/platforms/|model/command|host/reach_dest')"
members='LegacyVlan|OvsDpdk|OvsTc|Wsl2|Esxi|HostsOnly'
at_most 0 'branches on an approach outside its file' \
	"$(python_lines "\.approach (==|!=|is|in) |isinstance\([^)]*\b($members)\)" |
		grep -vE '/approaches/|/platforms/|model/spec')"
at_most 5 'branches on approach dpdk outside its file' \
	"$(python_lines 'isinstance\([^)]*\bDpdk\)' | grep -vE '/approaches/|model/spec')"
at_most 2 'files that import by name: catalog, cli' \
	"$(python_lines 'import_module|pkgutil' | cut -d: -f1 | sort -u)"
at_most 0 'findings that name their rule' "$(python_lines 'rule=RULE.slug')"
at_most 0 'lists of steps in another package' "$(python_lines '^ORDER\b' | grep apply/)"
at_most 50 'files of less than 40 lines' "$(find "$sources" -name '*.py' ! -name __init__.py \
	-exec awk 'END { if (NR < 40) print FILENAME }' {} \;)"

[ -z "$failed" ] || {
	echo "more than before:$failed" >&2
	exit 1
}
