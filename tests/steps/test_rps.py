"""Cores of receive queues; `test_xps` has what both share."""

from described_cpus import DescribedCpus
from proof import plan_on, prove
from samples import is_never_guessed

from wirespeed.steps.rps import Rps

OFF = Rps(netdev="eth0", cpus={0: "", 1: ""})


def path(queue: int) -> str:
    return f"/sys/class/net/eth0/queues/rx-{queue}/rps_cpus"


def host(*masks: str) -> DescribedCpus:
    files = {path(queue): f"{mask}\n" for queue, mask in enumerate(masks)}
    return DescribedCpus(files, cpus=8)


def test_off_and_back():
    prove(OFF, host("f0", "ff"), host("00", "00"))


def test_one_queue_is_spread_over_cores_and_back():
    prove(Rps(netdev="eth0", cpus={0: "4-7"}), host("00", "01"), host("f0", "01"))


def test_the_commands():
    planned = plan_on(OFF, host("0f", "00")).steps[0]
    assert [command.argv for command in planned.commands] == [("tee", path(0))]
    assert [command.argv for command in planned.undo] == [("tee", path(0))]
    assert int(planned.undo[0].stdin or "", 16) == 0xF


def test_it_is_never_guessed():
    is_never_guessed(OFF)
