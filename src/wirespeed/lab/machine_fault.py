"""Faults on demand, at a port of a lab's host: a cable that is pulled, a card that fails.

Cables are QEMU's own (`set_link`). All else is the property `fault` of the modelled ConnectX:
models/mlx5/faults.c.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from wirespeed.host.clock import sleep_s
from wirespeed.host.qmp import Qmp
from wirespeed.lab.machine_qemu import card
from wirespeed.model.error import InputError

FORM = (
    "cable-out, cable-in, flaps=N; of a modelled ConnectX also module-out, module-in, module-hot, "
    "port-full=N, health=SYNDROME, fatal=SYNDROME, command=OPCODE:STATUS:SYNDROME, silent=OPCODE, "
    "none"
)
MODEL = "mlx5"
MAX_FLAPS = 100
_FLAP_S = 0.4
"""Of each half: the driver asks for the link's state after its event, and would miss a faster one.
"""
_HEX = r"(?:0x)?([0-9a-f]{1,8})"
_OF_MODEL = (
    (re.compile(r"module-(out|in|hot)"), "module {0}"),
    (re.compile(rf"(health|fatal)={_HEX}"), "{0} {1}"),
    (re.compile(rf"command={_HEX}:{_HEX}:{_HEX}"), "command {0} {1} {2}"),
    (re.compile(rf"port-full={_HEX}"), "full {0}"),
    (re.compile(rf"silent={_HEX}"), "silent {0}"),
    (re.compile(r"(none)"), "{0}"),
)


@dataclass(frozen=True, slots=True)
class Fault:
    """What is done at the port."""

    cable: tuple[bool, ...] = ()
    """One after the other: the cable is in."""
    of_model: str = ""
    """The words that the model takes."""


def parse_fault(text: str) -> Fault:
    """Read FORM. Raises InputError `lab.fault`."""
    if text in ("cable-out", "cable-in"):
        return Fault(cable=(text == "cable-in",))
    flaps = re.fullmatch(r"flaps=([0-9]{1,3})", text)
    if flaps and 1 <= int(flaps[1]) <= MAX_FLAPS:
        return Fault(cable=(False, True) * int(flaps[1]))
    for form, words in _OF_MODEL:
        if match := form.fullmatch(text):
            return Fault(of_model=words.format(*match.groups()))
    raise InputError(
        "lab.fault",
        where=text[:80],
        found="not a fault that a lab can make",
        next=f"one of: {FORM}",
    )


def make_fault(control: Path, port: int, fault: Fault) -> None:
    """Let the card of `port` have it, at the QEMU that listens at `control`.

    Raises InputError `lab.fault` where the card cannot, MeasurementError `qmp.failed`.
    """
    device = f"/machine/peripheral/{card(port)}"
    with Qmp(control) as qmp:
        for number, is_in in enumerate(fault.cable):
            if number:
                sleep_s(_FLAP_S)
            qmp.execute("set_link", name=card(port), up=is_in)
        if not fault.of_model:
            return
        kind = qmp.execute("qom-get", path=device, property="type")
        if kind != MODEL:
            raise InputError(
                "lab.fault",
                where=f"port {port}: {kind}",
                found="only a modelled ConnectX has such faults",
                next="wirespeed lab up --card mlx5; a cable can be pulled from any card",
            )
        qmp.execute("qom-set", path=device, property="fault", value=fault.of_model)
