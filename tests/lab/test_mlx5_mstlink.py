"""The link of a modelled card by Debian's own mstlink and by ethtool: both see one port."""

import os
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner, Result
from described_switch import switch
from link_cable import KIND, PORT, Cable, both_ends
from mlx5_host import PATIENCE_S, PORTS, Run, capture_of, facts_of, mlx5_lab, refused, sh, until

from wirespeed.catalog import rules
from wirespeed.commands.link import link
from wirespeed.doctor.diagnose import diagnose
from wirespeed.facts.link_margin import LinkMargins
from wirespeed.host.clock import Deadline
from wirespeed.lab.machine_fault import make_fault, parse_fault
from wirespeed.lab.machines import Machine, Machines
from wirespeed.model.capture import parse_capture
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import Absent, Known
from wirespeed.model.question import Question
from wirespeed.platforms.switch.cable_proof import Match, PortMatch
from wirespeed.platforms.switch.far_end import with_far_end
from wirespeed.runs import link_run
from wirespeed.steps.mlxlink_speed import MlxlinkSpeed

pytestmark = [pytest.mark.machines, pytest.mark.rare, pytest.mark.timeout(900)]
CARD, NETDEV = PORTS[0], "enp1s0f0"
COLOR = re.compile(r"\x1b\[[0-9;]*m")
RS, NO_FEC = "Standard RS-FEC - RS(528,514)", "No FEC"
EVERY = "100G,50G,40G,25G,10G,1G"
FORCED = f"ip link set {NETDEV} up; ethtool -s {NETDEV}"
EYE, HISTOGRAM, SETTINGS = "PF register 0x5028", "PF register 0x503e", "PF settings of group 0x"
"""SLRG and PPHCR: how open the eye of each lane is, which mstlink asks for at each start and runs
without; and the code words that FEC corrected."""


class Look(NamedTuple):
    """What mstlink says, and in the same words what ethtool says."""

    state: str
    speed: str
    width: str
    fec: str
    negotiation: str
    enabled: str
    opcode: str
    ethtool_speed: str
    ethtool_fec: str
    ethtool_negotiates: str
    ethtool_why: str


