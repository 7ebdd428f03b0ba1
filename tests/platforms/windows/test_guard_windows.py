"""A step of Windows that may take down what it is reached by is refused."""

import pytest

from described import doc_wsl2
from described.host import Host, capture_of
from described.windows import CONNECTX5, Windows, as_found, external_switch, guid
from wirespeed.apply.guard import refuse_cutoff, with_cutoffs
from wirespeed.apply.planner import planned
from wirespeed.model.capture import parse_capture, with_section
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import Known
from wirespeed.model.plan import Plan
from wirespeed.model.step import State, Step
from wirespeed.platforms.windows.carriers import windows_carriers
from wirespeed.platforms.windows.steps.windows_filter import WindowsFilter
from wirespeed.platforms.windows.steps.windows_link import WindowsLink
from wirespeed.platforms.windows.steps.windows_property import WindowsProperty
from wirespeed.platforms.windows.steps.windows_rss import WindowsRss
from wirespeed.platforms.windows.steps.windows_switch import WindowsSwitch
from wirespeed.platforms.windows.steps.windows_team_balancing import WindowsTeamBalancing
from wirespeed.platforms.wsl.steps.wsl_config import WslConfig

CARD, OWN = "Mellanox ConnectX-5 Ex Adapter #10", "Realtek PCIe 10GbE Family Controller"
OF_SWITCH = "Hyper-V Virtual Ethernet Adapter #2"
LOGGED_IN = {"Address": "10.10.10.1", "RemoteAddress": "10.10.10.2"}


def windows(*sessions: dict[str, str], has_switch: bool = False) -> Windows:
    found = Windows()
    as_found(found)
    if has_switch:
        external_switch(found)
    found.rows["sessions"] = [*sessions]
    return found


def facts(described: Windows, peer: str | None = None) -> HostFacts:
    """`peer`: where somebody came from who is logged in to the Linux of WSL."""
    if peer is None:
        return HostFacts("desk", parse_capture(described.capture(), "desk"))
    linux = Host()
    doc_wsl2.workstation(linux)
    text = with_section(capture_of(linux), "x", "session", f"{peer} 50022 10.10.10.1 22\n")
    return HostFacts("desk", parse_capture(described.capture(text), "desk"))


def plan_of(step: Step, before: State, host: str = "desk.windows") -> Plan:
    return Plan(steps=(planned(host, step, Known(before, "x")),))


def jumbo(adapter: str = CARD) -> Plan:
    step = WindowsProperty(adapter=adapter, keyword="*JumboPacket", value="9014")
    return plan_of(step, {"value": "1514"})


def refusal(plan: Plan, host: HostFacts) -> str:
    with pytest.raises(InputError) as caught:
        refuse_cutoff(plan, {"desk": host})
    return f"{caught.value.what}: {caught.value.found}"


@pytest.mark.parametrize(
    "plan",
    [
        jumbo(),
        plan_of(WindowsFilter(component_id="nt_rtf64", adapters=(CARD,)), {CARD: True}),
        plan_of(
            WindowsSwitch(name="x", adapter=CARD),
            {"adapter": None, "management": None, "iov": None, "filtered": ""},
        ),
        plan_of(WindowsRss(adapter=CARD, queues=8), {"enabled": True, "queues": 2}),
        plan_of(
            WindowsLink(name="이더넷 10", link_gbit_per_s=10, found_gbit_per_s=None, said="x"),
            {"set": "negotiated"},
        ),
    ],
    ids=lambda plan: plan.steps[0].kind,
)
def test_every_step_that_takes_the_card_of_a_session_down_is_refused(plan: Plan):
    assert "carries a session" in refusal(plan, facts(windows(LOGGED_IN)))
    refuse_cutoff(plan, {"desk": facts(windows())})


def test_the_adapter_of_the_default_route_is_refused_and_the_card_of_a_cable_is_free():
    assert "the default route" in refusal(jumbo(OWN), facts(windows()))
    refuse_cutoff(jumbo(), {"desk": facts(windows())})


def test_what_only_stays_as_it_is_is_not_taken_down():
    """The filters' own card is named in the step, and no command is about it."""
    step = WindowsSwitch(name="x", adapter=CARD, filters=("nt_rtf64",), own=(OWN,))
    before: State = {"adapter": None, "management": None, "iov": None, "filtered": ""}
    refuse_cutoff(plan_of(step, before), {"desk": facts(windows())})


def test_a_session_by_the_hosts_own_adapter_on_a_switch_goes_by_the_card_below():
    described = windows(LOGGED_IN, has_switch=True)
    assert set(windows_carriers(facts(described))) >= {OF_SWITCH, CARD}
    assert CARD in refusal(jumbo(), facts(described))


def test_a_session_by_a_switch_that_is_not_known_is_not_known():
    described = windows(LOGGED_IN, has_switch=True)
    described.rows["vm-adapters"] = []
    assert refusal(jumbo(), facts(described)).startswith("plan.cutoff_unknown: ")


