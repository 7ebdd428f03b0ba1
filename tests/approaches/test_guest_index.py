"""Guests by host and by network, as the spec lists them."""

from typing import Any

from wirespeed.approaches.guest_index import guest_index
from wirespeed.model.spec.members import read_spec_data
from wirespeed.model.spec.spec import Spec

PORTS = ("0000:03:00.0", "0000:03:00.1")


def spec(**guests: tuple[str, tuple[str, ...]]) -> Spec:
    networks: dict[str, Any] = {
        "storage": {"segment": 42, "subnet": "192.168.10.0/24", "mtu": 9000},
        "public": {"segment": 40, "subnet": "192.168.20.0/24", "mtu": 1500},
    }
    return read_spec_data(
        {
            "hosts": {name: {"reach": name, "ports": PORTS} for name in ("alpha", "beta")},
            "approach": "legacy-vlan",
            "underlay": {"subnet": "192.168.9.0/24", "mtu": 9080},
            "networks": networks,
            "guests": {n: {"host": h, "networks": of} for n, (h, of) in guests.items()},
        }
    )


def test_guests_stand_in_the_order_of_the_spec():
    of = spec(c=("beta", ("storage",)), a=("alpha", ("public", "storage")), b=("beta", ("public",)))
    index = guest_index(of)
    assert index.by_host == {"beta": ("c", "b"), "alpha": ("a",)}
    assert index.by_network == {"storage": ("c", "a"), "public": ("a", "b")}
    assert index.places == {
        ("storage", "c"): 0,
        ("storage", "a"): 1,
        ("public", "a"): 0,
        ("public", "b"): 1,
    }


def test_a_spec_with_other_guests_has_another_index():
    one = spec(a=("alpha", ("storage",)))
    assert guest_index(one).by_host == {"alpha": ("a",)}
    other = one.model_copy(update={"guests": spec(b=("beta", ("public",))).guests})
    assert guest_index(other).by_host == {"beta": ("b",)}
    assert guest_index(one).by_host == {"alpha": ("a",)}
