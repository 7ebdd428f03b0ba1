"""What is said to the real binary and what it answers: docs/tester-protocol.md and its schema."""

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from protocol_schema import accepts_request, check_reply
from pydantic import TypeAdapter
from tester_programs import Reply, Tester, trial_fields

from wirespeed.measure.bench import tester_protocol
from wirespeed.model.frame_mix import FrameMix, FrameShare

pytestmark = pytest.mark.dpdk

StartTester = Callable[..., Tester]
ONE_QUEUE: list[Any] = [{"lcore": 1, "tx": [[0, 0]], "rx": [[0, 0]]}]
LINE_BYTES = 65536
NOBODY = f"role=server,socket=wirespeed-{os.getpid()},socket-abstract=yes"
"""A memif that nobody connects to."""


def is_error(reply: Reply, what: str, where: str | None = None) -> bool:
    """Whether it is that error, and tells all that an error must."""
    said = all(reply.get(key) for key in ("what", "where", "found", "next"))
    return (
        said
        and (reply["event"], reply["what"]) == ("error", what)
        and (where is None or reply["where"] == where)
    )


def test_a_session_from_hello_to_bye(tester: Tester):
    hello = tester.ask("hello")
    assert hello["dpdk"].startswith("DPDK ")
    assert hello["hugepages"] is False
    opened = tester.open("net_ring0")
    (port,) = opened["ports"]
    assert (port["device"], port["driver"], port["link_up"]) == ("net_ring0", "net_ring", True)
    assert port["hardware_stamps"] is False
    result = tester.trial(flows=100)
    assert result["event"] == "result"
    assert result["latency"]["source"] == "software"
    assert result["tester"]["pingpong_cycles_before"] == []
    counters = tester.ask("counters")
    assert counters["ports"][0]["opackets"] >= result["counters"][0]["opackets"] == 2000
    assert tester.ask("quit")["event"] == "bye"
    assert tester.line() is None
    assert tester.wait() == 0


def test_a_trial_tells_its_progress_each_second(tester: Tester):
    tester.open("net_ring0")
    id_ = tester.tell("trial", **trial_fields(seconds=30, load={"pps": 10_000}))
    progress = [tester.reply(), tester.reply()]
    assert [p["event"] for p in progress] == ["progress"] * 2
    first, second = (p["seconds"] for p in progress)
    assert 1 <= first < 1.9
    assert second >= first + 1
    assert 0 < progress[0]["offered_frames"] < progress[1]["offered_frames"] < 300_000
    assert progress[0]["received_frames"] <= progress[0]["offered_frames"]
    tester.tell("stop")
    result = tester.result()
    assert (result["event"], result["id"]) == ("result", id_)


def test_stop_ends_a_trial_early_and_it_accounts_for_the_rest(tester: Tester):
    tester.open("net_ring0")
    trial = tester.tell("trial", **trial_fields(seconds=60, load={"pps": 10_000}))
    time.sleep(0.3)
    tester.tell("stop")
    result = tester.reply()
    assert (result["event"], result["id"]) == ("result", trial)
    assert result["valid"] is False
    assert any(r.startswith("trial.stopped: ") for r in result["invalid_reasons"])
    (stream,) = result["streams"]
    assert 0 < stream["offered_frames"] < 20_000
    assert stream["intended_frames"] == 600_000
    assert stream["offered_frames"] + stream["unsent_late_frames"] == 600_000
    assert stream["in_order_frames"] == stream["offered_frames"]
    assert tester.trial(number=2)["streams"][0]["in_order_frames"] == 2000


