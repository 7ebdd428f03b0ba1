from itertools import pairwise
from pathlib import Path

import pytest
from pydantic import ValidationError

from wirespeed.apply.spec_file import parse_spec
from wirespeed.lab.machine_model import with_model
from wirespeed.lab.machine_qemu import Cable, MachineFiles, card, mac, qemu_argv
from wirespeed.lab.machine_spec import (
    DPDK_HOSTS,
    LabSpec,
    MachineSpec,
    dpdk_spec,
    lab_of,
    parse_machine,
)
from wirespeed.model.error import InputError
from wirespeed.model.spec.dpdk import Role
from wirespeed.model.spec.members import Dpdk


def files(folder: str = "/run/lab") -> MachineFiles:
    base = Path(folder)
    return MachineFiles(
        image=base / "image",
        console=base / "console",
        control=base / "control",
        host_key=base / "host_key",
        authorized_keys=base / "authorized_keys",
        systemd=base / "systemd",
        disk=base / "a.disk",
        report=base / "a.refused",
        flash=base / "a.flash",
        cables=(Cable(local=base / "a.0", remote=base / "b.0"),),
    )


def argv_of(text: str, *, kvm: bool = False, folder: str = "/run/lab") -> list[str]:
    return qemu_argv(parse_machine(text), 3, files(folder), uuid="u", kvm=kvm)


def test_a_host_is_read_with_its_options():
    assert parse_machine("alpha") == MachineSpec(name="alpha")
    assert parse_machine("b-2,memory=768,cpus=2,width=4,speed=2.5") == MachineSpec(
        name="b-2", memory_mib=768, cpus=2, root_port_lanes=4, root_port_gts="2.5"
    )


@pytest.mark.parametrize(
    "text",
    [
        *("", "Alpha", "a b", "1a", "a,b", "a,memory", "a,memory=", "a,memory=x", "a,memory=255"),
        *("a,memory=999999", "a,cpus=0", "a,cpus=-1", "a,cpus=65", "a,width=3", "a,speed=3"),
        *(
            "a,speed=2_5",
            "a,cpus=1,cpus=2",
            "a,disk=2",
            "a,init=sysv",
            "a,init=",
            "a,disk=",
            "a,mstflint=2",
        ),
        *("a,disc=1", "a,disk=1,disk=1", "a,", "a" * 21, "a;b", "a\n", "a,cpus=²"),
    ],
)
def test_what_is_no_host_is_refused(text: str):
    with pytest.raises(InputError, match=r"lab\.host"):
        parse_machine(text)


def test_systemd_and_a_disk_are_there_when_asked_for_and_move_no_other_device():
    more, plain = argv_of("a,init=systemd,disk=1"), argv_of("a,init=script,disk=0")
    assert plain == argv_of("a")
    assert not [word for word in plain if "systemd,file" in word or "a.disk" in word]
    assert "name=opt/wirespeed/systemd,file=/run/lab/systemd" in more
    assert "if=none,id=disk,file=/run/lab/a.disk,format=raw,discard=unmap" in more
    devices = [word for option, word in pairwise(more) if option == "-device"]
    assert devices == [*(w for o, w in pairwise(plain) if o == "-device"), devices[-1]]
    assert devices[-1] == "virtio-blk-pci,drive=disk"


def test_the_tools_of_a_cards_firmware_are_there_when_asked_for():
    tools = "name=opt/wirespeed/mstflint,string=yes"
    assert tools in argv_of("a,mstflint=1")
    assert tools not in argv_of("a,mstflint=0") and argv_of("a,mstflint=0") == argv_of("a")


