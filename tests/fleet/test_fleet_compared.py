"""Settings of two hosts compare by meaning: other names and orders are no difference."""

from functools import cache

import pytest

from described.healthy import kinds
from described.host import capture_of
from wirespeed.fleet.compared import profile_key, settings_of, traits_of
from wirespeed.model.capture import parse_capture
from wirespeed.model.fact import HostFacts

KINDS = kinds()


@cache
def captured(name: str) -> str:
    return capture_of(KINDS[name]())


def facts(text: str) -> HostFacts:
    return HostFacts("host", parse_capture(text, "host"))


def test_netdevs_with_other_names_and_addresses_have_equal_settings():
    text = captured("dual_xeon_100g")
    other = text.replace("ens6f0np0", "eth0").replace("ens6f1np1", "eth1")
    other = other.replace("0000:af:00", "0000:3b:00").replace("02:00:5e:00:53", "02:00:5e:77:53")
    assert other != text
    assert settings_of(facts(text)) == settings_of(facts(other))


def test_the_order_of_kernel_parameters_is_no_difference_and_their_value_is():
    text = captured("dual_xeon_100g").replace(" ro quiet", " ro quiet iommu=pt")
    turned = text.replace("root=UUID=0 ro quiet iommu=pt", "iommu=pt quiet root=UUID=7 ro")
    other = text.replace("iommu=pt", "iommu=on")
    assert turned != text
    assert settings_of(facts(text)) == settings_of(facts(turned))
    found = settings_of(facts(text))
    changed = settings_of(facts(other))
    assert {name for name in found if found[name] != changed.get(name)} == {
        "kernel parameter iommu"
    }


def test_a_setting_has_the_word_of_the_field():
    found = settings_of(facts(captured("dual_xeon_100g")))
    # Each as the description says it: tests/described/healthy.py.
    assert found["port 0 mtu"] == "1500"
    assert found["port 1 combined channels"] == "48"
    assert found["port 0 module"] == "MCP1600-C001"
    assert found["sysctl kernel.numa_balancing"] == "1"
    assert found["frequency governor"] == "powersave"
    assert found["port 0 PCIe lanes"] == "16"


def test_traits_are_what_hosts_share():
    found = traits_of(facts(captured("dual_xeon_100g")))
    assert found["card"] == ("2 x ConnectX-5 (15b3:1017)",)
    assert found["cable"] == ("MCP1600-C001",)
    assert found["kernel"] == ("6.8.0-45-generic",)
    assert found["firmware"] == ("16.35.4506 (MT_0000000008)",)


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_host_can_be_compared(name: str):
    found = settings_of(facts(captured(name)))
    assert found
    assert not [text for text in found.values() if "Known(" in text or "Unreadable(" in text]
    assert not [text for text in found if "Known(" in text or "Unreadable(" in text]
    assert profile_key(found) == profile_key(dict(reversed(found.items())))
