"""What perftest and nccl-tests print of a run: the figure, and what limits it. Pure.

perftest: src/perftest_parameters.h and .c; MB is 2^20 bytes; both directions are added up.
nccl-tests: src/util.cu, writeResultHeader; doc/PERFORMANCE.md; GB is 10^9 bytes.
"""

import re
from typing import Any

from wirespeed.doctor.measured_iperf import APART
from wirespeed.model.json_value import read_json
from wirespeed.model.question import MeasuredBy

MEBI = 1 << 20
PERFTEST_ROW = re.compile(r"^ *(\d+) +(\d+) +(-?[\d.]+) +(-?[\d.]+)[ \t]+(-?[\d.]+) *$", re.M)
PERFTEST_HEAD = re.compile(r"BW average\[(Mi?B/sec|Gb/sec)\]")
"""perftest_parameters.h, RESULT_FMT: MiB/sec since 24.07, MB/sec before; both are 2^20 bytes."""
BARE_SL = re.compile(r"^sl: \d+,$", re.M)
"""REPORT_FMT_QOS_JSON leaves out the quotes."""
NCCL_HEAD = re.compile(r"^#? *(size +count +type .*busbw[^\n]*)$", re.M)
"""Columns differ by release: a root since 2022, `error` before `#wrong`."""
NCCL_RANK = re.compile(r"^#? *Rank +(\d+) .*? on +(\S+) device +\d+", re.M)


def perftest_text(text: str) -> MeasuredBy | None:
    """Read what an ib_*_bw prints. None where it is none."""
    head = PERFTEST_HEAD.search(text)
    if head is None:
        return None
    rows = (match.groups() for match in PERFTEST_ROW.finditer(text))
    best = max(rows, key=lambda row: float(row[3]), default=None)
    if best is None:
        raise ValueError("perftest printed no row of figures")
    size, count, _, average, message_mpps = best
    measured = float(average) * (1e9 if head[1] == "Gb/sec" else 8 * MEBI)
    by_messages = float(message_mpps) * 1e6 * int(size) * 8
    doubts = []
    if abs(by_messages - measured) > APART * measured:
        doubts.append(
            f"its messages times their size are {by_messages / 1e9:.3g} Gb/s, and it says "
            f"{measured / 1e9:.3g}"
        )
    conditions = [f"messages of {size} bytes, {count} of them"]
    if "Bidirectional" in text:
        measured /= 2
        conditions.append("half of the sum of both directions, which is what it prints")
    pairs = re.search(r"Number of qps\s*:\s*(\d+)", text)
    if pairs is not None:
        conditions.append(f"{pairs[1]} queue pairs" if pairs[1] != "1" else "1 queue pair")
    if "Conflicting CPU frequency" in text:
        doubts.append("the CPU's clock changed meanwhile, which it takes its time from")
    return MeasuredBy(
        tool="perftest", measured_bps=measured, conditions=tuple(conditions),
        limits=_small(int(size), int(count)), doubts=tuple(doubts),
    )  # fmt: skip


def perftest_json(text: str) -> MeasuredBy | None:
    """Read a file of perftest's --out_json. None where it is none.

    It does not say the unit of its figure: messages a second times their size do.
    """
    if '"BW_average"' not in text:
        return None
    told: dict[str, Any] = read_json(BARE_SL.sub('"sl": 0,', text))
    info, results = told["test_info"], told["results"]
    size, count = int(results["MsgSize"]), int(results["n_iterations"])
    average = float(results["BW_average"])
    measured = float(results["MsgRate"]) * 1e6 * size * 8
    if not any(
        abs(average * unit - measured) <= APART * measured + unit * 0.01 for unit in (1e9, 8 * MEBI)
    ):
        raise ValueError(
            f"{average:g} is neither in Gb/s nor in MiB/s what its messages are: "
            f"{measured / 1e9:.3g} Gb/s"
        )
    conditions = [f"messages of {size} bytes, {count} of them"]
    if "Bidirectional" in str(info["test"]):
        measured /= 2
        conditions.append("half of the sum of both directions, which is what it prints")
    pairs = int(info["Number_of_qps"])
    conditions.append("1 queue pair" if pairs == 1 else f"{pairs} queue pairs")
    return MeasuredBy(
        tool="perftest",
        measured_bps=measured,
        conditions=tuple(conditions),
        limits=_small(size, count),
    )


def nccl_tests(text: str) -> MeasuredBy | None:
    """Read the table of nccl-tests. None where it is none.

    Bus bandwidth is what each rank's own link would have to carry, whatever the number of ranks.
    """
    head = NCCL_HEAD.search(text)
    if head is None:
        return None
    columns = [nth for nth, word in enumerate(head[1].split()) if word == "busbw"]
    rows = [line.split() for line in text[head.end() :].splitlines()]
    figures = [
        (float(row[column]), int(row[0]))
        for row in rows
        if row and row[0].isdecimal()
        for column in columns
        if column < len(row)
    ]
    if not figures:
        raise ValueError("its table has no row")
    best, size = max(figures)
    ranks = {int(number): host for number, host in NCCL_RANK.findall(text)}
    if len(set(ranks.values())) == 1:
        raise ValueError(f"all {len(ranks)} ranks are on one host, so nothing went through a port")
    among = f", {len(ranks)} ranks on {len(set(ranks.values()))} hosts" if ranks else ""
    return MeasuredBy(
        tool="nccl-tests",
        measured_bps=best * 8e9,
        conditions=(f"bus bandwidth of messages of {size} bytes{among}",),
        limits=(
            "its bus bandwidth is of each rank: a port carries as much only where each GPU has one "
            "of its own",
        ),
    )


def _small(size: int, count: int) -> tuple[str, ...]:
    limits = []
    if size < 4096:
        limits.append(f"messages of {size} bytes are bound by messages a second, not by bits")
    if count < 1000:
        limits.append(f"{count} iterations are over before the link is warm")
    return tuple(limits)
