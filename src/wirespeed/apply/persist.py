"""What brings an applied run back when its host boots: a script and a unit of systemd. Pure.

The kernel forgets VFs, MTUs, bonds, namespaces and settings of cards at every boot; files, services
and firmware stay. So the script has the commands of the steps of the first kind, as they were run,
in the order of the plan: one home for all of them, which is looked at, and removed, as a whole.

    /etc/wirespeed-NAME.sh                       the commands
    /etc/systemd/system/wirespeed-NAME.service   runs it, once a boot
    /run/wirespeed-NAME.done                     numbers of the steps that were done since the boot
"""

import hashlib
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wirespeed.apply.control_script import CHANGE_TIMEOUT_S, heredoc
from wirespeed.apply.record import Record
from wirespeed.catalog import read_step
from wirespeed.model.command import Command, Shell
from wirespeed.model.error import InputError
from wirespeed.model.journal import StepProgress
from wirespeed.model.step import Scope, Step
from wirespeed.steps.file_content import FileContent
from wirespeed.steps.service import Service

FORGOTTEN = (Scope.BOOT, Scope.GUEST)
START_S = 300
"""The whole script; then systemd ends it, and whatever waited for it goes on."""
PORT_S = 60
"""How long a port's driver may take."""
SETTLE_S = 30
WHY = "a boot forgets what `wirespeed apply` did: this brings it back"


@dataclass(frozen=True, slots=True)
class BootStep:
    """One step of the run that has to be done again."""

    number: int
    """In the plan, from 1, as `wirespeed plan` shows it."""
    what: str
    commands: tuple[Command, ...]


def persist_name(stem: str) -> str:
    """Make the name of the files from that of the spec: letters, digits, `-` and `_` stay.

    Where others are in it, a digest tells it from those that come to the same.
    """
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", stem).strip("-")[:40] or "run"
    return name if name == stem else f"{name}-{hashlib.sha256(stem.encode()).hexdigest()[:6]}"


def boot_steps(record: Record, host: str) -> Iterator[BootStep]:
    """Give the steps that a boot of the host undoes, with the commands that did them.

    What was so already when it was planned is not among them: the host does it itself.
    Raises InputError `persist.no_shell` for a host that has no POSIX shell.
    """
    for number, planned in enumerate(record.plan.steps):
        is_done = record.came[number] is StepProgress.DONE and record.intent(number) is not None
        if planned.host != host or not is_done or planned.scope not in FORGOTTEN:
            continue
        before = record.before(number)
        if before is None:
            raise AssertionError("what has an intent has a state before it")
        commands = read_step(planned.step).change(before, record.goal(number))
        if any(command.shell is not Shell.POSIX for command in commands):
            raise InputError(
                "persist.no_shell",
                where=f"{planned.subject} on {host}",
                found="it is not a host with systemd",
                so="nothing is made to last",
            )
        if commands:
            yield BootStep(number + 1, planned.name, commands)


def persist_steps(name: str, ports: Sequence[str], steps: Sequence[BootStep]) -> list[Step]:
    """Give the steps that make it last on one host; `ports` are PCI addresses, or netdevs."""
    if not steps:
        return []
    numbers = "".join(f"{step.number}\n" for step in steps)
    return [
        FileContent(path=_script(name), content=boot_script(name, ports, steps), reason=WHY),
        FileContent(path=_done(name), content=numbers, reason="these are done in this boot"),
        FileContent(
            path=f"/etc/systemd/system/{unit_name(name)}", content=boot_unit(name), reason=WHY
        ),
        Service(unit=unit_name(name), is_running=True, reason=WHY),
    ]


def unit_name(name: str) -> str:
    """Give the name of the unit."""
    return f"wirespeed-{name}.service"


def boot_unit(name: str) -> str:
    """Give the unit: after the ports are there, before guests are started.

    Nothing that lets anybody in waits for it: sshd.service is not after network-online.target.
    """
    return f"""\
# Made by `wirespeed persist`, and taken away by `wirespeed persist --remove`.
# Not to run at the next boot: systemd.mask={unit_name(name)} on the kernel's line.
[Unit]
Description=Network ports and VFs as wirespeed set them up ({name})
After=network.target systemd-modules-load.service systemd-sysctl.service
Before=network-online.target libvirtd.service virtqemud.service libvirt-guests.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh {_script(name)}
TimeoutStartSec={START_S}

[Install]
WantedBy=multi-user.target
"""


def boot_script(name: str, ports: Sequence[str], steps: Sequence[BootStep]) -> str:
    """Give the script: every step that was not done since the boot, up to the first that fails."""
    awaited = "".join(f"await {shlex.quote(port)}\n" for port in ports)
    return f"""\
#!/bin/sh
# Made by `wirespeed persist`, and taken away by `wirespeed persist --remove`.
# Does what `wirespeed apply` did, after a boot; run by {unit_name(name)}.
LC_ALL=C
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export LC_ALL PATH
finished={_done(name)}
: >>"$finished"

# await PCI_ADDRESS|NETDEV: until the port's driver has made its netdev.
await() {{
	tries=0
	until [ -d "/sys/bus/pci/devices/$1/net" ] || [ -d "/sys/class/net/$1" ]; do
		if [ $tries -ge {PORT_S} ]; then
			echo "no netdev of $1 after {PORT_S} s: nothing was done" >&2
			exit 1
		fi
		tries=$((tries + 1))
		sleep 1
	done
}}

# is_due NUMBER WHAT: whether this step is still to be done.
is_due() {{
	number=$1 what=$2
	! grep -qx "$number" "$finished"
}}

# run COMMAND...: the first that fails is the last.
run() {{
	timeout {CHANGE_TIMEOUT_S} "$@" >/dev/null || {{
		echo "step $number, $what: return code $?: $*" >&2
		exit 1
	}}
}}

# is_done: what it made has its name now.
is_done() {{
	udevadm settle --timeout={SETTLE_S}
	echo "$number" >>"$finished"
}}

{awaited}udevadm settle --timeout={SETTLE_S}
{"".join(_step(step) for step in steps)}"""


def _step(step: BootStep) -> str:
    runs = "".join(
        f"\trun {shlex.join(command.argv)}"
        + ("\n" if command.stdin is None else f" {heredoc(command.stdin)}")
        for command in step.commands
    )
    return f"\nif is_due {step.number} {shlex.quote(step.what)}; then\n{runs}\tis_done\nfi\n"


def _script(name: str) -> str:
    return f"/etc/wirespeed-{name}.sh"


def _done(name: str) -> str:
    return f"/run/wirespeed-{name}.done"
