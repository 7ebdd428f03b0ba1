"""A spec's words mean what YAML 1.2 says: a number only where a number stands, and no more."""

import pytest
from test_spec_file import SPEC

from wirespeed.apply.spec_file import parse_spec
from wirespeed.model.error import InputError
from wirespeed.model.spec.members import read_spec_data


def refusal(old: str, new: str, spec: str = SPEC) -> InputError:
    text = spec.replace(old, new)
    assert text != spec
    with pytest.raises(InputError) as caught:
        parse_spec(text, "spec.yaml")
    return caught.value


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("42", 42), ("+42", 42), ("010", 10), ("0o10", 8), ("0x2a", 42),
    ],
)  # fmt: skip
def test_a_whole_number_is_that_of_yaml_1_2(written: str, meant: int):
    spec = parse_spec(SPEC.replace("segment: 42", f"segment: {written}"), "spec.yaml")
    assert spec.networks["storage"].segment == meant


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("yes", "the text 'yes'"), ("on", "the text 'on'"), ("1:30", "the text '1:30'"),
        ("1_000", "the text '1_000'"), ("0b11", "the text '0b11'"), ('"42"', "the text '42'"),
        ("true", "true"), ("42.0", "42.0"), ("4e1", "40.0"), (".inf", "inf"), ("~", "nothing"),
        ("", "nothing"), ("2026-01-01", "the text '2026-01-01'"), ("[42]", "a list"),
        ("0o9", "the text '0o9'"), ("{}", "fields"), ("<<", "the text '<<'"),
    ],
)  # fmt: skip
def test_what_is_no_whole_number_is_refused_with_field_and_finding(written: str, found: str):
    error = refusal("segment: 42", f"segment: {written}")
    assert error.what == "spec.invalid"
    assert error.found == f"networks.storage.segment: found {found}; it must be a whole number"


@pytest.mark.parametrize("written", ["yes", "1", '"true"', "on", "~"])
def test_a_switch_is_true_or_false(written: str):
    more = f"{SPEC}measure: {{iperf3: {{bidirectional: {written}}}}}\n"
    error = refusal(SPEC, more)
    assert error.found.startswith("measure.iperf3.bidirectional: found ")
    assert error.found.endswith("; it must be true or false")


@pytest.mark.parametrize(
    ("field", "written"),
    [
        ("vcpus", "true"), ("vcpus", "16.0"), ("vcpus", "'16'"), ("memory_gib", "'8'"),
        ("memory_gib", "yes"), ("memory_gib", "true"), ("memory_gib", ".nan"),
        ("memory_gib", ".inf"), ("hugepage_kib", "2048.0"), ("hugepage_kib", "'2048'"),
    ],
)  # fmt: skip
def test_no_field_of_a_guest_takes_what_is_no_number(field: str, written: str):
    old = {"vcpus": "vcpus: 16", "memory_gib": "memory_gib: 8"}.get(field, "vcpus: 16")
    error = refusal(old, f"{field}: {written}")
    assert error.what == "spec.invalid"
    assert error.found.startswith(f"guests.ceph-1.{field}: found ")


def test_memory_may_have_a_point():
    spec = parse_spec(SPEC.replace("memory_gib: 8", "memory_gib: 1.5e0"), "spec.yaml")
    assert spec.guests["ceph-1"].memory_gib == 1.5


def test_addresses_need_no_quotes():
    """By YAML 1.1, `0000:03:00.0` is the number 180.0."""
    text = SPEC.replace('"0000:03:00.0", "0000:03:00.1"', "0000:03:00.0, 0000:03:00.1")
    assert parse_spec(text, "spec.yaml") == parse_spec(SPEC, "spec.yaml")


