"""A host that takes back all that a run did there, unless the run is confirmed in time. Pure.

    start    a folder on the host's disk, and a timer: an enabled unit of systemd, else a process
    note     before each step: its undo and its state before, durable; the timer counts afresh
    left     after each step, and when all are done: how the run left it
    push     after each step, and when somebody asks: the timer counts afresh
    claim    whoever makes `taken` first: we, to confirm or to undo ourselves, or the timer

The timer's undo waits for a change that is under way, and goes away when that one had it count
afresh. What it does is every step's undo, last first; as `undo` does, it leaves alone what others
changed, with what hangs together with that. How a step was left is known as in a `Record`: a later
change of the same thing ends that, and so does a reboot, for what a boot forgets. Where systemd
runs, the timer is enabled and so starts again at boot; elsewhere a reboot ends it. The power may
fail at any moment: what counts is on the disk before anything is done that relies on it.
"""

import shlex
from collections.abc import Collection
from enum import StrEnum

from wirespeed.apply.control_script import await_change, heredoc, not_begun
from wirespeed.apply.guard_timer import PATH, RESULT
from wirespeed.apply.tryout_notes import (
    LEFT,
    NOTE_FUNCTIONS,
    UNDO_NOTES,
    Note,
    left_all_function,
    left_function,
    note_function,
    note_text,
)
from wirespeed.host.sections import sections_script
from wirespeed.model.capture import Capture

FOLDER = "/var/lib/wirespeed/try"
UNITS = "/etc/systemd/system"
UNIT = "wirespeed-try-"
SYSTEMD = "/run/systemd/system"
"""Is there where systemd runs: sd_booted(3)."""
NO_SYSTEMD = "no-systemd"


class Tryout(StrEnum):
    """State of the timer on a host."""

    WAITING = "waiting"
    CONFIRMED = "confirmed"
    UNDONE = "undone"
    """The host has taken all back by itself; commands of that may have failed."""
    UNDOING = "undoing"
    GONE = "gone"
    """Nothing of it is there: it was confirmed, or never started."""
    UNKNOWN = "unknown"


def start_script(run: str, owner: str, seconds: int) -> str:
    """Start it, or have one that is there go on; the section `armed` says whether it runs."""
    return sections_script(
        "# Starts a timer that undoes what comes next, unless it is confirmed.\n",
        f"""
{_functions(run)}
arm() {{
	umask 077
	[ ! -e "$try/taken" ] || {{ echo 'the host has undone it' >&2; return 1; }}
	mkdir -p "$try/steps" && put "$try/undo" && durable {FOLDER} || return
	echo {seconds} | put "$try/seconds" || return
	printf '%s\\n' {shlex.quote(owner)} | put "$try/about" || return
	if [ -d {SYSTEMD} ]; then
		printf '%s' {shlex.quote(_service(run))} | put "$service" || return
		printf '%s' {shlex.quote(_timer(seconds))} | put "$timer" || return
		systemctl daemon-reload || return
		systemctl --quiet enable "$unit.timer" || return
		sync # The link that enables it, and the folders above: of these no name is known here.
	fi
	push start || return
	[ -d {SYSTEMD} ] || echo {NO_SYSTEMD}
}}
show armed - arm {heredoc(undo_script(run))}""",
    )


def note_part(run: str, note: Note) -> str:
    """Keep the undo of what a change does, and the state before it; push the timer.

    A part of the script of that change, within its loop: it ends that when it fails. The section
    `noted` says how it went.
    """
    text = heredoc(note_text(note))
    return f"""\
{_functions(run)}{note_function(note)}\
show noted - note {text}[ "$code" -eq 0 ] || break
"""


def left_part(run: str, note: Note) -> str:
    """Keep how a change left its step: a part of its script, after the commands."""
    function = left_function(note)
    return f"{_functions(run)}{function}show left - left\n" if function else ""


def left_script(run: str, known: Collection[str], unknown: Collection[str]) -> str:
    """Keep how the steps of these digests stand when all is done; of others it is not known."""
    return sections_script(
        "# Keeps how the run left what it changed.\n",
        f"\n{_functions(run)}{left_all_function(known, unknown)}show left - left\n",
    )


