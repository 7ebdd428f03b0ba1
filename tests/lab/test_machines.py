"""Real hosts in QEMU: they come up, do what a card with SR-IOV does, and leave nothing behind."""

import json
import os
import signal
from collections.abc import Iterator

import pytest
from program import await_none_with, processes_with, start, wirespeed

from wirespeed.facts.netstack import NetStack
from wirespeed.facts.pci import Pci
from wirespeed.facts.ports import Ports
from wirespeed.facts.queues import Queues
from wirespeed.host.build_cache import cache_folder
from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.host.lab_folders import labs_folder
from wirespeed.host.reach_destination import Remote
from wirespeed.lab import machines
from wirespeed.lab.machine_accel import Verdict
from wirespeed.lab.machine_qemu import qemu_argv
from wirespeed.lab.machine_spec import LabSpec, MachineSpec
from wirespeed.lab.machines import Machine, Machines
from wirespeed.model.error import InputError, MeasurementError
from wirespeed.model.observed import Known
from wirespeed.runs.captures import Gathered, gather

# The first of them also waits for the image where none is cached.
pytestmark = [pytest.mark.machines, pytest.mark.timeout(900)]
TAG = f"test-{os.getpid()}"


@pytest.fixture(scope="module")
def crossed() -> Iterator[Machines]:
    with Machines(name=f"{TAG}-x") as lab:
        yield lab


@pytest.fixture(scope="module")
def switched() -> Iterator[Machines]:
    narrow = MachineSpec(name="narrow", root_port_lanes=4, root_port_gts="5")
    spec = LabSpec(hosts=(narrow, MachineSpec(name="wide", cpus=2)), wiring="switch")
    with Machines(spec, name=f"{TAG}-s") as lab:
        yield lab


def sh(host: Machine, script: str) -> str:
    """What a script prints on a host; it must end well."""
    done = host.run(["sh", "-ec", script])
    assert done.returncode == 0, f"{script}\n{done.output}\n{done.errors}"
    return done.output.strip()


def reaches(host: Machine, address: str, tries: int = 60) -> bool:
    """Whether a ping comes back within so many seconds."""
    script = f"for i in $(seq {tries}); do ping -c 1 -W 1 {address} && exit 0; done; exit 1"
    return host.run(["sh", "-c", script], timeout_s=3.0 * tries + 30).returncode == 0


def await_carrier(host: Machine, netdev: str, wanted: str) -> None:
    deadline = Deadline(15)
    while sh(host, f"cat /sys/class/net/{netdev}/carrier") != wanted:
        assert not deadline.expired, f"the carrier of {netdev} is not {wanted}"
        sleep_s(0.1)


def test_a_vf_carries_its_vlan_and_no_other(crossed: Machines):
    alpha, beta = crossed.hosts["alpha"], crossed.hosts["beta"]
    for number, host in enumerate((alpha, beta), 1):
        sh(
            host,
            f"""
            echo 2 >/sys/class/net/enp1s0/device/sriov_numvfs
            udevadm settle -t 20
            ip link set enp1s0 vf 0 vlan 40
            ip link set enp1s0 vf 1 vlan 4{number}
            for vf in 0 1; do
                ip link set enp1s0v$vf up
                ip address add 10.40.$vf.{number}/24 dev enp1s0v$vf
            done
            """,
        )
        assert "igbvf" in sh(host, "readlink /sys/class/net/enp1s0v0/device/driver")
    assert reaches(alpha, "10.40.0.2")
    # VLAN 41 here, 42 there.
    assert not reaches(alpha, "10.40.1.2", tries=3)
    # The tag is on the wire, and the other host's port hands it to the VF without.
    seen = "tcpdump -c 1 -nei enp2s0 vlan"
    sh(beta, f"timeout 20 {seen} >/tmp/seen 2>/dev/null & sleep 0.5; ip link set enp2s0 promisc on")
    sh(alpha, "ip link add link enp2s0 name tagged type vlan id 77; ip link set tagged up")
    sh(alpha, "ip address add 10.77.0.1/24 dev tagged; arping -c 2 -I tagged 10.77.0.2 || true")
    assert "vlan 77" in sh(beta, "cat /tmp/seen")


