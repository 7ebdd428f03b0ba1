"""On which cores an adapter of Windows receives."""

import pytest
from described_windows import Adapter, DescribedWindows
from proof import plan_on, prove
from pydantic import ValidationError
from samples import is_never_guessed

from wirespeed.platforms.windows.steps.windows_rss import WindowsRss

CARD = "Mellanox ConnectX-4 Lx Ethernet Adapter #2"
# The document's: 8 queues on 8 physical cores per card, each card on a socket of its own.
STEP = WindowsRss(adapter=CARD, base_processor=16, max_processor=30, max_processors=8, queues=8,
                  numa_node=1)  # fmt: skip


def host(**changed: int | bool) -> DescribedWindows:
    rss: dict[str, int | bool] = {
        "Enabled": True, "BaseProcessorGroup": 0, "BaseProcessorNumber": 0,
        "MaxProcessorGroup": 0, "MaxProcessorNumber": 63, "MaxProcessors": 8,
        "NumberOfReceiveQueues": 8, "NumaNode": 65535,
    }  # fmt: skip
    return DescribedWindows({CARD: Adapter("SLOT 3", rss=rss | changed)})


GOAL = {"BaseProcessorNumber": 16, "MaxProcessorNumber": 30, "NumaNode": 1}


def test_its_own_cores_and_back():
    prove(STEP, host(), host(**GOAL))
    prove(STEP, host(Enabled=False, **GOAL), host(**GOAL))


def test_one_command_sets_all_that_differs():
    planned = plan_on(STEP, host()).steps[0]
    assert [c.line() for c in planned.commands] == [
        f"Set-NetAdapterRss -InterfaceDescription '{CARD}' -BaseProcessorNumber 16 "
        "-MaxProcessorNumber 30 -NumaNode 1"
    ]
    assert [c.line() for c in planned.undo] == [
        f"Set-NetAdapterRss -InterfaceDescription '{CARD}' -BaseProcessorNumber 0 "
        "-MaxProcessorNumber 63 -NumaNode 65535"
    ]


def test_nothing_is_guessed():
    is_never_guessed(STEP)


@pytest.mark.parametrize("wrong", [{}, {"base_processor": 64}, {"queues": 0}])
def test_what_makes_no_sense_is_refused(wrong: dict[str, int]):
    with pytest.raises(ValidationError):
        WindowsRss.model_validate({"adapter": CARD, **wrong})
