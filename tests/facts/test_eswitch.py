"""`devlink -j dev eswitch show` (iproute2 devlink.c; before 5.7 its field is `encap`), mlx5's
debugfs (kernel commit 7f46a0b7327a), and `tc filter show` reduced to the words that say where a
filter is.
"""

import pytest

from wirespeed.facts.eswitch import Eswitch, PfEswitch
from wirespeed.facts.tc import Tc, TcFilters
from wirespeed.model.capture import Capture, Section
from wirespeed.model.observed import Absent, Known, Unreadable

PF = "0000:03:00.0"
SHOW = f"devlink dev eswitch show pci/{PF}"
LAG = f"/sys/kernel/debug/mlx5/{PF}/lag"


def parse(*sections: Section) -> PfEswitch:
    return Eswitch.parse(Capture(sections, complete=True)).pfs[PF]


def shown(output: str, errors: str = "", code: int = 0) -> Section:
    return Section("devlink-eswitch", PF, output, errors, code)


def debugfs(output: str, errors: str = "") -> tuple[Section, Section]:
    return shown(""), Section("mlx5-lag", "", output, errors, 123 if errors else 0)


def test_mode_inline_and_encapsulation_are_read():
    text = (
        f'{{"dev":{{"pci/{PF}":{{"mode":"switchdev","inline-mode":"none","encap-mode":"basic"}}}}}}'
    )
    eswitch = parse(shown(text))
    assert (eswitch.mode, eswitch.inline_mode, eswitch.encap_mode) == (
        Known("switchdev", SHOW), Known("none", SHOW), Known("basic", SHOW),
    )  # fmt: skip


def test_a_mode_without_more_leaves_the_rest_absent():
    eswitch = parse(shown(f'{{"dev":{{"pci/{PF}":{{"mode":"legacy"}}}}}}'))
    assert eswitch.mode == Known("legacy", SHOW)
    assert isinstance(eswitch.encap_mode, Absent)


@pytest.mark.parametrize(("said", "mode"), [("enable", "basic"), ("disable", "none")])
def test_encapsulation_has_its_former_name_before_iproute2_5_7(said: str, mode: str):
    text = f'{{"dev":{{"pci/{PF}":{{"mode":"switchdev","inline-mode":"none","encap":"{said}"}}}}}}'
    assert parse(shown(text)).encap_mode == Known(mode, SHOW)


@pytest.mark.parametrize(
    ("errors", "code", "kind"),
    [
        ("kernel answers: Operation not permitted", 1, Unreadable),
        ("kernel answers: Operation not supported", 1, Absent),
        ("kernel answers: No such device", 1, Absent),
        ("sh: 1: devlink: not found", 127, Unreadable),
    ],
)
def test_denied_is_told_from_not_there(errors: str, code: int, kind: type):
    assert isinstance(parse(shown("", errors, code)).mode, kind)


@pytest.mark.parametrize("text", ['{"dev":[]}', "[]", "{", '{"dev":{}}', '{"dev":{"pci/x":1}}'])
def test_json_of_another_shape_gives_no_mode(text: str):
    assert not isinstance(parse(shown(text)).mode, Known)


def test_a_lag_that_is_active_tells_its_kind():
    eswitch = parse(*debugfs(f"{LAG}/state:active\n{LAG}/type:switchdev\n{LAG}/port_sel_mode:hash"))
    assert eswitch.lag_state == Known("active", f"cat {LAG}/state")
    assert eswitch.lag_type == Known("switchdev", f"cat {LAG}/type")
    assert eswitch.lag_port_selection == Known("hash", f"cat {LAG}/port_sel_mode")


def test_a_lag_that_is_disabled_has_no_kind():
    eswitch = parse(*debugfs(f"{LAG}/state:disabled", f"grep: {LAG}/type: Invalid argument"))
    assert eswitch.lag_state == Known("disabled", f"cat {LAG}/state")
    assert isinstance(eswitch.lag_type, Absent)


def test_debugfs_that_needs_root_is_not_a_lag_that_is_off():
    eswitch = parse(*debugfs("", f"grep: {LAG}/state: Permission denied"))
    assert isinstance(eswitch.lag_state, Unreadable)


def test_filters_are_counted_by_where_they_are():
    text = "netdev eth1\nin_hw\nin_hw\nnot_in_hw\nnetdev eth2"
    tc = Tc.parse(Capture([Section("tc-filters", "", text, "", 0)], complete=True))
    assert tc.ingress == {"eth1": TcFilters(2, 1), "eth2": TcFilters(0, 0)}
    assert tc.of("eth1") == Known(TcFilters(2, 1), "tc -s filter show dev eth1 ingress")
    assert isinstance(tc.of("eth3"), Unreadable)


@pytest.mark.parametrize(("errors", "code"), [("tc: not found", 0), ("", None)])
def test_filters_that_could_not_be_read_are_not_none(errors: str, code: int | None):
    section = Section("tc-filters", "", "netdev eth1\n", errors, code)
    assert isinstance(Tc.parse(Capture([section], complete=True)).of("eth1"), Unreadable)
