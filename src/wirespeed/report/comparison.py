"""Several approaches to one spec, side by side, before it is HTML, Markdown or CSV. Pure."""

from dataclasses import dataclass

from wirespeed.model.network_trial import FailoverVerdict
from wirespeed.model.shown import shown
from wirespeed.model.spec import Approach
from wirespeed.report import format as fmt
from wirespeed.report.grid import Cell, Grid, Notes, columns, text
from wirespeed.report.page import Missing
from wirespeed.report.proof_answer import answers, emulated_hosts, is_proven, verdict
from wirespeed.report.proof_page import Proof
from wirespeed.report.proof_tables import result_grid


@dataclass(frozen=True)
class NotShown:
    """An approach that could not be built or measured."""

    approach: Approach
    what: str
    found: str
    next: str
    proof: Proof | None = None
    """As far as it came."""


@dataclass(frozen=True)
class Comparison:
    """All of them, in the order in which they were built."""

    spec_name: str
    approaches: tuple[Proof | NotShown, ...]

    @property
    def proofs(self) -> tuple[Proof, ...]:
        """Those that came to their end."""
        return tuple(one for one in self.approaches if isinstance(one, Proof))

    @property
    def not_shown(self) -> tuple[NotShown, ...]:
        """The others."""
        return tuple(one for one in self.approaches if isinstance(one, NotShown))

    @property
    def emulated(self) -> tuple[str, ...]:
        """Hosts whose CPU is emulated."""
        return tuple(dict.fromkeys(host for proof in self.proofs for host in emulated_hosts(proof)))


EMULATED_SAYS = (
    "that something works is shown on a real kernel. How fast it is says nothing of hardware, and "
    "hardly anything of one approach beside another."
)
COMPARABLE = (Approach.LEGACY_VLAN, Approach.OVS_DPDK, Approach.OVS_TC)
"""Those that bring about the same networks and guests."""
FEATURES: tuple[tuple[str, dict[Approach, str]], ...] = (
    (
        "Segments",
        {
            Approach.LEGACY_VLAN: "VLANs: 4094",
            Approach.OVS_DPDK: "VXLAN or Geneve: 16 million",
            Approach.OVS_TC: "VXLAN or Geneve: 16 million",
        },
    ),
    (
        "Needs of the network between",
        {
            Approach.LEGACY_VLAN: "the VLANs on every switch port",
            Approach.OVS_DPDK: "IP, and 50 bytes more (70 over IPv6)",
            Approach.OVS_TC: "IP, and 50 bytes more (70 over IPv6)",
        },
    ),
    (
        "Fail-over is done by",
        {
            Approach.LEGACY_VLAN: "each guest: a bond of two VFs",
            Approach.OVS_DPDK: "the host: guests have one port",
            Approach.OVS_TC: "the host: guests have one port",
        },
    ),
    (
        "Who moves the frames",
        {
            Approach.LEGACY_VLAN: "the card",
            Approach.OVS_DPDK: "cores that poll, all of the time; a card that offloads takes flows",
            Approach.OVS_TC: "the kernel; a card in switchdev mode takes the flows",
        },
    ),
    (
        "Filters and rules between guests",
        {
            Approach.LEGACY_VLAN: "VLAN, MAC and rate of each VF",
            Approach.OVS_DPDK: "OpenFlow",
            Approach.OVS_TC: "OpenFlow; what tc flower cannot say stays in software",
        },
    ),
)
"""What an approach has, whatever is measured."""


def side_by_side_grid(comparison: Comparison) -> Grid:
    """The published table with every approach's rows, and the published ones beneath."""
    return result_grid(*comparison.proofs)


def answers_grid(comparison: Comparison) -> Grid:
    """One row for each question, one column for each approach."""
    proofs = comparison.proofs
    questions = [one.question for one in answers(proofs[0])] if proofs else []
    rows = [
        (
            Cell(text=question),
            *(_answer_cell(proof, number) for proof in proofs),
        )
        for number, question in enumerate(questions)
    ]
    names = [str(proof.opening.spec.approach) for proof in proofs]
    verdicts = (Cell(text="Verdict"), *(_verdict_cell(proof) for proof in proofs))
    return Grid(
        title="What is proven",
        caption="Each approach was built, measured and undone before the next one.",
        columns=columns("", *names, words=[""], wraps=names),
        rows=(verdicts, *rows) if proofs else (),
    )


def costs_grid(comparison: Comparison) -> Grid:
    """What it costs the hosts, and what a lost port costs the guests."""
    notes = Notes()
    rows = []
    for proof in comparison.proofs:
        hosts = {host for cell in proof.summary.iperf3 for host in cell.host_cores_per_gbps}
        for host in sorted(hosts):
            rows.append(_cost_row(proof, host, notes))
    return Grid(
        title="What it costs",
        caption=(
            "Busy cores for each Gb/s of payload through a host, of the cheapest and the dearest "
            "cell. A core that polls counts as busy."
        ),
        columns=columns(
            "Approach", "Host", "Least", "Most", "Outage (ms)", "Packets lost", "Limited by",
            words=["Approach", "Host"], wraps=["Limited by"],
        ),
        rows=tuple(rows),
        notes=notes.all,
    )  # fmt: skip


def features_grid(comparison: Comparison) -> Grid:
    """What each approach has and lacks."""
    names = [one.opening.spec.approach if isinstance(one, Proof) else one.approach
             for one in comparison.approaches]  # fmt: skip
    rows = [text(feature, *(of[name] for name in names)) for feature, of in FEATURES]
    words = ["", *map(str, names)]
    return Grid(
        title="What it has and lacks",
        caption="By design, not measured here.",
        columns=columns(*words, wraps=words),
        rows=tuple(rows),
    )


def _answer_cell(proof: Proof, number: int) -> Cell:
    one = answers(proof)[number]
    good = one.is_proven or not one.is_asked
    return Cell(
        text=shown(f"{one.figure}: {one.condition}", 400), tone="plain" if good else "alarm"
    )


def _verdict_cell(proof: Proof) -> Cell:
    return Cell(text=verdict(proof), tone="plain" if is_proven(proof) else "alarm")


def _cost_row(proof: Proof, host: str, notes: Notes) -> tuple[Cell, ...]:
    costs = [
        cell.host_cores_per_gbps[host].median
        for cell in proof.summary.iperf3
        if host in cell.host_cores_per_gbps
    ]
    trials = [t for t in proof.summary.failovers if t.verdict is FailoverVerdict.SURVIVED]
    none = Missing(reason="no port was lost that carried a flow, and survived")
    outage = max((max(t.outage_ms, t.return_outage_ms) for t in trials), default=none)
    lost = sum(t.lost_packets for t in trials) if trials else none
    limit = "emulated CPUs: says nothing of hardware" if emulated_hosts(proof) else "see its page"
    return (
        *text(str(proof.opening.spec.approach), host),
        *text(*(fmt.significant(value, 2) for value in (min(costs), max(costs)))),
        notes.cell(outage, lambda ms: fmt.count(round(ms))),
        notes.cell(lost, fmt.count),
        Cell(text=limit),
    )
