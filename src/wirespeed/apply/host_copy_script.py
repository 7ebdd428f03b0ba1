"""The scripts that keep a host's copy of a journal, and read it: parts for `sections_script`. Pure.

    /var/lib/wirespeed/runs/RUN-HOST/     0700, HOST being a digest of the host's name in the run
        journal.jsonl                the copy; it is there once all else is
        about.json                   whose run it is
        number                       which of the runs there began first
        undone                       all of it is taken back: it may be removed

Root's alone, or who the script runs as; a link, a file with two names, or one that others may write
to is not read, nor written to.
"""

import shlex

from wirespeed.apply.control_script import heredoc, not_begun
from wirespeed.apply.host_copy import MAX_COPY_BYTES, Batch
from wirespeed.host.sections import sections_script
from wirespeed.model.capture import Capture

FOLDER = "/var/lib/wirespeed"
NAME_LIKE = f"{'0' * 32}-{'0' * 8}"
MAX_COPIES = 64
MAX_ABOUT_BYTES = 32 << 10
MAX_TOLD_BYTES = 40 << 20
"""Of all copies on a host together; the rest is named, and not read."""
NOT_THERE = 3
NOT_READ = 5

_ALONE = f"""\
runs=$base/runs
alone() {{
	# Each path is ours alone, of the kind before it: d for a folder, f for a file. One `stat` for
	# all: a program costs a slow host more than the rest together. `size` is that of the last.
	left=$#
	while [ $left -gt 0 ]; do
		if [ -L "$2" ]; then echo "$2 is a symbolic link" >&2; return 1; fi
		[ "-$1" = -d ] || [ -f "$2" ] || {{ echo "$2 is not a regular file" >&2; return 1; }}
		[ "-$1" = -f ] || [ -d "$2" ] || {{ echo "$2 is not a folder" >&2; return 1; }}
		[ -O "$2" ] || {{
			echo "$2 is owned by uid $(stat -c %u "$2"), not $(id -u)" >&2
			return 1
		}}
		path=$2
		shift 2
		set -- "$@" "$path"
		left=$((left - 2))
	done
	for seen in $(stat -c %a:%h:%s "$@"); do
		mode=${{seen%%:*}} size=${{seen##*:}} names=${{seen%:*}}
		case $mode in
		*[2367] | *[2367]?) echo "$1 has mode $mode: others may write to it" >&2; return 1 ;;
		esac
		[ -d "$1" ] || [ "${{names#*:}}" = 1 ] || {{
			echo "$1 has ${{names#*:}} names (hard links)" >&2
			return 1
		}}
		shift
	done
	[ $# -eq 0 ] # Else `stat` said less than it was asked.
}}
told() {{
	# The text of the copy in the folder $1; {NOT_THERE}: there is none.
	for one in "$base" "$runs" "$1" "$1/journal.jsonl"; do
		[ -e "$one" ] || [ -L "$one" ] || return {NOT_THERE}
	done
	alone d "$base" d "$runs" d "$1" f "$1/journal.jsonl" || return 1
	[ "$size" -le {MAX_COPY_BYTES} ] || {{
		echo "$1/journal.jsonl has $size bytes, at most {MAX_COPY_BYTES}" >&2
		return 1
	}}
	cat "$1/journal.jsonl"
}}
"""


def told_part(name: str) -> str:
    """Tell the copy in the folder of that name: the section `copy`."""
    return f'base={FOLDER}\n{_ALONE}show copy - told "$runs/{name}"\n'


def told_of(capture: Capture) -> tuple[str | None, str]:
    """Give the copy that `told_part` printed, or why it was not read."""
    section = capture.section("copy")
    if section is None or section.returncode is None:
        return None, "it was not read to its end"
    if section.returncode == NOT_THERE:
        return None, ""
    if section.returncode:
        return None, section.errors.strip()[:300] or f"return code {section.returncode}"
    return section.output, ""


def keep_part(folder: str, batch: Batch) -> str:
    """Add a batch to the copy, durably: the section `copied` says how it went.

    If it must be kept, later commands of the loop are not started without it; if not, the section
    is `told`.
    """
    name = "copied" if batch.is_must else "told"
    stop = '[ "$code" -eq 0 ] || break\n' if batch.is_must else ""
    if batch.too_long:
        return f"""\
copied() {{
	echo {shlex.quote(batch.too_long)} >&2
	return 1
}}
show {name} - copied
{stop}"""
    unmarked = '[ ! -e "$copy/undone" ]'
    mark = ': >"$copy/undone"' if batch.is_undone else f'{unmarked} || rm "$copy/undone"'
    return f"""\
base={FOLDER}
{_ALONE}copy=$runs/{folder}
{_BEGIN if batch.about else _GO_ON}copied() {{
	umask 077
	add {batch.at} {shlex.quote(batch.about)} || return
	{mark}
}}
durable() {{
	sync "$@" 2>/dev/null || sync
}}
show {name} - copied {_here(batch.text)}{stop}"""


