"""Live migration by TCP on ports of 10 Gb/s or more."""

from collections.abc import Iterator

from wirespeed.model.command import Command, Shell
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Absent, known, value_or_none
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.shown import shown
from wirespeed.platforms.windows.facts.windows_adapters import SOURCE as ADAPTERS_SOURCE
from wirespeed.platforms.windows.facts.windows_behind import receiving_cards
from wirespeed.platforms.windows.facts.windows_host import require_windows
from wirespeed.platforms.windows.facts.windows_migration import SOURCE, WindowsMigration


def _check(exam: HostExam) -> Iterator[Finding]:
    host = exam.host
    require_windows(host)
    set_up = host[WindowsMigration]
    enabled = set_up.is_enabled
    if isinstance(enabled, Absent) or not known(enabled, "whether live migration is set up"):
        raise DoesNotApplyError("live migration is not set up here")
    fast = receiving_cards(host)  # a virtual adapter reports 10 Gb/s, whatever is below it
    if not fast:
        raise DoesNotApplyError("no card of 10 Gb/s or more is up")
    if known(set_up.by_smb, "the transport of live migration"):
        return
    way = "compressed, over TCP" if value_or_none(set_up.is_compressed) else "over TCP"
    yield exam.finding(
        Severity.NOTE,  # as Windows comes
        (
            Evidence(found=f"guests are moved {way}", source=SOURCE),
            Evidence(
                found=f"{', '.join(shown(a.name, 60) for a in fast[:4])}: 10 Gb/s or more",
                source=ADAPTERS_SOURCE,
            ),
        ),
        so="each migration is one TCP stream on one port; where it was measured, migrations over "
        "two ports of 10 Gb/s used 22 % of the CPU. SMB uses every port, and RDMA where the ports "
        "have it",
        remedies=(
            Remedy(
                text="set live migration to SMB on every host of the cluster, or on none; the "
                "command sets this host. `wirespeed advise transport` has the figures",
                by_hand=ByHand.FAR_END,
            ),
            Remedy(
                text="set live migration to SMB on this host",
                commands=(
                    Command(
                        argv=("Set-VMHost", "-VirtualMachineMigrationPerformanceOption", "SMB"),
                        shell=Shell.POWERSHELL,
                    ),
                ),
                steps=(StepCall.of("windows_migration", option="SMB"),),
            ),
        ),
        unpriced="the figures are from a host with two sockets of 8 cores each: measure a "
        "migration here with `wirespeed measure command`",
    )


RULE = HostRule(
    slug="windows.migration_not_by_smb",
    title="Live migration by TCP on ports of 10 Gb/s (Windows)",
    why="Over TCP a guest's memory is sent as one stream over one port; compression costs CPU "
    "time to save bandwidth, which 10 Gb/s ports have anyway. SMB uses every port "
    "(Multichannel) and RDMA (SMB Direct). Measured on two ports of 10 Gb/s: SMB 20 Gb/s at 6 "
    "to 7 % CPU, TCP over a team 17 Gb/s at 22 %.",
    source="`High performance live migration done right means using SMB Direct`; "
    "https://learn.microsoft.com/en-us/windows/win32/hyperv_v2/"
    "msvm-virtualsystemmigrationservicesettingdata",
    check=_check,
)
