"""The table of a proof that says where a flow's packets went: the card, or the host's cores."""

from wirespeed.model.network_trial import OffloadTrial, OffloadVerdict
from wirespeed.report import format as fmt
from wirespeed.report.grid import Cell as Box
from wirespeed.report.grid import Grid, columns, text
from wirespeed.report.proof_page import Proof


def offload_grid(proof: Proof) -> Grid:
    """Each host of each pair, while a paced flow was on."""
    trials = proof.summary.offloads
    loads = ", ".join(f"{load} packets a second" for load in sorted({t.load_pps for t in trials}))
    return Grid(
        title="Where the packets of a flow went",
        caption="Read while it was on"
        + (f", at {loads}" if loads else "")
        + ". VF, software and wire: packets between two readings, both directions; the wire's of "
        "everybody. A flow that says offloaded, and that no counter of the card bears out, is not.",
        columns=columns(
            "Host", "Between", "VF", "Software", "Wire", "Verdict", "Evidence",
            words=["Host", "Between", "Verdict", "Evidence"],
            wraps=["Between", "Verdict", "Evidence"],
        ),
        rows=tuple(_row(trial) for trial in trials),
        narrow="list",
    )  # fmt: skip


def _row(trial: OffloadTrial) -> tuple[Box, ...]:
    pair = trial.pair
    counts = (trial.vf_packets, trial.software_packets, trial.port_packets)
    good = trial.verdict is OffloadVerdict.HIT or not trial.is_expected
    expected = "" if trial.is_expected else " (no embedded switch)"
    return (
        *text(trial.host, f"{pair.client} and {pair.server} in {pair.network}"),
        *text(*("—" if count is None else fmt.count(count) for count in counts)),
        Box(text=f"{trial.verdict}{expected}", tone="plain" if good else "alarm"),
        Box(text=_evidence(trial)),
    )


def _evidence(trial: OffloadTrial) -> str:
    if trial.tc_hardware_packets is None:
        return trial.said
    return f"{trial.said}; filters of tc: {fmt.count(trial.tc_hardware_packets)} in hardware"