def test_a_vf_is_handed_to_a_guest_and_comes_back(crossed: Machines):
    alpha = crossed.hosts["alpha"]
    vf = "/sys/bus/pci/devices/0000:01:10.0"
    sh(alpha, f"[ -e {vf} ] || echo 1 >/sys/class/net/enp1s0/device/sriov_numvfs")
    bind = "d={vf}; echo {driver} >$d/driver_override; echo 0000:01:10.0 >$d/driver/unbind; "
    bind += "modprobe {driver}; echo 0000:01:10.0 >/sys/bus/pci/drivers_probe; readlink $d/driver"
    assert sh(alpha, bind.format(vf=vf, driver="vfio-pci")).endswith("/vfio-pci")
    group = sh(alpha, f"basename $(readlink {vf}/iommu_group)")
    assert sh(alpha, f"ls /sys/kernel/iommu_groups/{group}/devices") == "0000:01:10.0"
    assert sh(alpha, f"ls /dev/vfio/{group}")
    assert sh(alpha, bind.format(vf=vf, driver="igbvf")).endswith("/igbvf")


def test_a_cut_cable_is_seen_here_and_not_at_the_other_end(crossed: Machines):
    alpha, beta = crossed.hosts["alpha"], crossed.hosts["beta"]
    await_carrier(alpha, "enp2s0", "1")
    alpha.set_link(1, up=False)
    await_carrier(alpha, "enp2s0", "0")
    assert sh(beta, "cat /sys/class/net/enp2s0/carrier") == "1"
    alpha.set_link(1, up=True)
    await_carrier(alpha, "enp2s0", "1")


def test_lab_shell_runs_a_command_and_gives_its_exit_code(crossed: Machines):
    name = crossed.folder.name
    told = wirespeed("lab", "shell", "--name", name, "beta", "hostname; exit 7")
    assert (told.stdout, told.returncode) == ("beta\n", 7), told.stderr
    missing = wirespeed("lab", "shell", "--name", name, "gamma")
    assert missing.returncode == 2
    assert "alpha, beta" in missing.stderr


@pytest.mark.rare
@pytest.mark.usefixtures("crossed")
def test_a_second_lab_builds_no_second_image():
    def images() -> dict[str, int]:
        folders = cache_folder().glob("lab-image-*")
        return {path.name: path.stat().st_mtime_ns for path in folders}

    before = images()
    with Machines(LabSpec(hosts=(MachineSpec(name="solo"),), wiring="switch"), name=f"{TAG}-i"):
        assert images() == before


def test_no_two_labs_have_one_name(crossed: Machines):
    with pytest.raises(InputError, match=r"lab\.exists"):
        Machines(name=crossed.folder.name)
    assert crossed.alive()


def test_the_switch_drops_in_silence_and_counts_it(switched: Machines):
    narrow, wide = switched.hosts["narrow"], switched.hosts["wide"]
    sh(narrow, "ip address add 10.1.0.1/24 dev enp1s0")
    sh(wide, "ip address add 10.1.0.2/24 dev enp1s0")
    assert reaches(narrow, "10.1.0.2")
    before = switched.switch_counters()
    switched.set_switch_port("wide", 0, up=False)
    assert not reaches(narrow, "10.1.0.2", tries=2)
    assert sh(wide, "cat /sys/class/net/enp1s0/carrier") == "1"
    deadline = Deadline(30)
    dropped = before["wide.0"]["dropped_out"]
    while switched.switch_counters()["wide.0"]["dropped_out"] <= dropped:
        # A busy machine's frame may still be on its way to the switch.
        assert not deadline.expired
        assert not reaches(narrow, "10.1.0.2", tries=1)
    switched.set_switch_port("wide", 0, up=True)
    assert reaches(narrow, "10.1.0.2")
    with pytest.raises(InputError, match=r"lab\.no_port"):
        switched.set_switch_port("wide", 5, up=True)


