"""What WSL 2 on a machine of Windows is asked to be: both sides, in order."""

import subprocess

import pytest

from described import doc_wsl2
from described.host import Host, capture_of
from described.windows import Windows, as_found, bridged, external_switch, unbound
from wirespeed.apply.spec_file import parse_spec
from wirespeed.host.local import LocalRunner
from wirespeed.host.wsl import SHUTDOWN, WSL, WslRunner
from wirespeed.model.capture import parse_capture
from wirespeed.model.error import HostError, InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.step import Step
from wirespeed.platforms.windows.steps.windows_filter import WindowsFilter
from wirespeed.platforms.windows.steps.windows_property import WindowsProperty
from wirespeed.platforms.windows.steps.windows_switch import WindowsSwitch
from wirespeed.platforms.wsl.access import wsl_controls
from wirespeed.platforms.wsl.approach import wsl2
from wirespeed.platforms.wsl.control import WslControl
from wirespeed.platforms.wsl.steps.wsl_config import WslConfig
from wirespeed.steps.file_content import FileContent
from wirespeed.steps.module import Module
from wirespeed.steps.sysctl import Sysctl

SPEC = """\
hosts: {desk: {reach: here, ports: ["0000:0a:00.0"]}}
approach: wsl2
underlay: {subnet: 10.10.10.0/24, mtu: 9000}
"""
CARD = "Mellanox ConnectX-5 Ex Adapter #10"
VIRTUAL = ("Hyper-V Virtual Ethernet Adapter", "Hyper-V Virtual Ethernet Container")


def steps(
    windows: Windows, spec: str = SPEC, conf: str | None = None, algorithms: str | None = None
) -> list[tuple[str, Step]]:
    """`algorithms`: of TCP, that a kernel without modules has built in."""
    linux = Host()
    doc_wsl2.workstation(linux)
    if conf is not None:
        linux.files["/etc/wsl.conf"] = conf
    if algorithms is not None:
        linux.files["/proc/sys/net/ipv4/tcp_available_congestion_control"] = algorithms
        for path in [path for path in linux.files if path.startswith("/lib/modules/")]:
            del linux.files[path]
    text = windows.capture(capture_of(linux))
    host = HostFacts("desk", parse_capture(text, "desk"))
    return [(one.guest, one.step) for one in wsl2(parse_spec(spec, "x"), "desk", host)]


def described(*changes: object) -> Windows:
    windows = Windows()
    as_found(windows)
    for change in changes:
        change(windows)  # type: ignore[operator]
    return windows


def of_kind(found: list[tuple[str, Step]], kind: type[Step]) -> list[Step]:
    return [step for _, step in found if isinstance(step, kind)]


def test_windows_comes_first_and_each_side_has_its_name():
    found = steps(described())
    sides = [side for side, _ in found]
    assert sides == ["desk.windows"] * 6 + [""] * (len(sides) - 6)
    kinds = [type(step) for _, step in found[:6]]
    assert kinds == [WindowsFilter, WindowsSwitch, *[WindowsProperty] * 3, WslConfig]


def test_the_filter_stays_on_its_own_card_alone():
    (step,) = of_kind(steps(described()), WindowsFilter)
    assert isinstance(step, WindowsFilter)
    assert step.adapters == (CARD, *VIRTUAL)
    (switch,) = of_kind(steps(described()), WindowsSwitch)
    assert isinstance(switch, WindowsSwitch)
    assert switch.own == ("Realtek PCIe 10GbE Family Controller",)
    assert switch.filters == ("nt_rtf64",)


def test_the_steps_of_an_applied_host_are_the_same():
    before = steps(described())
    after = steps(described(unbound))
    assert [s.model_dump() for _, s in before] == [s.model_dump() for _, s in after]


def test_a_switch_that_the_card_has_already_is_taken():
    (switch,) = of_kind(steps(described(unbound, external_switch)), WindowsSwitch)
    assert isinstance(switch, WindowsSwitch) and switch.name == "ConnectX-External"


def renamed(name: str) -> Windows:
    windows = described(unbound, external_switch)
    for row in windows.rows["switches"]:
        row["Name"] = name if row["Kind"] == "External" else row["Name"]
    return windows


@pytest.mark.parametrize("name", ["10G (랜)", "vSwitch #1", "외부", "it's"])
def test_a_switch_that_somebody_made_may_have_any_name(name: str):
    (switch,) = of_kind(steps(renamed(name)), WindowsSwitch)
    assert isinstance(switch, WindowsSwitch) and switch.name == name


