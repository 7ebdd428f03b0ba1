"""The collector for Windows: what it is made of; the grammar of PowerShell holds for all of it."""

from wirespeed.doctor.collector_windows import windows_collector_script
from wirespeed.doctor.discover import facts
from wirespeed.model.capture import MAGIC
from wirespeed.model.fact import WindowsFact


def test_it_prints_the_lines_that_a_capture_has():
    script = windows_collector_script()
    assert f'Write("{MAGIC}1 $mark`n")' in script
    for line in ("$mark begin $Name -`n", "`n$mark errors`n", "`n$mark end $code`n", "$mark done"):
        assert line in script


def test_every_windows_fact_is_in_it_once_and_in_no_posix_script():
    script = windows_collector_script()
    for fact in facts():
        if issubclass(fact, WindowsFact):
            assert script.count(fact.powershell) == 1
            assert not fact.script