def test_other_requests_during_a_trial_are_told_to_wait(tester: Tester):
    tester.open("net_ring0")
    trial = tester.tell("trial", **trial_fields(seconds=0.5))
    time.sleep(0.1)
    busy = [tester.tell(op) for op in ("hello", "counters")] + [
        tester.tell("trial", **trial_fields())
    ]
    for id_ in busy:
        reply = tester.reply()
        assert reply["id"] == id_
        assert is_error(reply, "tester.busy")
    tester.send("rubbish")
    assert is_error(tester.reply(), "request.not_json")
    result = tester.result()
    assert (result["event"], result["id"]) == ("result", trial)
    assert result["streams"][0]["in_order_frames"] == 50_000


@pytest.mark.parametrize("how", ["quit", "end of input", "SIGTERM", "SIGINT"])
def test_a_trial_that_is_cut_off_still_gives_its_result(tester: Tester, how: str):
    tester.open("net_ring0")
    tester.tell("trial", **trial_fields(seconds=60))
    time.sleep(0.2)
    if how == "quit":
        tester.tell("quit")
    elif how == "end of input":
        tester.end_input()
    else:
        tester.signal(signal.Signals[how])
    result = tester.reply(5)
    assert result["event"] == "result"
    assert result["valid"] is False
    if how == "quit":
        assert tester.reply()["event"] == "bye"
    assert tester.line() is None
    assert tester.wait() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_idle_tester_ends_at_a_signal(tester: Tester, number: signal.Signals):
    tester.ask("hello")
    tester.signal(number)
    assert tester.line(5) is None
    assert tester.wait() == 0


def test_a_socket_whose_other_end_died_does_not_end_the_tester(tester: Tester):
    tester.ask("hello")
    tester.signal(signal.SIGPIPE)
    assert tester.ask("hello")["event"] == "hello"


def test_a_port_can_be_opened_again_and_another_instead(tester: Tester):
    for device in ("net_ring0", "net_ring0", "net_null0,no-rx=1", "net_ring0"):
        opened = tester.open(device)
        assert opened["event"] == "opened", opened
        assert [p["device"] for p in opened["ports"]] == [device]
    assert tester.trial()["streams"][0]["in_order_frames"] == 2000


def test_after_a_failed_open_no_port_is_open_and_the_next_open_works(tester: Tester):
    tester.open("net_ring0")
    assert is_error(tester.open("net_ring1", "net_no_such0"), "port.cannot_open", "net_no_such0")
    assert is_error(tester.trial(), "request.invalid", "tester")
    assert tester.open("net_ring0", "net_ring1")["event"] == "opened"


def opening(**port: object) -> dict[str, Any]:
    """Fields of an open of one port on lcore 1."""
    return {"ports": [{"device": "net_ring0", **port}], "workers": ONE_QUEUE}


