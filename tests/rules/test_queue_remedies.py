"""Remedies about queues, steering and interrupts are commands for the very host of the case."""

from pathlib import Path

import pytest

from wirespeed.catalog import rules
from wirespeed.doctor.diagnose import diagnose
from wirespeed.model.capture import parse_capture
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Diagnosis
from wirespeed.model.question import Purpose, Question

CASES = Path(__file__).parent / "cases"
MORE_QUEUES = "present_more_queues_than_local_cores_is_noted"
BY_SLUG = {rule.slug: rule for rule in rules()}


def diagnosed(
    slug: str, case: str, purpose: Purpose | None = None, edit: tuple[str, str] = ("", "")
) -> Diagnosis:
    text = (CASES / slug / case / "capture.txt").read_text()
    capture = parse_capture(text.replace(*edit) if edit[0] else text, case)
    return diagnose(HostFacts("host", capture), Question(purpose=purpose), [BY_SLUG[slug]])


@pytest.mark.parametrize(
    ("slug", "case", "purpose", "expected"),
    [
        (
            "queues.rings_below_maximum",
            "present_1024_of_8192_while_frames_are_dropped",
            None,
            ["ethtool -G enp59s0f0 rx 8192"],
        ),
        (
            "queues.rings_fill_fast",
            "present_170_transmit_descriptors_at_50_gbps",
            None,
            ["ethtool -G eth2 tx 2560"],
        ),
        (
            "queues.channels_below_cores",
            "present_8_channels_of_24_local_cores_is_noted",
            None,
            ["ethtool -L enp59s0f0 combined 24"],
        ),
        (
            "queues.channels_fell_with_eswitch_mode",
            "present_one_of_32_in_switchdev_mode",
            None,
            ["ethtool -L enp59s0f0 combined 32"],
        ),
        (
            "steering.rss_uses_few_queues",
            "present_all_entries_name_queue_0",
            None,
            ["ethtool -X enp59s0f0 equal 4"],
        ),
        (
            # mlx4_en_set_rxfh: a power of two.
            "steering.rss_uses_few_queues",
            "present_mlx4_of_six_queues",
            None,
            ["ethtool -X enp59s0f0 equal 4"],
        ),
        (
            "steering.rss_uses_few_queues",
            "present_a_table_smaller_than_the_queues",
            None,
            ["ethtool -X enp59s0f0 equal 128"],
        ),
        (
            "steering.xps_uses_one_core",
            "present_all_queues_for_cpu_0",
            None,
            [
                f"echo {1 << n:x} | tee /sys/class/net/enp59s0f0/queues/tx-{n}/xps_cpus"
                for n in range(8)
            ],
        ),
        (
            "steering.rps_against_rss",
            "present_one_queue_and_rps_off",
            None,
            ["echo 3 | tee /sys/class/net/eth0/queues/rx-0/rps_cpus"],
        ),
        (
            "interrupts.on_one_core",
            "present_all_land_on_cpu_0",
            None,
            [f"echo {n} | tee /proc/irq/{61 + n}/smp_affinity_list" for n in range(4)],
        ),
        (
            "interrupts.on_another_node",
            "present_more_queues_than_local_cores_is_noted",
            None,
            [
                "echo 0 | tee /proc/irq/63/smp_affinity_list",
                "echo 1 | tee /proc/irq/64/smp_affinity_list",
            ],
        ),
        (
            "offloads.segmentation_off",
            "present_reverted_though_requested",
            None,
            [
                "ethtool -K enp59s0f0 tx-checksum-ip-generic on tx-tcp-segmentation on "
                "tx-tcp6-segmentation on"
            ],
        ),
        (
            "offloads.completions_not_compressed",
            "present_in_a_slot_of_x4",
            None,
            ["ethtool --set-priv-flags enp59s0f0 rx_cqe_compress on"],
        ),
        (
            "coalescing.slow_for_latency",
            "present_adaptive",
            Purpose.LATENCY,
            ["ethtool -C enp59s0f0 adaptive-rx off", "ethtool -C enp59s0f0 rx-usecs 0"],
        ),
        (
            "coalescing.none_for_throughput",
            "present_without_traffic",
            Purpose.TCP,
            ["ethtool -C enp59s0f0 adaptive-rx on"],
        ),
        (
            "coalescing.none_for_throughput",
            "present_igb_by_ioctl",
            Purpose.TCP,
            ["ethtool -C enp9s0 rx-usecs 3"],
        ),
        (
            "coalescing.slow_for_latency",
            "present_as_ixgbe_comes",
            Purpose.LATENCY,
            ["ethtool -C enp59s0f0 rx-usecs 0"],
        ),
    ],
)
def test_a_remedy_is_the_command_for_this_host(
    slug: str, case: str, purpose: Purpose | None, expected: list[str]
):
    findings = diagnosed(slug, case, purpose).findings
    lines = [c.line() for f in findings for r in f.remedies for c in r.commands]
    assert lines == expected


