"""A lab's host on which another tool applies our files: what it has of ports, VFs and guests."""

import base64
import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from wirespeed.lab.machines import Machine

COPY_S = 180.0
COMMAND_S = 900.0
ON_HOST = "/opt/exported"
PORTS = {"enp1s0": "0000:01:00.0", "enp2s0": "0000:02:00.0"}
NETWORKS: dict[str, Any] = {
    "storage": {"segment": 42, "subnet": "192.168.10.0/24", "mtu": 9000},
    "public": {"segment": 40, "subnet": "192.168.20.0/24", "mtu": 1500},
}
GUESTS = {"ceph-1": "storage", "web-1": "public"}
"""The network of each, in the order of their VFs."""


def run(words: Sequence[str | Path], folder: Path | None = None, **more: str) -> str:
    """Run a program here. Raises SystemExit with what it said where it fails."""
    env = {**os.environ, **more}
    done = subprocess.run(
        words, cwd=folder, capture_output=True, text=True, timeout=COMMAND_S, check=False, env=env
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
    return done.stdout


def wirespeed(*words: str | Path) -> str:
    """Run the program under test. Raises SystemExit where it fails."""
    return run([Path(sys.executable).with_name("wirespeed"), *words])


def sh(host: Machine, script: str, stdin: str | None = None) -> str:
    """Run a script on the host. Raises SystemExit where it fails."""
    done = host.run(["sh", "-ec", script], stdin=stdin, timeout_s=COPY_S)
    if done.returncode:
        raise SystemExit(f"{script}\n{done.output}{done.errors}")
    return done.output


def put(host: Machine, program: Path) -> None:
    """Copy a program to the host."""
    text = base64.b64encode(gzip.compress(program.read_bytes())).decode()
    path = f"{ON_HOST}/{program.name}"
    sh(host, f"mkdir -p {ON_HOST}; base64 -d | gunzip >{path}; chmod 755 {path}", text)


def spec_of(reach: str, ports: Sequence[str], kind: str, **more: Any) -> dict[str, Any]:
    """Give a spec of two guests, each in a network of its own."""
    guest: dict[str, Any] = {"host": "alpha", "kind": kind}
    if kind == "none":
        guest |= {"vcpus": 1, "memory_gib": 1}
    return {
        "hosts": {"alpha": {"reach": reach, "ports": list(ports)}},
        "underlay": {"subnet": "192.168.9.0/24", "mtu": 9080},
        "networks": NETWORKS,
        "guests": {name: {"networks": [network], **guest} for name, network in GUESTS.items()},
        **more,
    }


def standing(host: Machine) -> dict[str, Any]:
    """What the kernel says of each port, of each of its VFs, and which driver a VF has."""
    found: dict[str, Any] = {}
    for link in json.loads(sh(host, "ip -j -d link")):
        if address := PORTS.get(link["ifname"]):
            where = f"/sys/bus/pci/devices/{address}/virtfn*/driver"
            drivers = sh(host, f"readlink {where} || :").split()
            vfs = [
                {key: value for key, value in vf.items() if key != "stats"}
                for vf in link.get("vfinfo_list", ())
            ]
            found[link["ifname"]] = {
                "MTU": link["mtu"],
                "drivers": [Path(one).name for one in drivers],
                **{f"VF {number}": vf for number, vf in enumerate(vfs)},
            }
    return found


def differing(applied: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Give a line for each value that differs, whatever is nested in what."""
    found = []
    for key in sorted({*applied, *other}):
        one, two = applied.get(key), other.get(key)
        if isinstance(one, dict) and isinstance(two, dict):
            found += [f"{key}: {line}" for line in differing(one, two)]
        elif one != two:
            found.append(f"{key}: {one} by apply, {two} here")
    return found


def by_apply(
    host: Machine, spec: Path, seen: Callable[[Machine], dict[str, Any]] = standing
) -> dict[str, Any]:
    """Give what `apply` makes of a spec; the host is as found again."""
    as_found = seen(host)
    wirespeed("apply", spec, "--yes")
    made = seen(host)
    wirespeed("undo", spec)
    if seen(host) != as_found:
        raise SystemExit("undo did not bring the host back")
    return made
