"""The reader of requests, the judge of frames and a memif's own end, fuzzed a short while each.

Built apart, by clang with libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer. What a run
finds beyond the seeds is kept in the build folder, so that the next one begins there.
"""

import json
import os
import random
import shutil
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from test_protocol import EXAMPLES
from tester_programs import ROOT, build

pytestmark = [pytest.mark.dpdk, pytest.mark.compiles, pytest.mark.rare]

SECONDS = int(os.environ.get("WIRESPEED_FUZZ_SECONDS", "20"))
BUILD = ROOT / "build" / "fuzz"


@pytest.fixture(scope="module")
def fuzzers() -> Path:
    clang = next((name for name in ("clang", "clang-14") if shutil.which(name)), None)
    if clang is None:
        pytest.fail("no clang: apt install clang-14 libclang-rt-14-dev")
    build(
        BUILD,
        "fuzz_config",
        "fuzz_direct",
        "fuzz_judge",
        setup=[
            "-Dbuildtype=debugoptimized",
            "-Db_sanitize=address,undefined",
            "-Db_lundef=false",
            # DPDK's own checksums read words wherever they lie.
            "-Dc_args=-fsanitize=fuzzer-no-link -fno-sanitize=alignment -fno-sanitize-recover=all",
        ],
        CC=clang,
    )
    return BUILD / "fuzz"


def config_seeds() -> Iterable[bytes]:
    """Give every example of a request, good and bad, and some too long to be told whole."""
    for op, fields, _ in EXAMPLES:
        yield json.dumps({"v": 1, "id": 5, "op": op, **fields}).encode()
    for key in ("x" * 59 + "é" * 30, "€" * 50, "😀" * 40):
        yield json.dumps({"v": 1, "id": 5, "op": "hello", key: 1}, ensure_ascii=False).encode()


def judge_seeds() -> Iterable[bytes]:
    """Give programs as fuzz_judge.c has them: whole rounds in order, with all kinds between."""
    r = random.Random(1)
    for setup in range(48):
        yield bytes([setup * 5 % 256, setup * 11 % 256]) + bytes(
            127 if i % 129 == 0 else r.choice((0x30, 0x31, 0x32)) for i in range(600)
        )
        yield bytes([setup * 7 % 256, setup * 3 % 256]) + bytes(
            r.choice((0x30,) * 9 + (0x00, 0x10, 0x20, 0x3C, 0xC1, 0xF2)) for _ in range(400)
        )
        yield bytes([setup]) + r.randbytes(500)


def direct_seeds() -> Iterable[bytes]:
    """Give programs as fuzz_direct.c has them: sound answers, then steps; and any bytes."""
    r = random.Random(1)
    for setup in range(48):
        # At most nine answers: a hello, to five messages, and to the rings.
        first = bytes([setup * 5 % 256, setup * 11 % 256 & 0x9F])
        yield first + bytes(9) + r.randbytes(300)
        yield bytes([setup, r.randrange(256)]) + r.randbytes(100)
    for ring_log2_most in range(256):
        yield bytes([7, 0x40, ring_log2_most, 3, 3])


@pytest.mark.parametrize(
    ("name", "seeds", "options"),
    [
        (
            "config",
            config_seeds,
            [f"-dict={ROOT}/tester/fuzz/config.dict", "-max_len=4096"],
        ),
        ("direct", direct_seeds, ["-max_len=1024", "-seed=1"]),
        ("judge", judge_seeds, ["-max_len=4096"]),
    ],
)
def test_nothing_is_found(
    fuzzers: Path,
    name: str,
    seeds: Callable[[], Iterable[bytes]],
    options: list[str],
):
    corpus, first, finds = (BUILD / f"{kind}_{name}" for kind in ("corpus", "seeds", "finds"))
    for folder in (corpus, first, finds):
        folder.mkdir(exist_ok=True)
    for number, seed in enumerate(seeds()):
        (first / f"{number:03}").write_bytes(seed)
    run = subprocess.run(
        [
            # A child of pytest's begins with the peak of pytest's memory as its own; a shell's has
            # that of the shell, as long as the shell does not become it.
            *("sh", "-c", '"$0" "$@"; exit $?'),
            fuzzers / f"fuzz_{name}",
            f"-max_total_time={SECONDS}",
            "-timeout=10",
            "-rss_limit_mb=1024",
            "-print_final_stats=1",
            f"-artifact_prefix={finds}/",
            *options,
            corpus,
            first,
        ],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    seeded = [line for line in run.stderr.splitlines() if line.startswith("INFO: Seed:")]
    assert run.returncode == 0, f"{seeded}\n{run.stderr[-6000:]}"
    executed = next(
        int(line.rpartition(" ")[2])
        for line in run.stderr.splitlines()
        if "number_of_executed_units" in line
    )
    assert executed > 1000, run.stderr[-2000:]
