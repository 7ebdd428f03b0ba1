"""What is advised fits the hardware: soldered chips, switches on the board, memory, lanes.

Which link has a slot: PCI Express Base Specification 5.0, section 7.5.3.2, Slot Implemented, which
`lspci -vv` prints as `(Slot+)` and `(Slot-)` of a root or downstream port.
"""

import pytest
from remedies import CASES, remedies

from wirespeed.catalog import rules
from wirespeed.doctor.diagnose import diagnose
from wirespeed.model.capture import parse_capture
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import ByHand, Finding
from wirespeed.model.question import Purpose, Question

BY_SLUG = {rule.slug: rule for rule in rules()}
ENDPOINT, ROOT, UP, DOWN = 0, 4, 5, 6
ROOT_PORT, UPSTREAM, DOWNSTREAM, CARD = (f"0000:{n}:00.0" for n in ("00", "01", "02", "03"))


def config(port_type: int, *, slot: bool) -> str:
    dump = bytearray(256)
    dump[0x06], dump[0x34], dump[0x40] = 0x10, 0x40, 0x10
    dump[0x42:0x44] = (port_type << 4 | 2 | slot << 8).to_bytes(2, "little")
    return dump.hex(" ")


def answer(slug: str, sections: dict[str, str], **asked: object) -> Finding:
    text = "".join(f"case begin {name}\n{body}\n\ncase end 0\n" for name, body in sections.items())
    capture = parse_capture(f"wirespeed-capture 1 case\n{text}case done\n", "host")
    found = diagnose(HostFacts("host", capture), Question(**asked), [BY_SLUG[slug]])  # type: ignore[arg-type]
    assert not found.faults
    return found.findings[0]


def chain(
    slots: dict[str, bool | None], width: dict[str, tuple[int, int]], names: tuple[str, ...]
) -> dict[str, str]:
    """Functions from the root port to the card: width now and at most, and the ports' slots."""
    way = "/sys/devices/pci0000:00/" + "/".join(names)
    files = "".join(
        f"/sys/bus/pci/devices/{name}/{file}:{value}\n"
        for name in names
        for file, value in (
            ("current_link_speed", "8.0 GT/s PCIe"), ("max_link_speed", "8.0 GT/s PCIe"),
            ("current_link_width", width[name][0]), ("max_link_width", width[name][1]),
        )
    )  # fmt: skip
    types = {ROOT_PORT: ROOT, UPSTREAM: UP, DOWNSTREAM: DOWN, CARD: ENDPOINT}
    dumps = {
        f"pci-config {name}": config(types[name], slot=bool(slots.get(name)))
        for name in names
        if slots.get(name, False) is not None
    }
    ports = f"p0 driver=mlx5_core physfn= port=p0 device={way}"
    link = "/sys/class/net/p0/flags:0x1003\n/sys/class/net/p0/carrier:1"
    ethtool = "Settings for p0:\n\tSpeed: 100000Mb/s\n\tLink detected: yes"
    return {
        "ports -": ports, "pci-hops -": way, "pci -": files, "link -": link,
        "ethtool p0": ethtool, **dumps,
    }  # fmt: skip


SHORT, LONG = (ROOT_PORT, CARD), (ROOT_PORT, UPSTREAM, DOWNSTREAM, CARD)
NARROW = (4, 16)


@pytest.mark.parametrize(
    ("names", "slots", "narrow", "said", "unsaid"),
    [
        (SHORT, {ROOT_PORT: True}, SHORT, "reseat the card", "soldered"),
        (SHORT, {ROOT_PORT: False}, SHORT, "soldered", "reseat"),
        (SHORT, {ROOT_PORT: None}, SHORT, "reseat the card", "soldered"),
        # A switch on the board; the card is in its slot.
        (LONG, {DOWNSTREAM: True}, LONG[:2], "above the card's slot", "reseat"),
        (LONG, {DOWNSTREAM: True}, LONG[2:], "reseat the card", "soldered"),
        # A BlueField or a card of two chips has a switch of its own.
        (LONG, {ROOT_PORT: True}, LONG[2:], "within the card", "reseat"),
        (LONG, {ROOT_PORT: True}, LONG[:2], "reseat the card", "above"),
    ],
)
def test_only_what_is_in_a_slot_is_reseated(
    names: tuple[str, ...],
    slots: dict[str, bool | None],
    narrow: tuple[str, ...],
    said: str,
    unsaid: str,
):
    width = {name: NARROW if name in narrow else (16, 16) for name in names}
    found = answer("pcie.width_below_capability", chain(slots, width, names))
    advice = " ".join(remedy.text for remedy in found.remedies)
    assert said in advice
    assert unsaid not in advice


@pytest.mark.parametrize("slug", ["pcie.width_below_capability", "pcie.hop_below_card"])
@pytest.mark.parametrize(("slot", "said"), [(True, "move the card"), (False, "another card")])
def test_a_soldered_card_is_not_moved(slug: str, slot: bool, said: str):
    names = LONG if "hop" in slug else SHORT
    width = dict.fromkeys(names, (16, 16))
    if "hop" in slug:
        width[ROOT_PORT] = width[UPSTREAM] = (4, 4)
    else:
        width[CARD], width[ROOT_PORT] = (4, 16), (4, 4)
    seat = DOWNSTREAM if "hop" in slug else ROOT_PORT
    advice = answer(slug, chain({seat: slot}, width, names)).remedies[0].text
    assert said in advice


