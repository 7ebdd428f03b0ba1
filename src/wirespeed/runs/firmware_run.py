"""A card's firmware: settings stored, an image burnt, the card reset; each with its journal."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field

from wirespeed.apply.planner import make_plan
from wirespeed.facts.firmware import Firmware
from wirespeed.facts.ports import Ports
from wirespeed.host.reach_destination import parse_destination
from wirespeed.host.runner import Runner
from wirespeed.model.error import HostError, InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import CannotTellError
from wirespeed.model.port import PortKind
from wirespeed.model.shown import shown
from wirespeed.model.step import Step
from wirespeed.report.plan_text import plan_lines
from wirespeed.runs.access import control_by, runner_at
from wirespeed.runs.host_plan import Allowed, do_plan
from wirespeed.runs.hosts_of_spec import lone_host
from wirespeed.runs.plan_hosts import facts_at
from wirespeed.steps.firmware_image import FirmwareImage
from wirespeed.steps.firmware_query import answers
from wirespeed.steps.firmware_reset import FirmwareReset
from wirespeed.steps.firmware_settings import FirmwareSettings
from wirespeed.terminal import echo

DRIVERS = ("mlx4_core", "mlx5_core")
QUERY_S = 60.0
"""For a tool to read an image of some 30 MB, or a card whose firmware is busy."""


@dataclass(frozen=True, slots=True)
class FirmwareRequest:
    """A card, and what its firmware is to be."""

    host: str
    port: str = ""
    """PCI address of a port of the card; empty: the only card."""
    settings: Mapping[str, int] = field(default_factory=dict)
    image: str = ""
    """Path on the host; likewise the other."""
    former_image: str = ""
    may_be_older: bool = False
    is_reset: bool = False
    """What is burnt, or what waits in the card, comes into force at once."""
    allowed: Allowed = field(default_factory=Allowed)


@dataclass(frozen=True, slots=True)
class Card:
    """A card that is set by the tools of its maker."""

    pci_address: str
    functions: tuple[str, ...]
    """Its others."""
    is_vendors: bool
    """The host has the tools of the vendor's package: mlxconfig, not mstconfig."""


def set_firmware(asked: FirmwareRequest) -> int:
    """Show the steps, and do them where that is asked for; give the exit code.

    Raises InputError `firmware.*`, `plan.*`, `run.applied_before`; HostError.
    """
    facts = facts_at(asked.host)
    card = card_of(facts, asked.port)
    spec = lone_host(asked.host, [card.pci_address])
    (name,) = spec.hosts
    place = parse_destination(asked.host)
    with ExitStack() as stack:
        runner = runner_at(place, stack)
        if runner is None:
            raise InputError(
                "firmware.host",
                where=shown(asked.host, 80),
                found="it is a file, or a host on which wirespeed cannot run commands",
                next="give `here` or ssh://USER@HOST",
            )
        steps = list(firmware_steps(asked, card, runner))
        controls = {name: control_by(name, place, runner)}
        try:
            states = controls[name].read(steps)
            plan = make_plan([(name, *one) for one in zip(steps, states, strict=True)])
        except CannotTellError as error:
            raise InputError(
                "plan.cannot_tell",
                where=f"{card.pci_address} of {asked.host}",
                found=error.reason,
                so="wirespeed does not plan on a guess: undo would not know what to restore",
                next=error.would_tell,
            ) from None
        echo("\n".join(plan_lines(plan)))
        if all(step.no_op for step in plan.steps):
            return 0
        of = f"firmware {'reset ' if _resets_alone(asked) else ''}{asked.host} {card.pci_address}"
        return do_plan(plan, of, spec, facts, controls, asked.allowed)


def card_of(facts: HostFacts, port: str) -> Card:
    """Give the card of a port, or the only one. Raises InputError `firmware.no_card`."""
    functions: dict[str, list[str]] = {}
    for one in facts[Ports].ports:
        if one.pci_address and one.driver in DRIVERS and one.kind is PortKind.PHYSICAL:
            functions.setdefault(one.pci_address.rpartition(".")[0], []).append(one.pci_address)
    of_port = [all_of for all_of in functions.values() if port in all_of]
    found = of_port if port else list(functions.values())
    if len(found) != 1:
        there = ", ".join(one for all_of in functions.values() for one in all_of)
        raise InputError(
            "firmware.no_card",
            where=shown(facts.name, 80),
            found=f"ports of Mellanox or NVIDIA cards that have their driver: {there or 'none'}",
            next="give one port of the card: --port ADDRESS" if there else "wirespeed doctor HOST",
        )
    first, *others = sorted(found[0])
    tool = facts[Firmware].of(first).settings_tool
    return Card(first, tuple(others), tool == "mlxconfig")


def _resets_alone(asked: FirmwareRequest) -> bool:
    return asked.is_reset and not asked.image


def firmware_steps(asked: FirmwareRequest, card: Card, runner: Runner) -> Iterator[Step]:
    """Give the steps of a request, in order; of an image, its tool is asked for PSID and version.

    Raises HostError `firmware.unreadable`.
    """
    if asked.settings:
        tool = "mlxconfig" if card.is_vendors else "mstconfig"
        yield FirmwareSettings.model_validate(
            {"pci_address": card.pci_address, "tool": tool, "settings": dict(asked.settings)}
        )
    if asked.image:
        tool = "flint" if card.is_vendors else "mstflint"
        psid, _ = _asked(runner, tool, "-d", card.pci_address, "-qq")
        _, version = _asked(runner, tool, "-i", asked.image)
        former = {}
        if asked.former_image:
            _, held = _asked(runner, tool, "-i", asked.former_image)
            former = {"former_image": asked.former_image, "former_version": held}
        yield FirmwareImage.model_validate(
            {
                "pci_address": card.pci_address,
                "functions": card.functions,
                "tool": tool,
                "psid": psid,
                "image": asked.image,
                "version": version,
                "is_loaded": asked.is_reset,
                "may_be_older": asked.may_be_older,
                **former,
            }
        )
    if _resets_alone(asked):
        tool = "mlxfwreset" if card.is_vendors else "mstfwreset"
        yield FirmwareReset(pci_address=card.pci_address, functions=card.functions, tool=tool)


def _asked(runner: Runner, tool: str, *words: str) -> tuple[str, str]:
    """Give PSID and version of the card, or of an image. Raises HostError `firmware.unreadable`."""
    argv = (tool, *words, "query")
    done = runner.run(argv, timeout_s=QUERY_S)
    found = answers(done.output)
    if done.returncode or len(found) != 1 or not {"PSID", "FW Version"} <= found[0].keys():
        said = (done.errors.strip() or done.output.strip()).partition("\n")[0]
        raise HostError(
            "firmware.unreadable",
            where=" ".join(map(shown, argv)),
            found=shown(said, 200) or "no PSID and version in its answer",
            so="whether the image fits the card is not known; nothing was changed",
            next="install mstflint on the host, and give the path of the image on the host",
        )
    return found[0]["PSID"], found[0]["FW Version"]
