"""ESXi: what its collector prints, run by a real shell over described tools, and its parse.

The tables are described: by VMware's and NVIDIA's documentation of esxcli and vim-cmd. Nobody has
seen them on a host of ours.
"""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from wirespeed.doctor.diagnose import diagnose
from wirespeed.model.capture import parse_capture
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Severity
from wirespeed.model.observed import Known, Unreadable
from wirespeed.model.question import Purpose, Question
from wirespeed.platforms.esxi.collector import esxi_collector_script
from wirespeed.platforms.esxi.facts.esxi_guests import EsxiGuests, has_device
from wirespeed.platforms.esxi.facts.esxi_hardware import EsxiHardware
from wirespeed.platforms.esxi.facts.esxi_module import EsxiModule
from wirespeed.platforms.esxi.facts.esxi_ports import EsxiPorts
from wirespeed.platforms.esxi.facts.esxi_uplinks import EsxiUplinks

PORTS = [
    {
        "AdminStatus": "Up",
        "Description": "Mellanox Technologies MT27800 Family [ConnectX-5]",
        "Driver": "nmlx5_core",
        "Duplex": "Full",
        "LinkStatus": "Up",
        "MACAddress": "02:00:00:00:00:01",
        "MTU": 1500,
        "Name": "vmnic4",
        "PCIDevice": "0000:af:00.0",
        "Speed": 25000,
    },
    {"Name": "vmnic5", "Driver": "nmlx5_core", "LinkStatus": "Down", "Speed": 0, "MTU": 1500},
]
PARAMETERS = [
    {"Description": "DRSS queues", "Name": "DRSS", "Type": "uint", "Value": ""},
    {"Description": "VFs, by port", "Name": "max_vfs", "Type": "array of uint", "Value": "1,1"},
]
VERSION = {"Build": "Releasebuild-9298722", "Product": "VMware ESXi", "Version": "6.5.0"}
TABLE = """\
Name    PCI Device    Driver      Admin Status  Link Status  Speed  Duplex  MAC Address         MTU
------  ------------  ----------  ------------  -----------  -----  ------  -----------------  ----
vmnic4  0000:af:00.0  nmlx5_core  Up            Up           25000  Full    02:00:00:00:00:01  1500
x$(id)  0000:af:00.0  nmlx5_core  Up            Up           25000  Full    02:00:00:00:00:01  1500
"""
GUESTS = """\
Vmid        Name                      File                       Guest OS       Version   Annotation
3      dpdk guest     [store 1] dpdk guest/dpdk [x].vmx           rhel7_64Guest   vmx-13
7      dpdk-1         [store 1] dpdk-1/dpdk-1.vmx                  rhel7_64Guest   vmx-13   [a] note
12     other          [ssd] other/other.vmx                        ubuntu64Guest   vmx-13
"""
VMX = """\
.encoding = "UTF-8"
displayName = "dpdk-1"
memSize = "32768"
numvcpus = "23"
sched.mem.min = "32768"
sched.mem.pin = "TRUE"
sched.cpu.affinity = "25,26,27"
sched.cpu.latencySensitivity = "high"
numa.nodeAffinity = "1"
pciPassthru0.present = "TRUE"
pciPassthru1.present = "TRUE"
guestinfo.userdata = "password: secret"
"""

ESXCLI = """\
#!/bin/sh
case "$*" in
"--formatter=json network nic list") cat "$DESCRIBED/ports" ;;
"--formatter=json system version get") cat "$DESCRIBED/version" ;;
"--formatter=json system module parameters list -m nmlx5_core") cat "$DESCRIBED/module" ;;
"network nic list") cat "$DESCRIBED/table" ;;
"network nic get -n vmnic4") cat "$SAMPLES/nic_get_nmlx5.txt" ;;
"network nic stats get -n vmnic4") cat "$SAMPLES/nic_stats.txt" ;;
"hardware cpu global get") cat "$SAMPLES/cpu_global.txt" ;;
"hardware memory get") cat "$SAMPLES/memory.txt" ;;
"hardware pci pcipassthru list") cat "$SAMPLES/pcipassthru.txt" ;;
*) echo "Error: Unknown command or namespace $*" >&2; exit 1 ;;
esac
"""
VIM_CMD = """\
#!/bin/sh
case "$*" in
vmsvc/getallvms) cat "$DESCRIBED/guests" ;;
"vmsvc/power.getstate 7") printf 'Retrieved runtime info\\nPowered on\\n' ;;
"vmsvc/power.getstate 12") printf 'Retrieved runtime info\\nPowered off\\n' ;;
*) echo "unknown: $*" >&2; exit 1 ;;
esac
"""


def collected(tmp_path: Path, shell: str, **described: str) -> HostFacts:
    """Run the real script in a real shell, where the tools of ESXi are described ones."""
    content = {
        "ports": json.dumps(PORTS),
        "version": json.dumps(VERSION),
        "module": json.dumps(PARAMETERS),
        "guests": GUESTS,
        "table": TABLE,
    } | described
    tools = tmp_path / "bin"
    tools.mkdir()
    for name, text in {"esxcli": ESXCLI, "vim-cmd": VIM_CMD}.items():
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    for name, text in content.items():
        (tmp_path / name).write_text(text)
    volumes = tmp_path / "volumes"
    for folder, text in (("store 1/dpdk-1/dpdk-1", VMX), ("ssd/other/other", 'memSize = "1024"\n')):
        path = volumes / f"{folder}.vmx"
        path.parent.mkdir(parents=True)
        path.write_text(text)
    script = esxi_collector_script().replace("/vmfs/volumes/", f"{volumes}/")
    done = subprocess.run(
        shell.split(),
        input=script,
        text=True,
        capture_output=True,
        timeout=60,
        check=True,
        env={
            "PATH": f"{tools}:/usr/bin:/bin",
            "DESCRIBED": str(tmp_path),
            "SAMPLES": str(Path(__file__).parent / "samples/esxcli"),
        },
    )
    assert done.stderr == ""
    return HostFacts("esxi", parse_capture(done.stdout, "esxi"))


