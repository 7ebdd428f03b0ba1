"""What is rendered to bring a run back at boot, by hand; and that the script does what it says."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from note_step import NASTY

from wirespeed.apply.persist import (
    BootStep,
    boot_card_unit,
    boot_guests_unit,
    boot_script,
    boot_steps,
    boot_unit,
    not_kept,
    persist_name,
    persist_steps,
)
from wirespeed.apply.planner import make_plan
from wirespeed.apply.record import Record
from wirespeed.model.command import Command, write_file
from wirespeed.model.journal import Begun, Entry, Intent, Result, Undone, Verified
from wirespeed.model.observed import Known
from wirespeed.model.step import State, Step
from wirespeed.steps.eswitch_mode import EswitchMode
from wirespeed.steps.file_content import FileContent
from wirespeed.steps.guest_libvirt import GuestLibvirt
from wirespeed.steps.in_namespace import InNamespace
from wirespeed.steps.irq_affinity import IrqAffinity
from wirespeed.steps.link_up import LinkUp
from wirespeed.steps.mtu import Mtu
from wirespeed.steps.ovs_config import OvsConfig
from wirespeed.steps.vf_count import VfCount

PORT = "0000:01:00.0"
STEPS = [
    BootStep(2, "mtu enp1s0", (Command(argv=("ip", "link", "set", "enp1s0", "mtu", "9080")),)),
    BootStep(4, f"vf_count {PORT}", (write_file("/sys/it's here", "2"),)),
]
SCRIPT = r"""#!/bin/sh
# Made by `wirespeed persist`, and taken away by `wirespeed persist --remove`.
# Does what `wirespeed apply` did, after a boot; run by wirespeed-two-hosts.service.
LC_ALL=C
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export LC_ALL PATH
finished=/run/wirespeed-two-hosts.done
: >>"$finished"

# await PCI_ADDRESS|NETDEV: until the port's driver has made its netdev.
await() {
	tries=0
	until [ -d "/sys/bus/pci/devices/$1/net" ] || [ -d "/sys/class/net/$1" ]; do
		if [ $tries -ge 60 ]; then
			echo "no netdev of $1 after 60 s: nothing was done" >&2
			exit 1
		fi
		tries=$((tries + 1))
		sleep 1
	done
}

# is_due NUMBER WHAT: whether this step is still to be done.
is_due() {
	number=$1 what=$2
	! grep -qx "$number" "$finished"
}

# run COMMAND...: the first that fails is the last.
run() {
	timeout 120 "$@" >/dev/null || {
		echo "step $number, $what: return code $?: $*" >&2
		exit 1
	}
}

# is_done: what it made has its name now.
is_done() {
	udevadm settle --timeout=30
	echo "$number" >>"$finished"
}

await 0000:01:00.0
udevadm settle --timeout=30

if is_due 2 'mtu enp1s0'; then
	run ip link set enp1s0 mtu 9080
	is_done
fi

if is_due 4 'vf_count 0000:01:00.0'; then
	run tee '/sys/it'"'"'s here' <<'WIRESPEED_STDIN_'
2
WIRESPEED_STDIN_
	is_done
fi
"""
UNIT = """\
# Made by `wirespeed persist`, and taken away by `wirespeed persist --remove`.
# Not to run at the next boot: systemd.mask=wirespeed-two-hosts.service on the kernel's line.
[Unit]
Description=Network ports and VFs as wirespeed set them up (two-hosts)
After=network.target systemd-modules-load.service systemd-sysctl.service openibd.service
Before=network-online.target libvirtd.service virtqemud.service libvirt-guests.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh /etc/wirespeed-two-hosts.sh
TimeoutStartSec=300

