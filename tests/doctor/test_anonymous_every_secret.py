"""A secret in what each section says, at each place where a person's word may stand: all are gone.

A section that is in none of the lists here fails: whoever adds one says what people write there.
"""

import json
import re
from collections import defaultdict
from functools import cache
from pathlib import Path
from time import process_time

import pytest

from described.windows import Windows, as_found, external_switch, guid
from wirespeed.doctor.anonymous import anonymous
from wirespeed.doctor.anonymous_json import BY_THE_SYSTEM, VERSION
from wirespeed.doctor.collector import collector_script
from wirespeed.model.capture import parse_capture
from wirespeed.platforms.esxi.collector import esxi_collector_script
from wirespeed.platforms.windows.collector import windows_collector_script

KEY = b"a key for tests, of thirty-two b"
PLANTED = "hunter2kqz"
TESTS = Path(__file__).parent.parent
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"(\s*:)?')

NUMBERS = {
    "accelerators bbr-module boot-loader cpu cpu-power cpuinfo detect-virt devlink-eswitch "
    "devlink-info dmi memory-modules card-data driver devlink-steering "
    "mlx5-steering installed lockdown secure-boot port-owners "
    "idle-usage iommu irq irqs memory modules mlx5-lag pci pci-aer pci-config pci-hops queues "
    "rdma rdma-counters rdma-gids rdma-mtu rdma-tos session softnet sriov statistics swapped "
    "sysctl fair-server "
    "tcp-counts virtualization vulnerabilities "
    "wsl-mode esxi-counters esxi-cpu esxi-guests esxi-memory esxi-passthrough esxi-power "
    "esxi-fec esxi-uplink esxi-version esxi-vmx switch-kind switch-seconds":
        "numbers, addresses, and words of the kernel, of ESXi and of makers",
    "driver-installed driver-log driver-package module-messages link-messages mlxlink mstconfig "
    "interrupts "
    "mlxlink-fec mlxlink-tool mlnx-qos dcb-pfc dcb-app firmware-vfs roce-ecn "
    "ovs-raw-io ovs-upcall "
    "ethtool ethtool-S ethtool-a ethtool-channels ethtool-coalescing ethtool-features ethtool-fec "
    "ethtool-fec-statistics ethtool-i ethtool-m ethtool-private-flags ethtool-rings ethtool-rss "
    "ethtool-udp-hash":
        "words of drivers and of the card; names of netdevs are learned where they stand as such",
    "windows-mlx5cmd windows-mlx5cmd-link": "a maker's program; names of adapters are learned",
    "collective-qps": "devices of RDMA, by the driver's names",
    "collective-sockets": "own addresses and process numbers",
    "names windows-names": "test_anonymous: all of it is names",
}  # fmt: skip
"""Sections in whose output no person's word stands but a name that is known from elsewhere."""
TEXTS = {
    "kernel": (
        f"/proc/cmdline:BOOT_IMAGE=/boot/vmlinuz-6.1.0-{PLANTED} ro token={PLANTED}\n"
        f"/proc/sys/kernel/osrelease:6.1.0-{PLANTED}+\n"
        f'/etc/os-release:PRETTY_NAME="Debian"\n/etc/os-release:IMAGE_OF="{PLANTED} ltd"'
    ),
    "ovs-pmd-rxq": (
        "Displaying last 60 seconds pmd usage %\npmd thread numa_id 0 core_id 3:\n"
        f"  isolated : false\n  port: {PLANTED}-p0  queue-id:  0 (enabled)   pmd usage: 41 %\n"
        "  overhead:  3 %"
    ),
    "threads": f"uptime 1.00\n/proc/7/task/8/stat:8 ({PLANTED}) R 1 {'7 ' * 40}1",
    "collective": (
        f"/proc/7/environ:NCCL_SOCKET_IFNAME=^{PLANTED},eth0\n/proc/7/environ:NCCL_IB_HCA={PLANTED}:1"
    ),
    "thread-status": f"/proc/7/status:Name:\t{PLANTED}\n/proc/7/task/8/status:Name:\tx {PLANTED})",
    "hugepage-mounts": (
        f"{PLANTED} /dev/{PLANTED} hugetlbfs rw,relatime,pagesize=2M 0 0\n"
        f"none /srv/{PLANTED}/x hugetlbfs rw,pagesize=1024M 0 0"
    ),
    "tuned": f"/run/tuned/tuned.pid:812\n/etc/tuned/active_profile:balanced {PLANTED}\n",
    "irqbalance": f"/proc/812/comm\n/srv/{PLANTED}",
    "irqbalance-setup": (
        f"/usr/sbin/irqbalance\n--policyscript={PLANTED}.sh\n--foreground\n/{PLANTED}/irqbalance\n"
        f"environment\nIRQBALANCE_ARGS=--hintpolicy=exact {PLANTED} --banirq=7\n"
        f"IRQBALANCE_{PLANTED}=1\nIRQBALANCE_X={PLANTED}"
    ),
    "wsl-conf": (
        f"/etc/wsl.conf:[boot]\n/etc/wsl.conf:command = curl -H 'x: {PLANTED}' y\n"
        f"/etc/wsl.conf:# {PLANTED}\n/etc/wsl.conf:[{PLANTED}]\n/etc/wsl.conf:default={PLANTED}\n"
        f"/etc/wsl.conf:hostname={PLANTED}\n/etc/wsl.conf:root = /home/{PLANTED}"
    ),
    "crash-analysis": (
        f"IRQL_NOT_LESS_OR_EQUAL (a)\nPROCESS_NAME: {PLANTED}.exe\n{PLANTED}\n"
        f"FAILURE_ID_HASH:  {{{PLANTED}}}\nIMAGE_NAME: mlx5.sys\nSTACK_TEXT:\n"
        f"ffffd000`1234 fffff800`1234 : 0 0 : nt!KeBugCheckEx+0x1\n{PLANTED} says so\n"
    ),
    "namespaces": PLANTED,
    "bonding": f"Bonding Mode: fault-tolerance\nCurrently Active Slave: {PLANTED}",
    "ports": f"{PLANTED} driver=igb physfn= port= device=/sys/devices/pci0000:00/0000:00:03.0",
    "link": f"/sys/class/net/{PLANTED}/carrier:1",
    "tc-filters": f"netdev {PLANTED}\nin_hw",
    "switch-lldp": (TESTS / "facts/samples/switchport/sonic_lldp.txt")
    .read_text()
    .replace("node-1    ", PLANTED)
    .replace("eth0\n", f"to {PLANTED}\n"),
}
"""What people write there, once each."""
NAMED_BY = {"bonding": "ports", "tc-filters": "ports"}
"""Where the name that stands there is told as such."""
KEPT = (
    'BOOT_IMAGE=/boot/vmlinuz-6.1.0-', '/etc/os-release:PRETTY_NAME="Debian"', "--foreground",
    "--banirq=7", "--hintpolicy=exact", "hugetlbfs rw,relatime,pagesize=2M", "mlx5.sys",
    "nt!KeBugCheckEx+0x1", "[boot]", "Current", "NCCL_SOCKET_IFNAME=^", ",eth0",
    "(enabled)   pmd usage: 41 %",
)  # fmt: skip


