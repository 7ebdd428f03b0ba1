"""Forward error correction that is set to one thing and runs as another."""

from collections.abc import Iterator

from wirespeed.facts.ethtool import ethtool_command
from wirespeed.facts.link import link_that_is_up
from wirespeed.model.finding import Danger, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Absent, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule

NONE = {"off", "none"}


def _check(exam: PortExam) -> Iterator[Finding]:
    link = link_that_is_up(exam.host, exam.port)
    configured, active = link.fec_configured, link.fec_active
    if isinstance(configured, Absent) or isinstance(active, Absent):
        raise DoesNotApplyError("the driver knows no FEC")
    wanted = _names(known(configured, f"FEC that {link.netdev} is set to"))
    running = _names(known(active, f"FEC that {link.netdev} runs"))
    if "auto" in wanted or wanted & running:
        return
    yield exam.finding(
        Severity.RISK,
        (
            Evidence(
                found=f"set to {', '.join(sorted(wanted))}, runs {', '.join(sorted(running))}",
                source=active.source,
            ),
        ),
        so="the two ends want different FEC, and the link may come up without the one it needs",
        remedies=(
            Remedy(
                text="give both ends the same FEC, the switch's port too; or let them negotiate it",
                commands=(ethtool_command("--set-fec", link.netdev, "encoding", "auto"),),
                danger=Danger.DROPS_LINK,
                steps=(StepCall.of("fec", netdev=link.netdev, encoding="auto"),),
            ),
        ),
        unpriced="it costs when frames arrive damaged: see the counters of physical errors",
    )


def _names(words: tuple[str, ...]) -> set[str]:
    return {"none" if word.lower() in NONE else word.lower() for word in words}


RULE = PortRule(
    slug="link.fec_not_as_configured",
    title="Active FEC mode differs from the configured one",
    why="At 25 Gb/s and more, each kind of cable and module needs its FEC: none or BASE-R for a "
    "short copper cable, RS for longer ones, optics and all lanes of 50 Gb/s. Both ends must use "
    "the same. One that is set by hand against a peer that negotiates gives links that are down, "
    "flap, or lose frames.",
    source="IEEE 802.3 clauses 74, 91 and 108; "
    "https://docs.kernel.org/networking/ethtool-netlink.html (FEC_GET)",
    check=_check,
)
