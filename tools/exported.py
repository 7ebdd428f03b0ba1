"""What Kubernetes' programs make of our files on a host of the lab, held against `apply`.

    .venv/bin/python tools/exported.py [--sources FOLDER] [--only lent|pods|bridges]

Not a test: it needs Go 1.25 or newer, the sources of sriov-network-operator, sriov-cni and ovs-cni
(cloned from GitHub, or from FOLDER/NAME) and their Go modules, and three minutes to build them.
Of a cluster, only what selects nodes and VFs is missing. The operator's own code renders policies
and networks, its config daemon applies the policies on the host, and the CNI plug-ins are run as
multus runs them: with a VF's address and the pod's MAC. Exit code 1: something differs.

    lent      SriovNetwork, VFs for vfio-pci (igb)
    pods      SriovNetwork, VFs that become a pod's netdev (igb)
    bridges   OVSNetwork, a port in switchdev mode (a ConnectX by scripts/build-mlx5-model.sh)
"""

import argparse
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from exported_host import (
    GUESTS,
    NETWORKS,
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
)  # fmt: skip
from wirespeed.approaches.guest_network import guest_mac
from wirespeed.host.build_cache import build_once, cache_folder
from wirespeed.lab.machine_spec import LabSpec, MachineSpec
from wirespeed.lab.machines import Machine, Machines

COMMITS = {
    "sriov-network-operator": "249e20012faf17b4f38057f29608bde2b21c5c9a",
    "sriov-cni": "1b7acc5bfc6202672f0af47f9d18b7bed160a09e",
    "ovs-cni": "6ef93aa45fdf95de667e43b73225f16f81f171c7",
}
"""August 2026, July 2026, and 0.39.0: ovs-cni's 19262a0 (August 2026) reads no VF of a port, as
its newer netlink library asks the kernel for none ("failed to get vf info")."""
GITHUB = "https://github.com/k8snetworkplumbingwg"
RENDER = "cmd/wirespeed-render"
"""Where ours is built, among the operator's own programs: it needs their internal packages."""
BUILDS = (
    ("sriov-cni", "./cmd/sriov", "sriov"),
    ("ovs-cni", "./cmd/plugin", "ovs"),
    ("sriov-network-operator", "./cmd/sriov-network-config-daemon", "config-daemon"),
    ("sriov-network-operator", f"./{RENDER}", "render"),
)
BUILD_S = 900.0
CONFIG = "/etc/sriov-operator"
# Exit code 127 is how its script for the kernel's command line says that there is no grubby: the
# daemon then takes the command line for right.
NO_GRUBBY = "exit 127\n"
POLICY = "SriovNetworkNodePolicy"
LENT, NETDEV = "vfio", "netdevice"
"""As the names of our resources say what their VFs are."""
OVS = "/usr/share/openvswitch/scripts/ovs-ctl start --system-id=random --no-record-hostname"
MLX5_PORT, MLX5 = "0000:01:00.0", "enp1s0f0"


def build(draft: Path, sources: str) -> None:
    """Build the programs; the operator's manifests and CRDs go with them."""
    with tempfile.TemporaryDirectory() as work:
        for name, commit in COMMITS.items():
            run(["git", "clone", "--quiet", f"{sources}/{name}", Path(work, name)])
            run(["git", "checkout", "--quiet", commit], Path(work, name))
        operator = Path(work, "sriov-network-operator")
        (operator / RENDER).mkdir()
        ours = Path(__file__).with_name("exported_operator.go").read_text()
        (operator / RENDER / "main.go").write_text(ours)
        for name, package, program in BUILDS:
            words = ["go", "build", "-trimpath", "-ldflags=-s -w", "-o", str(draft / program)]
            run([*words, package], Path(work, name), CGO_ENABLED="0")
        run(["cp", "-r", "bindata/manifests/cni-config", "config/crd/bases", draft], operator)


def exported(spec: Path, programs: Path) -> tuple[str, dict[str, Any]]:
    """Give the objects of a spec, and the CNI configuration of each network, by its name."""
    wirespeed("export-spec", spec, "--as", "sriov-operator", "--out", spec.parent)
    text = (spec.parent / "alpha/sriov-network-operator.yaml").read_text()
    valid(list(yaml.safe_load_all(text)), programs / "bases")
    words = [str(programs / "render"), "networks", str(programs / "cni-config")]
    done = subprocess.run(words, input=text, text=True, stdout=subprocess.PIPE, check=True)
    return text, json.loads(done.stdout)


