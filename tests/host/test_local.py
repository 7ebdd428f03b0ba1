import pytest

from wirespeed.host.clock import monotonic_s
from wirespeed.host.local import LocalRunner
from wirespeed.model.error import MeasurementError


def test_a_script_on_the_standard_input_is_run_and_its_two_outputs_stay_apart():
    done = LocalRunner().run(["sh", "-s"], stdin="echo out; echo err >&2; exit 3\n")
    assert (done.output, done.errors, done.returncode) == ("out\n", "err\n", 3)
    assert not done.cut


def test_more_input_than_a_pipe_holds_comes_back_whole():
    text = "0123456789" * 300_000
    assert LocalRunner().run(["cat"], stdin=text).output == text


def test_input_that_nobody_reads_is_no_error():
    assert LocalRunner().run(["true"], stdin="x" * 1_000_000).returncode == 0


def test_output_without_end_is_cut_at_the_limit():
    done = LocalRunner().run(["yes"], max_bytes=1_000_000, timeout_s=30)
    assert done.cut
    assert len(done.output) == 1_000_000


def test_errors_without_end_are_cut_too():
    done = LocalRunner().run(["sh", "-c", "yes >&2"], max_bytes=1_000_000, timeout_s=30)
    assert done.cut
    assert len(done.errors) == 1_000_000


def test_a_command_that_closes_its_output_and_stays_is_ended_in_time():
    started = monotonic_s()
    with pytest.raises(MeasurementError) as error:
        LocalRunner().run(["sh", "-c", "exec >&- 2>&-; sleep 60"], timeout_s=0.2)
    assert error.value.what == "command.timeout"
    assert monotonic_s() - started < 10
