"""The kernel's release, command line and clock. Command lines are those of the Mellanox report."""

import pytest

from wirespeed.facts.kernel import Kernel, parse_command_line
from wirespeed.facts.kernel_boot import boot_remedy
from wirespeed.model.capture import Capture, Section
from wirespeed.model.observed import Known, Unreadable

# NIC's Performance Report with DPDK 19.08, table 18: hypervisor boot settings.
MELLANOX = (
    "isolcpus=24-47 intel_idle.max_cstate=0 processor.max_cstate=0 nohz_full=24-47 "
    "rcu_nocbs=24-47 intel_pstate=disable default_hugepagesz=1G hugepagesz=1G hugepages=70 "
    "audit=0 nosoftlockup intel_iommu=on iommu=pt rcu_nocb_poll"
)


def kernel(*lines: str, errors: str = "", boot_loader: str = "grub") -> Kernel:
    return Kernel.parse(
        Capture(
            [
                Section("kernel", "", "\n".join(lines), errors, 0),
                Section("boot-loader", "", boot_loader, "", 0),
            ],
            complete=True,
        )
    )


def test_parameters_are_found_with_and_without_a_value():
    line = parse_command_line(MELLANOX)
    assert line.cpus("isolcpus") == frozenset(range(24, 48))
    assert line.last("intel_idle.max_cstate") == "0"
    assert line.last("nosoftlockup") == ""
    assert line.last("mitigations") is None


def test_a_repeated_parameter_keeps_every_value_in_order():
    line = parse_command_line("hugepagesz=1G hugepages=16 hugepagesz=2M hugepages=512")
    assert line.values("hugepagesz") == ("1G", "2M")
    assert line.last("hugepages") == "512"


def test_quotes_keep_spaces_and_a_dash_is_an_underscore():
    line = parse_command_line('root="LABEL=my disk" "dyndbg=file a.c +p" rcu-nocbs=1-2 quiet')
    assert line.last("root") == "LABEL=my disk"
    assert line.last("dyndbg") == "file a.c +p"
    assert line.last("rcu_nocbs") == line.last("rcu-nocbs") == "1-2"
    assert line.last("quiet") == ""


def test_what_follows_two_dashes_is_not_the_kernels():
    assert parse_command_line("quiet -- iommu=pt").last("iommu") is None


def test_words_before_a_list_of_cpus_are_no_cpus():
    line = parse_command_line("isolcpus=managed_irq,domain,2-5,8")
    assert line.cpus("isolcpus") == {2, 3, 4, 5, 8}
    assert parse_command_line("isolcpus=").cpus("isolcpus") == frozenset()


@pytest.mark.parametrize("text", ["", '"', '""', "=", "a=b=c", '"unclosed value'])
def test_a_broken_line_is_read_as_far_as_it_goes(text: str):
    parse_command_line(text)


@pytest.mark.parametrize(
    ("release", "version"),
    [
        ("6.12.38+deb13-amd64", (6, 12)),
        ("3.10.0-693.el7.x86_64", (3, 10)),
        ("6.6.87.2-microsoft-standard-WSL2", (6, 6)),
    ],
)
def test_a_release_gives_its_version(release: str, version: tuple[int, int]):
    found = kernel(f"/proc/sys/kernel/osrelease:{release}").version()
    assert found == Known(version, "cat /proc/sys/kernel/osrelease")


def test_a_release_of_another_kind_gives_none():
    assert isinstance(kernel("/proc/sys/kernel/osrelease:next").version(), Unreadable)


def test_a_distribution_is_called_as_it_calls_itself():
    found = kernel('/etc/os-release:NAME="Ubuntu"', "/etc/os-release:PRETTY_NAME='Ubuntu 24.04'")
    assert found.distribution == Known("Ubuntu 24.04", "cat /etc/os-release")
    assert isinstance(kernel("/etc/os-release:ID=x").distribution, Unreadable)


def commands(distribution: str) -> list[str]:
    found = kernel(f'/etc/os-release:PRETTY_NAME="{distribution}"')
    return [c.line() for c in boot_remedy(found, "do it", "iommu", "iommu=pt").commands]


def test_a_boot_parameter_is_added_as_the_distribution_does_it():
    assert commands("Red Hat Enterprise Linux 9.4 (Plow)") == [
        "grubby --update-kernel=ALL --args=iommu=pt"
    ]
    assert commands("Debian GNU/Linux 13 (trixie)") == [
        "echo 'GRUB_CMDLINE_LINUX_DEFAULT=\"$GRUB_CMDLINE_LINUX_DEFAULT iommu=pt\"' | "
        "tee /etc/default/grub.d/wirespeed-iommu.cfg",
        "update-grub",
    ]
    assert commands("NixOS 24.05 (Uakari)") == []


def test_no_command_is_given_where_there_is_no_grub():
    line = '/etc/os-release:PRETTY_NAME="Debian GNU/Linux 13 (trixie)"'
    remedy = boot_remedy(kernel(line, boot_loader=""), "do it", "iommu", "iommu=pt")
    assert remedy.commands == ()
    assert "where this host's kernel is started from" in remedy.text


@pytest.mark.parametrize(
    ("distribution", "line", "said"),
    [
        # Proxmox VE 8 with its root on ZFS: it calls itself Debian, and has /etc/default/grub.
        (
            "Debian GNU/Linux 12 (bookworm)",
            r"initrd=\EFI\proxmox\6.8.12-2-pve\initrd.img-6.8.12-2-pve root=ZFS=rpool/ROOT/pve-1 "
            "boot=zfs",
            "proxmox-boot-tool refresh",
        ),
        (
            "Red Hat Enterprise Linux CoreOS 416.94.202510081640-0",
            "BOOT_IMAGE=(hd0,gpt3)/boot/ostree/rhcos-0f/vmlinuz-5.14.0 rw "
            "ostree=/ostree/boot.1/rhcos/0f/0",
            "rpm-ostree kargs --append=iommu=pt --append=quiet",
        ),
    ],
)
def test_no_settings_of_grub_are_changed_that_this_kernel_was_not_started_by(
    distribution: str, line: str, said: str
):
    found = kernel(f'/etc/os-release:PRETTY_NAME="{distribution}"', f"/proc/cmdline:{line}")
    remedy = boot_remedy(found, "do it", "iommu", "iommu=pt quiet")
    assert (remedy.commands, remedy.steps) == ((), ())
    assert said in remedy.text