def test_a_session_by_a_team_goes_by_its_members():
    described = windows(LOGGED_IN)
    described.adapter(30, "storage", "Microsoft Network Adapter Multiplexor Driver", "ms_implat")
    described.add("teams", Name="storage", Members=["이더넷 10"], Mode="Lacp")
    described.change("addresses", 0, Index=30)
    assert CARD in refusal(jumbo(), facts(described))


def balancing(of: str, name: str) -> Plan:
    step = {"of": of, "name": name, "algorithm": "HyperVPort"}
    return plan_of(WindowsTeamBalancing.model_validate(step), {"algorithm": "Dynamic"})


def test_the_team_of_a_session_is_known_by_its_own_name_or_that_of_its_switch():
    """A command about a team names no card."""
    by_switch = facts(windows(LOGGED_IN, has_switch=True))
    assert "ConnectX-External" in refusal(balancing("set", "ConnectX-External"), by_switch)
    refuse_cutoff(balancing("set", "Default Switch"), {"desk": by_switch})
    described = windows(LOGGED_IN)
    described.adapter(30, "storage", "Microsoft Network Adapter Multiplexor Driver", "ms_implat")
    described.add("teams", Name="storage", Members=["이더넷 10"], Mode="Lacp")
    described.change("addresses", 0, Index=30)
    assert "storage" in refusal(balancing("lbfo", "storage"), facts(described))


@pytest.mark.parametrize("section", ["sessions", "addresses", "default-routes", "adapters"])
def test_what_was_not_read_is_never_taken_for_nothing(section: str):
    described = windows()
    del described.rows[section]
    assert refusal(jumbo(), facts(described)).startswith("plan.cutoff_unknown: ")


def test_a_session_by_an_address_that_no_adapter_has_is_not_known():
    described = windows({"Address": "203.0.113.1", "RemoteAddress": "203.0.113.9"})
    assert refusal(jumbo(), facts(described)).startswith("plan.cutoff_unknown: ")


@pytest.mark.parametrize(
    "session",
    [
        {"Address": "127.0.0.1", "RemoteAddress": "127.0.0.1"},
        {"Address": "::1", "RemoteAddress": "::1"},
        {"Address": "10.10.10.1", "RemoteAddress": "10.10.10.1"},
    ],
)
def test_a_session_of_the_host_with_itself_goes_by_no_card(session: dict[str, str]):
    refuse_cutoff(jumbo(), {"desk": facts(windows(session))})


def test_a_session_by_an_address_of_the_link():
    described = windows({"Address": "fe80::1%10", "RemoteAddress": "fe80::2"})
    described.add("addresses", Index=10, Address="fe80::1%10", PrefixLength=64)
    assert "a session" in refusal(jumbo(), facts(described))


def test_a_session_with_wsl_goes_by_the_card_behind_its_netdev():
    assert "your session" in refusal(jumbo(), facts(windows(), peer="10.10.10.2"))
    refuse_cutoff(jumbo(), {"desk": facts(windows(), peer="192.168.1.9")})


def test_a_session_with_wsl_by_no_card_that_is_known():
    """As with NAT: the adapter of WSL has an address that no adapter of Windows has."""
    described = windows()
    for row in described.rows["addresses"]:
        row["Address"] = "172.30.0.1"
    found = refusal(jumbo(), facts(described, peer="10.10.10.2"))
    assert found.startswith("plan.cutoff_unknown: ") and "eth2" in found


def test_two_adapters_whose_names_are_patterns_are_told_apart():
    described = windows({"Address": "10.0.0.1", "RemoteAddress": "10.0.0.9"})
    described.adapter(31, "a[1]", "Card [1]*", CONNECTX5)
    described.add("addresses", Index=31, Address="10.0.0.1", PrefixLength=24)
    assert "Card [1]*" in refusal(jumbo("Card [1]*"), facts(described))
    refuse_cutoff(jumbo("Card 1x"), {"desk": facts(described)})


def test_the_end_of_wsl_is_announced_and_not_refused():
    step = WslConfig(values={"networkingMode": "mirrored"})
    described = windows()
    del described.rows["sessions"]
    refuse_cutoff(plan_of(step, {"text": None}), {"desk": facts(described)})


def test_a_step_is_marked_for_its_timer_save_where_nobody_is_cut_off():
    host = facts(windows(LOGGED_IN))
    (marked,) = with_cutoffs(jumbo(), {"desk": host}, ()).steps
    assert "carries a session" in marked.cuts
    (free,) = with_cutoffs(jumbo(), {"desk": host}, {"desk"}).steps
    assert free.cuts == ""
    by_wsl = facts(windows(), peer="10.10.10.2")
    with pytest.raises(InputError, match="cuts_off"):
        with_cutoffs(jumbo(), {"desk": by_wsl}, {"desk"})


def test_a_card_that_is_bound_to_the_switch_of_the_session_is_known_by_its_guid():
    described = windows(LOGGED_IN, has_switch=True)
    described.rows["switches"][-1].update(CardGuids=[guid(10)], Cards=[], Card=None)
    assert CARD in refusal(jumbo(), facts(described))