def test_only_two_hosts_are_joined_port_to_port():
    one, two = MachineSpec(name="a"), MachineSpec(name="b")
    assert lab_of([one, two], "crossed") == LabSpec(hosts=(one, two))
    assert lab_of([one], "switch").wiring == "switch"
    with pytest.raises(InputError, match=r"lab\.wiring"):
        lab_of([one], "crossed")
    with pytest.raises(InputError, match=r"lab\.host"):
        lab_of([one, one], "switch")
    with pytest.raises(InputError, match=r"lab\.host"):
        lab_of([MachineSpec(name=f"h{number}") for number in range(9)], "switch")


def test_a_series_of_kernels_is_two_numbers():
    one = MachineSpec(name="a")
    assert lab_of([one], "switch", "6.1").kernel == "6.1"
    assert lab_of([one], "switch").kernel == ""
    for wrong in ("6", "6.1.0", "v6.1", "6.1-rt", "../6.1"):
        with pytest.raises(InputError, match=r"lab\.kernel"):
            lab_of([one], "switch", wrong)
        with pytest.raises(ValidationError):
            LabSpec(hosts=(one,), kernel=wrong)


def test_root_ports_are_as_asked_for_and_qemus_own_otherwise():
    narrow, plain = argv_of("a,width=4,speed=2.5"), argv_of("a")
    assert "pcie-root-port,id=slot0,chassis=1,slot=1,x-width=4,x-speed=2_5" in narrow
    assert "pcie-root-port,id=slot0,chassis=1,slot=1" in plain


def test_ssh_is_the_only_way_in_and_there_is_none_out():
    [control] = [word for word in argv_of("a") if word.startswith("user,")]
    assert "restrict=on" in control.split(",")
    assert [word for word in control.split(",") if "fwd" in word] == ["hostfwd=tcp:127.0.0.1:0-:22"]
    assert argv_of("a")[argv_of("a").index("-display") + 1] == "none"


def test_kvm_splits_its_interrupt_controller_for_the_iommu():
    with_kvm, without = argv_of("a", kvm=True), argv_of("a")
    assert "q35,kernel-irqchip=split" in with_kvm
    assert with_kvm[with_kvm.index("-accel") + 1 :][:3] == ["kvm", "-cpu", "host"]
    assert without[without.index("-accel") + 1 :][:3] == ["tcg", "-cpu", "max"]
    assert "q35" in without


def test_a_comma_in_a_path_is_no_option():
    [cable] = [word for word in argv_of("a", folder="/run/a,b") if word.startswith("dgram")]
    assert "local.path=/run/a,,b/a.0," in cable


def test_addresses_differ_by_host_and_port_and_are_no_makers():
    found = {mac(number, port) for number in range(8) for port in (0, 1, 255)}
    assert len(found) == 24
    assert all(int(address[:2], 16) & 3 == 2 for address in found)
    with pytest.raises(ValueError, match="no port 2"):
        card(2)


def test_the_spec_for_two_hosts_that_measure_is_one():
    spec = parse_spec(dpdk_spec("alpha.lab", "beta.lab"), "lab-dpdk.yaml")
    assert isinstance(spec, Dpdk)
    assert spec.hosts[spec.host_of(Role.TESTER)].reach == "ssh://alpha.lab"
    pages_kib = spec.dpdk.hugepages.page_kib * spec.dpdk.hugepages.count
    assert all(pages_kib < host.memory_mib << 10 for host in DPDK_HOSTS.hosts)


def test_a_modelled_card_is_strictly_watched_and_tells_what_it_does_not_know():
    machine = parse_machine("a").model_copy(update={"card": "mlx5"})
    argv = qemu_argv(machine, 3, files(), uuid="u", kvm=False)
    (one,) = (word for word in argv if word.startswith("mlx5,"))
    assert "report=/run/lab/a.refused" in one
    line = argv[argv.index("-append") + 1]
    assert "iommu.strict=1" in line and "iommu=pt" not in line


def test_without_the_model_a_lab_says_how_to_build_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(InputError, match=r"lab\.no_model") as caught:
        with_model()
    assert "scripts/build-mlx5-model.sh" in caught.value.next
