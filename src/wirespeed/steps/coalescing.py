"""How long a netdev waits, or for how many frames, before it interrupts a core."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from wirespeed.facts.coalescing import Coalescing as CoalescingFact
from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.finding import Danger
from wirespeed.model.observed import Absent, Known, Observed
from wirespeed.model.step import Phase, State
from wirespeed.steps.ethtool_setting import EthtoolSetting, as_state, only_given

Usecs = Annotated[int, Field(ge=0, le=100_000)]
Frames = Annotated[int, Field(ge=0, le=1 << 16)]
DIRECTIONS = ("rx", "tx")
NUMBERS = ("usecs", "frames")


class Coalescing(EthtoolSetting):
    """The waits are these, or the driver chooses them by the load (`adaptive`).

    A direction is adaptive or has numbers. mlx5 makes the numbers its own defaults whenever
    adaptive turns on or off, and takes none in that same command (mlx5e_ethtool_set_coalesce): so
    off comes first, then numbers, then on. Where `adaptive` is turned on, the numbers that it
    replaces are part of the state, so that they come back; ethtool before 5.7 fails where they are
    back already, and the undo says so. ixgbe restarts the port for some.
    """

    danger: ClassVar[Danger] = Danger.DROPS_LINK
    shown_by: ClassVar[str] = "-c"
    set_by: ClassVar[str] = "-C"
    purpose: ClassVar[str] = (
        "A longer wait costs fewer interrupts for the same frames; a shorter one less latency."
    )
    phase: ClassVar[Phase | None] = Phase.RINGS
    step: Literal["coalescing"] = "coalescing"
    adaptive_rx: bool | None = None
    adaptive_tx: bool | None = None
    rx_usecs: Usecs | None = None
    rx_frames: Frames | None = None
    tx_usecs: Usecs | None = None
    tx_frames: Frames | None = None

    @model_validator(mode="after")
    def _is_adaptive_or_has_numbers(self) -> Self:
        asked = self.asked()
        if not asked:
            raise ValueError("nothing is asked for")
        for direction in DIRECTIONS:
            numbers = [f"{direction}-{number}" for number in NUMBERS]
            if asked.get(f"adaptive-{direction}") and any(n in asked for n in numbers):
                raise ValueError(f"{direction} is adaptive, or has numbers of its own")
        return self

    def asked(self) -> State:
        return only_given(
            {
                "adaptive-rx": self.adaptive_rx,
                "adaptive-tx": self.adaptive_tx,
                "rx-usecs": self.rx_usecs,
                "rx-frames": self.rx_frames,
                "tx-usecs": self.tx_usecs,
                "tx-frames": self.tx_frames,
            }
        )

    def parse(self, section: Section) -> Observed[State]:
        """Read what is asked about, and the numbers that adaptive waits would replace."""
        capture = self.as_capture(section, "ethtool-coalescing")
        netdev = CoalescingFact.parse(capture).of(self.netdev)
        adaptive = {"rx": netdev.adaptive_rx, "tx": netdev.adaptive_tx}
        found: dict[str, Observed[int]] = {
            "rx-usecs": netdev.rx_usecs,
            "rx-frames": netdev.rx_frames,
            "tx-usecs": netdev.tx_usecs,
            "tx-frames": netdev.tx_frames,
        }
        every: dict[str, Observed[int] | Observed[bool]] = {
            f"adaptive-{direction}": switch for direction, switch in adaptive.items()
        }
        asked = self.asked()
        state = as_state({key: value for key, value in (every | found).items() if key in asked})
        if not isinstance(state, Known):
            return state
        replaced = {
            f"{direction}-{number}": found[f"{direction}-{number}"]
            for direction in DIRECTIONS
            for number in NUMBERS
            if asked.get(f"adaptive-{direction}")
            and not isinstance(found[f"{direction}-{number}"], Absent)
        }
        numbers = as_state(replaced)
        if not isinstance(numbers, Known):
            return numbers
        # While it is adaptive they are the driver's, and may be others at every reading.
        in_force = {
            key: None if state.value[f"adaptive-{key[:2]}"] else value
            for key, value in numbers.value.items()
        }
        return Known(state.value | in_force, state.source)

    def wanted(self, before: State) -> State:
        """Give what is asked for; numbers that adaptive waits replace are the driver's."""
        return dict.fromkeys(before) | self.asked()

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Turn off what shall not be adaptive, set numbers, turn on what shall be."""
        switched = {k: v for k, v in to.items() if "adaptive" in k and v != now[k]}
        turned_off = {key: value for key, value in switched.items() if not value}
        numbers = {
            key: value
            for key, value in to.items()
            if "adaptive" not in key
            and value is not None
            and (value != now[key] or f"adaptive-{key[:2]}" in turned_off)
        }
        turned_on = {key: value for key, value in switched.items() if value}
        return tuple(self.set_to(values) for values in (turned_off, numbers, turned_on) if values)
