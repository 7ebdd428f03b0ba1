"""A virtual machine of libvirt is created of its XML and shut down; another's is left alone."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from proof import Answer, UnknownCommandError, plan_on, prove
from samples import reason_of, section_of

from wirespeed.model.command import Command
from wirespeed.model.observed import CannotTellError, Known
from wirespeed.steps.guest_domain_xml import domain_xml
from wirespeed.steps.guest_libvirt import START, STOP, GuestLibvirt

FOLDER = "/run/wirespeed/guests/gpu-1"
STEP = GuestLibvirt(
    guest="gpu-1",
    vcpus=2,
    memory_mib=8192,
    hugepage_kib=1048576,
    numa_node=1,
    cpus="8,9",
    image="/var/lib/libvirt/images/debian-13.qcow2",
    vfs=("0000:3b:02.0", "0000:3b:0a.1"),
    ssh_port=22100,
    mac="02:11:22:33:44:55",
)
FORMER_UUID = "fdc3ad76-ee9e-53a6-ba79-4b76c098aeab"
"""Of STEP, as commit 66404f97 gives it."""
OTHER = "00000000-1111-2222-3333-444444444444"
# As libvirt 9.0's schema takes it (virsh define --validate).
XML = """\
<domain xmlns:qemu="http://libvirt.org/schemas/domain/qemu/1.0" type="kvm">
  <name>gpu-1</name>
  <uuid>{uuid}</uuid>
  <memory unit="MiB">8192</memory>
  <memoryBacking>
    <hugepages>
      <page size="1048576" unit="KiB" />
    </hugepages>
    <source type="memfd" />
    <nosharepages />
    <locked />
  </memoryBacking>
  <memtune>
    <hard_limit unit="MiB">9216</hard_limit>
  </memtune>
  <numatune>
    <memory mode="strict" nodeset="1" />
  </numatune>
  <vcpu placement="static">2</vcpu>
  <cputune>
    <vcpupin vcpu="0" cpuset="8" />
    <vcpupin vcpu="1" cpuset="9" />
    <emulatorpin cpuset="8,9" />
  </cputune>
  <cpu mode="host-passthrough" />
  <os>
    <type arch="x86_64" machine="q35">hvm</type>
  </os>
  <features>
    <acpi />
  </features>
  <on_poweroff>destroy</on_poweroff>
  <on_crash>destroy</on_crash>
  <devices>
    <controller type="pci" index="0" model="pcie-root" />
    <controller type="pci" index="1" model="pcie-root-port">
      <address type="pci" domain="0x0000" bus="0x00" slot="0x03" function="0x0" />
    </controller>
    <disk type="file" device="disk">
      <driver name="qemu" type="qcow2" />
      <source file="/var/lib/libvirt/images/debian-13.qcow2" />
      <target dev="vda" bus="virtio" />
      <address type="pci" domain="0x0000" bus="0x01" slot="0x00" function="0x0" />
      <transient shareBacking="yes" />
    </disk>
    <disk type="file" device="disk">
      <driver name="qemu" type="raw" />
      <source file="/run/wirespeed/guests/gpu-1/seed.iso" />
      <target dev="vdb" bus="virtio" />
      <address type="pci" domain="0x0000" bus="0x00" slot="0x04" function="0x0" />
      <readonly />
    </disk>
    <hostdev mode="subsystem" type="pci" managed="no">
      <driver name="vfio" />
      <source>
        <address domain="0x0000" bus="0x3b" slot="0x02" function="0x0" />
      </source>
      <address type="pci" domain="0x0000" bus="0x00" slot="0x08" function="0x0" />
    </hostdev>
    <hostdev mode="subsystem" type="pci" managed="no">
      <driver name="vfio" />
      <source>
        <address domain="0x0000" bus="0x3b" slot="0x0a" function="0x1" />
      </source>
      <address type="pci" domain="0x0000" bus="0x00" slot="0x09" function="0x0" />
    </hostdev>
    <serial type="file">
      <source path="/run/wirespeed/guests/gpu-1/console" />
      <target port="0" />
    </serial>
    <memballoon model="none" />
  </devices>
  <qemu:commandline>
    <qemu:arg value="-netdev" />
    <qemu:arg value="user,id=management,restrict=on,ipv6=off,hostfwd=tcp:127.0.0.1:22100-:22" />
    <qemu:arg value="-device" />
    <qemu:arg value="virtio-net-pci,netdev=management,romfile=,mac=02:11:22:33:44:55,bus=pcie.0,addr=0x2" />
  </qemu:commandline>
