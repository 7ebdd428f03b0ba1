"""A run that is stopped on a real SSH host, whose port another program takes before it goes on."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from namespace_hosts import PCI, NamespaceHosts

pytestmark = [
    pytest.mark.sshd,
    pytest.mark.rare,
    pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root"),
]
CONFIG = f"""\
spec:
  interfaces:
  - pciAddress: {PCI}
    numVfs: 4
"""


@pytest.fixture(name="hosts", scope="module")
def _hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NamespaceHosts]:
    assert shutil.which("nsenter") and shutil.which("ip")
    hosts = NamespaceHosts(1, tmp_path_factory.mktemp("guard"))
    try:
        yield hosts
    finally:
        hosts.close()


def test_a_resumed_guard_of_a_real_host_refuses_a_port_that_an_operator_took_meanwhile(
    hosts: NamespaceHosts, tmp_path: Path
):
    (name,), path = hosts.names, tmp_path / "spec.yaml"
    spec = {
        "hosts": {name: {"reach": hosts.reach(name), "ports": [PCI]}},
        "approach": "none",
        "underlay": {"subnet": "192.168.50.0/24", "mtu": 9000},
    }
    path.write_text(json.dumps(spec))
    code, output = hosts.ran("apply", str(path), "--yes", "--until", "1")
    assert code == 0, output
    stopped = hosts.standing()
    assert stopped == {name: (9000, False, ())}, "one step of the plan"

    hosts.write_in_etc(name, "/etc/sriov-operator/sriov-interface-config.yaml", CONFIG)
    code, output = hosts.ran("apply", str(path), "--yes")
    assert code == 3, output
    assert "run.interrupted" in output and "plan.port_of_operator" in output
    assert hosts.standing() == stopped

    code, output = hosts.ran("undo", str(path))
    assert code == 0, output
    assert hosts.standing() == {name: (1500, False, ())}
    code, output = hosts.ran("apply", str(path), "--yes")
    assert code == 2 and "plan.port_of_operator" in output, "as a new one"
    hosts.without_etc(name)
    code, output = hosts.ran("apply", str(path), "--yes")
    assert code == 0, output
    code, output = hosts.ran("undo", str(path))
    assert code == 0, output
