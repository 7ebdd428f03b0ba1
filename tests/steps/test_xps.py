"""Cores of transmit queues."""

import pytest
from described_cpus import DescribedCpus
from described_files import DescribedFiles
from proof import DescribedControl, plan_on, prove
from pydantic import ValidationError
from samples import is_never_guessed, reason_of, section_of, state_of

from wirespeed.steps.xps import Xps

STEP = Xps(netdev="eth0", cpus={0: "0", 1: "1", 2: "63,32-33"})


def path(queue: int) -> str:
    return f"/sys/class/net/eth0/queues/tx-{queue}/xps_cpus"


def host(*masks: str, cpus: int = 64, offline: frozenset[int] = frozenset()) -> DescribedCpus:
    files = {path(queue): f"{mask}\n" for queue, mask in enumerate(masks)}
    return DescribedCpus(files, cpus=cpus, offline=offline)


def test_each_queue_has_its_cores_and_none_again():
    prove(
        STEP,
        host("00000000,00000000", "00000000,00000000", "00000000,00000000"),
        host("00000000,00000001", "00000000,00000002", "80000003,00000000"),
    )


def test_other_masks_come_back():
    prove(
        Xps(netdev="eth0", cpus={1: ""}),
        host("00000000,0000ffff", "ffffffff,80000000"),
        host("00000000,0000ffff", "00000000,00000000"),
    )


def test_few_cores_have_a_short_mask():
    prove(Xps(netdev="eth0", cpus={0: "0-3"}), host("0", cpus=4), host("f", cpus=4))


def test_the_commands():
    planned = plan_on(STEP, host("00000000,00000001", "0", "f0000000,00000001")).steps[0]
    assert [command.line() for command in planned.commands] == [
        f"echo 2 | tee {path(1)}",
        f"echo 80000003,00000000 | tee {path(2)}",
    ]
    assert [command.line() for command in planned.undo] == [
        f"echo 0 | tee {path(1)}",
        f"echo f0000000,00000001 | tee {path(2)}",
    ]


def test_groups_between_are_written_out():
    zero = "00000000,00000000,00000000"
    step = Xps(netdev="eth0", cpus={0: "0,95", 1: "32"})
    goal = host("80000000,00000000,00000001", "00000000,00000001,00000000", cpus=96)
    prove(step, host(zero, zero, cpus=96), goal)


def test_a_core_that_is_offline_contradicts_it():
    few = host("0", cpus=4, offline=frozenset({3}))
    step = Xps(netdev="eth0", cpus={0: "2-3"})
    control = DescribedControl(few)
    control.change(step, step.change({"tx-0": ""}, {"tx-0": "2-3"}))
    assert state_of(step, section_of(few.run(step.read()).output)) == {"tx-0": "2"}


def test_a_core_that_is_not_there_is_refused():
    step = Xps(netdev="eth0", cpus={0: "64"})
    changed = DescribedControl(host("0")).change(step, step.change({"tx-0": ""}, {"tx-0": "64"}))
    assert "too large" in changed.failed


def test_it_is_never_guessed():
    is_never_guessed(STEP)
    denied = section_of("", f"grep: {path(2)}: Permission denied\n", 2)
    assert "enied" in reason_of(Xps(netdev="eth0", cpus={2: "0"}), denied)
    # One queue of three has no file: as of a netdev with one queue.
    answer = host("0", "0").run(STEP.read())
    reason = reason_of(STEP, section_of(answer.output, answer.errors, answer.returncode))
    assert reason == "tx-2: not there"
    none = DescribedFiles({}).run(STEP.read())
    reason_of(STEP, section_of(none.output, none.errors, none.returncode))
    one = Xps(netdev="eth0", cpus={0: "0"})
    for mask in ("fg", "", "-1", "f" * 99999):
        reason_of(one, section_of(f"{path(0)}:{mask}\n"))


@pytest.mark.parametrize("cpus", [{}, {-1: "0"}, {0: "3-"}, {0: "a"}, {0: "99999999"}, {0: "0;1"}])
def test_no_such_step(cpus: dict[int, str]):
    with pytest.raises(ValidationError):
        Xps(netdev="eth0", cpus=cpus)
