"""What brings an applied run back when its host boots: a script and a unit of systemd. Pure.

The kernel forgets VFs, MTUs, bonds, namespaces and settings of cards at every boot; files, services
and firmware stay. So the script has the commands of the steps of the first kind, as they were run,
in the order of the plan: one home for all of them, which is looked at, and removed, as a whole.

    /etc/wirespeed-NAME.sh                       the commands
    /etc/systemd/system/wirespeed-NAME.service   runs it, once a boot
    /run/wirespeed-NAME.done                     numbers of the steps that were done since the boot

Open vSwitch with DPDK takes the card as it finds it at its own start: what comes before that in the
plan is in a script and a unit of their own, `NAME.card`, which the switch waits for. Guests that
libvirt starts are in a third one, `NAME.guests`: libvirt waits for the others, and is asked by it.
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
from wirespeed.model.plan import Plan, PlannedStep
from wirespeed.model.step import Scope, Step
from wirespeed.steps.file_content import FileContent
from wirespeed.steps.guest_libvirt import GuestLibvirt
from wirespeed.steps.ovs_config import DPDK_INIT, OvsConfig
from wirespeed.steps.service import Service

FORGOTTEN = (Scope.BOOT, Scope.GUEST)
START_S = 300
"""The whole script; then systemd ends it, and whatever waited for it goes on."""
PORT_S = 60
"""How long a port's driver may take."""
SETTLE_S = 30
CARD = ".card"
"""Of the name of the part that comes before the switch: no name of a spec has a dot."""
GUESTS = ".guests"
"""Of the name of the part that comes after libvirt."""
LIBVIRT = "libvirtd.service virtqemud.service"
"""As one daemon, and as many."""
SWITCH = "ovs-vswitchd.service openvswitch-switch.service openvswitch.service"
"""As Debian and Ubuntu, and as Red Hat and SUSE call them; what a host has not is passed over."""
VENDOR = "openibd.service"
"""The vendor's driver is loaded by it, and makes the ports again."""
WHY = "a reboot loses what `wirespeed apply` did: this restores it"


@dataclass(frozen=True, slots=True)
class BootStep:
    """One step of the run that has to be done again."""

    number: int
    """In the plan, from 1, as `wirespeed plan` shows it."""
    what: str
    commands: tuple[Command, ...]
    is_of_card: bool = False
    """It is done before Open vSwitch starts with DPDK, which takes the card as it is by then."""
    is_of_guests: bool = False
    """It is done when libvirt is there, which waits for what is done before."""


def persist_name(stem: str) -> str:
    """Make the name of the files from that of the spec: letters, digits, `-` and `_` stay.

    Where others are in it, a digest tells it from those that come to the same.
    """
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", stem).strip("-")[:40] or "run"
    return name if name == stem else f"{name}-{hashlib.sha256(stem.encode()).hexdigest()[:6]}"


def boot_steps(record: Record, host: str) -> Iterator[BootStep]:
    """Give the steps that a boot of the host undoes, with the commands that did them.

    What was so already when it was planned is not among them: the host does it itself. Nor is what
    `not_kept` names.
    Raises InputError `persist.no_shell` for a host that has no POSIX shell.
    """
    dpdk_start, has_domains = _dpdk_start(record, host), False
    for number, planned, step in _forgotten(record, host):
        before = record.before(number)
        if before is None:
            raise AssertionError("what has an intent has a state before it")
        commands = step.change(before, record.goal(number))
        if any(command.shell is not Shell.POSIX for command in commands):
            raise InputError(
                "persist.no_shell",
                where=f"{planned.subject} on {host}",
                found="this host does not run systemd",
                so="nothing was made persistent",
                next="use a spec with only Linux hosts that run systemd; set up this host at boot "
                "with its own tools",
            )
        if commands and not step.is_of_this_boot:
            has_domains |= isinstance(step, GuestLibvirt)
            of_card = number < dpdk_start
            yield BootStep(number + 1, planned.name, commands, of_card, has_domains)


def not_kept(record: Record, host: str) -> Iterator[str]:
    """Name the steps that a boot undoes, and whose commands are of no use after it."""
    for _, planned, step in _forgotten(record, host):
        if step.is_of_this_boot:
            yield planned.name


def boot_plan(record: Record) -> Plan:
    """Give the steps that each boot is to do again, for the guards of every plan."""
    hosts = dict.fromkeys(planned.host for planned in record.plan.steps)
    return Plan(steps=tuple(p for host in hosts for _, p, _ in _forgotten(record, host)))


def _forgotten(record: Record, host: str) -> Iterator[tuple[int, PlannedStep, Step]]:
    for number, planned in enumerate(record.plan.steps):
        is_done = record.came[number] is StepProgress.DONE and record.intent(number) is not None
        if planned.host == host and is_done and planned.scope in FORGOTTEN:
            yield number, planned, read_step(planned.step)