def not_copied(capture: Capture) -> str:
    """Say why a change was not begun: its copy could not be kept; empty: it was, or need not be."""
    return not_begun(capture, "copied", "the host's copy of the journal is not kept")


def is_copied(capture: Capture) -> bool:
    """Tell whether the batch that was sent is durable there."""
    section = capture.section("copied") or capture.section("told")
    return section is not None and section.returncode == 0


def list_script(others: str, lock: str) -> str:
    """Tell all copies of a host, who has it (`owner`), and what is armed there (`others`).

    The sections `copy`, `about`, `number` and `undone` have the copy's folder as their subject.
    """
    return sections_script(
        "# Reads which runs of wirespeed are applied here; changes nothing.\n",
        f"""
base={FOLDER}
{_ALONE}{_LIST}
show runs - listed
for folder in "$runs"/*; do
	run=${{folder##*/}}
	[ ${{#run}} -eq {len(NAME_LIKE)} ] || continue
	case $run in *[!0-9a-f-]*) continue ;; esac
	[ $count -lt {MAX_COPIES} ] || break
	count=$((count + 1))
	show about "$run" small "$folder/about.json" {MAX_ABOUT_BYTES}
	show number "$run" small "$folder/number" 20
	[ -e "$folder/undone" ] && show undone "$run" true && continue
	[ ! -f "$folder/journal.jsonl" ] || total=$((total + $(wc -c <"$folder/journal.jsonl")))
	show copy "$run" bounded "$folder"
done
run owner - cat {lock}/owner
{others}""",
    )


def _here(text: str) -> str:
    """Give lines as the input of a function; they end with a line end already."""
    return heredoc(text.removesuffix("\n"))


_BEGIN = f"""\
add() {{
	for one in "$base" "$runs" "$copy"; do
		[ -d "$one" ] || mkdir "$one" || return
		alone d "$one" || return
	done
	rm -f "$copy/draft" && cat >"$copy/draft" && room || return
	last=0
	for one in "$runs"/*/number; do
		[ -f "$one" ] || continue
		n=
		{{ read -r n <"$one"; }} 2>/dev/null
		case $n in '' | 0* | *[!0-9]* | ??????????*) continue ;; esac
		[ "$n" -le $last ] || last=$n
	done
	printf '%s\\n' "$2" >"$copy/about.json" && echo $((last + 1)) >"$copy/number" || return
	durable "$copy/draft" "$copy/about.json" "$copy/number" || return
	mv "$copy/draft" "$copy/journal.jsonl" || return
	durable "$copy" "$runs" "$base" "${{base%/*}}"
}}
room() {{
	set -- "$runs"/*
	[ $# -gt {MAX_COPIES} ] || return 0
	for one in "$runs"/*; do
		[ ! -e "$one/undone" ] || [ "$one" = "$copy" ] || rm -r "$one"
	done
	set -- "$runs"/*
	[ $# -le {MAX_COPIES} ] || {{ echo "$(($# - 1)) runs are here: undo some" >&2; return 1; }}
}}
"""
_GO_ON = """\
add() {
	alone d "$base" d "$runs" d "$copy" f "$copy/journal.jsonl" || return
	if [ "$size" -eq "$1" ]; then
		cat >>"$copy/journal.jsonl" && durable "$copy/journal.jsonl"
	elif [ "$size" -gt "$1" ]; then
		# What was sent once before, and maybe cut short.
		rm -f "$copy/draft" || return
		{ head -c "$1" "$copy/journal.jsonl" && cat; } >"$copy/draft" || return
		durable "$copy/draft" && mv "$copy/draft" "$copy/journal.jsonl" && durable "$copy"
	else
		echo "$copy/journal.jsonl has $size bytes, not $1 as before" >&2
		return 1
	fi
}
"""
_LIST = f"""\
count=0
total=0
listed() {{
	[ -e "$runs" ] || [ -L "$runs" ] || return 0
	alone d "$base" d "$runs"
}}
small() {{
	[ -e "$1" ] || return {NOT_THERE}
	alone f "$1" && head -c "$2" "$1"
}}
bounded() {{
	[ $total -le {MAX_TOLD_BYTES} ] || return {NOT_READ}
	told "$1"
}}
"""