</domain>
"""  # noqa: E501 as libvirt has it


def test_qemus_own_threads_are_kept_off_the_vcpus_and_a_former_definition_stays_the_same():
    off = STEP.model_copy(update={"emulator_cpus": "0,1"})
    domain = ET.fromstring(domain_xml(off))  # noqa: S314 it is ours
    (pin,) = domain.iter("emulatorpin")
    assert pin.get("cpuset") == "0,1"
    assert off.definition_uuid != STEP.definition_uuid
    assert STEP.definition_uuid == FORMER_UUID


@dataclass
class DescribedLibvirt:
    """libvirt with a domain of another, and `virsh list` in its columns."""

    xml: str = ""
    seed: bool = False
    rows: str = f" {OTHER} web-1\n"

    def run(self, command: Command) -> Answer:
        match command.argv:
            case ("virsh", "--connect", "qemu:///system", "list", "--all", "--uuid", "--name"):
                return Answer(f"{self.rows}{self._row()}\n")
            case ("sh", "-c", script, folder, "gpu-1", STEP.image) if (script, folder) == (
                START,
                FOLDER,
            ):
                if self.xml:
                    return Answer(errors="error: domain 'gpu-1' already exists", returncode=1)
                self.xml, self.seed = str(command.stdin), True
                return Answer()
            case ("sh", "-c", script, folder, "gpu-1") if (script, folder) == (STOP, FOLDER):
                if not self.xml:
                    return Answer(errors="error: failed to get domain 'gpu-1'", returncode=1)
                self.xml, self.seed = "", False
                return Answer()
            case _:
                raise UnknownCommandError(command.line())

    def _row(self) -> str:
        if not self.xml:
            return ""
        domain = ET.fromstring(self.xml)  # noqa: S314 it is ours
        return f" {domain.findtext('uuid')} {domain.findtext('name')}\n"


def test_it_is_created_and_shut_down():
    goal = DescribedLibvirt(XML.format(uuid=STEP.definition_uuid).removesuffix("\n"), True)
    prove(STEP, DescribedLibvirt(), goal)


def test_its_xml_is_what_libvirts_schema_takes():
    assert domain_xml(STEP) == XML.format(uuid=STEP.definition_uuid)


def test_the_disk_that_libvirt_plugs_in_later_is_behind_a_port_that_takes_it():
    # Bus 'pcie.0' does not support hotplugging, says QEMU 10.0 to libvirt 9.0.
    devices = ET.fromstring(domain_xml(STEP)).find("devices")  # noqa: S314 it is ours
    assert devices is not None
    (plugged,) = devices.findall("disk/transient[@shareBacking='yes']/..")
    buses = {
        f"{int(port.get('index', '')):#04x}"
        for port in devices.iter("controller")
        if port.get("model") == "pcie-root-port"
    }
    address = plugged.find("address")
    assert address is not None
    assert address.get("bus") in buses


def test_hugepages_need_no_mount_of_their_size():
    # Unable to find any usable hugetlbfs mount for 1048576 KiB, says libvirt 9.0 else.
    def backing(hugepage_kib: int | None) -> list[str]:
        text = domain_xml(STEP.model_copy(update={"hugepage_kib": hugepage_kib}))
        domain = ET.fromstring(text)  # noqa: S314 it is ours
        return [source.get("type", "") for source in domain.findall("memoryBacking/source")]

    assert backing(1048576) == ["memfd"]
    assert backing(None) == []


def test_a_kernel_line_is_no_part_of_the_xml():
    fields = {"kernel": "/boot/vmlinuz", "append": 'a="1" & </cmdline><x>'}
    text = domain_xml(STEP.model_copy(update=fields))
    domain = ET.fromstring(text)  # noqa: S314 it is ours
    assert domain.findtext("os/cmdline") == fields["append"]


def test_a_domain_of_that_name_is_left_alone():
    with pytest.raises(CannotTellError, match="another domain gpu-1"):
        plan_on(STEP, DescribedLibvirt(rows=f" {OTHER} gpu-1\n"))


def test_a_libvirt_that_does_not_answer_has_not_no_domains():
    refused = "error: failed to connect to the hypervisor\n"
    assert "failed to connect" in reason_of(STEP, section_of("", refused, 1))
    reason_of(STEP, section_of("Id Name State\n"))


def test_a_domain_of_another_whose_name_has_spaces_is_passed_over():
    # As virsh 9.0 lists a domain that was defined with such a name.
    listed = section_of(f"{OTHER} Windows Server  2022 \n{STEP.definition_uuid} gpu-1\n\n")
    state = STEP.parse(listed)
    assert isinstance(state, Known)
    assert state.value == {"runs": True}


VIRSH = """\
#!/bin/sh
# A libvirt with one transient domain: the file `domain` holds its state.
shift 2
echo "$1" >>"$LOG"
[ "$1" = create ] || [ -e "$HERE/domain" ] || exit 1
state=$(cat "$HERE/domain" 2>/dev/null)
case $1 in
domstate) echo "$state" ;;
shutdown) [ "$state" = running ] || exit 1; rm "$HERE/domain" ;;
destroy) rm "$HERE/domain" ;;
create) [ ! -e "$HERE/disk.TRANSIENT-gpu-1" ] && echo running >"$HERE/domain" ;;
esac
"""


def on_host(tmp_path: Path, script: str, *arguments: str) -> tuple[int, list[str]]:
    """Run a script in the folder of a guest; give its return code, and what virsh was asked."""
    programs, folder, log = tmp_path / "bin", tmp_path / "guest", tmp_path / "log"
    for place in (programs, folder):
        place.mkdir(exist_ok=True)
    for name, text in (("virsh", VIRSH), ("xorriso", "#!/bin/sh\n")):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    log.write_text("")
    done = subprocess.run(
        ["/bin/sh", "-c", script, folder, *arguments],
        env={"PATH": f"{programs}:{os.environ['PATH']}", "HERE": str(tmp_path), "LOG": str(log)},
        stdin=subprocess.DEVNULL,
        timeout=60,
        check=False,
    )
    return done.returncode, log.read_text().split()


@pytest.mark.parametrize(
    ("state", "asked"),
    [
        ("running", ["shutdown", "domstate", "domstate"]),
        # After an error of its VF, or of its disk, QEMU pauses it: virsh shutdown refuses.
        ("paused", ["shutdown", "domstate", "destroy"]),
    ],
)
def test_a_domain_is_gone_after_its_end_paused_or_not(tmp_path: Path, state: str, asked: list[str]):
    (tmp_path / "domain").write_text(state)
    (tmp_path / "guest").mkdir()
    (tmp_path / "guest" / "console").write_text("")
    assert on_host(tmp_path, STOP, "gpu-1") == (0, asked)
    assert not (tmp_path / "domain").exists()
    assert not (tmp_path / "guest" / "console").exists()


def test_what_a_guest_wrote_before_its_host_lost_power_does_not_stop_its_next_start(
    tmp_path: Path,
):
    # Overlay file '…' for transient disk 'vda' already exists, says libvirt else.
    image, overlay = tmp_path / "disk", tmp_path / "disk.TRANSIENT-gpu-1"
    overlay.write_text("")
    returncode, _ = on_host(tmp_path, START, "gpu-1", str(image))
    assert (returncode, (tmp_path / "domain").exists()) == (0, True)
    # That of a domain which is there is in use.
    overlay.write_text("")
    on_host(tmp_path, START, "gpu-1", str(image))
    assert overlay.exists()