def pools(gib: int, nodes: int) -> dict[str, str]:
    node = "/sys/devices/system/node"
    lines = [f"/proc/meminfo:MemTotal: {gib << 20} kB", "/proc/meminfo:Hugepagesize: 2048 kB"]
    lines.append("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages:0")
    for number in range(nodes):
        lines.append(
            f"{node}/node{number}/meminfo:Node {number} MemTotal: {(gib << 20) // nodes} kB"
        )
        lines.append(f"{node}/node{number}/hugepages/hugepages-2048kB/nr_hugepages:0")
    numbers = "0" if nodes == 1 else f"0-{nodes - 1}"
    cpus = [f"{node}/online:{numbers}", "/sys/devices/system/cpu/online:0-7"]
    cpus += [f"{node}/node{number}/cpulist:{number}" for number in range(nodes)]
    return {
        "memory -": "\n".join(lines), "cpu -": "\n".join(cpus), "boot-loader -": "grub",
        "ports -": "",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("gib", "nodes", "now", "boot"),
    [
        (256, 2, ["1024", "1024"], "hugepagesz=1G hugepages=8"),
        (64, 1, ["1024"], "hugepagesz=1G hugepages=4"),
        (8, 1, ["1024"], "hugepagesz=1G hugepages=2"),
        # A quarter of 2 GiB is 256 pages of 2 MB, and none of 1 GB.
        (2, 1, ["256"], "hugepagesz=2M hugepages=256"),
        (6, 2, ["384", "384"], "hugepagesz=2M hugepages=768"),
    ],
)
def test_no_more_than_a_quarter_of_the_memory_is_reserved(
    gib: int, nodes: int, now: list[str], boot: str
):
    found = answer("memory.no_hugepages", pools(gib, nodes), purpose=Purpose.DPDK)
    reserve, at_boot = found.remedies
    assert [command.stdin for command in reserve.commands] == now
    assert boot in " ".join([at_boot.text, *(c.line() for c in at_boot.commands)])


@pytest.mark.parametrize(
    ("identifier", "baud", "modes", "after"),
    [
        # SFF-8636, byte 140: of a lane. A cable of 40 Gb/s on which 1 Gb/s was agreed upon.
        ("0x0d (QSFP+)", "10300Mbps", (1, 10, 25, 40, 100), "40 Gb/s"),
        ("0x11 (QSFP28)", "25500Mbps", (1, 10, 25, 40, 50, 100), "100 Gb/s"),
        ("0x03 (SFP)", "10300MBd", (1, 10, 25), "10 Gb/s"),
    ],
)
def test_all_lanes_of_a_module_count(
    identifier: str, baud: str, modes: tuple[int, ...], after: str
):
    names = {1: "1000baseKX", 10: "10000baseCR", 25: "25000baseCR", 40: "40000baseCR4",
             50: "50000baseCR2", 100: "100000baseCR4"}  # fmt: skip
    supported = "\n\t                        ".join(f"{names[mode]}/Full" for mode in modes)
    sections = {
        "ports -": "p0 driver=mlx5_core physfn= port=p0 device=/sys/devices/pci0/0000:03:00.0",
        "link -": "/sys/class/net/p0/flags:0x1003\n/sys/class/net/p0/carrier:1",
        "ethtool p0": f"Settings for p0:\n\tSupported link modes:   {supported}\n"
        "\tAdvertised link modes:  Not reported\n\tSpeed: 1000Mb/s\n\tDuplex: Full\n"
        "\tAuto-negotiation: off\n\tLink detected: yes",
        "ethtool-m p0": f"\tIdentifier : {identifier}\n\tBR, Nominal : {baud}",
    }
    found = answer("link.slower_than_both_ends", sections)
    assert f"of the {after} that the module is made for" in found.so


def test_what_a_team_receives_by_is_set_here_only_where_guests_have_ports_of_their_own():
    """Without guests every algorithm leaves all of it to one member: the switch has to know."""
    found = {
        told.case.partition("/")[2]: (
            [call.kind for call in told.remedy.steps],
            told.remedy.by_hand,
        )
        for told in remedies()
        if told.rule == "windows.team_balancing"
    }
    assert found["present_ports_hashed_below_guests"] == (["windows_team_balancing"], None)
    assert found["present_addresses_hashed_without_guests"] == ([], ByHand.FAR_END)


def test_a_number_of_queues_is_one_that_the_driver_lists():
    """Half of 12 processors are 6; Intel's drivers list 4 and 8."""
    case = "windows.rss_few_queues/present_two_queues_on_twelve_processors"
    (told,) = (told for told in remedies() if told.case == case)
    assert told.remedy.steps[0].data["queues"] == 8


@pytest.mark.parametrize(("vendor", "tool"), [("15B3", "mlxconfig"), ("8086", "BIOS")])
def test_the_tool_that_switches_sriov_on_is_of_the_cards_maker(vendor: str, tool: str):
    case = CASES / "windows.sriov_off/present_a_card_without/capture.txt"
    capture = parse_capture(case.read_text().replace("VEN_15B3", f"VEN_{vendor}"), "host")
    question = Question(purpose=Purpose.GUESTS)
    found = diagnose(HostFacts("host", capture), question, [BY_SLUG["windows.sriov_off"]])
    texts = [one.text for finding in found.findings for one in finding.remedies]
    assert tool in texts[0] and ("mlxconfig" in texts[0]) == (vendor == "15B3")
