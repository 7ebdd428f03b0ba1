"""Every remedy of every case, and the state in which its steps find the host of the case."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from wirespeed.catalog import read_step, rules
from wirespeed.doctor.diagnose import diagnose
from wirespeed.model.capture import Capture, parse_capture
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Remedy
from wirespeed.model.observed import Known
from wirespeed.model.question import Question
from wirespeed.model.step import State, Step
from wirespeed.platforms.windows.steps.windows_filter import WindowsFilter
from wirespeed.platforms.windows.steps.windows_migration import WindowsMigration
from wirespeed.platforms.windows.steps.windows_property import WindowsProperty
from wirespeed.platforms.windows.steps.windows_rss import WindowsRss
from wirespeed.platforms.windows.steps.windows_smb_multichannel import WindowsSmbMultichannel
from wirespeed.platforms.windows.steps.windows_switch import WindowsSwitch
from wirespeed.platforms.windows.steps.windows_team_balancing import WindowsTeamBalancing
from wirespeed.platforms.windows.steps.windows_vmq import WindowsVmq

CASES = Path(__file__).parent / "cases"
BY_SLUG = {rule.slug: rule for rule in rules()}


@dataclass(frozen=True)
class Told:
    """One remedy, as one case tells it."""

    case: str
    """`rule.slug/case`."""
    remedy: Remedy
    capture: Capture

    @property
    def rule(self) -> str:
        return self.case.partition("/")[0]

    @property
    def steps(self) -> list[Step]:
        return [read_step(call.data) for call in self.remedy.steps]


@cache
def remedies() -> tuple[Told, ...]:
    """Give all of them, in the order of the rules."""
    return tuple(_remedies())


def _remedies() -> Iterator[Told]:
    for folder in sorted(path.parent for path in CASES.glob("*/*/expected.json")):
        question = json.loads((folder / "expected.json").read_text()).get("question", {})
        capture = parse_capture((folder / "capture.txt").read_text(), folder.name)
        host = HostFacts("host", capture)
        slug = folder.parent.name
        for finding in diagnose(host, Question(**question), [BY_SLUG[slug]]).findings:
            for remedy in finding.remedies:
                yield Told(f"{slug}/{folder.name}", remedy, capture)


SECTIONS = {
    "rings": "ethtool-rings",
    "channels": "ethtool-channels",
    "coalescing": "ethtool-coalescing",
    "offloads": "ethtool-features",
    "completion_compression": "ethtool-private-flags",
    "pause": "ethtool-a",
    "fec": "ethtool-fec",
    "rss": "ethtool-rss",
    "link_mode": "ethtool",
}
"""Kind: the section in which the collector prints what the step reads, in the same words."""

FOUND: dict[str, Callable[[State], State]] = {
    "bond_hash_policy": lambda goal: dict.fromkeys(goal, "layer2"),
    "bond_monitoring": lambda goal: dict.fromkeys(goal, 0),
    "channels": lambda goal: dict.fromkeys(goal, 1),
    "coalescing": lambda goal: {k: "adaptive" in k and not v for k, v in goal.items()},
    "completion_compression": lambda goal: dict.fromkeys(goal, False),
    "cpu_governor": lambda goal: dict.fromkeys(goal, "powersave"),
    "fec": lambda goal: dict.fromkeys(goal, "off"),
    "firmware_reset": lambda goal: dict.fromkeys(goal, True),
    "firmware_settings": lambda goal: dict.fromkeys(goal, 0),
    "hugepage_mount": lambda goal: dict.fromkeys(goal, False),
    "hugepages": lambda goal: dict.fromkeys(goal, 0),
    "idle_states": lambda _: {"cpu0/cpuidle/state3": False},
    "irq_affinity": lambda goal: dict.fromkeys(goal, "0-191"),
    "irqbalance": lambda goal: dict.fromkeys(goal, True),
    "kernel_arguments": lambda goal: dict.fromkeys(goal, None),
    "kernel_command_line": lambda _: {"content": None, "is_in_menu": False},
    "kernel_switch": lambda goal: dict.fromkeys(goal, "other"),
    "link_mode": lambda goal: {
        "autoneg": not goal["autoneg"],
        "supported": "100baseT/Full",
        "advertised": None,
        "speed": 100,
        "duplex": "half",
        "lanes": None,
    },
    "mtu": lambda _: {"mtu": 1280},
    "offloads": lambda goal: {k: {"on": "off", "off": "on"}[str(v)] for k, v in goal.items()},
    "pause": lambda goal: {k: not v for k, v in goal.items()},
    "read_request": lambda goal: dict.fromkeys(goal, 512),
    "rings": lambda goal: dict.fromkeys(goal, 256),
    "rps": lambda goal: {k: "" if v else "0-191" for k, v in goal.items()},
    "rss": lambda goal: dict.fromkeys(goal, "equal 1"),
    "rss_fields": lambda goal: dict.fromkeys(goal, "sd"),
    "sysctl": lambda goal: dict.fromkeys(goal, "other"),
    "vf_count": lambda goal: dict.fromkeys(goal, 0),
    "vf_settings": lambda goal: {
        k: 1000 if k.endswith("per_s") else not v for k, v in goal.items()
    },
    "xps": lambda goal: dict.fromkeys(goal, ""),
}
"""Kind: how the rule found it, where the case does not hold what the step reads: by its goal."""


def state_of(told: Told, step: Step) -> State:
    """Give the state of a step on the host of a case."""
    kind = str(step.model_dump()["step"])
    if isinstance(step, WindowsFilter):
        return dict.fromkeys(step.adapters, True)
    if isinstance(step, WindowsSwitch):
        return step.made()
    if isinstance(step, WindowsProperty):
        return {"value": "other"}
    if isinstance(step, WindowsMigration):
        return {"option": "Compression"}
    if isinstance(step, WindowsSmbMultichannel | WindowsVmq):
        return {"enabled": False}
    if isinstance(step, WindowsTeamBalancing):
        return {"algorithm": "Dynamic"}
    if isinstance(step, WindowsRss):
        is_on = "-Enabled" not in told.remedy.commands[0].line()
        return {"enabled": is_on, "queues": 1, "max_processors": 1}
    section = told.capture.section(SECTIONS.get(kind, "-"), getattr(step, "netdev", "-"))
    found = step.parse(section) if section else None
    if isinstance(found, Known):
        return found.value
    return FOUND[kind](_goal(step))


def _goal(step: Step) -> State:
    """Give its goal on a host of which nothing is known."""
    asked = getattr(step, "asked", None)
    if asked is not None:
        return dict(asked())
    wanted = getattr(step, "_wanted", None)
    if wanted is not None:
        return dict(wanted())
    nothing: State = {
        "nr_hugepages": 0, "miimon": 0, "firmware_waits": True, "settings_wait": True,
        "content": None, "is_in_menu": False,
    }  # fmt: skip
    return step.wanted(nothing)
