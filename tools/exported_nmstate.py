"""What nmstate makes of our files on a host of the lab, held against `apply`.

    .venv/bin/python tools/exported_nmstate.py

Not a test: it builds nmstatectl from crates.io, which takes cargo and minutes, and fetches Debian's
NetworkManager by apt. Exit code 1: something differs.
"""

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from exported_host import (
    COMMAND_S,
    ON_HOST,
    PORTS,
    by_apply,
    differing,
    put,
    run,
    sh,
    spec_of,
    standing,
    wirespeed,
)
from wirespeed.host.build_cache import build_once, cache_folder
from wirespeed.lab.machine_spec import LabSpec, MachineSpec
from wirespeed.lab.machines import Machine, Machines

VERSION = "2.2.62"
MANAGED = """\
[main]
no-auto-default=*
[keyfile]
unmanaged-devices=interface-name:lab0
"""
"""NetworkManager leaves the netdev of our own session alone, and makes no connection by itself."""
SETTLE = "until nmcli -t networking connectivity >/dev/null 2>&1; do sleep 0.5; done"


def build(draft: Path) -> None:
    """Build nmstatectl."""
    words = ["cargo", "install", "nmstatectl", "--version", VERSION, "--locked", "--quiet"]
    run([*words, "--root", str(draft)])


def install_network_manager(host: Machine, work: Path) -> None:
    """Fetch what the host lacks of it, by the host's own list of packages."""
    (work / "status").write_text(sh(host, "cat /var/lib/dpkg/status"))
    (work / "partial").mkdir()
    options = [f"Dir::State::status={work}/status", f"Dir::Cache::archives={work}"]
    words = [word for option in (*options, "APT::Sandbox::User=") for word in ("-o", option)]
    words += ["--yes", "--quiet", "--download-only", "--no-install-recommends"]
    run(["apt-get", *words, "install", "network-manager"])
    for package in sorted(work.glob("*.deb")):
        run(["dpkg-deb", "-x", package, work / "root"])
    run(["tar", "-cf", work / "root.tar", "."], work / "root")
    put(host, work / "root.tar")
    sh(host, f"tar --keep-directory-symlink -xf {ON_HOST}/root.tar -C /; ldconfig")
    sh(host, "cat >/etc/NetworkManager/conf.d/lab.conf", MANAGED)
    sh(
        host,
        f"systemctl daemon-reload; systemctl reload dbus; systemctl start NetworkManager; {SETTLE}",
    )


def seen(host: Machine) -> dict[str, Any]:
    """What the kernel says, with rings, pause, link and addresses.

    Without the drivers of VFs, of which a file of nmstate has no word.
    """
    found = standing(host)
    for port in PORTS:
        del found[port]["drivers"]
        found[port]["rings"] = sh(host, f"ethtool -g {port}").split()
        found[port]["pause"] = sh(host, f"ethtool -a {port}").split()
        (link,) = json.loads(sh(host, f"ip -j address show {port}"))
        found[port]["up"] = "UP" in link["flags"]
        found[port]["addresses"] = [
            f"{one['local']}/{one['prefixlen']}"
            for one in link["addr_info"]
            if one["family"] == "inet"
        ]
    return found


def main() -> int:
    """Compare two specs on one host, each of a port of its own: what is applied first stays."""
    target = cache_folder() / f"exported-nmstatectl-{VERSION}"
    program = build_once(target, build, timeout_s=COMMAND_S) / "bin/nmstatectl"
    alpha = MachineSpec(name="alpha", systemd=True, disk=True, memory_mib=1024)
    code = 0
    with (
        tempfile.TemporaryDirectory() as work,
        Machines(LabSpec(hosts=(alpha,), wiring="switch"), name=f"exp-{os.getpid()}") as lab,
    ):
        host, folder = lab.hosts["alpha"], Path(work)
        put(host, program)
        reach, ports = f"ssh://{host.state.destination}", [*PORTS.values()]
        hosts = {"alpha": {"reach": reach, "ports": ports[1:]}}
        underlay = {"subnet": "192.168.9.0/24", "mtu": 9000}
        specs = {
            "guests": spec_of(reach, ports[:1], "none", approach="legacy-vlan", failover="none"),
            "tuned": {
                "hosts": hosts, "approach": "none", "underlay": underlay,
                "tuning": {"rings": "largest", "pause": False},
            },
        }  # fmt: skip
        netdev = dict(zip(specs, PORTS, strict=True))
        applied = {}
        for name, spec in specs.items():
            (folder / f"{name}.yaml").write_text(json.dumps(spec))
            applied[name] = by_apply(host, folder / f"{name}.yaml", seen)
        install_network_manager(host, folder)
        for name in specs:
            wirespeed(
                "export-spec", folder / f"{name}.yaml", "--as", "nmstate", "--out", folder / name
            )
            text = (folder / name / "alpha/wirespeed.nmstate.yaml").read_text()
            sh(host, f"cat >{ON_HOST}/{name}.yaml", text)
            sh(
                host,
                f"{ON_HOST}/nmstatectl apply {ON_HOST}/{name}.yaml 2>&1; udevadm settle",
            )
            port = netdev[name]
            found = differing(applied[name][port], seen(host)[port])
            print(name, *found or ["the same"], sep="\n  ", flush=True)
            code |= bool(found)
    return code


if __name__ == "__main__":
    raise SystemExit(main())