[Install]
WantedBy=multi-user.target
"""


def test_the_script_is_as_a_person_would_write_it():
    assert boot_script("two-hosts", [PORT], STEPS) == SCRIPT


def test_the_unit_lets_people_in_and_holds_guests_back():
    assert boot_unit("two-hosts") == UNIT
    before = UNIT.split("Before=")[1].splitlines()[0]
    assert "network.target" not in before.split(), "sshd is after that"


def test_a_host_gets_script_list_unit_and_the_unit_enabled_in_this_order():
    files = persist_steps("two-hosts", [PORT], STEPS)
    assert [step.subject for step in files] == [
        "/etc/wirespeed-two-hosts.sh",
        "/run/wirespeed-two-hosts.done",
        "/etc/systemd/system/wirespeed-two-hosts.service",
        "wirespeed-two-hosts.service",
    ]
    assert isinstance(files[1], FileContent)
    assert files[1].content == "2\n4\n", "done in this boot, and not again"
    assert persist_steps("two-hosts", [PORT], []) == []


def record_of(rows: list[tuple[Step, State]], *, verdict: Verified = Verified.VERIFIED) -> Record:
    plan = make_plan(("alpha", step, Known(now, "cat")) for step, now in rows)
    entries: list[Entry] = [Begun(at="now", plan=plan)]
    for number, planned in enumerate(plan.steps):
        if planned.no_op or planned.before is None:
            continue
        entries.append(Intent(number=number, before=planned.before, undo=planned.undo))
        entries.append(Result(number=number, verdict=verdict, now=planned.goal))
    return Record(plan, lambda _: None, entries)


DPDK = OvsConfig(key="dpdk-init", value="true", restart="systemd", reason="DPDK starts.")
WITH_DPDK: list[tuple[Step, State]] = [
    (EswitchMode(pci_address=PORT, mode="switchdev"), {"mode": "legacy"}),
    (VfCount(pci_address=PORT, num_vfs=2), {"num_vfs": 0}),
    (DPDK, {"value": None, "is_restart_due": False, "dpdk_initialized": False}),
    (LinkUp(netdev="br-phy"), {"up": False}),
]


def test_dpdk_finds_the_card_set_up_and_what_needs_the_switch_comes_after_it():
    steps = list(boot_steps(record_of(WITH_DPDK), "alpha"))
    assert [(step.number, step.is_of_card) for step in steps] == [(1, True), (2, True), (4, False)]
    files = persist_steps("two", [PORT], steps)
    assert [step.subject for step in files] == [
        "/etc/wirespeed-two.card.sh",
        "/run/wirespeed-two.done",
        "/etc/systemd/system/wirespeed-two.card.service",
        "wirespeed-two.card.service",
        "/etc/wirespeed-two.sh",
        "/etc/systemd/system/wirespeed-two.service",
        "wirespeed-two.service",
    ]
    content = {step.subject: step.content for step in files if isinstance(step, FileContent)}
    assert "mode switchdev" in content["/etc/wirespeed-two.card.sh"]
    assert f"await {PORT}" in content["/etc/wirespeed-two.card.sh"]
    # The port may be DPDK's alone by then.
    assert f"await {PORT}" not in content["/etc/wirespeed-two.sh"]
    assert "br-phy" in content["/etc/wirespeed-two.sh"]
    assert "switchdev" not in content["/etc/wirespeed-two.sh"]


def units(text: str, word: str) -> set[str]:
    lines = [line for line in text.splitlines() if line.startswith(f"{word}=")]
    return {unit for line in lines for unit in line.partition("=")[2].split()}


def test_the_units_stand_about_the_switch_and_behind_the_vendors_driver():
    card, rest = boot_card_unit("two"), boot_unit("two", is_after_card=True)
    switch = {"ovs-vswitchd.service", "openvswitch-switch.service", "openvswitch.service"}
    assert switch <= units(card, "Before")
    assert switch | {"wirespeed-two.card.service"} <= units(rest, "After")
    # The switch itself is before network.target: after that, it would wait for itself.
    assert "network.target" not in units(card, "After")
    assert "openibd.service" in units(card, "After") & units(rest, "After")
    assert not switch & units(UNIT, "After")


def test_a_guest_of_libvirt_is_not_started_by_what_libvirt_waits_for():
    guest = GuestLibvirt(
        guest="gpu-1", vcpus=1, memory_mib=1024, image="/srv/a.qcow2", vfs=(), ssh_port=22100,
        mac="02:11:22:33:44:55",
    )  # fmt: skip
    rows: list[tuple[Step, State]] = [
        (VfCount(pci_address=PORT, num_vfs=2), {"num_vfs": 0}),
        (guest, {"runs": False}),
    ]
    files = persist_steps("two", [PORT], list(boot_steps(record_of(rows), "alpha")))
    content = {step.subject: step.content for step in files if isinstance(step, FileContent)}
    assert "virsh" not in content["/etc/wirespeed-two.sh"]
    assert "virsh" in content["/etc/wirespeed-two.guests.sh"]
    daemons = {"libvirtd.service", "virtqemud.service"}
    unit = content["/etc/systemd/system/wirespeed-two.guests.service"]
    assert unit == boot_guests_unit("two")
    # systemd.unit(5): a start, also by socket activation, waits for what is before it.
    assert daemons <= units(unit, "After") and not daemons & units(unit, "Before")
    assert "wirespeed-two.service" in units(unit, "After")
    assert daemons <= units(content["/etc/systemd/system/wirespeed-two.service"], "Before")


def test_what_a_boot_forgets_comes_back_and_what_stays_does_not():
    found = list(
        boot_steps(
            record_of(
                [
                    (FileContent(path="/etc/x", content="x\n", reason="r"), {"content": None}),
                    (Mtu(netdev="enp1s0", mtu=9080), {"mtu": 1500}),
                    (LinkUp(netdev="enp1s0"), {"up": True}),
                    (VfCount(pci_address=PORT, num_vfs=2), {"num_vfs": 0}),
                    (InNamespace.of("ceph-1", LinkUp(netdev="lo")), {"up": False}),
                ]
            ),
            "alpha",
        )
    )
    assert [(step.number, step.what) for step in found] == [
        (2, "mtu enp1s0"),
        (4, f"vf_count {PORT}"),
        (5, "link_up lo in ceph-1"),
    ]
    assert found[0].commands[0].line() == "ip link set dev enp1s0 mtu 9080"
    assert found[2].commands[0].argv[:4] == ("ip", "netns", "exec", "ceph-1")


def test_interrupts_have_other_numbers_after_a_boot_and_are_named_in_place_of_kept():
    record = record_of(
        [
            (IrqAffinity(pci_address=PORT, cpus={171: "4"}), {"171": "0-7"}),
            (Mtu(netdev="enp1s0", mtu=9080), {"mtu": 1500}),
        ]
    )
    steps = list(boot_steps(record, "alpha"))
    assert [step.what for step in steps] == ["mtu enp1s0"]
    assert list(not_kept(record, "alpha")) == [f"irq_affinity {PORT}"]
    assert list(not_kept(record, "beta")) == []
    files = persist_steps("two", [PORT], steps)
    assert not [file for file in files if isinstance(file, FileContent) and "irq" in file.content]


def test_another_host_and_what_was_put_back_are_left_out():
    record = record_of([(Mtu(netdev="enp1s0", mtu=9080), {"mtu": 1500})])
    assert len(list(boot_steps(record, "alpha"))) == 1
    assert list(boot_steps(record, "beta")) == []
    record.write(Undone(number=0, verdict=Verified.VERIFIED, now={"mtu": 1500}))
    assert list(boot_steps(record, "alpha")) == []


def test_what_stood_there_when_its_turn_came_counts_and_not_the_plans_guess():
    record = record_of([(VfCount(pci_address=PORT, num_vfs=2), {"num_vfs": 4})])
    lines = [command.line() for command in next(boot_steps(record, "alpha")).commands]
    assert lines == [
        f"echo 0 | tee /sys/bus/pci/devices/{PORT}/sriov_numvfs",
        f"echo 2 | tee /sys/bus/pci/devices/{PORT}/sriov_numvfs",
    ]


@pytest.mark.parametrize(
    ("stem", "name"), [("my spec;v2", "my-spec-v2-"), ("été", "t-"), ("…", "run-")]
)
def test_the_files_are_called_as_the_spec_is(stem: str, name: str):
    assert persist_name("two-hosts") == "two-hosts"
    assert re.fullmatch(re.escape(name) + "[0-9a-f]{6}", persist_name(stem))


def test_two_specs_have_files_of_their_own():
    stems = ("lab.v1", "lab-v1", "lab v1", "x" * 50, "x" * 51)
    assert len({persist_name(stem) for stem in stems}) == len(stems)


def run_here(folder: Path, steps: list[BootStep]) -> subprocess.CompletedProcess[str]:
    script = boot_script("x", [], steps).replace("/run/wirespeed-x.done", f"{folder}/done")
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    (tools / "udevadm").write_text("#!/bin/sh\nexit 0\n")
    (tools / "udevadm").chmod(0o755)
    script = script.replace("PATH=", f"PATH={tools}:", 1)
    return subprocess.run(
        ["/bin/sh", "-c", script],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=dict(os.environ),
    )


def test_the_script_does_each_step_once_a_boot(tmp_path: Path):
    path = tmp_path / "it's"
    steps = [
        BootStep(1, "first", (Command(argv=("tee", "-a", str(path)), stdin=NASTY),)),
        BootStep(3, "third", (Command(argv=("tee", "-a", str(path)), stdin="$(id)"),)),
    ]
    assert run_here(tmp_path, steps).returncode == 0
    assert path.read_text() == f"{NASTY}\n$(id)\n"
    assert (tmp_path / "done").read_text() == "1\n3\n"
    assert run_here(tmp_path, steps).returncode == 0
    assert path.read_text() == f"{NASTY}\n$(id)\n"


def test_the_first_step_that_fails_is_the_last_and_is_named(tmp_path: Path):
    path = tmp_path / "file"
    steps = [
        BootStep(1, "first", (Command(argv=("touch", str(path))),)),
        BootStep(2, "mtu enp1s0", (Command(argv=("ls", "/nowhere/at all")),)),
        BootStep(3, "third", (Command(argv=("rm", str(path))),)),
    ]
    done = run_here(tmp_path, steps)
    assert done.returncode == 1
    assert "step 2, mtu enp1s0: return code 2: ls /nowhere/at all" in done.stderr
    assert path.exists()
    assert (tmp_path / "done").read_text() == "1\n"
