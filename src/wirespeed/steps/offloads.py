"""What a netdev does for the host: its offload features, on or off."""

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from wirespeed.facts.offloads import Feature
from wirespeed.facts.offloads import Offloads as OffloadsFact
from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.finding import Danger
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Phase, State
from wirespeed.steps.ethtool_setting import EthtoolSetting, Value

Name = Annotated[str, Field(pattern=r"^[a-z][A-Za-z0-9_-]{0,62}$")]
GROUPS = {
    "tx-checksumming": "tx-checksum-*",
    "scatter-gather": "tx-scatter-gather*",
    "tcp-segmentation-offload": "tx-tcp*-segmentation",
}
"""Names of ethtool that stand for several features of the kernel (ethtool, common.c)."""
HELD_BACK = " [requested "
APART = "tx-tcp-mangleid-segmentation"
"""Gives up the IP identification (kernel, segmentation-offloads.rst): only who names it sets it."""


class Offloads(EthtoolSetting):
    """Each of `features` is on or off; names are those that `ethtool -k` prints.

    A group is set and put back feature by feature, as its members may differ. What the port cannot
    change (`[fixed]`) is left out of a group, and refused by name unless it is so already. What is
    `off [requested on]` is held back by another feature, and can be set together with that only.
    Several drivers restart the port for some of them.
    """

    danger: ClassVar[Danger] = Danger.DROPS_LINK
    shown_by: ClassVar[str] = "-k"
    set_by: ClassVar[str] = "-K"
    purpose: ClassVar[str] = (
        "What the card does for a frame costs no core; what it does wrongly must be off."
    )
    phase: ClassVar[Phase | None] = Phase.RINGS
    step: Literal["offloads"] = "offloads"
    features: Annotated[dict[Name, bool], Field(min_length=1)]

    def asked(self) -> State:
        return {name: _on(is_on) for name, is_on in self.features.items()}

    def parse(self, section: Section) -> Observed[State]:
        """Read every feature that is asked about, a group by its members that can be changed."""
        capture = self.as_capture(section, "ethtool-features")
        answer = OffloadsFact.parse(capture).of(self.netdev).features
        if not isinstance(answer, Known):
            return Unreadable(answer.reason, answer.source)
        state: State = {}
        for name, is_on in self.features.items():
            members = dict(_members(name, answer.value))
            feature = answer.value.get(name)
            if members:
                state |= {member: _described(f) for member, f in members.items()}
            elif feature is None:
                return Unreadable(f"this kernel has no {name}", answer.source)
            elif feature.is_fixed and feature.is_on != is_on:
                return Unreadable(f"{name} is {_on(feature.is_on)} and fixed", answer.source)
            else:
                state[name] = _described(feature)
        wanted = self.wanted(state)
        differing = [name for name in state if state[name] != wanted[name]]
        if differing and all(HELD_BACK in str(state[name]) for name in differing):
            # ethtool fails where nothing becomes as requested, so no undo could be told from a
            # refusal (nl_sfeatures).
            name = differing[0]
            reason = f"{name} is {state[name]}: another setting prevents it"
            return Unreadable(reason, answer.source)
        return Known(state, answer.source)

    def made(self) -> State:
        """Give what a pair of virtual ports has that was just made: all of it (veth.c)."""
        return dict.fromkeys(self.features, _on(True))

    def wanted(self, before: State) -> State:
        """Give each what is asked of it by name, or else of its group."""
        return {name: _on(self._is_wanted(name)) for name in before}

    def set_to(self, values: Mapping[str, Value]) -> Command:
        """Ask for what was requested, be it in force or not."""
        return super().set_to({name: _requested(str(value)) for name, value in values.items()})

    def _is_wanted(self, name: str) -> bool:
        if name in self.features:
            return self.features[name]
        groups = (group for group, pattern in GROUPS.items() if fnmatchcase(name, pattern))
        return next(self.features[group] for group in groups if group in self.features)


def _members(group: str, found: Mapping[str, Feature]) -> Iterator[tuple[str, Feature]]:
    """Give the features of a group that can be changed; none where the name is no group."""
    pattern = GROUPS.get(group)
    for name, feature in found.items():
        if pattern and fnmatchcase(name, pattern) and name != APART and not feature.is_fixed:
            yield name, feature


def _on(is_on: bool) -> str:
    return "on" if is_on else "off"


def _described(feature: Feature) -> str:
    """Give it as ethtool prints it."""
    remark = (
        ""
        if feature.is_on == feature.is_requested
        else (f"{HELD_BACK}{_on(feature.is_requested)}]")
    )
    return _on(feature.is_on) + remark


def _requested(state: str) -> str:
    return state.partition(HELD_BACK)[2].removesuffix("]") or state