def test_the_doctor_finds_nothing_above_a_note_on_hosts_as_they_come(switched: Machines):
    names = [host.state.destination for host in switched.hosts.values()]
    told = wirespeed("doctor", "--json", *names)
    assert told.returncode == 0, told.stdout
    answers = [json.loads(line) for line in told.stdout.splitlines()]
    assert len(answers) == 2
    for answer in answers:
        assert {f["severity"] for f in answer["findings"]} <= {"note"}, answer["findings"]


def test_the_doctors_facts_are_what_the_hosts_own_tools_say(switched: Machines):
    wide = switched.hosts["wide"]
    sh(wide, "ip link set enp2s0 mtu 9000; ethtool -G enp2s0 rx 512; ethtool -L enp2s0 combined 2")
    [told] = gather([Remote(wide.state.destination, wide.state.destination)])
    assert isinstance(told, Gathered)
    ports = {port.name: port for port in told.facts[Ports].ports}
    assert ports["enp2s0"].pci_address == "0000:02:00.0"
    [shown] = json.loads(sh(wide, "ip -j link show enp2s0"))
    links = told.facts[NetStack].links
    assert isinstance(links, Known)
    mtu = links.value["enp2s0"].mtu
    assert isinstance(mtu, Known)
    assert (mtu.value, shown["mtu"]) == (9000, 9000)
    queues = told.facts[Queues].of("enp2s0")
    assert queues.rx_ring_descriptors == Known(512, "ethtool -g enp2s0")
    assert queues.combined_channels == Known(2, "ethtool -l enp2s0")
    rings = sh(wide, "ethtool -g enp2s0 | awk '$1 == \"RX:\" { print $2 }'").split()
    assert rings == ["4096", "512"]


@pytest.mark.rare
def test_a_narrow_root_port_is_shown_and_not_taken_for_hardware(switched: Machines):
    """QEMU's igb can do x1 at 2.5 GT/s and no more, so no root port keeps it below that.

    And the rule asks for real hardware: what QEMU makes up is *cannot tell*, never a fault.
    """
    narrow, wide = switched.hosts["narrow"], switched.hosts["wide"]
    read = "cat /sys/class/net/enp1s0/device/../max_link_width"
    assert (sh(narrow, read), sh(wide, read)) == ("4", "32")
    read = "cat /sys/class/net/enp1s0/device/../max_link_speed"
    assert sh(narrow, read).startswith("5.0 GT/s")
    assert "Speed 5GT/s, Width x4" in sh(narrow, "lspci -vvs 00:03.0")
    [told] = gather([Remote(narrow.state.destination, narrow.state.destination)])
    assert isinstance(told, Gathered)
    functions = told.facts[Pci].functions
    card, above = functions["0000:01:00.0"], functions["0000:00:03.0"]
    assert isinstance(above.max_lanes, Known)
    assert (above.max_lanes.value, card.emulator) == (4, "QEMU")
    said = wirespeed("doctor", "--json", narrow.state.destination)
    [answer] = [json.loads(line) for line in said.stdout.splitlines()]
    verdicts = {(v["rule"], v["outcome"]) for v in answer["verdicts"] if "enp1s0" in v["where"]}
    assert ("pcie.width_below_capability", "cannot tell") in verdicts


@pytest.mark.rare
def test_kvm_that_boots_no_host_gives_way_and_is_remembered(monkeypatch: pytest.MonkeyPatch):
    """Where KVM works, the host comes up with it, and that is remembered."""
    seems = Verdict(boot_id="now", kvm=True, proven=False, why="a dozen instructions ran")
    remembered: list[Verdict] = []

    def remember(verdict: Verdict) -> Verdict:
        remembered.append(verdict)
        return verdict

    monkeypatch.setattr(machines, "accelerator", lambda: seems)
    monkeypatch.setattr(machines, "remember", remember)
    solo = LabSpec(hosts=(MachineSpec(name="solo"),), wiring="switch")
    with Machines(solo, name=f"{TAG}-a") as lab:
        assert sh(lab.hosts["solo"], "hostname") == "solo"
        [verdict] = remembered
        assert verdict.proven
        assert lab.accelerator.startswith("KVM" if verdict.kvm else "TCG")


