"""A proof made by hand: two tenants on two VLANs over two hosts, all of it good."""

from dataclasses import replace
from typing import Any

from wirespeed.apply.planner import make_plan
from wirespeed.model.finding import Evidence, Severity
from wirespeed.model.journal import Begun, Ended, Intent, Result, Undoing, Undone, Verified
from wirespeed.model.network_trial import (
    FailoverTrial,
    FailoverVerdict,
    ForgedKind,
    Iperf3Trial,
    IsolationTrial,
    IsolationVerdict,
    NetworkTrial,
    Pair,
    PingTrial,
)
from wirespeed.model.observed import Known
from wirespeed.model.plan import Plan
from wirespeed.model.proof import Compared, Difference, Opening, Stage, StageEnd, When
from wirespeed.model.question import Purpose, Question
from wirespeed.model.spec.members import read_spec_data
from wirespeed.report.document_html import render_html
from wirespeed.report.document_markdown import render_markdown
from wirespeed.report.proof_document import proof_document
from wirespeed.report.proof_page import Proof
from wirespeed.steps.mtu import Mtu
from wirespeed.steps.vf_count import VfCount

from .diagnoses import diagnosis, finding

PAIR = Pair(client="ceph-1", server="gpu-1", network="storage")
PORTS = ("0000:01:00.0", "0000:02:00.0")
HOSTS = ("alpha", "beta")
SPEC = read_spec_data(
    {
        "hosts": {name: {"reach": f"ssh://{name}.lab", "ports": PORTS} for name in HOSTS},
        "approach": "legacy-vlan",
        "underlay": {"subnet": "192.168.9.0/24", "mtu": 9080},
        "networks": {
            "storage": {"segment": 42, "subnet": "192.168.10.0/24", "mtu": 9000},
            "public": {"segment": 40, "subnet": "192.168.20.0/24", "mtu": 1500},
        },
        "guests": {
            "ceph-1": {"host": "alpha", "networks": ["storage"], "kind": "namespace"},
            "gpu-1": {"host": "beta", "networks": ["storage"], "kind": "namespace"},
            "cam-1": {"host": "alpha", "networks": ["public"], "kind": "namespace"},
            "tv-1": {"host": "beta", "networks": ["public"], "kind": "namespace"},
        },
        "measure": {"failover": {"load_pps": 1000, "seconds": 3}},
    }
)


def iperf3(number: int, sent: float, returned: float, **differs: Any) -> Iperf3Trial:
    """One run of the published kind, Gb/s each way."""
    one = Iperf3Trial(
        pair=PAIR,
        mtu=9000,
        streams=2,
        number=number,
        bidirectional=True,
        seconds=2,
        sent_bps=sent * 1e9,
        returned_bps=returned * 1e9,
        retransmits=3,
        client_cpu_percent=41,
        server_cpu_percent=52,
    )
    return one.model_copy(update=differs)


def ping(number: int, mean: float, mdev: float, **differs: Any) -> PingTrial:
    """One flood ping of 1000 packets, all answered."""
    one = PingTrial(
        pair=PAIR,
        number=number,
        is_warmup=number == 0,
        sent=1000,
        received=1000,
        rtt_us_mean=mean,
        rtt_us_mdev=mdev,
        rtt_us_min=mean - mdev,
        rtt_us_max=mean + 5 * mdev,
    )
    return one.model_copy(update=differs)


def failover(port: str, outage_ms: float, **differs: Any) -> FailoverTrial:
    """8 s at 1000 packets a second; the port is away from second 2 to second 5."""
    one = FailoverTrial(
        pair=PAIR,
        host="alpha",
        port=port,
        how="set down on its host",
        load_pps=1000,
        offered_packets=8000,
        received_packets=8000 - round(outage_ms),
        lost_packets=round(outage_ms),
        outage_ms=outage_ms,
        return_outage_ms=2,
        carried_before="net0p0",
        carried_during="net0p1",
        carried_after="net0p1",
        longest_pause_ms=3,
        verdict=FailoverVerdict.SURVIVED,
    )
    return one.model_copy(update=differs)


def forged(kind: ForgedKind, sender: str, receiver: str, **differs: Any) -> IsolationTrial:
    """200 frames, none of which arrived."""
    one = IsolationTrial(
        forged=kind,
        sender=sender,
        sender_network="storage",
        receiver=receiver,
        receiver_network="public",
        sent=200,
        arrived=0,
        heard_control=20,
        verdict=IsolationVerdict.APART,
    )
    return one.model_copy(update=differs)


def trials() -> tuple[NetworkTrial, ...]:
    """Everything that a short run measures."""
    ways = (("ceph-1", "cam-1"), ("ceph-1", "tv-1"), ("gpu-1", "cam-1"), ("gpu-1", "tv-1"))
    kinds = [kind for kind in ForgedKind if kind is not ForgedKind.FORGED_SOURCE_MAC]
    return (
        iperf3(1, 1.00, 0.90, mtu=1500),
        iperf3(1, 1.20, 1.10),
        iperf3(2, 1.30, 1.00),
        iperf3(3, 1.25, 1.15),
        ping(0, 900, 500),
        ping(1, 310, 70),
        ping(2, 290, 60),
        ping(3, 300, 80),
        failover(PORTS[0], 312),
        failover(PORTS[1], 0, carried_before="net0p1", carried_during="net0p0"),
        *(forged(kind, *way) for way in ways for kind in kinds),
        forged(
            ForgedKind.FORGED_SOURCE_MAC,
            "ceph-1",
            "gpu-1",
            receiver_network="storage",
            arrived=200,
            verdict=IsolationVerdict.NOT_ENFORCED,
        ),
    )