@pytest.mark.parametrize("name", ["10G 랜", "vSwitch #1", 'the "fast" one'])
def test_a_name_that_wsl_cannot_read_is_refused_in_bridged_mode(name: str):
    with pytest.raises(InputError) as caught:
        steps(renamed(name), f"{SPEC}wsl: {{networking: bridged}}\n")
    assert caught.value.what == "spec.switch_name" and "Rename-VMSwitch" in caught.value.next


def test_the_hosts_own_adapter_on_the_switch_is_the_switchs_own_affair():
    """Filters bind themselves to it when it comes: the steps of an applied host would change."""
    windows = described(unbound, external_switch)
    windows.bind(22, "nt_rtf64", "Realtek LightWeight Filter (NDIS6.40)")
    (step,) = of_kind(steps(windows), WindowsFilter)
    assert isinstance(step, WindowsFilter)
    assert step.adapters == (CARD, *VIRTUAL)


def test_bridged_mode_names_the_switch_and_needs_asking_for():
    (config,) = of_kind(steps(described(unbound, external_switch, bridged)), WslConfig)
    assert isinstance(config, WslConfig) and config.values == {"networkingMode": "mirrored"}
    assert "LOSES" not in config.why
    asked = f"{SPEC}wsl: {{networking: bridged, switch: X}}\n"
    (config,) = of_kind(steps(described(), asked), WslConfig)
    assert isinstance(config, WslConfig)
    assert config.values == {"networkingMode": "bridged", "vmSwitch": "X"}
    assert "LOSES LAN AND INTERNET" in config.why


def test_a_frame_of_a_driver_that_counts_its_header_and_of_one_that_does_not():
    windows = described()
    for shown, value in (("1514", "9014"), ("1500", "9000")):
        for row in windows.rows["advanced"]:
            if row["Keyword"] == "*JumboPacket":
                row.update(Value=[shown], Default=shown)
        found = of_kind(steps(windows), WindowsProperty)
        assert [s.value for s in found if s.keyword == "*JumboPacket"] == [value]  # type: ignore[attr-defined]
    small = of_kind(steps(windows, SPEC.replace("9000", "1500")), WindowsProperty)
    assert [s.keyword for s in small] == ["*LsoV2IPv4", "*LsoV2IPv6"]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("mtu", "networking", "jumbo"),
    [("9000", "mirrored", 9014), ("4000", "mirrored", None), ("9000", "bridged", None)],
)
def test_mirrored_wsl_gets_the_mtu_of_the_hosts_own_adapter(
    mtu: str, networking: str, jumbo: int | None
):
    spec = f"{SPEC.replace('9000', mtu)}wsl: {{networking: {networking}}}\n"
    (switch,) = of_kind(steps(described(), spec), WindowsSwitch)
    assert isinstance(switch, WindowsSwitch) and switch.host_jumbo == jumbo


@pytest.mark.parametrize(
    ("mtu", "value"), [(9000, "9014"), (4000, "4088"), (9216, None), (1500, "")]
)
def test_a_frame_is_as_large_as_a_value_that_the_driver_lists(mtu: int, value: str | None):
    """Of Intel's drivers *JumboPacket is an enumeration: ValidRegistryValues."""
    windows = described()
    for row in windows.rows["advanced"]:
        if row["Keyword"] == "*JumboPacket":
            row.update(Valid=["1514", "4088", "9014"])
    spec = SPEC.replace("9000", str(mtu))
    if value is None:
        with pytest.raises(InputError) as caught:
            steps(windows, spec)
        assert caught.value.what == "spec.mtu_unknown" and "9000 or less" in caught.value.next
        return
    found = of_kind(steps(windows, spec), WindowsProperty)
    assert [s.value for s in found if s.keyword == "*JumboPacket"] == [value][: bool(value)]  # type: ignore[attr-defined]


@pytest.mark.parametrize(("algorithms", "has_bbr"), [("reno cubic", 0), ("reno cubic bbr", 1)])
def test_a_kernel_of_wsl_without_modules_is_asked_for_what_it_has(algorithms: str, has_bbr: int):
    """config-wsl of the first ones: TCP_CONG_ADVANCED is not set, and there is no module tree."""
    found = steps(described(), algorithms=algorithms)
    assert not of_kind(found, Module)
    values = [s.value for s in of_kind(found, Sysctl) if isinstance(s, Sysctl)]
    assert values.count("bbr") == has_bbr and len(values) == 5 + has_bbr
    assert len(of_kind(steps(described()), Module)) == 1