UP = Look("Active", "100GbE", "4x", RS, "ON", EVERY, "0", "100000Mb/s", "RS", "on", "yes")
STATES = {
    "as found": ("true", UP),
    "25G, no FEC": (
        f"{FORCED} speed 25000 duplex full autoneg off; ethtool --set-fec {NETDEV} encoding off",
        Look(
            "Active", "25GbE", "1x", NO_FEC, "FORCE - 25G", "25G", "0", "25000Mb/s", "Off", "off",
            "yes",
        ),
    ),
    "50G": (
        f"ethtool --set-fec {NETDEV} encoding auto; {FORCED} speed 50000 duplex full autoneg off",
        Look(
            "Active", "50GbE", "2x", RS, "FORCE - 50G", "50G", "0", "50000Mb/s", "RS", "off",
            "yes",
        ),
    ),
    "set up again to negotiate": (f"ethtool -s {NETDEV} autoneg on", UP),
    "closed by mstlink": (
        f"mstlink -d {CARD} --port_state DN --yes",
        Look(
            "Disable", "N/A", "N/A", "N/A", "ON", EVERY, "1", "Unknown!", "None", "on",
            "no",
        ),
    ),
    "opened by mstlink": (f"mstlink -d {CARD} --port_state UP --yes", UP),
}  # fmt: skip
WITHOUT_LINK = {
    "cable-out": Look(
        "Polling", "N/A", "N/A", "N/A", "ON", EVERY, "2", "Unknown!", "None", "on",
        "no (Autoneg, No partner detected)",
    ),
    "module-out": Look(
        "Polling", "N/A", "N/A", "N/A", "ON", EVERY, "1024", "Unknown!", "None", "on",
        "no (No cable)",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def lab() -> Iterator[Machines]:
    name = f"test-{os.getpid()}-mstlink"
    with mlx5_lab(name, "alpha", wiring="switch", mstflint=True) as lab:
        yield lab


def lines(text: str) -> dict[str, str]:
    pairs = (line.partition(":")[::2] for line in COLOR.sub("", text).splitlines())
    return {name.strip(): value.strip() for name, value in pairs}


def look(host: Machine) -> Look:
    by_mstlink = lines(sh(host, f"mstlink -d {CARD}"))
    by_ethtool = lines(sh(host, f"ethtool {NETDEV}; ethtool --show-fec {NETDEV}"))
    return Look(
        by_mstlink["State"],
        by_mstlink["Speed"],
        by_mstlink["Width"],
        by_mstlink["FEC"],
        by_mstlink["Auto Negotiation"],
        re.sub(r".*\((.*)\)", r"\1", by_mstlink["Enabled Link Speed"]),
        by_mstlink["Status Opcode"],
        by_ethtool["Speed"],
        by_ethtool["Active FEC encoding"],
        by_ethtool["Auto-negotiation"],
        by_ethtool["Link detected"],
    )


def looks(host: Machine, expected: Look) -> None:
    """The driver hears of a link that came up or went down a moment later."""
    deadline = Deadline(PATIENCE_S)
    while (seen := look(host)) != expected:
        assert not deadline.expired, f"{seen}\n{expected}"


def test_mlx5_mstlink_and_ethtool_see_one_port(lab: Machines):
    alpha = lab.hosts["alpha"]
    for change, expected in STATES.values():
        sh(alpha, f"{change} >/dev/null")
        looks(alpha, expected)
    for fault, expected in WITHOUT_LINK.items():
        make_fault(alpha.control, 0, parse_fault(fault))
        looks(alpha, expected)
        make_fault(alpha.control, 0, parse_fault(fault.replace("out", "in")))
        looks(alpha, UP)


def test_mlx5_mstlink_sets_a_speed_and_undo_negotiates_again(lab: Machines):
    alpha = lab.hosts["alpha"]
    before = look(alpha)
    run = Run(alpha, [MlxlinkSpeed(pci_address=CARD, link_mode="10G", tool="mstlink")])
    run.executor().apply()
    until(lambda: "Speed: 10000Mb/s" in sh(alpha, f"ethtool {NETDEV}"))
    assert lines(sh(alpha, f"mstlink -d {CARD}"))["Auto Negotiation"] == "FORCE - 10G"
    run.executor().undo()
    looks(alpha, before)


def test_mlx5_the_doctor_reads_mstlink_and_a_missing_module_is_named(lab: Machines):
    alpha = lab.hosts["alpha"]
    deadline = Deadline(4 * PATIENCE_S)
    # The doctor gives a tool 40 s, which are short for an emulated host on a busy machine.
    while not isinstance(margin := facts_of(alpha)[LinkMargins].by_address[CARD], Known):
        assert not deadline.expired, margin
    assert margin.source == f"mstlink -d {CARD} -m -c -e --json"
    assert isinstance(margin.value.fec, Known) and margin.value.fec.value == RS
    assert isinstance(margin.value.raw_ber, Known) and margin.value.raw_ber.value == 0
    assert isinstance(margin.value.minutes, Known)
    assert isinstance(margin.value.eye, Absent), "the card has no register for it"
    module = lines(sh(alpha, f"mstlink -d {CARD} -m"))
    by_ethtool = lines(sh(alpha, f"ethtool -m {NETDEV}"))
    for theirs, ours in (
        ("Vendor Name", "Vendor name"),
        ("Vendor Part Number", "Vendor PN"),
        ("Vendor Serial Number", "Vendor SN"),
        ("Rev", "Vendor rev"),
    ):
        assert module[theirs] == by_ethtool[ours] != ""
    assert (module["Cable Type"], module["Identifier"]) == ("Passive copper cable", "QSFP28")

    make_fault(alpha.control, 0, parse_fault("module-out"))
    looks(alpha, WITHOUT_LINK["module-out"])
    without = lines(sh(alpha, f"mstlink -d {CARD} -m"))
    assert (without["Recommendation"], without["Vendor Name"]) == ("Cable is unplugged", "N/A")
    chosen = [rule for rule in rules() if rule.slug in ("link.down", "signal.margin_thin")]
    found = diagnose(facts_of(alpha), Question(ports=(NETDEV,)), chosen).findings
    assert [(one.rule, one.where) for one in found] == [("link.down", NETDEV)]
    assert "No cable" in found[0].evidence[0].found
    make_fault(alpha.control, 0, parse_fault("module-in"))
    looks(alpha, UP)
    assert not_modelled(lab) <= {EYE, HISTOGRAM} | {SETTINGS}


def test_mlx5_link_speed_of_card_and_switch_is_set_and_undone(
    lab: Machines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The card is modelled, the switch described: set to 1 Gb/s by hand, it waits for no card."""
    alpha = lab.hosts["alpha"]
    described = switch(KIND, speed="1000")
    cable = Cable(alpha, NETDEV, described, by_hand="10000")
    assert not cable.follow()
    monkeypatch.setattr(link_run, "ends", partial(both_ends, cable))
    unproven = PortMatch(Match.UNKNOWN, "hears no neighbor")
    monkeypatch.setattr(link_run, "port_proof", lambda *_: unproven)

    def ask(*more: str) -> Result:
        at = f"switch+{KIND}://admin@sw1/{PORT}"
        words = [f"ssh://{alpha.state.destination}", NETDEV, at, "--run", str(tmp_path / "x.run")]
        return CliRunner().invoke(link, [*words, *more], standalone_mode=False)

    def findings() -> set[str]:
        text = with_far_end(capture_of(alpha), cable.switch_capture())
        facts = HostFacts("alpha", parse_capture(text, "alpha"))
        ours = [rule for rule in rules() if rule.slug.startswith("switchport.")]
        return {one.rule for one in diagnose(facts, Question(), ours).findings}

    assert findings() == {"switchport.ends_set_unlike"}
    done = ask("--speed", "10G", "--apply", "--yes", "--port-is-right")
    assert done.return_value == 0, done.output + repr(done.exception)
    assert described.ports[PORT] == {"speed": "10000"}
    found = look(alpha)
    assert (found.negotiation, found.ethtool_speed) == ("FORCE - 10G", "10000Mb/s")
    assert findings() == set()

    undone = ask("--undo")
    assert undone.return_value == 0, undone.output + repr(undone.exception)
    assert described.ports[PORT] == {"speed": "1000"} and cable.card_negotiates()
    make_fault(alpha.control, 0, parse_fault("cable-in"))
    looks(alpha, UP)


def not_modelled(lab: Machines) -> set[str]:
    """What the card was asked and lacks; the doctor reads settings of the boot ROM too."""
    said = re.findall(r"refused \d+ times: (PF .*)", refused(lab, "alpha"))
    return {SETTINGS if one.startswith(SETTINGS) else one for one in said}
