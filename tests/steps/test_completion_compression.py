"""One private flag is set and comes back, beside others that stay."""

from dataclasses import dataclass, field

from proof import Answer, UnknownCommandError, prove
from samples import is_never_guessed, reason_of, sample, section_of, state_of

from wirespeed.model.command import Command
from wirespeed.steps.completion_compression import CompletionCompression

STEP = CompletionCompression(netdev="eth0")


@dataclass
class DescribedFlags:
    """`ethtool --show-priv-flags` and `--set-priv-flags` of one mlx5 port."""

    flags: dict[str, bool] = field(
        default_factory=lambda: {"rx_cqe_moder": True, "rx_cqe_compress": False}
    )
    has_time_stamps: bool = False

    def run(self, command: Command) -> Answer:
        assert command.stdin is None
        match command.argv:
            case ("ethtool", "--show-priv-flags", "eth0"):
                lines = [f"{name:<19}: {'on' if on else 'off'}" for name, on in self.flags.items()]
                return Answer("Private flags for eth0:\n" + "\n".join(lines) + "\n")
            case ("ethtool", "--set-priv-flags", "eth0", name, "on" | "off" as switch) if (
                name in self.flags
            ):
                # set_pflag_rx_cqe_compress() of mlx5's en_ethtool.c.
                if self.has_time_stamps and switch == "on":
                    return Answer("", "Cannot set private flags: Invalid argument\n", 1)
                self.flags[name] = switch == "on"
                return Answer()
            case _:
                raise UnknownCommandError(command.line())


def host(is_on: bool) -> DescribedFlags:
    return DescribedFlags({"rx_cqe_moder": True, "rx_cqe_compress": is_on})


def test_it_is_turned_on_and_off_again():
    prove(STEP, host(is_on=False), host(is_on=True))
    prove(CompletionCompression(netdev="eth0", is_on=False), host(is_on=True), host(is_on=False))


def test_real_output():
    assert state_of(STEP, sample("ethtool/private_flags_mlx5")) == {"rx_cqe_compress": False}


def test_it_is_never_guessed():
    is_never_guessed(STEP)
    reason_of(STEP, section_of("Private flags for eth0:\nlegacy-rx : off\n"))
    reason_of(STEP, section_of("", "Cannot get private flags: no private flags defined\n", 1))