@pytest.mark.parametrize("name", ["no", "yes", "on", "off", "y", "n"])
def test_a_name_that_yaml_1_1_took_for_a_truth_is_a_name(name: str):
    spec = parse_spec(SPEC.replace("alpha", name), "spec.yaml")
    assert list(spec.hosts) == [name]
    assert spec.guests["ceph-1"].host == name


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("storage: {", "7: {", "line 7: the key 7 is not text: it needs quotes"),
        ("storage: {", "true: {", "line 7: the key true is not text: it needs quotes"),
        ("storage: {", "[a]: {", "line 7: a key is one word"),
        ("storage: {", "<<: {", "networks.<<.[key]: '<<': a name has small letters"),
        ("segment: 42", "segment: !!int 42", "line 7: a tag"),
        ("segment: 42", "segment: ! 42", "line 7: a tag"),
        ("segment: 42", "segment: !!bool yes", "line 7: a tag"),
        ("segment: 42", "segment: !!binary NDI=", "line 7: a tag"),
        ("[storage]", "!!set {storage}", "line 9: a tag"),
        (SPEC, "%YAML 1.1\n---" + SPEC, "line 1: it says that it is YAML 1.1"),
        (SPEC, SPEC + "---\na: 1\n", "line "),
        ("# a comment", "# a comment\u2028measure: {}", "line 4: a line end that YAML 1.2"),
        ("# a comment", "# a comment\x85measure: {}", "line 4: a line end that YAML 1.2"),
        ("segment: 42", "segment: " + "9" * 5000, "digits"),
    ],
)
def test_what_is_more_than_plain_data_is_refused(old: str, new: str, found: str):
    error = refusal(old, new)
    assert error.what in ("spec.not_yaml", "spec.invalid")
    assert found in error.found


def test_a_file_that_says_it_is_yaml_1_2_is_read():
    assert parse_spec("%YAML 1.2\n---" + SPEC, "spec.yaml") == parse_spec(SPEC, "spec.yaml")


SUBNETS = [
    ("127.0.0.0/8", "loopback"), ("127.10.0.0/24", "loopback"), ("96.0.0.0/3", "loopback"),
    ("224.0.0.0/24", "multicast"), ("239.1.2.0/24", "multicast"), ("0.0.0.0/0", "itself"),
    ("0.0.0.0/24", "itself"), ("169.254.7.0/24", "link-local"), ("240.0.0.0/24", "reserved"),
    ("255.255.255.0/24", "reserved"),
]  # fmt: skip


@pytest.mark.parametrize(("subnet", "why"), SUBNETS)
@pytest.mark.parametrize("old", ["192.168.9.0/24", "192.168.10.0/24"])
def test_a_subnet_that_no_host_can_use_is_refused(subnet: str, why: str, old: str):
    error = refusal(old, subnet)
    assert error.what == "spec.invalid"
    field = "underlay.subnet" if old == "192.168.9.0/24" else "networks.storage.subnet"
    if subnet != "0.0.0.0/0":  # which also overlaps with the other one
        assert error.found.startswith(f"{field}: found {subnet}")
    assert why in error.found or "overlap" in error.found


@pytest.mark.parametrize(
    ("subnet", "why"),
    [
        ("::/64", "reserved"), ("::1/128", "room"), ("::ffff:a00:0/112", "reserved"),
        ("ff02::/64", "multicast"), ("fe80::/64", "link-local"), ("fe00::/7", "multicast"),
    ],
)  # fmt: skip
def test_an_ipv6_underlay_that_no_host_can_use_is_refused(subnet: str, why: str):
    assert why in refusal("192.168.9.0/24", f'"{subnet}"').found


@pytest.mark.parametrize(
    "written", ["42", "192.168.10.0", "192.168.10.0/255.255.255.0", "192.168.10.0/0.0.0.255",
                "true", "[192.168.10.0, 24]", "192.168.10.0/024"],
)  # fmt: skip
@pytest.mark.parametrize("old", ["192.168.9.0/24", "192.168.10.0/24"])
def test_a_subnet_is_an_address_and_a_length(written: str, old: str):
    error = refusal(old, written)
    assert ".subnet: found " in error.found
    assert "it must be an address and a length, such as 192.168.9.0/24" in error.found


def test_a_cable_of_wsl2_may_be_link_local():
    """Its addresses are there already: Windows gives itself such ones."""
    text = """
hosts: {desk: {reach: here, ports: ["0000:03:00.0"]}}
approach: wsl2
underlay: {subnet: 169.254.0.0/16, mtu: 9000}
"""
    assert str(parse_spec(text, "spec.yaml").underlay.subnet) == "169.254.0.0/16"


def test_a_spec_of_an_older_run_is_still_read():
    """What a journal has was taken then; its undo needs it."""
    old = parse_spec(SPEC, "spec.yaml").model_dump(mode="json")
    old["networks"]["storage"]["subnet"] = "169.254.7.0/24"
    old["underlay"]["subnet"] = "127.0.0.0/24"
    assert str(read_spec_data(old).underlay.subnet) == "127.0.0.0/24"