@pytest.fixture(name="host", params=["bash", "dash", "busybox"])
def _host(request: pytest.FixtureRequest, tmp_path: Path) -> HostFacts:
    shell = {"bash": "bash --posix -s", "dash": "dash -s", "busybox": "busybox sh -s"}
    assert shutil.which(request.param), f"{request.param}: scripts/install-system.sh test"
    return collected(tmp_path, shell[request.param])


def test_the_ports_of_an_esxi_host(host: HostFacts):
    fact = host[EsxiPorts]
    assert isinstance(fact.version, Known) and fact.version.value == "6.5.0"
    assert isinstance(fact.ports, Known)
    port = fact.ports.value["vmnic4"]
    assert [
        value.value if isinstance(value, Known) else value
        for value in (port.pci_address, port.driver, port.link, port.link_mb, port.mtu)
    ] == ["0000:af:00.0", "nmlx5_core", "Up", 25000, 1500]
    assert not isinstance(fact.ports.value["vmnic5"].pci_address, Known)


def test_the_drivers_parameters_on_esxi(host: HostFacts):
    vfs = host[EsxiModule].numbers("max_vfs")
    assert isinstance(vfs, Known) and vfs.value == (1, 1)
    drss = host[EsxiModule].numbers("DRSS")
    assert isinstance(drss, Known) and drss.value == ()
    assert isinstance(host[EsxiModule].numbers("no_such"), Unreadable)


def test_the_uplinks_and_the_hardware_of_an_esxi_host(host: HostFacts):
    (uplink,) = host[EsxiUplinks].uplinks.values()
    assert isinstance(uplink.firmware, Known) and uplink.firmware.value == "12.20.1010"
    assert isinstance(uplink.counters, Known)
    assert isinstance(host[EsxiHardware].threads, Known)


def test_the_guests_of_esxi_by_number_and_only_the_keys_that_are_looked_at(host: HostFacts):
    fact = host[EsxiGuests]
    # One has a path with brackets, which the list's own are not told from.
    assert isinstance(fact.listed, Known) and fact.listed.value == 3
    one, other = fact.guests
    assert (one.number, other.number) == ("7", "12")
    assert isinstance(one.settings, Known) and isinstance(other.settings, Known)
    assert one.settings.value == {
        "memsize": "32768",
        "numvcpus": "23",
        "sched.mem.min": "32768",
        "sched.mem.pin": "TRUE",
        "sched.cpu.affinity": "25,26,27",
        "sched.cpu.latencysensitivity": "high",
        "numa.nodeaffinity": "1",
        "pcipassthru0.present": "TRUE",
        "pcipassthru1.present": "TRUE",
    }
    assert has_device(one.settings.value) and not has_device(other.settings.value)
    assert isinstance(one.is_on, Known) and one.is_on.value
    assert isinstance(other.is_on, Known) and not other.is_on.value


def test_nothing_else_of_a_guest_leaves_an_esxi_host(host: HostFacts):
    said = "".join(section.output + section.errors for section in host.capture.all_sections())
    for word in ("secret", "dpdk-1", "note"):
        assert word not in said


def test_an_esxi_guests_path_cannot_lead_elsewhere(tmp_path: Path):
    guests = "7   x   [store 1] ../../etc/x.vmx    rhel7_64Guest   vmx-13\n"
    assert collected(tmp_path, "dash -s", guests=guests)[EsxiGuests].guests == ()


@pytest.mark.parametrize("said", ["", "null", "{}", "[1]", '[{"Name": 5}]', "not json", "[" * 5000])
def test_what_esxi_says_is_never_trusted(tmp_path: Path, said: str):
    host = collected(tmp_path, "dash -s", ports=said, module=said, version=said, guests=said)
    assert not isinstance(host[EsxiPorts].version, Known)
    ports = host[EsxiPorts].ports
    assert not isinstance(ports, Known) or ports.value == {}
    assert isinstance(host[EsxiModule].numbers("max_vfs"), Unreadable)
    assert host[EsxiGuests].guests == ()


def test_only_rules_about_esxi_are_asked_about_an_esxi_host(tmp_path: Path):
    host = collected(tmp_path, "dash -s")
    answer = diagnose(host, Question(purpose=Purpose.GUESTS))
    assert not answer.faults
    about_linux = [v for v in answer.verdicts if not v.rule.startswith("esxi.")]
    assert {v.outcome for v in about_linux} == {"does not apply"}
    # 25 Gb/s x 1518 / 1538 is what full frames leave of the wire: the port that is up alone.
    (ledger,) = answer.ledgers
    assert ledger.port == "vmnic4"
    assert ledger.ceilings[0].load_pps.low == pytest.approx(25e9 / 8 / 1538)
    # The guest with a card is set up, and one guest's file could not be found. The second uplink
    # has no link, and the sample's card, which offers 100 Gb/s, runs at 25.
    assert [(f.rule, f.where, f.severity) for f in answer.findings] == [
        ("esxi.uplink_down", "vmnic5", Severity.NOTE),
        ("esxi.uplink_slow", "vmnic4", Severity.NOTE),
    ]
    assert [v.outcome for v in answer.verdicts if v.rule == "esxi.guest_not_set_up"] == [
        "cannot tell"
    ]
