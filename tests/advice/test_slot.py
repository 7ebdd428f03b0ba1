"""Which slot: PCI Express against the ports."""

from wirespeed.advice.slot import Slot, advise_slot


def bands(
    *, ports: int, port_gbps: float, slots: list[Slot], both_ways: bool
) -> dict[str, tuple[float | None, float | None]]:
    advice = advise_slot(ports, port_gbps, slots, both_ways=both_ways)
    return {choice.name: (choice.gbps_low, choice.gbps_high) for choice in advice.choices}


def test_the_documents_card_is_below_its_slots_band():
    # 4.0 x4 is 16 GT/s x 4 x 128/130 = 63.0 Gb/s raw; 53.6 was measured through it.
    low, high = bands(ports=1, port_gbps=100, slots=[(4, 4)], both_ways=False)["PCIe 4.0 x4"]
    assert low < 53.6 < high < 63.1


def test_two_ports_of_100_do_not_fit_into_4_0_x8():
    # 126 Gb/s raw.
    advice = advise_slot(2, 100, [(4, 8)], both_ways=False)
    assert advice.answer.startswith("None of these is enough for 200 Gb/s")
    ((_, high),) = bands(ports=2, port_gbps=100, slots=[(4, 8)], both_ways=False).values()
    assert high < 126.1
    assert advise_slot(2, 100, [(4, 8), (4, 16)], both_ways=False).answer == (
        "PCIe 4.0 x16 is enough for 200 Gb/s."
    )


def test_the_smallest_that_is_enough_comes_first():
    advice = advise_slot(1, 100, [], both_ways=False)
    # 3.0 x16, 4.0 x8 and 5.0 x4 are the same: 126 Gb/s raw; 6.0 x4 has 236 in its flits.
    assert advice.choices[0].name == "PCIe 3.0 x16"
    assert {c.name for c in advice.choices if c.note == "fills its ports"} == {
        "PCIe 3.0 x16", "PCIe 4.0 x8", "PCIe 4.0 x16", "PCIe 5.0 x4", "PCIe 5.0 x8", "PCIe 5.0 x16",
        "PCIe 6.0 x4", "PCIe 6.0 x8", "PCIe 6.0 x16",
    }  # fmt: skip


def test_a_card_of_800_needs_the_sixth_generation():
    """ConnectX-8 has PCIe 6.0 x16 for 800 Gb/s; 5.0 x16 has 504 Gb/s raw."""
    assert advise_slot(1, 800, [], both_ways=False).answer == (
        "PCIe 6.0 x16 is enough for 800 Gb/s."
    )


def test_no_slot_carries_more_than_the_ports():
    assert bands(ports=2, port_gbps=25, slots=[(4, 16)], both_ways=False) == {
        "PCIe 4.0 x16": (50, 50)
    }


def test_both_directions_at_once_leave_less_for_each():
    one = bands(ports=1, port_gbps=100, slots=[(4, 4)], both_ways=False)["PCIe 4.0 x4"]
    both = bands(ports=1, port_gbps=100, slots=[(4, 4)], both_ways=True)["PCIe 4.0 x4"]
    assert both[0] < one[0]