def _dpdk_start(record: Record, host: str) -> int:
    """Give the number of the step with which DPDK starts within the switch; 0: there is none."""
    starts = (
        number
        for number, planned in enumerate(record.plan.steps)
        if planned.host == host
        and isinstance(step := read_step(planned.step), OvsConfig)
        and step.key == DPDK_INIT
    )
    return next(starts, 0)


def persist_steps(name: str, ports: Sequence[str], steps: Sequence[BootStep]) -> list[Step]:
    """Give the steps that make it last on one host; `ports` are PCI addresses, or netdevs."""
    if not steps:
        return []
    of_card = [step for step in steps if step.is_of_card]
    of_guests = [step for step in steps if step.is_of_guests]
    others = [step for step in steps if not (step.is_of_card or step.is_of_guests)]
    numbers = "".join(f"{step.number}\n" for step in steps)
    done = FileContent(path=_done(name), content=numbers, reason="these are done in this boot")
    found: list[Step] = []
    # Only the first waits for the ports: later they may have left the kernel for DPDK.
    if of_card:
        found += _lasting(Part(name, CARD, boot_card_unit(name)), ports, of_card)
    if others:
        unit = boot_unit(name, is_after_card=bool(of_card))
        found += _lasting(Part(name, "", unit), () if found else ports, others)
    if of_guests:
        unit = boot_guests_unit(name)
        found += _lasting(Part(name, GUESTS, unit), () if found else ports, of_guests)
    return [found[0], done, *found[1:]]


@dataclass(frozen=True, slots=True)
class Part:
    """A script and its unit."""

    name: str
    suffix: str
    unit: str


def _lasting(part: Part, ports: Sequence[str], steps: Sequence[BootStep]) -> list[Step]:
    name = unit_name(part.name + part.suffix)
    script = boot_script(part.name, ports, steps, part.suffix)
    return [
        FileContent(path=_script(part.name + part.suffix), content=script, reason=WHY),
        FileContent(path=f"/etc/systemd/system/{name}", content=part.unit, reason=WHY),
        Service(unit=name, is_running=True, reason=WHY),
    ]


def unit_name(name: str) -> str:
    """Give the name of the unit."""
    return f"wirespeed-{name}.service"


def boot_unit(name: str, *, is_after_card: bool = False) -> str:
    """Give the unit: after the ports are there, before guests are started.

    No login waits for it: sshd.service is not after network-online.target.
    """
    after = [f"network.target systemd-modules-load.service systemd-sysctl.service {VENDOR}"]
    if is_after_card:
        after.append(f"{unit_name(name + CARD)} {SWITCH}")
    return _unit(
        name,
        "",
        "Network ports and VFs as wirespeed set them up",
        after,
        f"network-online.target {LIBVIRT} libvirt-guests.service",
    )


def boot_guests_unit(name: str) -> str:
    """Give the unit that asks libvirt: after it, or each would wait for the other.

    A start by socket activation is held back too while a unit that is before it runs
    (systemd.unit(5), `Before=`).
    """
    after = [f"network.target {unit_name(name)} {unit_name(name + CARD)} {LIBVIRT}"]
    what = "Guests of libvirt as wirespeed started them"
    return _unit(name, GUESTS, what, after, "libvirt-guests.service")


def boot_card_unit(name: str) -> str:
    """Give the unit that the switch waits for; if it fails, the switch starts all the same.

    Units of Open vSwitch are before network.target, so this one cannot be after it.
    """
    after = [f"network-pre.target systemd-modules-load.service systemd-sysctl.service {VENDOR}"]
    what = "The card as wirespeed set it up for Open vSwitch with DPDK"
    return _unit(name, CARD, what, after, f"network.target {SWITCH}")


def _unit(name: str, suffix: str, what: str, after: Sequence[str], before: str) -> str:
    lines = "\n".join(f"After={units}" for units in after)
    unit = unit_name(name + suffix)
    return f"""\
# Made by `wirespeed persist`, and taken away by `wirespeed persist --remove`.
# Not to run at the next boot: systemd.mask={unit} on the kernel's line.
[Unit]
Description={what} ({name})
{lines}
Before={before}

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh {_script(name + suffix)}
TimeoutStartSec={START_S}

[Install]
WantedBy=multi-user.target
"""


def boot_script(
    name: str, ports: Sequence[str], steps: Sequence[BootStep], suffix: str = ""
) -> str:
    """Give the script: every step that was not done since the boot, up to the first that fails."""
    awaited = "".join(f"await {shlex.quote(port)}\n" for port in ports)
    return f"""\
#!/bin/sh
# Made by `wirespeed persist`, and taken away by `wirespeed persist --remove`.
# Does what `wirespeed apply` did, after a boot; run by {unit_name(name + suffix)}.
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
