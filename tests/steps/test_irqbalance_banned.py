"""CPUs that irqbalance leaves alone."""

import pytest
from described_files import DescribedFiles
from proof import Answer, plan_on, prove
from pydantic import ValidationError
from samples import is_never_guessed

from wirespeed.model.command import Command
from wirespeed.steps.irqbalance_banned import PROCESSES, IrqbalanceBanned

STEP = IrqbalanceBanned(cpus="4-7")
FILE = "/etc/default/irqbalance"
SHIPPED = (
    "# irqbalance is a daemon process.\n#IRQBALANCE_BANNED_CPULIST=\n\n"
    "IRQBALANCE_ARGS=--deepestcache=2\n"
)
LINE = "IRQBALANCE_BANNED_CPULIST=4-7\n"


class Described(DescribedFiles):
    """A daemon that reads its file when it starts, and knows what it read then."""

    knows: str = ""

    def __init__(self, content: str | None, *, runs: bool = True) -> None:
        super().__init__({} if content is None else {FILE: content})
        if runs:
            self._start()

    def _start(self) -> None:
        self.files[PROCESSES[0]] = "812\n"
        self.knows = self.files.get(FILE, "")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Described) and self._seen() == other._seen()

    __hash__ = None

    def _seen(self) -> tuple[str, dict[str, str]]:
        """A kill may leave the file that is written beside, under a name that nothing reads."""
        kept = {p: c for p, c in self.files.items() if not p.endswith(".wirespeed")}
        return self.knows, kept

    def run(self, command: Command) -> Answer:
        match command.argv:
            case ("systemctl", "stop", "irqbalance.service"):
                self.files.pop(PROCESSES[0], None)
                self.knows = ""
                return Answer()
            case ("systemctl", "start", "irqbalance.service"):
                self._start()
                return Answer()
        return super().run(command)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (SHIPPED, SHIPPED + LINE),
        ("IRQBALANCE_BANNED_CPULIST=0\nA=b\n", LINE + "A=b\n"),
        (None, LINE),
        ("IRQBALANCE_BANNED_CPUS=3\nA=b\n", "IRQBALANCE_BANNED_CPUS=f0\nA=b\n" + LINE),
        ("IRQBALANCE_BANNED_CPUS=\n", "IRQBALANCE_BANNED_CPUS=\n" + LINE),
    ],
)
def test_the_line_alone_is_changed_and_the_daemon_knows(before: str | None, after: str):
    prove(STEP, Described(before), Described(after))


def test_one_that_does_not_run_is_not_started():
    prove(STEP, Described(SHIPPED, runs=False), Described(SHIPPED + LINE, runs=False))
    commands = plan_on(STEP, Described(SHIPPED, runs=False)).steps[0].commands
    assert not [c for c in commands if c.argv[0] == "systemctl"]


def test_a_reboot_leaves_its_file_as_it_is():
    """So undo leaves alone what others wrote into it, also after a boot."""
    assert STEP.outlives_boot


def test_red_hats_file():
    step = STEP.model_copy(update={"path": "/etc/sysconfig/irqbalance"})
    assert "/etc/sysconfig/irqbalance" in step.read().argv


def test_it_is_never_guessed():
    is_never_guessed(STEP)


@pytest.mark.parametrize("cpus", ["", "x", "4-", "-1"])
def test_no_such_step(cpus: str):
    with pytest.raises(ValidationError):
        IrqbalanceBanned(cpus=cpus)
