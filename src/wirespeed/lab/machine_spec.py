"""What a lab of virtual hosts is made of. Pure."""

import re
from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from wirespeed.model.error import InputError
from wirespeed.model.frozen import Frozen

PORTS = 2
"""Cards of a host, each with one port."""
MAX_HOSTS = 8
MIN_MEMORY_MIB, MAX_MEMORY_MIB = 256, 1 << 16
MAX_CPUS = 64
WIDTHS = (1, 2, 4, 8, 12, 16, 32)
"""Lanes that QEMU's root port knows (x-width)."""
SPEEDS = {"2.5": "2_5", "5": "5", "8": "8", "16": "16", "32": "32", "64": "64"}
"""GT/s of a lane, and QEMU's word for it (x-speed)."""
WORDS: dict[str, dict[str, dict[str, object]]] = {
    "init": {"systemd": {"systemd": True}, "script": {"systemd": False}},
    "disk": {"0": {"disk": False}, "1": {"disk": True}},
    "mstflint": {"0": {"mstflint": False}, "1": {"mstflint": True}},
}
"""Options with a few words for values, and what each means."""
OPTIONS = ("memory", "cpus", "width", "speed", *WORDS)
FORM = "NAME[,memory=MIB][,cpus=N][,width=LANES][,speed=GT/S][,init=systemd][,disk=1][,mstflint=1]"
SERIES = r"(?:[0-9]{1,2}\.[0-9]{1,3})?"
"""Of kernels, such as 6.1; none: the newest."""
HOST_NAME = re.compile(r"[a-z][a-z0-9-]{0,19}")

Wiring = Literal["crossed", "switch"]
"""Port to port between two hosts, or all ports into one switch."""

CardModel = Literal["igb", "mlx5"]
"""Intel 82576 of QEMU's own, or the ConnectX-5 of models/mlx5, which is built beforehand."""


class MachineSpec(Frozen):
    """One host."""

    name: str
    memory_mib: int = Field(512, ge=MIN_MEMORY_MIB, le=MAX_MEMORY_MIB)
    cpus: int = Field(1, ge=1, le=MAX_CPUS)
    root_port_lanes: int | None = None
    """Of the root ports above its cards; None: QEMU's own, 32."""
    root_port_gts: str | None = None
    """GT/s of a lane there; None: QEMU's own, 16."""
    systemd: bool = False
    """Process 1 is systemd; else a script that starts sshd and udev, which is sooner up."""
    disk: bool = False
    """What is written to it is there again after its reboot; else all of it is in its memory."""
    mstflint: bool = False
    """mstconfig and its kin are installed; each capture then asks the cards, 10 s each."""
    card: CardModel = "igb"
    kernel_parameters: tuple[str, ...] = ()
    """Of its kernel's command line, behind the lab's own: a lab's host has no boot loader."""


class LabSpec(Frozen):
    """Some hosts, and how their ports are joined."""

    hosts: tuple[MachineSpec, ...]
    wiring: Wiring = "crossed"
    kernel: str = Field("", pattern=f"^{SERIES}$")
    """Series of Debian's kernels that they boot, such as 6.1; "": the newest that apt has."""


TWO_HOSTS = LabSpec(hosts=(MachineSpec(name="alpha"), MachineSpec(name="beta")))
DPDK_HOSTS = LabSpec(
    hosts=tuple(MachineSpec(name=name, memory_mib=1024) for name in ("alpha", "beta"))
)
"""With memory for hugepages, and one CPU each: two of an emulated host would share one here."""
DPDK_SPEC = """\
# Two virtual hosts, cabled port to port: one sends and judges, the other forwards.
hosts:
  gen: {{reach: ssh://{0}, role: tester, cores: "0", ports: ["0000:01:00.0", "0000:02:00.0"]}}
  fwd: {{reach: ssh://{1}, role: dut, cores: "0", ports: ["0000:01:00.0", "0000:02:00.0"]}}
approach: dpdk
dpdk:
  forwarder: testpmd-io
  hugepages: {{page_kib: 2048, count: 160}}
  memory_mib: 256
  rx_descriptors: 512
  tx_descriptors: 512
measure:
  # An emulated host stands still for 10 to 40 % of a trial: looser bounds, named on the page.
  rfc2544: {{frame_bytes: [64], flows: 64, seconds: 1, max_load_pps: 1000, gap_limit_ms: 1000,
    stalled_share: 1}}
"""