def plan() -> Plan:
    """Two steps of alpha, by the planner: an MTU of 1400 as found, and no VFs."""
    mtu, vfs = Mtu(netdev="enp2s0", mtu=9080), VfCount(pci_address=PORTS[1], num_vfs=2)
    return make_plan(
        [
            ("alpha", mtu, Known({"mtu": 1400}, "cat mtu")),
            ("alpha", vfs, Known({"num_vfs": 0}, "cat sriov_numvfs")),
        ]
    )


def journal(*, undone: bool = True) -> tuple[Any, ...]:
    """Both steps done, and put back."""
    made = plan()
    entries: list[Any] = [Begun(at="2026-01-01T00:00:00Z", plan=made)]
    for number, step in enumerate(made.steps):
        assert step.before is not None
        entries.append(Intent(number=number, before=step.before, undo=step.undo))
        entries.append(Result(number=number, verdict=Verified.VERIFIED, now=step.goal))
    entries.append(Ended(at="2026-01-01T00:00:09Z", outcome="applied"))
    if undone:
        for number in (1, 0):
            entries.append(Undoing(number=number))
            now = made.steps[number].before
            entries.append(Undone(number=number, verdict=Verified.VERIFIED, now=now))
        entries.append(Ended(at="2026-01-01T00:01:00Z", outcome="undone"))
    return tuple(entries)


def found(host: str, *, is_mended: bool = False) -> Any:
    """What the doctor says of a host: no VFs until the plan is done, and autotuning off."""
    no_vfs = finding(
        rule="sriov.no_vfs",
        where="enp1s0",
        severity=Severity.RISK,
        evidence=(Evidence(found="0 VFs", source="cat sriov_numvfs"),),
        so="no guest has a way of its own to this port",
        prices=(),
        unpriced="what the guests' way costs depends on that way",
    )
    tuning = finding(
        rule="tcp.autotuning_off",
        where=host,
        severity=Severity.FAULT,
        prices=(),
        unpriced="it depends on the round-trip time",
    )
    return diagnosis(
        *(() if is_mended else (no_vfs,)),
        tuning,
        host=host,
        question=Question(purpose=Purpose.GUESTS),
        about=(("system", "Debian"), ("CPU", "QEMU TCG CPU version 2.5+, 1 core")),
    )


def values(mtu: int, vfs: int) -> dict[tuple[str, str], str]:
    """What stands on a host, as its capture says."""
    standing = {("enp2s0", "mtu"): str(mtu), (PORTS[1], "num vfs"): str(vfs)}
    # A subject that is its own value, as the entries of a table are.
    standing[("enp2s0 rss entries 0", "")] = "64" if vfs else "128"
    if vfs:
        standing |= {("enp2s0 vf 0", "vlan"): "42", ("enp2s0 vf 0", "is trusted"): "no"}
    return standing


def stages(*, keeps: bool = False) -> tuple[StageEnd, ...]:
    """All of them, done."""
    said = {Stage.APPLY: "2 steps done", Stage.VERIFY: "2 values read again"}
    return tuple(
        StageEnd(stage=stage, seconds=1.5, outcome="done", said=said.get(stage, "well"))
        for stage in Stage
        if not (keeps and stage in (Stage.UNDO, Stage.COMPARE))
    )


def proof(**differs: Any) -> Proof:
    """The whole, all proven."""
    whole = Proof(
        opening=Opening(
            wirespeed="0.1.0",
            started_at="2026-01-01T00:00:00Z",
            spec_name="lab.yaml",
            run_name="lab.yaml.run",
            spec=SPEC,
            keeps=False,
        ),
        stages=stages(),
        found=tuple(found(host) for host in HOSTS),
        found_after=tuple(found(host, is_mended=True) for host in HOSTS),
        plan=plan(),
        entries=journal(),
        trials=trials(),
        drift=Compared(compared=2, differences=()),
        undone=Compared(compared=1700, differences=()),
        values={
            When.BEFORE: {"alpha": values(1400, 0)},
            When.APPLIED: {"alpha": values(9080, 2)},
            When.UNDONE: {"alpha": values(1400, 0)},
        },
    )
    return replace(whole, **differs)


def html_of(one: Proof) -> str:
    """Its page."""
    return render_html(proof_document(one))


def markdown_of(one: Proof) -> str:
    """The same as Markdown."""
    return render_markdown(proof_document(one))


def difference() -> Difference:
    """An MTU that did not come back."""
    return Difference(host="alpha", subject="enp2s0", what="mtu", before="1400", now="9080")
