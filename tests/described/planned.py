"""Captures of described hosts in files, their spec, and what `wirespeed plan` makes of it."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from described.doc_sriov import as_found, legacy_vlan, rebooted
from described.host import Host, capture_of
from wirespeed.commands.plan import plan
from wirespeed.model.plan import Plan

PORTS = ["0000:03:00.0", "0000:03:00.1"]


@cache
def before() -> str:
    """The document's host before its approach 1: its card offers 16 VFs on each port."""
    return _capture(rebooted)


@cache
def after() -> str:
    """The same after it: two VFs on each port, bound to vfio-pci, MTU 9080."""
    return _capture(rebooted, legacy_vlan)


def _capture(*steps: Callable[[Host], None]) -> str:
    host = Host()
    as_found(host)
    for step in steps:
        step(host)
    return capture_of(host)


def spec_of(folder: Path, captures: dict[str, str], guests: dict[str, Any]) -> Path:
    """Write captures and their spec, which is the design's example with these guests."""
    hosts = {}
    for name, text in captures.items():
        path = folder / f"{name}.txt"
        path.write_text(text)
        hosts[name] = {"reach": str(path), "ports": PORTS}
    spec = folder / "spec.yaml"
    content = {
        "hosts": hosts,
        "approach": "legacy-vlan",
        "failover": "active-backup",
        "underlay": {"subnet": "192.168.9.0/24", "mtu": 9080},
        "networks": {
            "storage": {"segment": 42, "subnet": "192.168.10.0/24", "mtu": 9000},
            "public": {"segment": 40, "subnet": "192.168.20.0/24", "mtu": 1500},
        },
        "guests": guests,
    }
    spec.write_text(json.dumps(content))
    return spec


def call(spec: Path, *options: str) -> Result:
    return CliRunner().invoke(plan, [str(spec), *options], standalone_mode=False)


def planned(spec: Path) -> Plan:
    done = call(spec, "--json")
    assert done.exception is None, done.exception
    return Plan.model_validate_json(done.output)


def commands(spec: Path, host: str) -> list[str]:
    """Every command of a host, as it is shown."""
    return [c.line() for step in planned(spec).steps if step.host == host for c in step.commands]
