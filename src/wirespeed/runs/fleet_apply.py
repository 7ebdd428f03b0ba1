"""A change of a fleet from inventory and spec to its waves."""

import re
from dataclasses import dataclass
from pathlib import Path

from wirespeed.apply.guard_timer_control import CONFIRM_WITHIN_S
from wirespeed.apply.spec_file import parse_spec
from wirespeed.fleet.records import InventoryHost
from wirespeed.fleet.waves import cut_waves, spread_over
from wirespeed.host.clock import utc_now
from wirespeed.host.inventory import read_inventory
from wirespeed.host.state import state_folder
from wirespeed.model.error import InputError
from wirespeed.report.plan_text import plan_lines
from wirespeed.runs.fleet_doctor import host_of
from wirespeed.runs.fleet_record import FleetChange, start_change
from wirespeed.runs.fleet_specs import specs_of
from wirespeed.runs.fleet_waves import go_through
from wirespeed.runs.hosts_of_spec import controls_of
from wirespeed.runs.plan_hosts import plan_hosts
from wirespeed.terminal import confirm, echo

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
"""Of a host, for its folder."""


@dataclass(frozen=True, slots=True)
class ApplyRequest:
    """What is to be changed, and how."""

    spec: Path
    inventory: tuple[str, ...]
    limit: str | None
    waves: str
    bound: float
    try_s: int
    at_once: int
    allow_cutoff: bool
    allow_no_undo: bool
    yes: bool
    breaks_lock: bool
    folder: Path | None = None
    allow_inventory_code: bool = False


def fleet_apply(asked: ApplyRequest) -> int:
    """Plan the canary, ask, then go through the waves; give the exit code."""
    listed = read_inventory(asked.inventory, asked.limit, allow_code=asked.allow_inventory_code)
    hosts = [host_of(one) for one in listed]
    for host in hosts:
        if not NAME.fullmatch(host.name):
            raise InputError(
                "inventory.name",
                where=host.name,
                found="a folder cannot have this name",
                next="use letters, digits, `_`, `.` and `-`",
            )
    specs = specs_of(asked.spec, hosts)
    ordered = spread_over([host.name for host in hosts], {h.name: _rack(h) for h in hosts})
    waves = cut_waves(ordered, asked.waves)
    canary = waves[0][0]
    echo(f"{len(hosts)} hosts in {len(waves)} waves of {', '.join(str(len(w)) for w in waves)}")
    echo(f"the plan of the first, {canary}:\n")
    spec = parse_spec(specs[canary], canary)
    with controls_of(spec) as controls:
        plan, _ = plan_hosts(spec, controls)
    echo("\n".join(plan_lines(plan)))
    echo(
        f"\nif more than {asked.bound:.0%} of a wave fails, the wave is undone and no other "
        f"starts; each host undoes what is not confirmed within {asked.try_s} s"
    )
    if not asked.yes and not confirm(f"Do this on {len(hosts)} hosts?"):
        return 1
    folder = asked.folder or state_folder() / "fleet-changes" / re.sub(r"[^0-9T]", "-", utc_now())
    change = FleetChange(
        at=utc_now(),
        source=f"{asked.spec}; {', '.join(asked.inventory)}",
        waves=waves,
        bound=asked.bound,
        try_s=asked.try_s,
        within_s=CONFIRM_WITHIN_S,
        at_once=asked.at_once,
        allow_cutoff=asked.allow_cutoff,
        allow_no_undo=asked.allow_no_undo,
    )
    start_change(folder, change, specs)
    echo(f"kept in {folder}")
    return go_through(folder, breaks_lock=asked.breaks_lock)


def _rack(host: InventoryHost) -> str:
    return next((host.labels[name][0] for name in ("rack", "switch") if name in host.labels), "")