def sections(*bodies: tuple[str, str, str]) -> str:
    said = "".join(f"mmmm begin {n} {s}\n{body}\n\nmmmm end 0\n" for n, s, body in bodies)
    return f"wirespeed-capture 1 mmmm\n{said}mmmm done\n"


@cache
def samples() -> dict[str, list[str]]:
    """What sections said, of all captures that tests have: JSON alone, each form of it once."""
    found: dict[str, dict[frozenset[str], str]] = defaultdict(dict)
    texts = [path.read_text() for path in TESTS.rglob("rules/cases/*/*/capture.txt")]
    texts += [path.read_text() for path in TESTS.rglob("*.capture")]
    windows = Windows()
    as_found(windows)
    external_switch(windows)
    windows.add("vm-adapters", VMName="db", SwitchId=guid(3), SwitchName="X", Mac="00155D00AB01",
                IovWeight=0, VmqWeight=100, Status=["Ok"], IsManagementOs=False)  # fmt: skip
    for text in (*texts, windows.capture()):
        for section in parse_capture(text, "x").all_sections():
            if section.output.lstrip()[:2] in ("[{", '{"', "[[", "{\n", "[\n"):
                fields = frozenset(m[1] for m in STRING.finditer(section.output) if m[2])
                found[section.name][fields] = section.output
    for path in (TESTS / "facts/samples/switchport").glob("*.txt"):
        if path.read_text().lstrip()[:1] in "{[":
            found[f"switch-{path.stem}"][frozenset()] = path.read_text()
    return {name: list(by_fields.values()) for name, by_fields in found.items()}


