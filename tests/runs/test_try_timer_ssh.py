"""`apply --try` on a real SSH host of its own network: a colleague, a carrier, no confirmation.

The host takes the run back by its own timer; what was set by others stays, and is named.
"""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from namespace_hosts import NamespaceHosts, run

pytestmark = [
    pytest.mark.sshd,
    pytest.mark.rare,
    pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root"),
]
TRY_S = 3600
FLEET = """\
hosts:
  {{ inventory_hostname }}: {reach: {{ reach }}, ports: ["{{ data_pci }}"]}
approach: none
underlay: {subnet: 192.168.50.0/24, mtu: 9000}
"""
START, GOAL = (1500, False, ()), (9000, True, ("192.168.50.1/24",))


@pytest.fixture(name="hosts", scope="module")
def _hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NamespaceHosts]:
    assert shutil.which("nsenter") and shutil.which("ip")
    hosts = NamespaceHosts(1, tmp_path_factory.mktemp("try"))
    try:
        yield hosts
    finally:
        hosts.close()


@pytest.fixture
def spec(hosts: NamespaceHosts, tmp_path: Path) -> Path:
    (name,) = hosts.names
    path = tmp_path / "spec.yaml"
    spec = {
        "hosts": {name: {"reach": hosts.reach(name), "ports": ["0000:03:00.0"]}},
        "approach": "none",
        "underlay": {"subnet": "192.168.50.0/24", "mtu": 9000},
    }
    path.write_text(json.dumps(spec))
    return path


def standing(hosts: NamespaceHosts) -> tuple[int, bool, tuple[str, ...]]:
    (found,) = hosts.standing().values()
    return found


def tried(hosts: NamespaceHosts, spec: Path) -> None:
    code, output = hosts.ran("apply", str(spec), "--yes", "--try", str(TRY_S))
    assert code == 0, output
    assert standing(hosts) == GOAL


def test_a_try_timer_of_a_real_host_leaves_what_a_colleague_set_and_every_command_says_so(
    hosts: NamespaceHosts, spec: Path
):
    (name,) = hosts.names
    tried(hosts, spec)
    hosts.set_mtu(name, 4000)
    hosts.let_pass(TRY_S, 60)
    assert standing(hosts) == (4000, False, ()), "the MTU is the colleague's, the rest as before"

    code, output = hosts.ran("status", hosts.reach(name))
    assert code == 1 and "the host has undone it by itself" in output, output
    assert "it left step 1 mtu data0 alone: others changed it" in output

    code, output = hosts.ran("confirm", str(spec))
    assert code == 3, output
    assert "host.changed_by_others" in output and "mtu data0" in output
    assert "left as mtu 9000, is now mtu 4000, was mtu 1500 before" in " ".join(output.split())
    assert f"{name}: it left step" in output and "mtu data0 alone: others changed it" in output
    assert "restored      mtu data0" not in output
    assert standing(hosts) == (4000, False, ())

    code, output = hosts.ran("status", str(spec))
    assert code == 3 and "left alone     mtu data0" in output, output
    assert "others changed it, or what hangs together with it, so undo left it alone" in output
    code, output = hosts.ran("undo", str(spec))
    assert code == 3 and "mtu data0" in output, output
    assert standing(hosts) == (4000, False, ())
    code, output = hosts.ran("undo", str(spec), "--force")
    assert code == 0 and "restored      mtu data0" in output, output
    assert standing(hosts) == START


def test_a_try_timer_or_an_undo_of_a_fleet_leaves_what_a_colleague_set_on_a_host(
    hosts: NamespaceHosts, tmp_path: Path
):
    (name,) = hosts.names
    folder, spec = tmp_path / "change", tmp_path / "spec.yaml"
    spec.write_text(FLEET)
    where = ("-i", str(hosts.inventory), "--waves", "100%", "--yes", "--run", str(folder))
    code, output = hosts.ran("fleet", "apply", str(spec), *where, "--try", str(TRY_S))
    assert code == 0, output
    assert standing(hosts) == GOAL
    hosts.set_mtu(name, 4000)
    for _ in range(2):
        code, output = hosts.ran("fleet", "undo", str(folder))
        assert code == 3, output
        assert f"left changed  {name}: host.changed_by_others: step" in output
        assert "mtu data0" in output and "is now mtu 4000" in output
        assert standing(hosts) == (4000, False, ())
    hosts.set_mtu(name, 1500)
    code, output = hosts.ran("fleet", "undo", str(folder))
    assert code == 0 and standing(hosts) == START, output


def test_a_try_timer_of_a_real_host_takes_no_carrier_for_a_colleague(
    hosts: NamespaceHosts, spec: Path
):
    """The far end goes down: flags and operstate of the netdev alter, its state does not."""
    tried(hosts, spec)
    for how in ("down", "up", "down"):
        run("ip", "-n", hosts.controller_namespace, "link", "set", "d1", how)
    hosts.let_pass(TRY_S, 60)
    run("ip", "-n", hosts.controller_namespace, "link", "set", "d1", "up")
    assert standing(hosts) == START
    code, output = hosts.ran("undo", str(spec))
    assert code == 0, output