EMULATED = Verdict(boot_id="now", kvm=False, proven=True, why="for a test")
SOLO = LabSpec(hosts=(MachineSpec(name="solo"),), wiring="switch")


def dies_in_its_boot(monkeypatch: pytest.MonkeyPatch, times: int) -> list[str]:
    """As where an assertion of the emulator fails; give the names of those that were started."""
    started: list[str] = []

    def argv(host: MachineSpec, *others: object, **options: object) -> list[str]:
        started.append(host.name)
        real: list[str] = qemu_argv(host, *others, **options)  # type: ignore[arg-type]
        return ["sh", "-c", "kill -ABRT $$"] if len(started) <= times else real

    monkeypatch.setattr(machines, "accelerator", lambda: EMULATED)
    monkeypatch.setattr(machines, "qemu_argv", argv)
    return started


@pytest.mark.rare
def test_an_emulated_host_that_dies_in_its_boot_is_started_once_more(
    monkeypatch: pytest.MonkeyPatch,
):
    started, told = dies_in_its_boot(monkeypatch, 1), list[str]()
    with Machines(SOLO, name=f"{TAG}-d", progress=told.append) as lab:
        assert sh(lab.hosts["solo"], "hostname") == "solo"
    assert started == ["solo", "solo"]
    assert any("booting again" in line and "machine.died" in line for line in told), told


def test_one_that_dies_twice_is_the_error_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch):
    started = dies_in_its_boot(monkeypatch, 9)
    with pytest.raises(MeasurementError) as caught:
        Machines(SOLO, name=f"{TAG}-t")
    assert caught.value.what == "machine.died"
    assert started == ["solo", "solo"]
    assert f"{TAG}-t" not in [path.name for path in labs_folder().iterdir()]


def test_up_list_down():
    name = f"{TAG}-c"
    up = wirespeed("lab", "up", "solo,memory=384", "--switch", "--name", name)
    assert up.returncode == 0, up.stderr
    try:
        assert f"solo.{name}" in wirespeed("lab", "list").stdout
        assert wirespeed("lab", "shell", "--name", name, "solo", "hostname").stdout == "solo\n"
        again = wirespeed("lab", "up", "solo", "--switch", "--name", name)
        assert again.returncode == 2
        assert "lab.exists" in again.stderr
    finally:
        down = wirespeed("lab", "down", name)
    assert down.returncode == 0, down.stderr
    await_none_with(f"/{name}/")
    assert name not in wirespeed("lab", "list").stdout
    assert not (labs_folder() / name).exists()
    assert "lab.none" in wirespeed("lab", "down", name).stderr


def test_a_killed_owner_leaves_no_process_and_no_lab():
    name = f"{TAG}-k"
    up = wirespeed("lab", "up", "solo", "--switch", "--name", name)
    assert up.returncode == 0, up.stderr
    [owner] = processes_with(f"machine_keeper {name}")
    assert len(processes_with(f"/{name}/")) == 2  # QEMU and the switch
    os.kill(owner, signal.SIGKILL)
    await_none_with(f"/{name}/")
    assert name not in wirespeed("lab", "list").stdout
    assert not (labs_folder() / name).exists()


@pytest.mark.rare
def test_an_up_that_is_killed_while_the_hosts_boot_leaves_nothing():
    name = f"{TAG}-b"
    up = start("lab", "up", "solo", "--switch", "--name", name)
    deadline = Deadline(60)
    while not any("qemu" in line for line in processes_with(f"/{name}/").values()):
        assert not deadline.expired
        sleep_s(0.02)
    up.kill()
    up.communicate(timeout=10)
    await_none_with(name)
    assert not (labs_folder() / name).exists()
