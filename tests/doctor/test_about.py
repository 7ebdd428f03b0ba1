"""The lines at the head of an answer."""

from described.windows import Windows, as_found, guid
from wirespeed.doctor.about import describe
from wirespeed.doctor.diagnose import diagnose
from wirespeed.model.capture import parse_capture
from wirespeed.model.fact import HostFacts
from wirespeed.model.question import Question

SYSFS = "/sys/devices/system"


def host(*sections: str) -> HostFacts:
    text = "wirespeed-capture 1 case\n" + "".join(sections) + "case done\n"
    return HostFacts("alpha", parse_capture(text, "a test"))


def section(name: str, *lines: str, subject: str = "-", code: int = 0) -> str:
    return f"case begin {name} {subject}\n" + "\n".join(lines) + f"\n\ncase end {code}\n"


KERNEL = section(
    "kernel",
    "/proc/sys/kernel/osrelease:6.12.38+deb13-amd64",
    'PRETTY_NAME="out of place"',
    '/etc/os-release:PRETTY_NAME="Debian GNU/Linux 13 (trixie)"',
)
CPU = section(
    "cpu",
    f"{SYSFS}/cpu/online:0-3",
    f"{SYSFS}/node/node0/cpulist:0-1",
    f"{SYSFS}/node/node1/cpulist:2-3",
    *(
        f"{SYSFS}/cpu/cpu{n}/topology/thread_siblings_list:{'0,2' if n % 2 == 0 else '1,3'}"
        for n in range(4)
    ),
    f"{SYSFS}/cpu/cpu0/cpufreq/cpuinfo_max_freq:3700000",
) + section("cpuinfo", "model name\t: Intel(R) Xeon(R) Platinum 8168 CPU @ 2.70GHz")
BARE = section("detect-virt", "none", code=1)
CARD = (
    section("pci-hops", "/sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0")
    + section(
        "pci",
        "/sys/bus/pci/devices/0000:3b:00.0/vendor:0x15b3",
        "/sys/bus/pci/devices/0000:3b:00.0/device:0x1019",
    )
    + section(
        "ports",
        "enp59s0 driver=mlx5_core physfn= port=p0 "
        "device=/sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0",
    )
    + section("ethtool", "Settings for enp59s0:", "\tSpeed: 100000Mb/s", subject="enp59s0")
)


def test_a_host_is_named_by_its_system_its_cpu_and_its_cards():
    assert describe(host(KERNEL, CPU, BARE, CARD), Question()) == (
        ("system", "Debian GNU/Linux 13 (trixie), kernel 6.12.38+deb13-amd64"),
        ("runs on", "bare metal"),
        (
            "CPU",
            "Intel(R) Xeon(R) Platinum 8168 CPU @ 2.70GHz, 2 cores, 4 CPUs, 2 NUMA nodes, "
            "up to 3.70 GHz",
        ),
        ("enp59s0", "mlx5_core, 15b3:1019, at 0000:3b:00.0, 100 Gb/s"),
    )


def test_a_guest_says_whose_it_is_and_that_it_is_a_container():
    container = section("virtualization", "/run/systemd/container:lxc")
    facts = host(section("detect-virt", "kvm"), container)
    assert ("runs on", "a hypervisor: kvm, in a container (lxc)") in describe(facts, Question())


def test_wsl_says_its_version_and_mode():
    release = section("kernel", "/proc/sys/kernel/osrelease:6.6.87.2-microsoft-standard-WSL2")
    facts = host(release, section("wsl-mode", "mirrored"), section("detect-virt", "microsoft"))
    assert ("runs on", "Windows, as WSL 2, mirrored networking") in describe(facts, Question())


def test_what_could_not_be_read_is_not_made_up():
    assert describe(host(), Question()) == (
        ("system", "cannot tell, kernel cannot tell"),
        ("runs on", "cannot tell"),
        ("CPU", "cannot tell"),
    )


def test_no_escape_sequence_of_a_host_reaches_the_answer():
    hostile = section("cpuinfo", "model name\t: \x1b]0;owned\x07 CPU")
    text = "".join(
        value
        for _, value in describe(host(CPU[: CPU.index("case begin cpuinfo")], hostile), Question())
    )
    assert "\\x1b]0;owned\\x07 CPU" in text
    assert text.isprintable()


def test_a_host_of_many_ports_is_described_by_its_first():
    ports = section(
        "ports",
        *(
            f"eth{n} driver=mlx5_core physfn= port= device=/sys/devices/pci0000:3a/0000:3b:00.{n}"
            for n in range(8)
        ),
        *(
            f"eth{n} driver=mlx5_core physfn= port= device=/sys/devices/pci0000:3a/0000:3c:{n:02}.0"
            for n in range(10, 30)
        ),
    )
    labels = [label for label, _ in describe(host(ports), Question())]
    assert labels[3:] == [f"eth{n}" for n in (*range(8), *range(10, 18))] + ["ports"]


def test_the_answer_has_these_lines():
    facts = host(KERNEL, CPU, BARE, CARD)
    assert diagnose(facts, Question(), []).about == describe(facts, Question())


WINDOWS = section(
    "windows-host",
    '[{"Caption":"Microsoft Windows 11 Pro","Build":26100,"IsAdministrator":false,'
    '"Processors":24,"NumaNodes":1}]',
)


def test_windows_alone_is_one_line_and_beside_wsl_one_more():
    said = "Microsoft Windows 11 Pro, build 26100, 24 CPUs, not read as administrator"
    assert describe(host(WINDOWS), Question()) == (("Windows", said),)
    assert [label for label, _ in describe(host(KERNEL, WINDOWS), Question())][-1] == "Windows"


def test_a_card_of_windows_has_its_link_slot_driver_and_firmware():
    windows = Windows()
    as_found(windows)
    windows.add("firmware", Guid=guid(10), Version="16.25.1020")
    windows.change("adapters", 7, Status="Disconnected")
    lines = dict(describe(HostFacts("desk", parse_capture(windows.capture(), "desk")), Question()))
    assert lines["이더넷 10"] == (
        "Mellanox ConnectX-5 Ex Adapter #10, 100 Gb/s, at 0000:0a:00.0, x4 of 16 GT/s, "
        "driver mlx5.sys 24.10.26603.0, firmware 16.25.1020"
    )
    assert lines["이더넷 7"] == (
        "Realtek PCIe 10GbE Family Controller, no link, driver rt68cx21x64.sys 24.10.26603.0"
    )
    assert not any("vEthernet" in label for label in lines)
