"""PFC and DSCP of a port, by the tool that answers of it."""

import subprocess
from pathlib import Path

import pytest

from wirespeed.facts.dcb import Dcb, PortDcb
from wirespeed.model.capture import parse_capture
from wirespeed.model.observed import Unreadable, known

QOS = "DCBX mode: OS controlled\nPriority trust state: pcp\nPFC configuration:\n" + (
    "\tpriority    0   1   2   3   4   5   6   7\n\tenabled     0   0   0   0   1   0   0   0   \n"
)
PFC = (
    "pfc-cap 8 macsec-bypass off delay 0 \n"
    "prio-pfc 0:off 1:off 2:off 3:on 4:off 5:off 6:off 7:off \n"
)
PORT = "ens1 driver=ice physfn= port= device=/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0"
NO_CARD_OF_ITS_MAKER = "Netlink error: Bad value. see dmesg."


def section(name: str, text: str, code: int = 0, subject: str = "ens1") -> str:
    return f"case begin {name} {subject}\n{text}\n\ncase end {code}\n"


def port(*sections: str) -> PortDcb:
    ports = section("ports", PORT, subject="-")
    text = "".join(("wirespeed-capture 1 case\n", ports, *sections, "case done\n"))
    return Dcb.parse(parse_capture(text, "test")).by_netdev["ens1"]


def test_what_mlnx_qos_refuses_is_read_by_dcb():
    refused = section("mlnx-qos", NO_CARD_OF_ITS_MAKER, 1)
    found = port(refused, section("dcb-pfc", PFC), section("dcb-app", "dscp-prio AF31:3 "))
    assert (known(found.lossless, ""), known(found.trust, "")) == ({3}, "dscp")
    assert known(found.priorities, "") == {26: 3}
    assert isinstance(port(refused).lossless, Unreadable)
    assert known(port(section("mlnx-qos", QOS)).lossless, "") == {4}


@pytest.mark.parametrize(
    ("answers", "asked"),
    [
        ("0", ["mlnx-qos"]),
        ("1", ["mlnx-qos", "dcb-pfc", "dcb-app"]),
        ("", ["dcb-pfc", "dcb-app"]),
    ],
)
def test_dcb_is_asked_where_mlnx_qos_does_not_answer(
    tmp_path: Path, answers: str, asked: list[str]
):
    (tmp_path / "ens1" / "device" / "infiniband").mkdir(parents=True)
    tool = f"mlnx_qos() {{ return {answers}; }}\n" if answers else ""
    script = 'port_netdevs=ens1\nshow() { :; }\nrun() { echo "$1"; shift 2; "$@"; code=$?; }\n'
    done = subprocess.run(
        ["/bin/sh", "-c", script + "dcb() { :; }\n" + tool
         + Dcb.script.replace("/sys/class/net", str(tmp_path))],
        capture_output=True, text=True, timeout=20, env={"PATH": "/nonexistent"},
    )  # fmt: skip
    assert done.stdout.splitlines() == asked


def test_what_red_hat_calls_a_dscp_by_the_older_words_is_in_the_map():
    """They stand after the newer names of the same values in its rt_dsfield, and win."""
    said = "dscp-prio default:0 lowdelay:1 priority:1 AF11:1 immediate:2 flash:3 AF31:3 critical:5 "
    found = port(section("dcb-pfc", PFC), section("dcb-app", f"{said}EF:5 internet:6 network:7 "))
    of_dscp = {0: 0, 4: 1, 8: 1, 10: 1, 16: 2, 24: 3, 26: 3, 40: 5, 46: 5, 48: 6, 56: 7}
    assert known(found.priorities, "") == of_dscp
    own = port(section("dcb-pfc", PFC), section("dcb-app", "dscp-prio storage:3 "))
    assert isinstance(own.priorities, Unreadable)
    assert "'storage'" in own.priorities.reason
