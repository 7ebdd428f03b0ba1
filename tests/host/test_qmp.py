import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from wirespeed.host.qmp import Qmp
from wirespeed.model.error import MeasurementError

GREETING = {"QMP": {"version": {}, "capabilities": []}}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "qmp"


@pytest.fixture
def answers() -> list[bytes]:
    """What the other end says, to the greeting, the capabilities and each command in turn."""
    return [line({"return": {}})]


@pytest.fixture(autouse=True)
def _qemu(path: Path, answers: list[bytes]) -> Iterator[None]:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(path))
    listener.listen()
    listener.settimeout(5)

    def serve() -> None:
        connection, _ = listener.accept()
        with connection, connection.makefile("rb") as said:
            connection.settimeout(5)
            connection.sendall(line(GREETING))
            for request in said:
                if not answers:
                    return
                assert "execute" in json.loads(request)
                connection.sendall(answers.pop(0))

    def serve_quietly() -> None:
        with contextlib.suppress(OSError):
            serve()

    thread = threading.Thread(target=serve_quietly, daemon=True)
    thread.start()
    yield
    with contextlib.suppress(OSError):
        listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join(5)


def line(message: object) -> bytes:
    return json.dumps(message).encode() + b"\n"


def test_an_event_is_not_taken_for_the_answer(path: Path, answers: list[bytes]):
    answers.append(line({"event": "RESET"}) + line({"return": "done"}))
    with Qmp(path) as qmp:
        assert qmp.execute("set_link", name="card0", up=False) == "done"


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (line({"error": {"class": "GenericError", "desc": "no such card"}}), "no such card"),
        (b"rubbish\n", "not JSON"),
        (b"[]\n", "no object"),
        (b"half", "no answer within"),
        (b"x" * (1 << 21), "a line of more than"),
    ],
)
def test_what_is_no_answer_is_an_error_that_says_so(
    path: Path, answers: list[bytes], answer: bytes, found: str
):
    answers.append(answer)
    with Qmp(path, timeout_s=1.0) as qmp, pytest.raises(MeasurementError) as raised:
        qmp.execute("query-status")
    assert raised.value.what == "qmp.failed"
    assert found in raised.value.found or "timed out" in raised.value.found


def test_a_socket_that_nobody_serves_is_an_error(tmp_path: Path):
    with pytest.raises(MeasurementError, match=r"qmp\.failed"):
        Qmp(tmp_path / "none")
