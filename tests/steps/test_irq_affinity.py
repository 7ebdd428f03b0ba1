"""Cores of interrupts."""

import pytest
from described_cpus import DescribedCpus
from proof import DescribedControl, plan_on, prove
from pydantic import ValidationError
from samples import is_never_guessed, reason_of, section_of

from wirespeed.steps.irq_affinity import IrqAffinity

STEP = IrqAffinity(pci_address="0000:3b:00.0", cpus={124: "0", 125: "1", 126: "3,2"})


def path(number: int) -> str:
    return f"/proc/irq/{number}/smp_affinity_list"


def host(*lists: str, offline: frozenset[int] = frozenset()) -> DescribedCpus:
    files = {path(124 + n): f"{text}\n" for n, text in enumerate(lists)}
    return DescribedCpus(files, offline=offline)


def test_each_has_its_cores_and_back():
    prove(STEP, host("0-63", "0-31,48", "0-63"), host("0", "1", "2-3"))


def test_a_list_with_offline_cores_comes_back_whole():
    offline = frozenset({2, 63})
    prove(STEP, host("0-63", "1", "2-3", offline=offline), host("0", "1", "2-3", offline=offline))


def test_only_what_differs_is_written():
    planned = plan_on(STEP, host("0", "7", "2-3")).steps[0]
    assert [command.line() for command in planned.commands] == [f"echo 1 | tee {path(125)}"]
    assert [command.line() for command in planned.undo] == [f"echo 7 | tee {path(125)}"]


def test_thousands_of_interrupts():
    many = IrqAffinity(pci_address="0000:3b:00.0", cpus={n: str(n % 64) for n in range(30, 1054)})
    start = DescribedCpus({path(n): "0-63\n" for n in range(30, 1054)})
    planned = plan_on(many, start).steps[0]
    assert len(planned.commands) == 1024


@pytest.mark.parametrize(
    ("described", "said"),
    [
        (host("0-63", "0", "2-3", offline=frozenset({1})), "Invalid argument"),
        (DescribedCpus({path(125): "0\n"}, managed=frozenset({path(125)})), "Input/output error"),
    ],
)
def test_what_the_kernel_refuses(described: DescribedCpus, said: str):
    one = IrqAffinity(pci_address="0000:3b:00.0", cpus={125: "1"})
    changed = DescribedControl(described).change(one, one.change({"125": "0"}, {"125": "1"}))
    assert said in changed.failed


def test_it_is_never_guessed():
    is_never_guessed(STEP)
    denied = section_of("", f"grep: {path(125)}: Permission denied\n", 2)
    assert "enied" in reason_of(IrqAffinity(pci_address="0000:3b:00.0", cpus={125: "0"}), denied)
    answer = host("0", "1").run(STEP.read())
    gone = reason_of(STEP, section_of(answer.output, answer.errors, answer.returncode))
    assert gone == "interrupt 126: not there"
    one = IrqAffinity(pci_address="0000:3b:00.0", cpus={125: "1"})
    for text in ("", "0-", "all", "1,,2"):
        reason_of(one, section_of(f"{path(125)}:{text}\n"))


@pytest.mark.parametrize("cpus", [{}, {1: ""}, {-1: "0"}, {1: "1-x"}])
def test_no_such_step(cpus: dict[int, str]):
    with pytest.raises(ValidationError):
        IrqAffinity(pci_address="0000:3b:00.0", cpus=cpus)