@pytest.mark.parametrize(
    ("slug", "case", "isolated", "expected"),
    [
        ("interrupts.on_one_core", "present_all_land_on_cpu_0", "1,3", [0, 2, 0, 2]),
        ("interrupts.on_one_core", "present_all_land_on_cpu_0", "", [0, 1, 2, 3]),
        ("interrupts.on_another_node", MORE_QUEUES, "0,2", [1]),
        ("interrupts.on_another_node", MORE_QUEUES, "0-63", [0, 1]),
    ],
)  # fmt: skip
def test_an_isolated_cpu_is_kept_free_of_interrupts(
    slug: str, case: str, isolated: str, expected: list[int]
):
    """kernel-parameters: what is isolated is kept for the threads that are pinned there."""
    online = "/sys/devices/system/cpu/online:"
    line = f"/sys/devices/system/cpu/isolated:{isolated}"
    findings = diagnosed(slug, case, None, (online, f"{line}\n{online}")).findings
    remedy, *others = [r for f in findings for r in f.remedies]
    assert [r.text.split(":")[0] for r in others] == (
        ["leave the other 1 in place"] if expected == [1] else []
    )
    placed = [int(c.line().split()[1]) for c in remedy.commands if "irq" in c.line()]
    assert placed == expected


def test_where_every_near_cpu_has_a_queue_the_others_stay():
    online = "/sys/devices/system/cpu/online:"
    kept = (online, f"/sys/devices/system/cpu/isolated:0-1\n{online}")
    findings = diagnosed("interrupts.on_another_node", MORE_QUEUES, None, kept).findings
    (remedy,) = [r for f in findings for r in f.remedies]
    assert remedy.text.startswith("leave 2 in place") and not remedy.commands


@pytest.mark.parametrize("netdev", ["-G", "a;reboot", "$(id)", "a'b", "x" * 16])
def test_a_name_that_is_not_safe_gets_no_command(netdev: str):
    slug, case = "queues.rings_below_maximum", "present_1024_of_8192_while_frames_are_dropped"
    diagnosis = diagnosed(slug, case, edit=("enp59s0f0", netdev))
    assert not diagnosis.findings
    assert [verdict.outcome for verdict in diagnosis.verdicts] == ["cannot tell"]


def test_full_completions_cost_most_with_small_frames():
    slug, case = "offloads.completions_not_compressed", "present_in_a_slot_of_x4"
    text = (CASES / slug / case / "capture.txt").read_text()
    costs = []
    for frame_bytes in (64, 256, 1518):
        facts = HostFacts("host", parse_capture(text, case))
        diagnosis = diagnose(facts, Question(frame_bytes=frame_bytes), [BY_SLUG[slug]])
        (price,) = diagnosis.findings[0].prices
        costs.append(price.cost_pps)
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] > 0
