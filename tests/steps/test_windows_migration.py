"""By which transport Hyper-V moves guests."""

import pytest
from described_windows import DescribedWindows
from proof import DescribedControl, plan_on, prove
from pydantic import ValidationError
from samples import is_never_guessed

from wirespeed.model.finding import Danger
from wirespeed.model.observed import Unreadable
from wirespeed.platforms.windows.steps.windows_migration import WindowsMigration

STEP = WindowsMigration(option="SMB")
# learn.microsoft.com, Msvm_VirtualSystemMigrationServiceSettingData: the default is compression.
DEFAULT = {"EnableCompression": True, "EnableSmbTransport": False}
SMB = {"EnableCompression": False, "EnableSmbTransport": True}
TCP = {"EnableCompression": False, "EnableSmbTransport": False}


def host(migration: dict[str, bool] | None) -> DescribedWindows:
    return DescribedWindows(migration=migration)


@pytest.mark.parametrize("before", [DEFAULT, TCP], ids=["compression", "tcp"])
def test_by_smb_and_back_to_what_it_was(before: dict[str, bool]):
    prove(STEP, host(before), host(SMB))


def test_away_from_smb_and_back():
    prove(WindowsMigration(option="TCPIP"), host(SMB), host(TCP))


def test_the_commands():
    one = plan_on(STEP, host(DEFAULT)).steps[0]
    assert [c.line() for c in one.commands] == [
        "Set-VMHost -VirtualMachineMigrationPerformanceOption 'SMB'"
    ]
    assert [c.line() for c in one.undo] == [
        "Set-VMHost -VirtualMachineMigrationPerformanceOption 'Compression'"
    ]
    assert one.danger is Danger.NONE


def test_compression_is_what_counts_where_both_are_set():
    one = plan_on(STEP, host({"EnableCompression": True, "EnableSmbTransport": True})).steps[0]
    assert one.before == {"option": "Compression"}


def test_without_hyper_v_it_is_refused_in_the_words_of_windows():
    (found,) = DescribedControl(host(None)).read([STEP])
    assert isinstance(found, Unreadable) and "Invalid namespace" in found.reason


def test_nothing_is_guessed():
    is_never_guessed(STEP)


def test_an_option_that_hyper_v_has_not_is_refused():
    with pytest.raises(ValidationError):
        WindowsMigration.model_validate({"option": "RDMA"})