BAD: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "63 bytes": ("trial", {"mix": [{"frame_bytes": 63}]}, "request.invalid", "frame_bytes"),
    "9601 bytes": ("trial", {"mix": [{"frame_bytes": 9601}]}, "request.invalid", "frame_bytes"),
    "more than opened for": (
        "trial",
        {"mix": [{"frame_bytes": 1519}]},
        "request.invalid",
        "frame_bytes",
    ),
    "load 0": ("trial", {"load": {"pps": 0}}, "request.invalid", "pps"),
    "0 flows": ("trial", {"flows": 0}, "request.invalid", "flows"),
    "0 seconds": ("trial", {"seconds": 0}, "request.invalid", "seconds"),
    "no such port": (
        "trial",
        {"streams": [{"tx_port": 0, "rx_port": 1}]},
        "request.invalid",
        "streams",
    ),
    "two streams from a port": (
        "trial",
        {"streams": [{"tx_port": 0, "rx_port": 0}] * 2},
        "request.invalid",
        "streams",
    ),
    "unknown key": ("trial", {"frames": 64}, "request.invalid", "trial"),
    "no such device": ("open", opening(device="net_no_such0"), "port.cannot_open", "net_no_such0"),
    "no such card": ("open", opening(device="0000:99:00.0"), "port.cannot_open", "0000:99:00.0"),
    "no such folder": (
        "open",
        opening(device="net_virtio_user0,path=/nowhere/wire,server=1"),
        "port.cannot_open",
        "net_virtio_user0,path=/nowhere/wire,server=1",
    ),
    "a device twice": (
        "open",
        {"ports": [{"device": "net_ring0"}] * 2, "workers": ONE_QUEUE},
        "request.invalid",
        "device",
    ),
    "a port without an lcore": (
        "open",
        {"ports": [{"device": "net_ring0"}, {"device": "net_ring1"}], "workers": ONE_QUEUE},
        "request.invalid",
        "workers",
    ),
    "the main lcore": (
        "open",
        opening() | {"workers": [{**ONE_QUEUE[0], "lcore": 0}]},
        "request.invalid",
        "workers",
    ),
    "no such lcore": (
        "open",
        opening() | {"workers": [{**ONE_QUEUE[0], "lcore": 9}]},
        "request.invalid",
        "workers",
    ),
    "an lcore twice": (
        "open",
        opening() | {"workers": [{"lcore": 1, "tx": [[0, 0]]}, {"lcore": 1, "rx": [[0, 0]]}]},
        "request.invalid",
        "workers",
    ),
    "no link": (
        "open",
        opening(device=f"net_memif0,{NOBODY}") | {"link_wait_ms": 20},
        "port.link_down",
        f"net_memif0,{NOBODY}",
    ),
    "stop without a trial": ("stop", {}, "tester.idle", "tester"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_with_what_where_found_and_next(tester: Tester, name: str):
    op, fields, what, where = BAD[name]
    assert tester.open("net_ring0")["event"] == "opened"
    reply = tester.ask(op, **(trial_fields(**fields) if op == "trial" else fields))
    assert is_error(reply, what, where), reply
    assert tester.ask("hello")["event"] == "hello"  # and it goes on


def test_a_trial_before_open_is_refused(tester: Tester):
    assert is_error(tester.trial(), "request.invalid", "tester")


def test_a_path_that_nothing_comes_back_on_is_said_before_the_trial(tester: Tester):
    tester.open("net_null0,no-rx=1")
    assert is_error(tester.trial(), "trial.nothing_comes_back", "net_null0,no-rx=1")


def test_fewer_flows_than_queues_are_refused(tester: Tester):
    pairs = [[0, 0], [0, 1]]
    opened = tester.ask(
        "open",
        ports=[{"device": "net_ring0", "tx_queues": 2, "rx_queues": 2}],
        workers=[{"lcore": 1, "tx": pairs, "rx": pairs}],
    )
    assert opened["event"] == "opened", opened
    assert is_error(tester.trial(flows=1), "request.invalid", "flows")


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("", "request.not_json"),
        ("hello", "request.not_json"),
        ('{"v":1,"id":1,"op":"hello"', "request.not_json"),
        ('{"v":1,"v":1,"id":1,"op":"hello"}', "request.not_json"),
        (b"\xff\xfe\x00", "request.not_json"),
        ("[" * 5000, "request.not_json"),
        ("[]", "request.invalid"),
        ("{}", "request.version"),
        ('{"v":2,"id":1,"op":"hello"}', "request.version"),
        ('{"v":1,"op":"hello"}', "request.invalid"),
        ('{"v":1,"id":1}', "request.invalid"),
        ('{"v":1,"id":1,"op":"reboot"}', "request.invalid"),
        ('{"v":1,"id":1,"op":"hello","' + "x" * 59 + "éé" + '":1}', "request.invalid"),
    ],
)
def test_rubbish_is_refused_and_the_next_line_is_heard(
    tester: Tester, line: str | bytes, what: str
):
    tester.send(line)
    assert is_error(tester.reply(), what)
    assert tester.ask("hello")["event"] == "hello"