def test_without_systemd_a_command_of_the_boot_does_it_again():
    assert not of_kind(steps(described()), FileContent), "systemd runs: wirespeed persist"
    *_, (_, script), (_, conf) = steps(described(), conf="[boot]\nsystemd=false\n")
    assert isinstance(script, FileContent)
    lines = script.content.splitlines()
    assert lines[0] == "#!/bin/sh"
    assert "until [ -d /sys/class/net/eth2 ] || [ $tries -ge 60 ]; do" in lines
    assert "modprobe tcp_bbr" in lines
    assert subprocess.run(["sh", "-n"], input=script.content, text=True, check=True)  # noqa: S607
    assert "ip link set dev eth2 mtu 9000 >/dev/null" in lines
    assert "ethtool -G eth2 rx 3502 tx 2560 >/dev/null" in lines
    assert "echo 80 | tee /sys/class/net/eth2/queues/tx-7/xps_cpus >/dev/null" in lines
    assert "echo bbr | tee /proc/sys/net/ipv4/tcp_congestion_control >/dev/null" in lines
    assert conf.model_dump()["value"] == f"sh {script.path}"


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda w: w.rows.pop("host"), "spec.no_windows"),
        (lambda w: w.rows["host"][0].update(IsAdministrator=False), "spec.not_administrator"),
        (lambda w: w.rows["host"][0].update(Build=19045), "spec.no_mirrored"),
        (lambda w: w.rows["host"][0].update(Build=22000), "spec.no_mirrored"),
        (lambda w: w.change("hardware", 10, Bus=11), "spec.port_unknown"),
    ],
)
def test_what_cannot_be_is_said(change: object, what: str):
    with pytest.raises(InputError) as caught:
        steps(described(change))
    assert caught.value.what == what


def test_bridged_mode_is_older_than_mirrored_mode():
    ten = described(lambda w: w.rows["host"][0].update(Build=19045))
    (config,) = of_kind(steps(ten, f"{SPEC}wsl: {{networking: bridged}}\n"), WslConfig)
    assert isinstance(config, WslConfig) and config.values["networkingMode"] == "bridged"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("networks: {a: {segment: 1, subnet: 10.0.0.0/24, mtu: 1500}}\n", "neither networks"),
        ("failover: active-backup\n", "failover: none"),
        ("wsl: {networking: nat}\n", "networking"),
        ("wsl: {switch: 'a\"b'}\n", "switch"),
    ],
)
def test_a_spec_that_does_not_fit_is_refused(more: str, said: str):
    with pytest.raises(InputError, match=said):
        parse_spec(SPEC + more, "x")


def test_two_ports_or_another_approach_with_wsl_are_refused():
    two = SPEC.replace('["0000:0a:00.0"]', '["0000:0a:00.0", "0000:0a:00.1"]')
    with pytest.raises(InputError, match="one port"):
        parse_spec(two, "x")
    other = "networks: {}\nguests: {}\nfailover: none\nwsl: {}\n"
    with pytest.raises(InputError, match="wsl: it belongs"):
        parse_spec(SPEC.replace("wsl2", "ovs-tc") + other, "x")


class TestSides:
    def test_within_wsl_both_sides_are_this_machine(self):
        with wsl_controls(parse_spec(SPEC, "x")) as controls:
            assert sorted(controls) == ["desk", "desk.windows"]
            with pytest.raises(InputError) as caught:
                controls["desk"].reboot("x")
        assert caught.value.what == "wsl.shut_down_yourself"
        assert "wsl --shutdown" in caught.value.next

    def test_why_wsl_starts_no_linux_is_said_in_letters(self):
        """WslClient.cpp: its messages are UTF-16, unless WSL_UTF8 is set."""
        words = (
            "Windows Subsystem for Linux has no installed distributions.\r\n"
            "Error code: Wsl/Service/CreateInstance/WSL_E_DEFAULT_DISTRO_NOT_FOUND\r\n"
        )

        class Windows(LocalRunner):
            def run(self, argv, **options):  # noqa: ANN001, ANN003, ANN202
                done = super().run(("false",), **options)
                return done.model_copy(update={"output": words.encode("utf-16-le").decode()})

        with pytest.raises(HostError) as caught:
            WslControl("desk", WslRunner(Windows())).boot_id()
        assert caught.value.what == "wsl.no_linux" and "wsl --list" in caught.value.next
        assert "no installed distributions. Error code: Wsl/Service" in caught.value.found

    def test_from_windows_linux_is_reached_by_wsl(self):
        asked: list[tuple[str, ...]] = []

        class Windows(LocalRunner):
            def run(self, argv, **options):  # noqa: ANN001, ANN003, ANN202
                asked.append(tuple(argv))
                if tuple(argv) == SHUTDOWN:
                    argv = ("true",)
                return super().run(tuple(argv)[len(WSL) :] or ("true",), **options)

        controls = WslControl("desk", WslRunner(Windows()))
        boot = controls.boot_id()
        assert boot and asked == [(*WSL, "sh", "-s")]
        # The boot that is read is this machine's own: another one than before is all that counts.
        assert controls.reboot("another") == boot
        assert SHUTDOWN in asked
