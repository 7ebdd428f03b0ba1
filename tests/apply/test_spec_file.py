"""A spec's file: what is wrong is named with its place, and nothing in it is more than data."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirespeed.apply.spec_file import parse_spec
from wirespeed.model.error import InputError

SPEC = """
hosts:
  alpha: {reach: ssh://root@alpha, ports: ["0000:03:00.0", "0000:03:00.1"]}
approach: legacy-vlan    # a comment
underlay: {subnet: 192.168.9.0/24, mtu: 9080}
networks:
  storage: {segment: 42, subnet: 192.168.10.0/24, mtu: 9000}
guests:
  ceph-1: {host: alpha, networks: [storage], vcpus: 16, memory_gib: 8}
"""


def test_a_file_is_read():
    assert parse_spec(SPEC, "spec.yaml").networks["storage"].segment == 42


@pytest.mark.parametrize(
    ("old", "new", "what", "found"),
    [
        ("segment: 42", "segment: 42, segment: 43", "spec.not_yaml", "line 7: the key 'segment'"),
        ("approach: legacy-vlan", "approach: [", "spec.not_yaml", "line "),
        (
            "192.168.10.0/24",
            "192.168.9.128/25",
            "spec.invalid",
            "192.168.9.0/24 and networks.storage",
        ),
        ("192.168.10.0/24", "192.168.10.1/24", "spec.invalid", "networks.storage.subnet: "),
        ("approach: legacy-vlan", "approach: legacy-wlan", "spec.invalid", "approach: "),
        ("host: alpha", "host: gamma", "spec.invalid", "no host 'gamma' among alpha"),
        ('"0000:03:00.1"]', '"0000:03:00.0"]', "spec.invalid", "a port is named twice"),
        ('"0000:03:00.1"]', '"03:00.1"]', "spec.invalid", "is not a PCI address"),
        ("segment: 42", "segment: 42, colour: red", "spec.invalid", "networks.storage.colour: "),
        ("segment: 42", "segment: 9999", "spec.invalid", "VLAN id 9999 is not 1 to 4094"),
        ("mtu: 9080", "mtu: 8999", "spec.invalid", "do not fit into the underlay's 8999"),
        ("storage: {", "storage: &a {", None, ""),
        ("guests:", "guests: *a\nmore:", "spec.not_yaml", "an alias"),
        ("reach: ssh", "reach: !!python/object/apply:os.system [id]", "spec.not_yaml", ""),
        (SPEC, "", "spec.invalid", "valid dictionary"),
        (SPEC, "[" * 5000, "spec.not_yaml", ""),
        (SPEC, "x" * (5 << 20), "spec.too_long", ""),
        ("reach: ssh", 'reach: "\\x1b[2J', "spec.not_yaml", ""),
    ],
)
def test_what_is_wrong_is_named(old: str, new: str, what: str | None, found: str):
    text = SPEC.replace(old, new)
    assert text != SPEC
    if what is None:
        parse_spec(text, "spec.yaml")
        return
    with pytest.raises(InputError) as caught:
        parse_spec(text, "spec.yaml")
    assert caught.value.what == what
    assert found in caught.value.found
    assert "\x1b" not in caught.value.found


@given(st.text(max_size=300))
def test_any_text_is_a_spec_or_is_refused(text: str):
    try:
        parse_spec(text, "spec.yaml")
    except InputError as error:
        assert error.found