def test_the_longest_line_is_heard_and_one_byte_more_ends_the_session(tester: Tester):
    hello = '{"v":1,"id":1,"op":"hello"}'
    tester.send(hello.ljust(LINE_BYTES - 1))
    assert tester.reply()["event"] == "hello"
    tester.send(hello.ljust(LINE_BYTES))
    assert is_error(tester.reply(), "request.too_long")
    assert tester.line() is None


def test_an_overlong_line_in_mid_trial_ends_both(tester: Tester):
    tester.open("net_ring0")
    tester.tell("trial", **trial_fields(seconds=60))
    time.sleep(0.1)
    tester.send("x" * (LINE_BYTES + 100))
    assert tester.reply()["event"] == "result"
    assert is_error(tester.reply(), "request.too_long")
    assert tester.line() is None


def test_requests_that_arrive_in_pieces_or_together_are_all_answered(tester: Tester):
    line = b'{"v":1,"id":%d,"op":"hello"}\n'
    assert tester.process.stdin
    for byte in line % 1:
        tester.process.stdin.write(bytes([byte]))
    tester.process.stdin.write(b"".join(line % i for i in range(2, 200)))
    assert [tester.reply()["id"] for _ in range(199)] == list(range(1, 200))


def test_too_little_memory_is_said(start_tester: StartTester):
    tester = start_tester(memory_mib=8)
    assert is_error(tester.open("net_ring0"), "port.no_memory", "net_ring0")
    assert tester.ask("hello")["event"] == "hello"


def test_an_eal_that_does_not_start_is_said_on_stdout(start_tester: StartTester):
    tester = start_tester(eal=["--lcores=0@4095"])
    reply = tester.reply()
    assert is_error(reply, "tester.eal", "EAL")
    assert "; DPDK says: EAL: " in reply["found"]
    assert tester.wait() == 1


def test_what_dpdk_logs_of_a_port_that_it_cannot_open_is_in_the_answer(start_tester: StartTester):
    """local_dev_probe() in eal_common_dev.c; its errno is that of many causes."""
    tester = start_tester()
    for address in ("0000:99:00.0", "0000:98:00.0"):
        found = tester.open(address)["found"]
        assert "No such device; DPDK says: EAL: Cannot find device" in found
        assert f"({address})" in found
    assert "\n" not in found
    assert tester.open("net_ring0")["event"] == "opened"


def test_a_second_tester_on_one_socket_is_refused(start_tester: StartTester, short_folder: Path):
    """The first waits on its socket for a DUT that never comes; the second must not hang."""
    device = f"net_virtio_user0,path={short_folder}/wire,server=1"
    first = start_tester()
    first.tell("open", **opening(device=device))
    deadline = time.monotonic() + 20
    while not (short_folder / "wire").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    second = start_tester(eal=["--file-prefix=second"])
    assert is_error(second.open(device), "port.cannot_open", device)
    first.signal(signal.SIGKILL)


# Both sides against the schema.

