"""Frames of a guest leave through a netdev that has just come back, or it says that none does."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import wirespeed.host

FORGER = Path(wirespeed.host.__file__).parent / "guest_forger.py"
WORD = bytes(range(8))
KIND, FRAMES = 3, 40
SCRIPT = """\
set -e
ip link add one type veth peer name two
ip link set one up
%s
exec python3 -I - "$@"
"""


def forged(before: str, netdevs: str = "one") -> Any:
    """Let it send through these, in a namespace that ends with it."""
    frame = bytes(12) + b"\x88\xb5" + WORD + KIND.to_bytes(2, "big") + bytes(8)
    templates = json.dumps([(KIND, frame.ljust(60, b"\0").hex(), 24)])
    arguments = (WORD.hex(), str(FRAMES), templates, netdevs, "0.1", "02" * 6)
    arguments += ("192.0.2.1", "192.0.2.2")
    done = subprocess.run(
        ["/usr/bin/unshare", "-n", "sh", "-c", SCRIPT % before, "sh", *arguments],
        input=FORGER.read_text(),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("before", ["ip link set two up", "(sleep 1; ip link set two up) &"])
def test_every_frame_leaves_once_the_netdev_sends(before: str):
    told = forged(before)
    assert (told["left"][str(KIND)], told["refused"], told["why"]) == (FRAMES, {}, "")


def test_a_netdev_that_sends_nothing_is_named():
    told = forged("true")
    assert str(KIND) not in told["left"]
    assert told["why"] == "no frame left through one within 10 s"


def test_a_netdev_that_sends_is_not_blamed_for_one_that_does_not():
    three = "ip link add three type veth peer name four; ip link set three up; ip link set four up"
    told = forged(three, "one,three")
    assert told["left"][str(KIND)] == FRAMES
    assert told["why"] == "no frame left through one within 10 s"