def push_part(run: str) -> str:
    """Restart the timer: a part of a script, at its end."""
    return f'{_functions(run)}\n[ ! -d "$try" ] || show pushed - push done\n'


def ask_script(run: str) -> str:
    """Ask for the timer's state, and restart it if it runs: the section `tryout`."""
    return _reporting(
        run, '\t[ -e "$try/taken" ] || { push ask && echo waiting; return; }\n\ttold\n'
    )


def claim_script(run: str) -> str:
    """End the timer for good before it takes anything back, or learn that it did."""
    return _reporting(
        run,
        f"""\
	claim us
	if [ -e "$try/taken/us" ]; then
		end_timer
		echo {Tryout.CONFIRMED}
		return
	fi
	told
""",
        '[ ! -e "$try/taken/us" ] || show removed - remove\n',
    )


def forget_script(run: str) -> str:
    """Remove what one that has taken all back left: the journal knows it now."""
    return sections_script(
        "# Removes the trace of an undo.\n",
        f'\n{_functions(run)}\n[ ! -e "$try/result" ] || show removed - remove\n',
    )


def others_tried(run: str) -> str:
    """Name those of other runs that wait: lines of the section `others`."""
    return f"""\
	for folder in {FOLDER}/*; do
		[ -e "$folder/undo" ] || continue
		[ -e "$folder/taken/us" ] || [ -e "$folder/result" ] && continue
		[ "$folder" != {FOLDER}/{run} ] || continue
		echo "wirespeed-undo-${{folder##*/}}-try"
	done
"""


def gone_part() -> str:
    """Name the runs that the host has undone by itself: the section `gone`. A part of a script."""
    return f"""
gone() {{
	for folder in {FOLDER}/*; do
		[ ! -e "$folder/result" ] || echo "${{folder##*/}} $(cat "$folder/result")"
	done
}}
show gone - gone
"""


def gone_runs(capture: Capture) -> dict[str, frozenset[str]]:
    """Give these, each with the digests of the steps that the host left alone."""
    section = capture.section("gone")
    text = section.output if section and section.returncode is not None else ""
    rows = [line.split() for line in text.splitlines()[:100] if line.strip()]
    return {row[0]: frozenset(row[row.index(LEFT) + 1 :] if LEFT in row else ()) for row in rows}


def tryout_of(capture: Capture) -> tuple[Tryout, str]:
    """Give the timer's state, and the numbers of the steps whose undo failed."""
    section = capture.section("tryout")
    words = section.output.split() if section and section.returncode is not None else []
    if words and words[0] in set(Tryout):
        undone = words[: words.index(LEFT)] if LEFT in words else words
        failed = [word for word in undone[1:] if word.isdecimal() and len(word) < 8]
        return Tryout(words[0]), " ".join(failed)
    return Tryout.UNKNOWN, ""


def left_alone(capture: Capture) -> set[str]:
    """Give the digests of the steps that the host left alone, as others changed them."""
    section = capture.section("tryout")
    words = section.output.split() if section and section.returncode is not None else []
    after = words[words.index(LEFT) + 1 :] if LEFT in words else []
    return set(after)


def not_removed(capture: Capture) -> str:
    """Say why something of it is still on the host; empty: nothing is, as far as is known."""
    section = capture.section("removed")
    if section is None or section.returncode == 0:
        return ""
    return " ".join(section.errors.split())[:300] or "it is not known what was removed"


def not_noted(capture: Capture) -> str:
    """Say why a change was not begun: its undo could not be kept; empty: it was, or need not be."""
    return not_begun(capture, "noted", "its undo is not kept on the host")


def undo_script(run: str) -> str:
    """Give the script that the timer runs. After a reboot within it, it starts again."""
    return f"""\
#!/bin/sh
# Undoes what a run of wirespeed did on this host: it was not confirmed in time.
LC_ALL=C
PATH={PATH}
export LC_ALL PATH
{_functions(run)}
cd "$try" || exit 0
pushed=$(cat pushed 2>/dev/null)
{await_change()}
[ "$(cat pushed 2>/dev/null)" = "$pushed" ] || exit 0
claim host
# What a failure of the power brought back of one that is over.
[ ! -e taken/us ] || {{ remove; exit 0; }}
[ ! -e result ] || {{ remove_units; exit 0; }}
[ -e taken/host ] || exit 0
exec >log 2>&1
{await_change()}
{UNDO_NOTES}echo "undone$failed" >result.new
durable result.new
mv result.new result
durable .
end_timer
remove_units
"""


