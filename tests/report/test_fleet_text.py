"""The answer about a fleet fits 80 columns, and says causes, outliers and who was not reached."""

from fleets import TITLES, finding, host, rack_of

from wirespeed.fleet.causes import find_causes
from wirespeed.fleet.cohorts import find_outliers
from wirespeed.fleet.records import Fleet, FleetHost, HostState
from wirespeed.model.question import Question
from wirespeed.report.fleet_text import fleet_lines
from wirespeed.report.text_lines import columns_of

HOSTILE = "\x1b[2Jevil"


def fleet() -> Fleet:
    hosts = [
        host(
            f"n{i:03}",
            [finding(cost_pps=1e6)] if rack_of(i) == "r01" else [],
            {"rack": rack_of(i), "card": "2 x ConnectX-5"},
            "odd" if i == 99 else "usual",
        )
        for i in range(100)
    ]
    hosts.append(
        FleetHost(
            name=HOSTILE,
            reach="ssh://evil",
            state=HostState.NOT_REACHED,
            what="ssh.refused",
            found=f"it says {HOSTILE} and more than that " * 4,
            next="start sshd there",
        )
    )
    profiles = {"usual": {"port 0 mtu": "9000"}, "odd": {"port 0 mtu": "1500"}}
    return Fleet(
        at="2026-01-01T00:00:00.000+00:00",
        source="hosts.ini",
        question=Question(),
        hosts=tuple(hosts),
        profiles=profiles,
        causes=find_causes(hosts, TITLES),
        outliers=find_outliers(hosts, profiles),
    )


def text(*, verbose: bool = False) -> str:
    return "\n".join(line.text for line in fleet_lines(fleet(), verbose=verbose))


def test_it_says_how_many_are_well_and_what_the_others_have():
    said = " ".join(text().split())
    assert "80 well, 20 with findings, 1 not reached" in said
    assert "20 hosts, fault: FEC off; costs 246.1 Gb/s" in said
    assert "in common: rack r01 (20 of its 20 hosts; 0 of 80 others)" in said
    assert "1 of 100 (2 x ConnectX-5): n099" in said
    assert "port 0 mtu: 1500; the others 9000" in said
    assert "ssh.refused" in said


def test_no_line_is_longer_than_80_columns_and_nothing_steers_the_terminal():
    for verbose in (False, True):
        said = text(verbose=verbose)
        assert [line for line in said.split("\n") if columns_of(line) > 80] == []
        assert "\x1b" not in said
    assert "ethtool --set-fec" in text(verbose=True)


def test_the_exit_code_is_the_doctors():
    assert fleet().exit_code == 1
    well = fleet().model_copy(update={"hosts": (host("a"),)})
    assert well.exit_code == 0
    cut = well.model_copy(update={"hosts": (host("a", state=HostState.CUT_OFF),)})
    assert cut.exit_code == 2
