"""A program that speaks the tester's protocol and makes its counts up: a DUT with a cliff.

It is strict about what it is asked, and leaves with status 64 and a reason when that is wrong.
FAKE_TESTER says how it is to fail, and in which trial: `dies`, `rubbish`, `hangs:3`; `voids:3` is
that trial and all that follow.
"""

import json
import os
import sys
import time
from typing import Any, NoReturn

CAPACITY_PPS = 1_000_000
TESTER_PPS = 4_000_000
TSC_HZ = 2_000_000_000
TRIAL_FIELDS = {
    *("v", "id", "op", "number", "mix", "streams", "flows", "load", "seconds", "burst_frames"),
    *("expect", "prime", "gap_limit_ms", "settle_ms", "cpus", "watch", "windows"),
    *("stalled_share", "link_look_ms"),
}

Message = dict[str, Any]


def say(**fields: object) -> None:
    sys.stdout.write(json.dumps({"v": 1, **fields}) + "\n")
    sys.stdout.flush()


def refuse(why: str) -> NoReturn:
    sys.stderr.write(why + "\n")
    sys.exit(64)


def fail(kind: str, ask: Message) -> None:
    match kind:
        case "dies":
            sys.stderr.write("out of cheese\n")
            sys.stderr.flush()
            os._exit(3)
        case "rubbish":
            sys.stdout.write("EAL: Detected 2 lcores\n")
            sys.stdout.flush()
        case "old":
            say(v=0, id=ask["id"], event="hello")
        case "mixed-up":
            say(**result(ask) | {"id": ask["id"] + 7})
        case "refuses":
            say(id=ask["id"], event="error", what="trial.no_memory", where="64", found="none",
                next="fewer flows")  # fmt: skip
        case "hangs":
            for second in range(600):
                say(id=ask["id"], event="progress", seconds=second, offered_frames=0,
                    received_frames=0)  # fmt: skip
                time.sleep(0.1)
        case _:
            refuse(f"FAKE_TESTER={kind}?")


def stream(ports: Message, offered: int, passed: int) -> Message:
    zero = (
        *("unsent_late_frames", "unsent_no_mbuf_frames", "reordered_frames", "reorder_extent_max"),
        *("duplicated_frames", "undecided_frames", "corrupted_frames", "misdelivered_frames"),
        *("earlier_trial_frames", "foreign_frames"),
    )
    return {
        **dict.fromkeys(zero, 0),
        **ports,
        "intended_frames": offered,
        "offered_frames": offered,
        "refused_frames": offered - passed,
        "in_order_frames": passed,
    }


def result(ask: Message) -> Message:
    asked_pps = ask["load"].get("pps", TESTER_PPS)
    each = round(min(asked_pps, TESTER_PPS) * ask["seconds"] / len(ask["streams"]))
    passed = min(each, round(CAPACITY_PPS * ask["seconds"] / len(ask["streams"])))
    return {
        "id": ask["id"],
        "event": "result",
        "number": ask["number"],
        "measured_seconds": ask["seconds"],
        "streams": [stream(ports, each, passed) for ports in ask["streams"]],
        "latency": None,
        "departure": {
            "burst_frames_max": ask["burst_frames"],
            "interval_ns_intended": 1.0,
            "interval_ns_p50": 1,
            "interval_ns_p99": 1,
            "interval_ns_max": 1,
        },
        "tester": {
            "gap_ns_max": 1,
            "gaps_over_limit": 0,
            "gap_limit_ns": 10_000_000,
            "stalled_ns": 0,
            "tsc_hz": TSC_HZ,
        },
        "silence_ns_max": 0,
        "silence_ns_sum": 0,
        "quiet_ns_max": 0,
        "quiet_ns_last": 0,
        "counters": [],
        "state_bytes": 0,
        "valid": True,
        "invalid_reasons": [],
    }


def opened(ask: Message) -> Message:
    fields = {
        "driver": "net_fake",
        "mac": "02:00:00:00:00:02",
        "link_up": True,
        "link_mbps": None,
        "numa_node": 0,
        "tx_descriptors": 1024,
        "rx_descriptors": 1024,
        "hardware_stamps": False,
        "pool_bytes": 0,
    }
    ports = [
        {
            "port": number,
            "device": port["device"],
            **fields,
            **{key: port[key] or fields[key] for key in ("tx_descriptors", "rx_descriptors")},
        }
        for number, port in enumerate(ask["ports"])
    ]
    return {"id": ask["id"], "event": "opened", "ports": ports}


def main() -> None:
    kind, _, at = os.environ.get("FAKE_TESTER", "").partition(":")
    ports, last_trial = 0, 0
    if kind and not at:
        fail(kind, {"id": 1})
    for line in sys.stdin:
        ask = json.loads(line)
        if ask.get("v") != 1:
            refuse("another version")
        match ask["op"]:
            case "hello":
                say(id=ask["id"], event="hello", dpdk="DPDK fake", isa="fake", tsc_hz=TSC_HZ,
                    hugepages=False)  # fmt: skip
            case "open":
                ports = len(ask["ports"])
                say(**opened(ask))
            case "trial":
                if ask.keys() != TRIAL_FIELDS:
                    refuse(f"fields {ask.keys() ^ TRIAL_FIELDS}")
                if any(p >= ports for s in ask["streams"] for p in s.values()):
                    refuse("a stream of a port that is not open")
                if ask["prime"] != (last_trial == 0):
                    refuse("the first trial primes, and no other")
                if ask["number"] <= last_trial:
                    refuse("a trial number that went back")
                last_trial = ask["number"]
                void = kind == "voids" and ask["number"] >= int(at)
                if at and not void and ask["number"] == int(at):
                    fail(kind, ask)
                reasons = ["tester.stalled: fake"] if void else []
                say(**result(ask) | {"valid": not void, "invalid_reasons": reasons})
            case op:
                refuse(f"op {op}")


if __name__ == "__main__":
    main()