def _functions(run: str) -> str:
    return f"""\
try={FOLDER}/{run}
unit={UNIT}{run}
service={UNITS}/$unit.service
timer={UNITS}/$unit.timer
durable() {{
	sync "$@" 2>/dev/null || sync
}}
put() {{
	# Whole or not at all, also where the power fails. The draft is in the same folder: a file
	# system without a journal may else keep both names of a file that was moved.
	cat >"${{1%/*}}/.${{1##*/}}" && durable "${{1%/*}}/.${{1##*/}}" &&
		mv "${{1%/*}}/.${{1##*/}}" "$1" && durable "${{1%/*}}"
}}
{NOTE_FUNCTIONS}claim() {{
	# A folder takes a name that is free, or it does not: of two, one gets it.
	mkdir "$try/claim.$1"
	: >"$try/claim.$1/$1"
	durable "$try/claim.$1/$1" "$try/claim.$1"
	mv -T "$try/claim.$1" "$try/taken"
	durable "$try"
}} 2>/dev/null
end_timer() {{
	if [ -s "$try/sleeper" ]; then
		kill -TERM "-$(cat "$try/sleeper")"
		rm -f "$try/sleeper"
	fi
	[ ! -e "$timer" ] || systemctl stop "$unit.timer"
}} 2>/dev/null
remove_units() {{
	[ -e "$timer" ] || return 0
	systemctl --quiet disable "$unit.timer"
	rm -f "$service" "$timer" {UNITS}/."$unit".*
	durable {UNITS}
	systemctl daemon-reload
}} 2>/dev/null
remove() {{
	remove_units
	rm -rf "$try" && durable {FOLDER}
}}
push() {{
	[ ! -e "$try/taken" ] || return 0
	echo "$(cat /proc/sys/kernel/random/uuid) $1" >"$try/pushed"
	if [ -e "$timer" ]; then
		systemctl restart "$unit.timer"
		return
	fi
	end_timer
	setsid sh -c 'echo $$ >"$1/sleeper"; sleep "$(cat "$1/seconds")"
		rm -f "$1/sleeper"; setsid sh "$1/undo" &' \\
		sh "$try" </dev/null >/dev/null 2>&1 &
	tries=0
	until [ -s "$try/sleeper" ]; do
		[ $tries -lt 50 ] || return
		tries=$((tries + 1))
		sleep 0.1
	done
}}
"""


def _reporting(run: str, script: str, then: str = "") -> str:
    return sections_script(
        "# Asks for a timer, or ends it.\n",
        f"""
folder={FOLDER}/{run}
{_functions(run)}{RESULT}
told() {{
	if [ -d "$try" ]; then result; else echo {Tryout.GONE}; fi
}}
tryout() {{
	[ -d "$try" ] || {{ echo {Tryout.GONE}; return; }}
{script}}}
show tryout - tryout
{then}""",
    )


def _service(run: str) -> str:
    return f"""\
# Made by `wirespeed apply --try`; `wirespeed confirm` or `undo` removes it.
[Unit]
Description=Undoes a run of wirespeed that was not confirmed
ConditionPathExists={FOLDER}/{run}/undo

[Service]
Type=oneshot
ExecStart=/bin/sh {FOLDER}/{run}/undo
"""


def _timer(seconds: int) -> str:
    """Give the timer; it counts from when it is started: at boot, or when it is pushed."""
    return f"""\
# Made by `wirespeed apply --try`; `wirespeed confirm` or `undo` removes it.
[Unit]
Description=Undoes a run of wirespeed unless it is confirmed within {seconds} s
# Each step restarts it; the default takes five of these within 10 s: systemd.unit(5).
StartLimitIntervalSec=0

[Timer]
OnActiveSec={seconds}
AccuracySec=100ms

[Install]
WantedBy=timers.target
"""