EXAMPLES: list[tuple[str, dict[str, Any], bool]] = [
    ("hello", {}, True),
    ("hello", {"flows": 1}, False),
    ("counters", {}, True),
    ("counters", {"port": 0}, False),
    ("reset", {}, False),
    ("open", opening(), True),
    ("open", opening(peer_mac="02:aa:BB:00:00:01"), True),
    ("open", opening(peer_mac="02-aa-BB-00-00-01"), False),
    ("open", opening(peer_mac="2:0:0:0:0:1"), False),
    ("open", opening(peer_mac=5), False),
    ("open", opening(refused="tester"), True),
    ("open", opening(refused=None), False),
    ("open", opening(hardware_stamps=False), True),
    ("open", opening(hardware_stamps="no"), False),
    ("open", opening(tx_descriptors=256, rx_descriptors=512), True),
    ("open", opening(tx_descriptors=32769), False),
    ("open", opening(tx_queues=0), False),
    ("open", opening(tx_queues=17), False),
    ("open", opening(device=""), False),
    ("open", opening(device="x" * 512), False),
    ("open", opening(mtu=1500), False),
    ("open", opening() | {"frame_bytes_max": 9600}, True),
    ("open", opening() | {"frame_bytes_max": 9601}, False),
    ("open", opening() | {"link_wait_ms": 60_001}, False),
    ("open", opening() | {"ports": []}, False),
    ("open", opening() | {"workers": []}, False),
    ("open", opening() | {"workers": [{"tx": [[0, 0]], "rx": [[0, 0]]}]}, False),
    ("open", opening() | {"workers": [{"lcore": 1, "tx": [[0]], "rx": [[0, 0]]}]}, False),
    ("open", opening() | {"workers": [{"lcore": 1, "tx": [[0, 0, 0]], "rx": [[0, 0]]}]}, False),
    ("open", opening() | {"workers": [{**ONE_QUEUE[0], "tx": [[0, 0], [0, -1]]}]}, False),
    ("trial", trial_fields(), True),
    ("trial", trial_fields(mix=[{"frame_bytes": 64, "weight": 64}]), True),
    ("trial", trial_fields(mix=[{"frame_bytes": 64, "weight": 0}]), False),
    ("trial", trial_fields(mix=[{"frame_bytes": 64, "weight": 65}]), False),
    ("trial", trial_fields(mix=[{"frame_bytes": 63}]), False),
    ("trial", trial_fields(mix=[{"frame_bytes": 64.5}]), False),
    ("trial", trial_fields(mix=[]), False),
    ("trial", trial_fields(mix=[{"frame_bytes": 64 + n} for n in range(16)]), True),
    ("trial", trial_fields(mix=[{"frame_bytes": 64 + n} for n in range(17)]), False),
    ("trial", trial_fields(flows=1), True),
    ("trial", trial_fields(flows=0), False),
    ("trial", trial_fields(flows=16_777_217), False),
    ("trial", trial_fields(flows="many"), False),
    ("trial", trial_fields(seconds=0.001), True),
    ("trial", trial_fields(seconds=0.0009), False),
    ("trial", trial_fields(seconds=3601), False),
    ("trial", trial_fields(load={"max": True}, seconds=0.001), True),
    ("trial", trial_fields(load={"max": False}), False),
    ("trial", trial_fields(load={"gbps_l1": 0.1}), True),
    ("trial", trial_fields(load={"line_rate_percent": 1, "link_gbps": 10}), True),
    ("trial", trial_fields(load={"line_rate_percent": 101, "link_gbps": 10}), False),
    ("trial", trial_fields(load={"line_rate_percent": 1}), False),
    ("trial", trial_fields(load={"pps": 1000, "max": True}), False),
    ("trial", trial_fields(load={"pps": 0}), False),
    ("trial", trial_fields(load={"pps": 1e11}), False),
    ("trial", trial_fields(load={}), False),
    ("trial", trial_fields(load=1000), False),
    ("trial", trial_fields(burst_frames=128), True),
    ("trial", trial_fields(burst_frames=129), False),
    ("trial", trial_fields(expect="routed"), True),
    ("trial", trial_fields(expect="lost"), False),
    ("trial", trial_fields(prime=False), True),
    ("trial", trial_fields(prime=0), False),
    ("trial", trial_fields(window_frames=0), True),
    ("trial", trial_fields(window_frames=128), True),
    ("trial", trial_fields(window_frames=32), False),
    ("trial", trial_fields(window_frames=100), False),
    ("trial", trial_fields(window_frames=2_097_152), False),
    ("trial", trial_fields(gap_limit_ms=0.01), True),
    ("trial", trial_fields(gap_limit_ms=0), False),
    ("trial", trial_fields(seconds=2, then={"after_seconds": 1, "pps": 1000}), True),
    ("trial", trial_fields(seconds=2, then={"after_seconds": 0, "pps": 1000}), False),
    ("trial", trial_fields(seconds=2, then={"after_seconds": 1, "pps": 0}), False),
    ("trial", trial_fields(seconds=2, then={"after_seconds": 1}), False),
    ("trial", trial_fields(seconds=2, then={"pps": 1000}), False),
    ("trial", trial_fields(seconds=2, then=[1, 1000]), False),
    ("trial", trial_fields(stalled_share=1), True),
    ("trial", trial_fields(stalled_share=0), False),
    ("trial", trial_fields(stalled_share=1.5), False),
    ("trial", trial_fields(settle_ms=1), True),
    ("trial", trial_fields(settle_ms=10_001), False),
    ("trial", trial_fields(cpus=[0]), True),
    ("trial", trial_fields(cpus=[0, 1]), True),
    ("trial", trial_fields(cpus=[-1]), False),
    ("trial", trial_fields(cpus=list(range(9))), False),
    ("trial", trial_fields(number=0), False),
    ("trial", trial_fields(number=1_000_000_000), True),
    ("trial", trial_fields(streams=[]), False),
    ("trial", trial_fields(streams=[{"tx_port": 0}]), False),
    ("trial", trial_fields(streams=[{"tx_port": 8, "rx_port": 0}]), False),
    ("trial", {k: v for k, v in trial_fields().items() if k != "flows"}, False),
    ("trial", trial_fields(size=64), False),
]


