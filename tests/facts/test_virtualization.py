"""What a host runs on: systemd-detect-virt's words, DMI's vendors, WSL's kernels and modes."""

import pytest

from wirespeed.facts.virtualization import Virtualization
from wirespeed.facts.virtualization_wsl import Wsl
from wirespeed.model.capture import Capture, Section
from wirespeed.model.observed import Absent, Known, Unreadable

VENDOR = "/sys/class/dmi/id/sys_vendor"


def capture(*sections: Section) -> Capture:
    return Capture(sections, complete=True)


def detect(said: str, code: int = 0) -> Section:
    return Section("detect-virt", "", said, "", code)


def files(*lines: str, errors: str = "") -> Section:
    return Section("virtualization", "", "\n".join(lines), errors, 2)


def cpuinfo(flags: str) -> Section:
    return Section("cpuinfo", "", f"flags\t\t: {flags}", "", 0)


def test_systemd_knows_first():
    found = Virtualization.parse(capture(detect("vmware\n"), cpuinfo("fpu hypervisor")))
    assert found.guest_of == Known("vmware", "systemd-detect-virt --vm")
    assert found.is_guest == Known(True, "systemd-detect-virt --vm")


def test_none_with_a_return_code_of_1_is_bare_metal():
    found = Virtualization.parse(capture(detect("none", 1)))
    assert isinstance(found.guest_of, Absent)
    assert found.is_guest == Known(False, "systemd-detect-virt --vm")


@pytest.mark.parametrize(
    ("vendor", "guest_of"),
    [
        ("QEMU", "kvm"),
        ("VMware, Inc.", "vmware"),
        ("Amazon EC2", "amazon"),
        ("Microsoft Corporation", "microsoft"),
        ("Somebody", "an unnamed hypervisor"),
    ],
)
def test_without_systemd_the_cpu_and_the_firmware_tell(vendor: str, guest_of: str):
    found = Virtualization.parse(
        capture(detect("", 127), files(f"{VENDOR}:{vendor}"), cpuinfo("fpu hypervisor"))
    )
    assert isinstance(found.guest_of, Known)
    assert found.guest_of.value == guest_of


def test_without_systemd_a_maker_of_servers_is_bare_metal():
    found = Virtualization.parse(
        capture(detect("", 127), files(f"{VENDOR}:Dell Inc."), cpuinfo("fpu vme"))
    )
    assert found.is_guest == Known(False, "grep -c hypervisor /proc/cpuinfo")


def test_without_anything_nobody_knows():
    assert isinstance(Virtualization.parse(capture()).guest_of, Unreadable)
    assert isinstance(Virtualization.parse(capture()).is_guest, Unreadable)
    assert isinstance(Virtualization.parse(capture()).container, Unreadable)


def test_a_container_is_named_by_its_manager_or_its_empty_file():
    errors = "grep: /run/systemd/container: No such file or directory\n"
    podman = "grep: /run/.containerenv: No such file or directory\n"
    docker = "grep: /.dockerenv: No such file or directory\n"
    found = Virtualization.parse(capture(files("/run/systemd/container:lxc", errors=podman)))
    assert found.container == Known("lxc", "cat /run/systemd/container")
    found = Virtualization.parse(capture(files(errors=errors + podman)))
    assert found.container == Known("docker", "ls /.dockerenv")
    found = Virtualization.parse(capture(files(errors=errors + docker)))
    assert found.container == Known("podman", "ls /run/.containerenv")
    found = Virtualization.parse(capture(files(errors=errors + docker + podman)))
    assert isinstance(found.container, Absent)


def wsl(release: str, mode: str = "", conf: str = "") -> Wsl:
    return Wsl.parse(
        capture(
            Section("kernel", "", f"/proc/sys/kernel/osrelease:{release}", "", 0),
            Section("wsl-mode", "", mode, "", 0 if mode else 127),
            Section(
                "wsl-conf",
                "",
                "\n".join(f"/etc/wsl.conf:{line}" for line in conf.splitlines()),
                "",
                0,
            ),
        )
    )


def test_a_kernel_of_microsoft_is_wsl_2():
    found = wsl("5.15.146.1-microsoft-standard-WSL2", "mirrored\n")
    assert found.version == Known(2, "cat /proc/sys/kernel/osrelease")
    assert found.networking_mode == Known("mirrored", "wslinfo --networking-mode")


def test_wsl_1_has_a_number_of_its_own():
    found = wsl("4.4.0-19041-Microsoft", "wsl1")
    assert found.version == Known(1, "cat /proc/sys/kernel/osrelease")


def test_another_kernel_is_no_wsl():
    found = wsl("6.12.38+deb13-amd64")
    assert isinstance(found.version, Absent)
    assert isinstance(found.networking_mode, Absent)


def test_an_old_wsl_without_wslinfo_does_not_tell_its_mode():
    assert isinstance(wsl("5.10.16.3-microsoft-standard-WSL2").networking_mode, Unreadable)
    assert isinstance(wsl("6.6.87.2-microsoft-standard-WSL2", "new").networking_mode, Unreadable)


def test_settings_after_a_line_that_wsl_cannot_read_are_none():
    conf = "[network]\nhostname=x\n; mine\n[boot]\nsystemd=true\n"
    found = wsl("6.6.87.2-microsoft-standard-WSL2", "nat", conf)
    assert found.settings == Known({"network.hostname": "x"}, "cat /etc/wsl.conf")


def test_settings_are_named_with_their_section():
    conf = "[Boot]\nsystemd=true\n\n[network]\ngenerateResolvConf = false # ours\n"
    found = wsl("6.6.87.2-microsoft-standard-WSL2", "nat", conf)
    assert found.settings == Known(
        {"boot.systemd": "true", "network.generateresolvconf": "false"}, "cat /etc/wsl.conf"
    )
