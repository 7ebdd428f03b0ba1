"""Guests as measuring sees them."""

from collections.abc import Sequence
from ipaddress import IPv4Address

from wirespeed.apply.spec_file import parse_spec
from wirespeed.host.runner import MAX_OUTPUT_BYTES, Completed
from wirespeed.measure.network.endpoint import Attachment
from wirespeed.measure.network.endpoints import endpoints_of
from wirespeed.model.spec.spec import Spec

SPEC = """
hosts:
  alpha: {reach: ssh://root@alpha, ports: ["0000:03:00.0", "0000:03:00.1"]}
approach: legacy-vlan
underlay: {subnet: 192.168.9.0/24, mtu: 9080}
networks:
  storage: {segment: 42, subnet: 192.168.10.0/24, mtu: 9000}
  public: {segment: 40, subnet: 192.168.20.0/24, mtu: 1500}
guests:
  by-hand: {host: alpha, networks: [storage]}
  ceph-1: {host: alpha, networks: [public, storage], kind: namespace}
  gpu-1: {host: alpha, networks: [storage], kind: qemu, image: /srv/debian.qcow2}
"""


class Recorded:
    """Says where it was asked, and what."""

    def __init__(self, name: str) -> None:
        self.name = name

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 60.0,
        stdin: str | None = None,
        max_bytes: int = MAX_OUTPUT_BYTES,
    ) -> Completed:
        del timeout_s, stdin, max_bytes
        said = f"{self.name}: {' '.join(argv)}"
        return Completed(argv=tuple(argv), output=said, errors="", returncode=0, duration_s=0)


def spec() -> Spec:
    return parse_spec(SPEC, "spec.yaml")


def test_commands_of_a_namespace_run_in_it_and_those_of_a_machine_in_that():
    found = endpoints_of(spec(), {"alpha": Recorded("alpha"), "gpu-1": Recorded("gpu-1")})
    assert {name: one.runner.run(("id",)).output for name, one in found.items()} == {
        "ceph-1": "alpha: ip netns exec ceph-1 id",
        "gpu-1": "gpu-1: id",
    }
    assert {one.host for one in found.values()} == {"alpha"}


def test_each_network_is_as_the_spec_says():
    ceph = endpoints_of(spec(), {"alpha": Recorded("a"), "gpu-1": Recorded("g")})["ceph-1"]
    mac = ceph.attachments["storage"].mac
    assert ceph.attachments["storage"] == Attachment(
        network="storage",
        segment=42,
        netdev="bond1",
        members=("net1p0", "net1p1"),
        address=IPv4Address("192.168.10.2"),
        prefix_length=24,
        mac=mac,
        mtu=9000,
    )
    assert mac != ceph.attachments["public"].mac
