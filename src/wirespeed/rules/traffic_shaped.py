"""A netdev whose frames leave at a rate that somebody has set."""

from collections.abc import Iterator

from wirespeed.facts.netstack import NetStack, named_plainly
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known, known
from wirespeed.model.rule import HostExam, HostRule
from wirespeed.model.symptom import Symptom

SHAPERS = {
    "tbf": "a token bucket, which always has a rate",
    "htb": "classes, each of which has a rate",
    "hfsc": "classes, each of which has a rate",
}
"""tc-tbf(8), tc-htb(8), tc-hfsc(8). cake has a rate only where one was set, which is not told."""
MOST_SHOWN = 4


def _check(exam: HostExam) -> Iterator[Finding]:
    links = known(exam.host[NetStack].links, "the netdevs")
    for kind, what in SHAPERS.items():
        shaped = [
            link
            for link in links.values()
            if isinstance(link.qdisc, Known) and link.qdisc.value == kind
        ]
        if not shaped:
            continue
        names = [link.netdev for link in shaped]
        more = f" and {len(names) - MOST_SHOWN} more" if len(names) > MOST_SHOWN else ""
        commands = tuple(
            Command(argv=("tc", "-s", "qdisc", "show", "dev", name))
            for name in names[:MOST_SHOWN]
            if named_plainly(name)
        )
        yield exam.finding(
            Severity.NOTE if exam.question.measured_bps is None else Severity.RISK,
            (
                Evidence(
                    found=f"{', '.join(names[:MOST_SHOWN])}{more}: qdisc {kind}, {what}",
                    source="ip -d link show",
                ),
            ),
            so="what leaves by it leaves at that rate at the most; of a guest's tap that is what "
            "the guest receives",
            remedies=(
                Remedy(
                    text="look at the rate that is set, and raise it or take it out where it was "
                    "set: of a guest in its network device (rate limit), of Kubernetes in the "
                    "annotation kubernetes.io/ingress-bandwidth",
                    commands=commands,
                    by_hand=ByHand.FIND_FIRST,
                ),
            ),
            unpriced="the rate was not read: `tc qdisc show` and `tc class show` tell it",
        )


RULE = HostRule(
    slug="traffic.shaped",
    title="Traffic is shaped to a rate that was set",
    why="A queueing discipline with a rate (tbf, htb, hfsc) holds back what is faster, whatever "
    "card and link carry. Hypervisors and container networks set one where a guest or a pod is "
    "given a limit, and nothing in the guest shows it.",
    source="tc-tbf(8); tc-htb(8); tc-hfsc(8); "
    "https://pve.proxmox.com/wiki/Network_Configuration; "
    "https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/network-plugins/",
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
