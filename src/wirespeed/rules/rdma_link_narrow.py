"""An InfiniBand link that came up with fewer lanes than its cable has."""

import re
from collections.abc import Iterator

from wirespeed.ceilings.ethernet import infiniband_ceiling
from wirespeed.model.ceiling import Direction
from wirespeed.model.finding import ByHand, Change, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom
from wirespeed.rules.rdma_packets_lost import rdma_ports

LINK_RATE = re.compile(r"([\d.]{1,6}) Gb/sec(?: \((\d{1,2})X(?: (\w{1,8}))?\))?")
LANES = 4
"""Of a QSFP port, which all cards of InfiniBand have."""
SPLIT = ("HDR", "NDR")
"""A splitter cable gives each of two hosts two of the four lanes."""


def _check(exam: PortExam) -> Iterator[Finding]:
    ports = [one for one in rdma_ports(exam) if one.is_infiniband]
    if not ports:
        raise DoesNotApplyError("it has no port of InfiniBand")
    for one in ports:
        state = known(one.state, f"the state of {one.device}")
        called = known(one.link_rate, f"the rate of {one.device}")
        match = LINK_RATE.fullmatch(called.strip())
        if "ACTIVE" not in state or match is None or match[2] is None:
            continue
        lanes, kind = int(match[2]), match[3] or ""
        if lanes >= LANES or (lanes == LANES // 2 and kind in SPLIT):
            continue
        full_bps = float(match[1]) * 1e9 * LANES / lanes
        source = one.link_rate.source if isinstance(one.link_rate, Known) else ""
        yield exam.finding(
            Severity.FAULT,
            (Evidence(found=f"{one.device}, port {one.number}: {called}", source=source),),
            so=f"all traffic of the port goes by {lanes} of its {LANES} lanes: {match[1]} of "
            f"{full_bps / 1e9:g} Gb/s",
            remedies=(
                Remedy(
                    text="plug the cable out and in at both ends, then try another cable, and "
                    "another port of the switch; a cable of one lane (SFP in an adapter) gives no "
                    "more",
                    by_hand=ByHand.HARDWARE,
                ),
            ),
            changes=tuple(
                Change(
                    after=infiniband_ceiling(
                        int(full_bps), exam.question.frame_bytes, direction, "after the remedy"
                    )
                )
                for direction in Direction
            ),
        )


RULE = PortRule(
    slug="rdma.link_narrow",
    title="InfiniBand link narrower than its port",
    why="A port of InfiniBand has four lanes. Where a lane does not train, the link comes up with "
    "one, at a quarter of the rate, and says so nowhere but in its rate (`25 Gb/sec (1X EDR)`).",
    source="InfiniBand Architecture Specification volume 2, section 5.7 (link width); "
    "drivers/infiniband/core/sysfs.c (rate_show)",
    price="data rate / (8 x (IP packet + headers)): with the lanes of now, and with four",
    shows=(Symptom.SLOW_LINK,),
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