def dpdk_spec(tester: str, dut: str) -> str:
    """Give a spec of the approach dpdk for the hosts of a lab, by what SSH calls them."""
    return DPDK_SPEC.format(tester, dut)


def parse_machine(text: str) -> MachineSpec:
    """Read a host's name and its options, as in FORM. Raises `lab.host`."""
    name, *options = text.split(",")
    if not HOST_NAME.fullmatch(name):
        raise _invalid(text, f"{name!r} is not a name for a host: small letters, digits and -")
    read: dict[str, object] = {}
    for option in options:
        key, equals, value = option.partition("=")
        if not equals:
            raise _invalid(text, f"{option!r} has no value")
        if key in read:
            raise _invalid(text, f"{key} is given twice")
        if key in WORDS:
            if value not in WORDS[key]:
                raise _invalid(text, f"{key} is {' or '.join(WORDS[key])}")
            read |= WORDS[key][value]
            continue
        if key == "speed":
            if value not in SPEEDS:
                raise _invalid(text, f"speed is one of {', '.join(SPEEDS)} GT/s")
            read["root_port_gts"] = value
            continue
        number = int(value) if re.fullmatch(r"[0-9]{1,6}", value) else -1
        if key == "width":
            if number not in WIDTHS:
                raise _invalid(text, f"width is one of {', '.join(map(str, WIDTHS))} lanes")
            read["root_port_lanes"] = number
        elif key == "memory":
            if not MIN_MEMORY_MIB <= number <= MAX_MEMORY_MIB:
                raise _invalid(text, f"memory is {MIN_MEMORY_MIB} to {MAX_MEMORY_MIB} MiB")
            read["memory_mib"] = number
        elif key == "cpus":
            if not 1 <= number <= MAX_CPUS:
                raise _invalid(text, f"cpus is 1 to {MAX_CPUS}")
            read["cpus"] = number
        else:
            known = ", ".join(OPTIONS)
            raise _invalid(text, f"{key!r} is none of {known}")
    return MachineSpec.model_validate({"name": name, **read})


def lab_of(hosts: Sequence[MachineSpec], wiring: Wiring, kernel: str = "") -> LabSpec:
    """Put hosts together. Raises InputError `lab.host`, `lab.wiring`, `lab.kernel`."""
    names = [host.name for host in hosts]
    for name in names:
        if names.count(name) > 1:
            raise _invalid(name, "there are two hosts of that name")
    if not 1 <= len(hosts) <= MAX_HOSTS:
        raise InputError(
            "lab.host",
            where="lab up",
            found=f"{len(hosts)} hosts",
            next=f"give 1 to {MAX_HOSTS} of them, such as `wirespeed lab up alpha beta`",
        )
    if wiring == "crossed" and len(hosts) != 2:
        raise InputError(
            "lab.wiring",
            where="crossed",
            found=f"{len(hosts)} hosts",
            so="without a switch, cables connect the ports of two hosts in pairs",
            next="give two hosts, or --switch",
        )
    if not re.fullmatch(SERIES, kernel):
        raise InputError(
            "lab.kernel", where="--kernel", found=kernel[:40], next="give a series, such as 6.1"
        )
    return LabSpec(hosts=tuple(hosts), wiring=wiring, kernel=kernel)


def _invalid(text: str, why: str) -> InputError:
    return InputError(
        "lab.host",
        where=text[:80],
        found=why,
        next=FORM,
    )
