"""A table of the kernel that packets need an entry of, and that has none left."""

from collections.abc import Iterator

from wirespeed.facts.driver_log import DriverLog
from wirespeed.facts.sysctl import Sysctls, sysctl_remedy
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known, Observed, known
from wirespeed.model.rule import HostExam, HostRule
from wirespeed.model.symptom import Symptom

LIMITS = {
    "nf_conntrack": "net.netfilter.nf_conntrack_max",
    "neighbour": "net.ipv4.neigh.default.gc_thresh3",
}
DROPS = {
    "nf_conntrack": "the first packet of each further connection is dropped, whatever the card "
    "could carry",
    "neighbour": "packets to hosts that have no entry yet are dropped, whatever the card could "
    "carry",
}
COUNT = "net.netfilter.nf_conntrack_count"
FULL = 0.95
"""Of the entries: a burst of new connections takes the rest between two readings."""


def _check(exam: HostExam) -> Iterator[Finding]:
    log, sysctls = exam.host[DriverLog], exam.host[Sysctls]
    tables = dict(log.tables)
    count, most = sysctls.number(COUNT), sysctls.number(LIMITS["nf_conntrack"])
    is_full = (
        isinstance(count, Known)
        and isinstance(most, Known)
        and most.value > 0
        and count.value >= FULL * most.value
    )
    if not tables and not is_full:
        known(log.log, "what the kernel said of its tables")
        return
    for name in LIMITS:
        full_now = is_full and name == "nf_conntrack"
        if name not in tables and not full_now:
            continue
        limit = sysctls.number(LIMITS[name])
        evidence = []
        if name in tables:
            often = "once" if tables[name] == 1 else f"{tables[name]} times"
            text = f"the kernel says {often}: the {name} table is full"
            evidence.append(Evidence(found=text, source="dmesg"))
        if name == "nf_conntrack" and isinstance(count, Known):
            evidence.append(Evidence.of(count, f"{count.value} entries are in use now"))
        if isinstance(limit, Known):
            evidence.append(Evidence.of(limit, f"at most {limit.value}"))
        yield exam.finding(
            Severity.FAULT if full_now else Severity.RISK,
            tuple(evidence),
            so=DROPS[name],
            remedies=(_remedy(name, limit),),
            unpriced="what is dropped depends on the connections that begin: see whether the "
            "message comes again (`dmesg -w`) while traffic runs",
        )


def _remedy(name: str, limit: Observed[int]) -> Remedy:
    text = f"allow more entries ({LIMITS[name]})"
    if name == "nf_conntrack":
        text += ", or keep traffic that needs no tracking out of the table (a rule with notrack)"
    if isinstance(limit, Known):
        return sysctl_remedy(text, (LIMITS[name], f"{2 * limit.value}"))
    return Remedy(text=text, by_hand=ByHand.FIND_FIRST)


RULE = HostRule(
    slug="kernel.table_full",
    title="Kernel table full, and packets dropped",
    why="Connection tracking (firewalls, NAT, Kubernetes) keeps an entry for each connection, the "
    "neighbour table one for each host of the local networks. With no entry left the kernel drops "
    "the packet and says so in its log; no counter of the card moves.",
    source="https://docs.kernel.org/networking/nf_conntrack-sysctl.html; "
    "https://docs.kernel.org/networking/ip-sysctl.html (neigh/default/gc_thresh3); "
    "net/netfilter/nf_conntrack_core.c; net/core/neighbour.c",
    explains=(Symptom.SEGMENTS_RESENT, Symptom.LOW_FIGURE),
    check=_check,
)
