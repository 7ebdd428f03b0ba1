import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.host.local import LocalRunner
from wirespeed.host.process import MAX_LINE_BYTES, TAIL_BYTES, Child
from wirespeed.model.error import InputError, MeasurementError


def shell(script: str, **options: object) -> Child:
    return Child(["sh", "-c", script], role="dut", **options)  # type: ignore[arg-type]


def is_gone(pid: int, timeout_s: float = 5.0) -> bool:
    deadline = Deadline(timeout_s)
    while Path(f"/proc/{pid}").exists():
        if "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text():
            return True  # Killed; whoever inherited it has not reaped it yet.
        if deadline.expired:
            return False
        sleep_s(0.01)
    return True


def open_fds() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_lines_go_there_and_back():
    with Child(["cat"], role="dut") as child:
        child.write_line("one")
        child.write_line("two")
        assert [child.read_line(5), child.read_line(5)] == ["one", "two"]


def test_a_program_that_is_not_there_is_bad_input():
    with pytest.raises(InputError) as error:
        Child(["no-such-program"], role="dut")
    assert error.value.what == "command.missing"
    assert error.value.where == "no-such-program"


def test_silence_ends_with_a_verdict():
    with Child(["cat"], role="tester") as child:
        with pytest.raises(MeasurementError) as error:
            child.read_line(0.1)
        assert error.value.what == "tester.silent"


def test_read_until_says_what_it_waited_for():
    with shell("echo a; echo b; sleep 60") as child:
        with pytest.raises(MeasurementError) as error:
            child.read_until(re.compile("never"), 0.3)
        assert error.value.what == "dut.silent"
        assert "'never' within 0.3 s" in error.value.found


def test_a_child_that_dies_is_noticed_with_its_last_words():
    with shell("echo working; echo 'out of cheese' >&2; exit 7") as child:
        assert child.read_line(5) == "working"
        with pytest.raises(MeasurementError) as error:
            child.read_line(5)
        assert error.value.what == "dut.died"
        assert "exit code 7" in error.value.found
        assert "out of cheese" in error.value.found
        assert not child.alive()


def test_a_child_that_was_killed_is_noticed_by_name_of_the_signal():
    with Child(["cat"], role="dut") as child:
        os.kill(child.pid, signal.SIGSEGV)
        with pytest.raises(MeasurementError) as error:
            child.read_line(5)
        assert "SIGSEGV" in error.value.found


def test_writing_to_a_dead_child_is_its_death_not_a_broken_pipe():
    with shell("exit 3") as child:
        with pytest.raises(MeasurementError) as error:
            for _ in range(100):
                child.write_line("hello")
                sleep_s(0.02)
        assert error.value.what == "dut.died"


def test_writing_to_a_child_that_does_not_read_ends_with_a_verdict():
    with Child(["sleep", "60"], role="dut") as child:
        with pytest.raises(MeasurementError) as error:
            child.write_line("x" * 200_000, timeout_s=0.2)
        assert error.value.what == "dut.deaf"


def test_a_talkative_standard_error_neither_blocks_the_child_nor_fills_our_memory():
    script = "head -c 3000000 /dev/zero | tr '\\0' x >&2; echo last >&2; echo done"
    with shell(script) as child:
        assert child.read_line(20) == "done"
    tail = child.errors_tail()
    assert tail.endswith("xlast")
    assert len(tail) <= TAIL_BYTES


def test_a_line_without_end_is_rubbish():
    with shell(f"head -c {2 * MAX_LINE_BYTES} /dev/zero; sleep 60") as child:
        with pytest.raises(MeasurementError) as error:
            child.read_line(20)
        assert error.value.what == "dut.rubbish"


def test_close_asks_politely_first():
    with shell('read line; echo "$line" >&2; exit 0', quit_line="quit") as child:
        child.close()
        assert child.errors_tail() == "quit"


def test_close_of_a_child_that_ignores_everything_kills_it():
    child = shell("trap '' TERM; echo ready; while :; do sleep 1; done", quit_line="quit")
    assert child.read_line(5) == "ready"
    child.close(quit_s=0.1, term_s=0.1)
    assert is_gone(child.pid)


def test_close_also_ends_what_the_child_started():
    with shell("sleep 60 & echo $!; wait") as child:
        grandchild = int(child.read_line(5))
    assert is_gone(grandchild)


def test_close_also_ends_what_a_dead_child_started():
    child = shell("sleep 60 & echo $!; exit 1")
    grandchild = int(child.read_line(5))
    while child.alive():
        sleep_s(0.01)
    child.close()
    assert is_gone(grandchild)


def test_close_twice_is_a_no_op_and_no_descriptor_stays_open():
    Child(["true"], role="dut").close()
    before = open_fds()
    for _ in range(5):
        child = Child(["cat"], role="dut")
        child.write_line("x")
        child.close()
        child.close()
    assert open_fds() == before


def test_a_child_dies_with_us_when_we_are_killed():
    script = (
        "from wirespeed.host.process import Child\n"
        "c = Child(['sleep', '600'], role='dut')\n"
        "print(c.pid, flush=True)\n"
        "import time; time.sleep(600)\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert parent.stdout
    with parent.stdout:
        child_pid = int(parent.stdout.readline())
        # It is sleep(1), not setpriv any more, when it is in place.
        while "sleep" not in Path(f"/proc/{child_pid}/comm").read_text():
            sleep_s(0.01)
        parent.kill()
        parent.wait()
    assert is_gone(child_pid)


def test_a_child_does_not_get_our_ctrl_c():
    with Child(["cat"], role="dut") as child:
        assert os.getpgid(child.pid) == child.pid != os.getpgid(0)


def test_run_gives_output_errors_and_return_code():
    done = LocalRunner().run(["sh", "-c", "echo out; echo err >&2; exit 3"])
    assert (done.output, done.errors, done.returncode) == ("out\n", "err\n", 3)
    assert done.duration_s > 0


def test_run_that_takes_too_long_is_killed_and_said():
    with pytest.raises(MeasurementError) as error:
        LocalRunner().run(["sleep", "60"], timeout_s=0.1)
    assert error.value.what == "command.timeout"
    assert error.value.where == "sleep 60"


def test_run_never_passes_its_arguments_through_a_shell():
    assert LocalRunner().run(["echo", "$(id); *"]).output == "$(id); *\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_what_is_put_first_and_its_threads_come_before_others():
    late = "import threading as t, time; input(); t.Thread(target=time.sleep, args=(60,)).start()"
    with Child([sys.executable, "-c", late + "; print('on')"], role="dut") as child:
        assert child.put_first() == "nice -20"
        child.write_line("")
        assert child.read_line(10) == "on"
        tasks = [int(task.name) for task in Path(f"/proc/{child.pid}/task").iterdir()]
        assert [os.getpriority(os.PRIO_PROCESS, tid) for tid in tasks] == [-20, -20]


def test_who_may_not_be_put_first_stays_as_it_is(monkeypatch: pytest.MonkeyPatch):
    def refused(*_: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "setpriority", refused)
    with Child(["cat"], role="dut") as child:
        assert child.put_first() == f"nice {os.getpriority(os.PRIO_PROCESS, 0)}"
