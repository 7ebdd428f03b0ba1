"""What the card takes at the next boot is stored and put back; what is in force stays."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest
from proof import Answer, UnknownCommandError, prove

from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.finding import Danger
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import State
from wirespeed.steps.firmware_settings import FirmwareSettings

CARD = "0000:03:00.0"
SAMPLES = Path(__file__).parents[1] / "facts/samples/mstconfig"
NAMES = {
    "SRIOV_EN": ("False(0)", "True(1)"),
    "CQE_COMPRESSION": ("BALANCED(0)", "AGGRESSIVE(1)"),
}
MOST_VFS = 127


@dataclass
class DescribedCard:
    """`mstconfig -d ADDRESS -e q` and `-y set NAME=VALUE…`, in the text of mstflint 4.21."""

    tool: str = "mstconfig"
    in_force: dict[str, int] = field(default_factory=lambda: {"SRIOV_EN": 0, "NUM_OF_VFS": 0})
    next_boot: dict[str, int] = field(
        default_factory=lambda: {"SRIOV_EN": 0, "NUM_OF_VFS": 0, "CQE_COMPRESSION": 0}
    )

    def run(self, command: Command) -> Answer:
        assert command.stdin is None
        match command.argv:
            case (tool, "-d", address, "-e", "q", *names) if (tool, address) == (self.tool, CARD):
                return self._asked(names)
            case (tool, "-d", address, "-y", "set", *words) if (tool, address) == (self.tool, CARD):
                return self._set(dict(word.split("=") for word in words))
            case _:
                raise UnknownCommandError(command.line())

    def _set(self, given: dict[str, str]) -> Answer:
        if given.keys() - self.next_boot.keys():
            raise UnknownCommandError(str(given))
        # The whole is judged before anything is stored.
        if int(given.get("NUM_OF_VFS", 0)) > MOST_VFS:
            return Answer("", "-E- Failed to set configuration: value out of range\n", 3)
        self.next_boot |= {name: int(value) for name, value in given.items()}
        return Answer("Applying... Done!\n-I- Please reboot machine to load new configurations.\n")

    def _asked(self, names: list[str]) -> Answer:
        unknown = [name for name in names if name not in self.next_boot]
        if unknown:
            return Answer(self._table([]), f"-E- Unknown Parameter: {unknown[0]}\n", 3)
        return Answer(self._table(names))

    def _table(self, names: list[str]) -> str:
        head = ("Device #1:", "----------", "", "Device type:    ConnectX5", f"Device: {CARD}", "")
        titles = "".join(f"{title:<16}" for title in ("Default", "Current", "Next Boot"))
        lines = [*head, f"{'Configurations:':<45}{titles}"]
        for name, value in self.next_boot.items():
            if name not in names:
                continue
            columns = (0, self.in_force.get(name, 0), value)
            cells = [NAMES[name][cell] if name in NAMES else str(cell) for cell in columns]
            star = "*" if len(set(cells)) > 1 else " "
            lines.append(f"{star}        {name:<36}" + "".join(f"{cell:<16}" for cell in cells))
        return "\n".join(lines) + "\n"


SRIOV = FirmwareSettings(pci_address=CARD, settings={"SRIOV_EN": 1, "NUM_OF_VFS": 16})


def card(**next_boot: int) -> DescribedCard:
    host = DescribedCard()
    host.next_boot |= next_boot
    return host


def test_vfs_are_offered_from_the_next_boot_on_and_no_more():
    prove(SRIOV, card(), card(SRIOV_EN=1, NUM_OF_VFS=16))


def test_what_was_stored_before_is_stored_again():
    prove(SRIOV, card(SRIOV_EN=1, NUM_OF_VFS=4), card(SRIOV_EN=1, NUM_OF_VFS=16))


def test_completions_are_compressed():
    """DPDK 19.08 report of Mellanox, table 3: CQE_COMPRESSION=1."""
    step = FirmwareSettings(pci_address=CARD, settings={"CQE_COMPRESSION": 1})
    prove(step, card(), card(CQE_COMPRESSION=1))


def test_the_tool_of_nvidia_is_used_where_the_host_has_that_one():
    start, goal = card(), card(SRIOV_EN=1, NUM_OF_VFS=16)
    start.tool = goal.tool = "mlxconfig"
    prove(SRIOV.model_copy(update={"tool": "mlxconfig"}), start, goal)


def test_the_command_is_the_seeds_and_stores_only_what_differs():
    goal: State = {"SRIOV_EN": 1, "NUM_OF_VFS": 16}
    (command,) = SRIOV.change({"SRIOV_EN": 0, "NUM_OF_VFS": 0}, goal)
    assert command.line() == f"mstconfig -d {CARD} -y set SRIOV_EN=1 NUM_OF_VFS=16"
    (command,) = SRIOV.change({"SRIOV_EN": 1, "NUM_OF_VFS": 4}, goal)
    assert command.line() == f"mstconfig -d {CARD} -y set NUM_OF_VFS=16"


def test_it_says_that_it_writes_firmware_and_that_too_many_keep_servers_from_booting():
    assert SRIOV.danger is Danger.FIRMWARE
    assert "do not boot" in SRIOV.why and "Above 4G" in SRIOV.why


def state_of(output: str, code: int | None = 0) -> Observed[State]:
    return SRIOV.parse(Section("step", CARD, output, "", code))


def test_the_next_boot_counts_where_it_differs_from_now():
    """The sample has SRIOV_EN False now and True at the next boot."""
    state = state_of((SAMPLES / "query_connectx5.txt").read_text())
    assert isinstance(state, Known) and state.value == {"SRIOV_EN": 1, "NUM_OF_VFS": 16}


@pytest.mark.parametrize("name", ["query_wide", "query_next_boot"])
def test_a_card_without_the_setting_is_unreadable(name: str):
    state = state_of((SAMPLES / f"{name}.txt").read_text())
    assert isinstance(state, Unreadable) and "SRIOV_EN" in state.reason


def test_the_tools_own_word_for_a_setting_that_the_card_does_not_have_is_the_reason():
    """As mstconfig 4.21 of Debian says it of a card with one port."""
    step = FirmwareSettings(pci_address=CARD, settings={"LINK_TYPE_P2": 2})
    answer = card().run(step.read())
    said = step.parse(Section("step", CARD, answer.output, answer.errors, answer.returncode))
    assert isinstance(said, Unreadable) and said.reason == "Unknown Parameter: LINK_TYPE_P2"


HEADER = "Configurations:            Default         Current         Next Boot\n"


@pytest.mark.parametrize(
    "output",
    [
        "",
        "-E- Failed to open the device\n",
        HEADER,
        HEADER + "  SRIOV_EN  True(1)  True(1)  N/A\n  NUM_OF_VFS 0 0 0\n",
        HEADER + "  SRIOV_EN  True(1)  True(1)  True\n  NUM_OF_VFS 0 0 0\n",
        HEADER + "  SRIOV_EN  1  1  1\n  NUM_OF_VFS 0 0 Array[0..7]\n",
        HEADER + "  SRIOV_EN  1  1  1\n  NUM_OF_VFS 0 0 99999999999\n",
        HEADER + "  SRIOV_EN  True(1)  True(1)  True(1\n  NUM_OF_VFS 0 0 0\n",
    ],
)
def test_what_is_no_value_is_unreadable(output: str):
    assert isinstance(state_of(output), Unreadable)


def test_a_table_that_was_cut_off_is_unreadable():
    output = HEADER + "  SRIOV_EN  1  1  1\n  NUM_OF_VFS 16 16 1"
    for code in (None, 124):
        assert isinstance(state_of(output, code), Unreadable)
