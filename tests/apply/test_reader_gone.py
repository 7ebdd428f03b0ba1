"""A change comes to its end though nobody reads: no reader, a closed stream, a full disk."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from rebooting_host import write_spec

from wirespeed.runs import fleet_host
from wirespeed.runs.fleet_host import HostJob, apply_host
from wirespeed.terminal import echo

PATHS = ":".join([str(Path(__file__).parent), *filter(None, sys.path)])
APPLY = """
import os
import sys
import pytest
from described_host import Put
from rebooting_host import RebootingHost, use_hosts
from wirespeed import cli
from wirespeed.approaches.traits import RequestedStep

READER, WHEN = int(sys.argv.pop()), sys.argv.pop()

class Host(RebootingHost):
    def change(self, *how):
        if WHEN == "at the first change" and not self.ran:
            os.close(READER)
        return super().change(*how)

if WHEN == "at once":
    os.close(READER)
host = Host({"one": 1, "two": 2})
wanted = [RequestedStep(Put(key=key, value=value)) for key, value in (("one", 10), ("two", 20))]
use_hosts(pytest.MonkeyPatch(), {"alpha": host}, wanted)
try:
    cli.main()
finally:
    print(host.values, file=sys.stderr)
"""


@pytest.mark.parametrize("when", ["at once", "at the first change"])
def test_a_reader_that_goes_away_ends_no_change_halfway(tmp_path: Path, when: str):
    write_spec(tmp_path / "spec.yaml", "alpha")
    reader, writer = os.pipe()
    done = subprocess.Popen(
        [sys.executable, "-c", APPLY, "apply", "spec.yaml", "--yes", when, str(reader)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": PATHS, "XDG_STATE_HOME": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        stdout=writer,
        stderr=subprocess.PIPE,
        pass_fds=[reader],
        text=True,
    )
    os.close(writer)
    os.close(reader)
    _, errors = done.communicate(timeout=60)
    assert errors == "{'one': 10, 'two': 20}\n"
    assert done.returncode == 0


@pytest.mark.parametrize("streams", [("stdout",), ("stderr",), ("stdout", "stderr")])
def test_a_full_disk_of_what_is_printed_ends_no_change_halfway(
    tmp_path: Path, streams: tuple[str, ...]
):
    write_spec(tmp_path / "spec.yaml", "alpha")
    reader, writer = os.pipe()
    with Path("/dev/full").open("w") as full, (tmp_path / "values").open("w") as values:
        code = APPLY.replace("file=sys.stderr", f"file=open({values.fileno()}, 'w')")
        done = subprocess.run(
            [sys.executable, "-c", code, "apply", "spec.yaml", "--yes", "never", str(reader)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": PATHS, "XDG_STATE_HOME": str(tmp_path)},
            stdin=subprocess.DEVNULL,
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | dict.fromkeys(streams, full),
            pass_fds=[reader, values.fileno()],
            text=True,
            timeout=60,
            check=False,
        )  # type: ignore[call-overload]
    os.close(writer)
    os.close(reader)
    assert (tmp_path / "values").read_text() == "{'one': 10, 'two': 20}\n"
    assert done.returncode == 0
    if streams == ("stdout",):
        assert done.stderr == (
            "standard output: [Errno 28] No space left on device: what was to be printed is lost "
            "from there on; the command goes on, and its exit code is that of the hosts\n"
        )
    elif streams == ("stderr",):
        assert "verified      put two on alpha" in done.stdout


def test_a_full_disk_of_a_fleet_s_log_ends_no_change_halfway(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def apply(_: HostJob) -> bool:
        echo("a step is done")
        done.append("the next")
        return True

    done: list[str] = []
    (tmp_path / "log").symlink_to("/dev/full")
    monkeypatch.setattr(fleet_host, "_apply", apply)
    result = apply_host(HostJob("h1", tmp_path, 60, 60))
    assert (result.what, done) == ("", ["the next"])


@pytest.mark.parametrize("command", [["--help"], ["status"], ["capture", "here"]])
def test_what_only_prints_says_that_its_disk_is_full(tmp_path: Path, command: list[str]):
    code = "from wirespeed import cli; cli.main()"
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", code, *command],
            env={**os.environ, "PYTHONPATH": PATHS, "XDG_STATE_HOME": str(tmp_path)},
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 2
    assert "ERROR output.unwritable standard output\n" in done.stderr
    assert "No space left on device" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("closed", "said"),
    [("<&-", "said\n"), (">&-", ""), ("2>&-", "said\n"), ("<&- >&- 2>&-", "")],
)
def test_a_closed_stream_is_the_null_device(tmp_path: Path, closed: str, said: str):
    code = (
        "import os, sys; from wirespeed.terminal import echo, open_closed_streams\n"
        "open_closed_streams(); echo('said'); echo('said', err=True); sys.stdin.read()\n"
        f"open({str(tmp_path / 'fd')!r}, 'w').write(str(os.open('/', os.O_RDONLY)))"
    )
    done = subprocess.run(
        ["/bin/sh", "-c", f'exec "$0" -c "$1" {closed}', sys.executable, code],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": PATHS},
    )
    assert (done.returncode, done.stdout) == (0, said), done.stderr
    assert int((tmp_path / "fd").read_text()) > 2, "what is opened next is no standard stream"
