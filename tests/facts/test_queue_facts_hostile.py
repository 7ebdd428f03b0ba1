"""Whatever a host prints, the facts about queues and threads are values, and nothing is raised."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from wirespeed.facts.coalescing import Coalescing
from wirespeed.facts.interrupts import Interrupts
from wirespeed.facts.irqbalance import Irqbalance
from wirespeed.facts.offloads import Offloads
from wirespeed.facts.queues import Queues
from wirespeed.facts.steering import Steering
from wirespeed.facts.workload import Workload
from wirespeed.model.capture import Capture, Section

SAMPLES = Path(__file__).parent / "samples"
NETDEV_SECTIONS = (
    "ethtool-rings", "ethtool-channels", "ethtool-coalescing", "ethtool-features",
    "ethtool-private-flags", "ethtool-rss", "ethtool-udp-hash",
)  # fmt: skip
HOST_SECTIONS = (
    "queues", "irqs", "interrupts", "interrupts-again", "irq", "irqbalance", "irqbalance-setup",
    "threads", "threads-again", "thread-status",
)  # fmt: skip
REAL = [
    *(path.read_text() for path in sorted((SAMPLES / "ethtool").glob("*.txt"))),
    *(path.read_text() for path in sorted((SAMPLES / "proc").glob("*.txt"))),
    "/sys/class/net/eth0/queues/tx-0/xps_cpus:ff,ffffffff",
    "/sys/class/net/eth0/queues/rx-0/rps_flow_cnt:32768",
    "0000:00:03.0 37 38 39",
    "/proc/irq/38/smp_affinity_list:0-1",
    "uptime 12.34\n/proc/1/task/1/stat:1 (a b) R " + "1 " * 40,
    "/proc/1/task/1/status:Cpus_allowed_list:\t0-3",
    "/usr/sbin/irqbalance\nenvironment\nIRQBALANCE_BANNED_CPUS=fc",
]


@st.composite
def torn(draw: st.DrawFn) -> str:
    """A real output with a part of it replaced by anything."""
    text = draw(st.sampled_from(REAL))
    start = draw(st.integers(0, len(text)))
    end = draw(st.integers(start, min(len(text), start + 40)))
    return text[:start] + draw(st.text(max_size=40)) + text[end:]


OUTPUTS = st.one_of(torn(), st.text(max_size=200))


@given(
    outputs=st.lists(OUTPUTS, min_size=17, max_size=17),
    returncode=st.sampled_from([0, 0, 0, 1, 2, 123, 124, 127, None]),
    errors=st.one_of(st.just(""), st.text(max_size=60)),
)
def test_nothing_is_raised(outputs: list[str], returncode: int | None, errors: str):
    names = [(name, "eth0") for name in NETDEV_SECTIONS] + [(name, "") for name in HOST_SECTIONS]
    sections = [
        Section(name, subject, output, errors, returncode)
        for (name, subject), output in zip(names, outputs, strict=True)
    ]
    capture = Capture(sections, complete=True)
    for fact in (Coalescing, Offloads, Queues, Steering):
        fact.parse(capture).of("eth0")
    Interrupts.parse(capture).of_queues("0000:00:03.0")
    Irqbalance.parse(capture)
    Workload.parse(capture).of_process(None)