def valid(objects: Sequence[dict[str, Any]], crds: Path) -> None:
    """Hold each against the operator's own CRD. Raises jsonschema.ValidationError."""
    schemas = {}
    for path in crds.iterdir():
        crd = yaml.safe_load(path.read_text())["spec"]
        schemas[crd["names"]["kind"]] = crd["versions"][0]["schema"]["openAPIV3Schema"]
    for one in objects:
        jsonschema.validate(one, _strict(schemas[one["kind"]]))


def _strict(schema: Any) -> Any:
    """As the API server with `fieldValidation: Strict`: an unknown field is refused."""
    if isinstance(schema, list):
        return [_strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    strict = {name: _strict(value) for name, value in schema.items()}
    if "type" in strict and "properties" in strict:
        strict.setdefault("additionalProperties", False)
    return strict


def apply_policies(host: Machine, text: str) -> None:
    """By the operator's own code: what its controller renders, and both phases of its daemon."""
    objects = [one for one in yaml.safe_load_all(text) if one["kind"] == POLICY]
    sh(host, f"rm -rf {CONFIG}; mkdir -p {ON_HOST}/bindata/scripts")
    sh(host, f"cat >{ON_HOST}/bindata/scripts/kargs.sh", NO_GRUBBY)
    sh(host, f"cd {ON_HOST}; ./render policies", yaml.safe_dump_all(objects))
    for phase in ("pre", "post"):
        sh(host, f"cd {ON_HOST}; ./config-daemon service --phase {phase} 2>&1")
    result = yaml.safe_load(sh(host, f"cat {CONFIG}/sriov-interface-result.yaml"))
    if result["syncStatus"] != "Succeeded":
        raise SystemExit(f"the operator's daemon: {result}")
    sh(host, "udevadm settle; " + "; ".join(f"ip netns add {guest}" for guest in GUESTS))


def attach(host: Machine, told: dict[str, Any], guest: str, netdev: str, mac: str = "") -> None:
    """Run a CNI plug-in as multus does for a pod that starts."""
    variables = (
        f"CNI_COMMAND=ADD CNI_CONTAINERID={guest} CNI_NETNS=/run/netns/{guest} "
        f"CNI_IFNAME={netdev} CNI_PATH={ON_HOST}"
    )
    if mac:
        variables += f" CNI_ARGS='IgnoreUnknown=1;MAC={mac}'"
    sh(host, f"{variables} {ON_HOST}/{told['type']}", json.dumps(told))


def vf_address(host: Machine, port: str, vf: int) -> str:
    """Give the PCI address of a VF."""
    return Path(sh(host, f"readlink /sys/bus/pci/devices/{port}/virtfn{vf}").strip()).name


def sriov_network(host: Machine, programs: Path, work: Path, kind: str) -> list[str]:
    """Give what differs between `apply`, and policies and networks, for VFs of one `deviceType`.

    A pod whose VF is its netdev asks for no MAC: sriov-cni would set it by the port and then by the
    netdev, and igb refuses the second (igb_main.c, E1000_VF_SET_MAC_ADDR: "Reload the VF driver").
    """
    reach, guests = f"ssh://{host.state.destination}", "none" if kind == LENT else "namespace"
    text = json.dumps(spec_of(reach, [*PORTS.values()], guests, approach="legacy-vlan"))
    (work / "spec.yaml").write_text(text)
    applied = by_apply(host, work / "spec.yaml")
    text, configs = exported(work / "spec.yaml", programs)
    apply_policies(host, text)
    for number, port in enumerate(PORTS.values()):
        for vf, (guest, network) in enumerate(GUESTS.items()):
            name = f"wirespeed-port{number}-{kind}-vlan-{NETWORKS[network]['segment']}"
            told = {**configs[name], "deviceID": vf_address(host, port, vf)}
            mac = guest_mac(guest, network) if kind == LENT else ""
            attach(host, told, guest, f"net{number}", mac)
            if kind == NETDEV:
                sh(host, f"ip -n {guest} link show net{number} up | grep -q net{number}")
    here = standing(host)
    if kind == NETDEV:
        for vfs in (*applied.values(), *here.values()):
            for vf in range(len(GUESTS)):
                del vfs[f"VF {vf}"]["address"]
    return differing(applied, here)


def ovs_network(host: Machine, programs: Path, work: Path, _: str) -> list[str]:
    """Give what differs between the steps of an `ovs-tc` spec, and a policy with its OVSNetworks.

    `apply` itself is refused there: Debian's kernel has no offload by tc for this driver, and says
    so. The spec is read with a capture in which that one word is another; what the file says of
    ports and VFs comes out of it unchanged.
    """
    sh(host, OVS)
    wirespeed("capture", f"ssh://{host.state.destination}", "--out", work / "alpha.txt")
    read = (work / "alpha.txt").read_text()
    (work / "alpha.txt").write_text(read.replace("hw-tc-offload: off [fixed]", "hw-tc-offload: on"))
    more = {"approach": "ovs-tc", "failover": "none"}
    spec = spec_of(str(work / "alpha.txt"), [MLX5_PORT], "namespace", **more)
    (work / "spec.yaml").write_text(json.dumps(spec))
    text, configs = exported(work / "spec.yaml", programs)
    apply_policies(host, text)
    wanted: dict[str, Any] = {"mode": "switchdev", "MTU": spec["underlay"]["mtu"]}
    mode = json.loads(sh(host, f"devlink -j dev eswitch show pci/{MLX5_PORT}"))
    here: dict[str, Any] = {"mode": mode["dev"][f"pci/{MLX5_PORT}"]["mode"]}
    here["MTU"] = link_of(host, MLX5)["mtu"]
    for vf, (guest, network) in enumerate(GUESTS.items()):
        mtu, mac = NETWORKS[network]["mtu"], guest_mac(guest, network)
        sh(host, f"ovs-vsctl add-br br-{network}")
        name = f"wirespeed-port0-{NETDEV}-bridge-br-{network}-mtu-{mtu}"
        told = {**configs[name], "deviceID": vf_address(host, MLX5_PORT, vf)}
        attach(host, told, guest, "net0", mac)
        representor = next(representors(host, vf))
        wanted[f"VF {vf}"] = {
            "bridge": f"br-{network}", "representor's MTU": mtu, "MTU": mtu, "MAC": mac, "up": True,
        }  # fmt: skip
        own = link_of(host, "net0", guest)
        here[f"VF {vf}"] = {
            "bridge": sh(host, f"ovs-vsctl port-to-br {representor}").strip(),
            "representor's MTU": link_of(host, representor)["mtu"],
            "MTU": own["mtu"], "MAC": own["address"], "up": "UP" in own["flags"],
        }  # fmt: skip
    return differing(wanted, here)


def link_of(host: Machine, netdev: str, guest: str = "") -> Mapping[str, Any]:
    """Give what `ip` says of a netdev, of the host or in a namespace."""
    within = f"-n {guest} " if guest else ""
    links: list[dict[str, Any]] = json.loads(sh(host, f"ip {within}-j link show {netdev}"))
    return links[0]


def representors(host: Machine, vf: int) -> Iterator[str]:
    """Give the netdev that devlink names as a VF's port."""
    ports = json.loads(sh(host, "devlink -j port show"))["port"]
    for address, port in ports.items():
        if address.startswith(f"pci/{MLX5_PORT}/") and port.get("vfnum") == vf:
            yield port["netdev"]


IGB = MachineSpec(name="alpha", systemd=True, disk=True, memory_mib=1024)
CASES = {
    "lent": (sriov_network, LENT, IGB),
    "pods": (sriov_network, NETDEV, IGB),
    "bridges": (ovs_network, NETDEV, IGB.model_copy(update={"card": "mlx5", "cpus": 2})),
}


def main() -> int:
    """Do what is asked for, each in a lab of its own."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sources", default=GITHUB, help="folder or URL that has the sources")
    parser.add_argument("--only", choices=CASES, help="one case")
    given = parser.parse_args()
    name = "-".join(["exported", *(commit[:7] for commit in COMMITS.values())])
    target = cache_folder() / name
    programs = build_once(target, lambda draft: build(draft, given.sources), timeout_s=BUILD_S)
    code = 0
    for name, (case, kind, machine) in CASES.items():
        if given.only not in (None, name):
            continue
        with (
            tempfile.TemporaryDirectory() as work,
            Machines(LabSpec(hosts=(machine,), wiring="switch"), name=f"exp-{os.getpid()}") as lab,
        ):
            for program in ("sriov", "ovs", "config-daemon", "render"):
                put(lab.hosts["alpha"], programs / program)
            found = case(lab.hosts["alpha"], programs, Path(work), kind)
        print(name, *found or ["the same"], sep="\n  ", flush=True)
        code |= bool(found)
    return code


if __name__ == "__main__":
    raise SystemExit(main())
