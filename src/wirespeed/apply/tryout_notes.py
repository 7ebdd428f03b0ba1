"""What a host that undoes a run by itself keeps of each step, and how it undoes by that. Pure.

    steps/NUMBER      the note of a change, made before it: a file that `of_step` reads
    before/STEP       what tells the state of a step before the run changed it
    left/BOOT/STEP    what tells how the run left it; BOOT is `kept` for what outlives a boot

STEP is a digest of the step: a run that is made again of the host's copy has other numbers. All of
it is shell, in the folder of the run, which the shell calls `$try`.
"""

import shlex
from collections.abc import Collection, Sequence
from hashlib import sha256
from typing import NamedTuple

from wirespeed.apply.control_boot import BOOT_ID
from wirespeed.apply.state_text import state_text_part, undo_part
from wirespeed.model.command import Command
from wirespeed.model.step import Step

LEFT = "left"
"""Before the digests of the steps that were left alone."""
NOTE_FUNCTIONS = """\
of_step() {
	# Reads the note of a change; fails for one of an older release.
	grep -q '^step=[0-9a-f]*$' "$try/steps/$1" && . "$try/steps/$1"
}
keep() {
	mkdir -p "$try/left/$boot" || return
	if text=$(state_text); then
		printf '%s\\n' "$text" | put "$try/left/$boot/$step"
	else
		rm -f "$try/left/$boot/$step"
	fi
}
is_before() {
	[ -s "$try/before/$step" ] && text=$(state_text) &&
		[ "$text" = "$(cat "$try/before/$step")" ]
}
is_theirs() {
	# Neither as the run left it nor as it was before; what cannot be read is not known to be.
	[ -s "$try/left/$boot/$step" ] && text=$(state_text) &&
		[ "$text" != "$(cat "$try/left/$boot/$step")" ] &&
		[ "$text" != "$(cat "$try/before/$step")" ]
}
"""
UNDO_NOTES = """\
# What others changed is seen before anything is undone: that alters what hangs together.
theirs=' '
for file in $(ls steps); do
	of_step "$file" && is_theirs && theirs="$theirs$step "
done
more=$theirs
while [ -n "$more" ]; do
	more=
	for file in $(ls steps); do
		of_step "$file" || continue
		for other in $hangs; do
			case $theirs in
			*" $step "*) case $theirs in *" $other "*) ;; *) more=$other ;; esac ;;
			*" $other "*) more=$step ;;
			esac
			[ -z "$more" ] || { theirs="$theirs$more "; break 2; }
		done
	done
done
failed=
for file in $(ls steps | sort -r); do
	if ! of_step "$file"; then
		# Of an older release.
		sh "steps/$file" || failed="$failed $file"
		continue
	fi
	case $theirs in *" $step "*) echo "$what is left alone" && continue ;; esac
	is_before || undo || failed="$failed $file"
done
[ "$theirs" = ' ' ] || failed="$failed left$theirs"
"""
"""Undoes every note, last first; `$failed` has what failed, then what was left alone."""


class Note(NamedTuple):
    """What a host keeps of a change before it is made."""

    number: int
    """Of the note in the run: notes are undone last first."""
    step: Step
    """One that is tried again, or that several stages have, has several notes."""
    undo: tuple[Command, ...]
    near: Sequence[str] = ()
    """Steps of which it is not known any more how they were left, by their digests."""
    hangs: Sequence[str] = ()
    """Steps that are left alone where this one is, and it where they are."""


def digest_of(step: Step) -> str:
    """Give the name of a step on its host."""
    return sha256(step.model_dump_json().encode()).hexdigest()[:16]


def note_text(note: Note) -> str:
    """Give what is kept of a change: a file that `of_step` reads."""
    return f"""\
step={digest_of(note.step)}
what={shlex.quote(note.step.subject)}
hangs='{" ".join(note.hangs)}'
boot={"kept" if note.step.outlives_boot else f"$(cat {BOOT_ID})"}
{state_text_part(note.step)}{undo_part(note.undo)}"""


def note_function(note: Note) -> str:
    """Define `note`, which keeps the note on its input, and the state as it is now."""
    number = f"{note.number:06d}"
    forgotten = " ".join(f'"$try"/left/*/{one}' for one in (*note.near, digest_of(note.step)))
    return f"""\
note() {{
	umask 077
	[ ! -e "$try/taken" ] || {{ echo 'the host undoes the run itself' >&2; return 1; }}
	put "$try/steps/{number}" && mkdir -p "$try/before" && cd "$try" || return
	set +f
	rm -f {forgotten}
	of_step {number}
	if [ ! -e "before/$step" ]; then
		text=$(state_text) || text=
		printf '%s\\n' "$text" | put "$try/before/$step" || return
	fi
	push note
}}
"""


def left_function(note: Note) -> str:
    """Define `left`, which keeps how the change left its step; empty: that is known later."""
    if note.step.settle_s or note.step.again_s:
        return ""
    number = f"{note.number:06d}"
    return f"""\
left() {{
	umask 077
	[ -e "$try/steps/{number}" ] && [ ! -e "$try/taken" ] && cd "$try" || return 0
	of_step {number}
	keep
}}
"""


def left_all_function(known: Collection[str], unknown: Collection[str]) -> str:
    """Define `left`, which keeps how steps stand when all is done, by their digests."""
    return f"""\
left() {{
	umask 077
	[ -d "$try/steps" ] && [ ! -e "$try/taken" ] && cd "$try" || return 0
	for file in $(ls steps); do
		of_step "$file" || continue
		case ' {" ".join(known)} ' in *" $step "*) keep ;; esac
		case ' {" ".join(unknown)} ' in
		*" $step "*) rm -f left/kept/"$step" left/"$boot"/"$step" ;;
		esac
	done
	push left
}}
"""