def planted(body: str) -> tuple[str, dict[str, str]]:
    """Put a plant of its own in the place of each text; give the field that each is of."""
    field, plants = "", {}

    def one(match: re.Match[str]) -> str:
        nonlocal field
        if match[2]:
            field = match[1].lower()
            return match[0]
        plant = f"{PLANTED}{len(plants)}z"
        plants[plant] = field
        return f'"{plant}"'

    return STRING.sub(one, body), plants


JSON = sorted(samples())


@pytest.mark.parametrize("name", [name for name in JSON if name != "ovs-db"])
def test_no_secret_in_a_text_of_json_comes_through(name: str):
    known = BY_THE_SYSTEM | ({"name"} if name == "esxi-module" else set())
    for body in samples()[name]:
        text, plants = planted(body)
        made = anonymous(sections((name, "sw1", text)), "x", KEY)
        left = {field for plant, field in plants.items() if plant in made}
        assert {f for f in left if not VERSION.fullmatch(f)} <= known, name
        torn = anonymous(sections((name, "sw1", text[: len(text) * 2 // 3])), "x", KEY)
        left = {field for plant, field in plants.items() if plant in torn}
        assert {f for f in left if not VERSION.fullmatch(f)} <= known, f"{name}, torn"


OVS_KEPT = {"_uuid", "bridges", "ports", "interfaces", "datapath_types", "iface_types", "type",
            "db_version", "ovs_version", "datapath_type", "bond_mode", "error", "link_state",
            "dpdk_version", "system_type", "system_version"}  # fmt: skip
"""Columns in which Open vSwitch has words of its own, and those of its errors."""


def test_no_secret_in_a_column_of_open_vswitch_comes_through():
    """As a text, in a set and in a map, whole and cut off."""
    for value in (PLANTED, ["set", [PLANTED]], ["map", [["x", PLANTED], ["y", f"a {PLANTED}"]]]):
        for column in ("name", "options", "other_config", "external_ids", "controller", "newer"):
            table = {"data": [[["uuid", "0"], value]], "headings": ["_uuid", column]}
            line = json.dumps(table, separators=(",", ":"))
            assert PLANTED not in anonymous(sections(("ovs-db", "-", line)), "x", KEY), column
    headings = {heading for body in samples()["ovs-db"] for line in body.splitlines()
                if line.startswith("{") for heading in json.loads(line)["headings"]}  # fmt: skip
    for column in sorted(headings):
        table = {"data": [[["uuid", "0"], PLANTED]], "headings": ["_uuid", column]}
        line = json.dumps(table, separators=(",", ":"))
        made = anonymous(sections(("ovs-db", "-", line)), "x", KEY)
        assert PLANTED not in made or column in OVS_KEPT, column


@pytest.mark.parametrize("name", TEXTS)
def test_no_secret_in_the_lines_of_a_section_comes_through(name: str):
    others = [(other, "-", TEXTS[other]) for other in {NAMED_BY.get(name)} - {None}]  # type: ignore[index]
    kind = [("switch-kind", "sw1", "sonic")] if name.startswith("switch-") else []
    subject = "sw1" if kind else "-"
    made = anonymous(sections(*kind, *others, (name, subject, TEXTS[name])), "x", KEY)
    assert PLANTED not in made
    assert all(kept in made for kept in KEPT if kept in TEXTS[name])


def test_no_secret_name_of_a_netdev_or_guest_comes_through_and_what_belongs_together_does_yet():
    link = json.dumps([{"ifname": PLANTED, "link": "enp3s0", "master": f"{PLANTED}-br"}])
    text = sections(
        ("ip-link", "-", link),
        ("ethtool", PLANTED, f"Settings for {PLANTED}:"),
        ("statistics", f"{PLANTED}.40", "rx_packets 7"),
        ("namespaces", "-", "customer7"),
        ("namespace-link", "customer7", "[]"),
        ("windows-adapters", "-", json.dumps([{"Name": "customer8 net"}])),
        ("windows-mlx5cmd", "-", "Adapter customer8 net: up"),
        ("windows-wslconfig", "-", json.dumps([{"Text": f"[wsl2]\nkernel=C:\\{PLANTED}\n"
            f"kernelCommandLine=token={PLANTED}\nmemory=8GB\n# {PLANTED}\nvmSwitch={PLANTED}"}])),
    )  # fmt: skip
    made = anonymous(text, "x", KEY)
    for secret in (PLANTED, "customer7", "customer8"):
        assert secret not in made
    (name,) = re.findall(r'"ifname": "([a-z]+-[0-9a-f]{8})"', made)
    assert f"begin ethtool {name}\nSettings for {name}:" in made
    assert f"begin statistics {name}.40\n" in made
    assert '"link": "enp3s0"' in made and "memory=8GB" in made
    namespace = re.findall(r"begin namespaces -\n(\S+)", made)[0]
    assert f"begin namespace-link {namespace}\n" in made


@pytest.mark.parametrize(
    "name",
    ["enp3s0f0np0", "enP1s1", "eno1", "eth0", "bond0.40", "br-int", "vmbr0", "ovs-system", "lo",
     "vethab12cd3", "genev_sys_6081", "pf0vf3", "enp3s0f0_1", "vmnic4", "tap100i0", "docker0"],
)  # fmt: skip
def test_a_name_that_nobody_chose_stays(name: str):
    text = sections(("ip-link", "-", json.dumps([{"ifname": name}])), ("ethtool", name, "x"))
    assert f"begin ethtool {name}\n" in anonymous(text, "x", KEY)


@pytest.mark.parametrize(
    "name", ["enphunter2", "en1hunter2kqz", "br-acme", "bond-acme", "tapacme", "vethacme9", "acme0"]
)
def test_a_secret_name_that_begins_like_another_does_not_stay(name: str):
    text = sections(("ip-link", "-", json.dumps([{"ifname": name}])), ("ethtool", name, "x"))
    assert name not in anonymous(text, "x", KEY)


def test_every_section_that_a_collector_has_is_looked_at_for_secrets():
    named = set(re.findall(r"(?m)^\s*(?:show|run|files) ([a-z][a-zA-Z0-9-]+) ",
                           collector_script() + esxi_collector_script()))  # fmt: skip
    named |= set(re.findall(r"(?m)^\s*Text ([a-z][\w-]+) ", windows_collector_script()))
    named.add("vsphere")
    numbers = {name for names in NUMBERS for name in names.split()}
    known = numbers | set(TEXTS) | set(JSON)
    assert {name.removesuffix("-again") for name in named} <= known
    assert not numbers & set(TEXTS)


def test_a_section_of_windows_is_json_whose_every_field_is_looked_at():
    """Of those without a sample too: a field that is not known is replaced."""
    names = set(re.findall(r"(?m)^\s*Section ([a-z][\w-]+) ", windows_collector_script()))
    assert len(names) > 20
    for name in names:
        body = json.dumps([{"Newer": PLANTED, "Name": f"to {PLANTED}", "Of": [PLANTED]}])
        assert PLANTED not in anonymous(sections((name, "-", body)), "x", KEY), name


@pytest.mark.parametrize(
    ("name", "before", "unit"),
    [
        *(("ip-link", "[", unit) for unit in ('"a', '"', '"\\"', '{"a":"b",', "[", '"a":', "\\")),
        ("ovs-db", '{"data":[', '["acme",'),
        ("threads", "/proc/1/task/1/stat:1 (", ") a 1 1"),
        ("switch-lldp", "", "a "),
        ("irqbalance-setup", "IRQBALANCE_ARGS=", "-a "),
        ("crash-analysis", "", "0`: "),
        ("hugepage-mounts", "", "a /"),
        ("wsl-conf", "/etc/wsl.conf:", "a = "),
        ("windows-wslconfig", '[{"Text":"', "\\na=b"),
    ],
)
def test_what_a_line_costs_grows_with_its_length(name: str, before: str, unit: str):
    def seconds(characters: int) -> float:
        body = before + unit * (characters // len(unit))
        started = process_time()
        anonymous(sections((name, "-", body)), "x", KEY)
        return process_time() - started

    seconds(1000)
    # Below what may be replaced in all: a name each is 3 characters at the least.
    assert seconds(60_000) < 40 * max(seconds(6_000), 0.003)


def test_thousands_of_names_are_found_in_time():
    links = json.dumps([{"ifname": f"customer{n}x"} for n in range(4000)])
    body = "\n".join(f"uptime {n} rx_packets customer{n}x" for n in range(40_000))
    started = process_time()
    made = anonymous(sections(("ip-link", "-", links), ("statistics", "-", body)), "x", KEY)
    assert process_time() - started < 60
    assert "customer7x" not in made