def test_the_schema_and_the_binary_accept_the_same_requests(tester: Tester):
    tester.open("net_ring0")
    for op, fields, good in EXAMPLES:
        message = {"v": 1, "id": 5, "op": op, **fields}
        assert accepts_request(message) is good, (op, fields)
        reply = tester.ask(op, **fields)
        refused = reply["event"] == "error" and reply["what"].startswith("request.")
        assert refused is not good, (op, fields, reply)
        if op == "open" and good:
            assert reply["event"] == "opened", reply
            tester.open("net_ring0")


@pytest.mark.parametrize("envelope", [{"v": 2}, {"v": "1"}, {"id": -1}, {"id": "1"}, {"id": 1.5}])
def test_the_schema_and_the_binary_refuse_the_same_envelopes(
    tester: Tester, envelope: dict[str, Any]
):
    message = {"v": 1, "id": 5, "op": "hello", **envelope}
    assert not accepts_request(message)
    tester.send(json.dumps(message))
    assert tester.reply()["event"] == "error"


def test_what_the_library_says_and_hears_is_what_the_schema_says(
    tester: Tester,
):
    """measure.tester_protocol builds requests and reads replies; the same schema holds both."""
    requests = {
        "open": tester_protocol.OpenRequest(
            ports=(tester_protocol.PortRequest(device="net_ring0"),),
            workers=(tester_protocol.WorkerRequest(lcore=1, tx=((0, 0),), rx=((0, 0),)),),
        ).model_dump(mode="json"),
        "trial": tester_protocol.TrialRequest(
            number=1,
            mix=FrameMix(shares=(FrameShare(frame_bytes=64), FrameShare(frame_bytes=128))),
            flows=100,
            load_pps=100_000,
            seconds=0.01,
            expect="macswap",
        ).body(),
        "counters": {},
        "quit": {},
    }
    for op, fields in requests.items():
        assert accepts_request({"v": 1, "id": 1, "op": op, **fields}), op
        assert tester.ask(op, **fields)["event"] != "error"
    models = [m for m in vars(tester_protocol).values() if isinstance(m, type)]
    replies = {
        str(m.model_fields["event"].annotation.__args__[0]): TypeAdapter(m)
        for m in models
        if issubclass(m, tester_protocol.Envelope) and "event" in m.model_fields
    }
    assert sorted(replies) == sorted(
        ["hello", "opened", "progress", "result", "counters", "bye", "error"]
    )
    assert len(tester.seen) == len(requests)
    for reply in tester.seen:
        check_reply(reply)
        replies[reply["event"]].validate_json(json.dumps(reply))
