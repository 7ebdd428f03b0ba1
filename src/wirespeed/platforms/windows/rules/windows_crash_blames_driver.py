"""A crash whose analysis blames a driver: which one it is, and where it is bound."""

from collections.abc import Iterator

from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, CannotTellError, Known, known
from wirespeed.model.rule import HostExam, HostRule
from wirespeed.model.shown import shown
from wirespeed.model.symptom import Symptom
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapters
from wirespeed.platforms.windows.facts.windows_bindings import WindowsBindings
from wirespeed.platforms.windows.facts.windows_crashes import (
    ANALYSIS_SOURCE,
    EVENTS_SOURCE,
    CrashAnalysis,
    WindowsCrashes,
)
from wirespeed.platforms.windows.facts.windows_host import require_windows


def _check(exam: HostExam) -> Iterator[Finding]:
    crashes = exam.host[WindowsCrashes]
    if isinstance(crashes.analysis, Absent):
        require_windows(exam.host)
        events = known(crashes.bugchecks, "the crashes that Windows recorded")
        if not events:
            return
        time, code = events[0]
        raise CannotTellError(
            f"Windows crashed {len(events)} time{'s' if len(events) > 1 else ''}, the last at "
            f"{shown(time, 30)} UTC with {shown(code, 20) or 'no code'}: a debugger "
            "names the driver from the dump (`!analyze -v`)",
            ANALYSIS_SOURCE,
        )
    analysis = known(crashes.analysis, "what the debugger said")
    bound = tuple(_bound(exam.host, analysis))
    yield exam.finding(
        Severity.NOTE if analysis.is_of_windows else Severity.FAULT,
        (
            Evidence(found=f"the debugger blames {_named(analysis)}", source=ANALYSIS_SOURCE),
            *(
                (Evidence(found=f"stack: {_stack(analysis)}", source=ANALYSIS_SOURCE),)
                if analysis.stack
                else ()
            ),
            *bound,
            *_events(exam.host),
        ),
        so="the debugger names a module of Windows itself, which shows the fault but seldom "
        "causes it"
        if analysis.is_of_windows
        else "this driver crashed Windows: the card and the switch are not at fault",
        remedies=(
            Remedy(
                text="in the crash's stack, look for modules that are not part of Windows"
                if analysis.is_of_windows
                else "unbind it from adapters that do not need it (windows.foreign_filter)"
                if bound
                else (
                    "update, remove or unbind this driver; it is not bound to any adapter in "
                    "this capture"
                ),
                by_hand=ByHand.FIND_FIRST if analysis.is_of_windows else ByHand.SOFTWARE,
            ),
        ),
        unpriced="a crash is not priced in frames",
    )


def _named(analysis: CrashAnalysis) -> str:
    symbol = f" ({shown(analysis.symbol, 60)})" if analysis.symbol else ""
    return f"{shown(analysis.blamed, 60)}{symbol}"


def _stack(analysis: CrashAnalysis) -> str:
    frames = [f"{module}!{function}" if function else module for module, function in analysis.stack]
    return shown(" < ".join(frames[:6]), 200)


def _bound(host: HostFacts, analysis: CrashAnalysis) -> Iterator[Evidence]:
    try:
        adapters = {a.guid: a for a in host[WindowsAdapters].known()}
        bindings = host[WindowsBindings].known()
    except CannotTellError:
        return
    for binding in bindings:
        adapter = adapters.get(binding.guid)
        if adapter and binding.is_enabled and binding.is_of_image(analysis.blamed):
            yield Evidence(
                found=f"{shown(binding.component_id, 40)} is bound to {shown(adapter.name, 60)}",
                source="Get-NetAdapterBinding -AllBindings -IncludeHidden",
            )


def _events(host: HostFacts) -> Iterator[Evidence]:
    events = host[WindowsCrashes].bugchecks
    if isinstance(events, Known) and events.value:
        time, code = events.value[0]
        yield Evidence(
            found=f"{len(events.value)} recorded, the last at {shown(time, 30)} UTC: "
            f"{shown(code, 20)}",
            source=EVENTS_SOURCE,
        )


RULE = HostRule(
    slug="windows.crash_blames_driver",
    title="Crash report names a network driver (Windows)",
    why="A crash while a virtual switch is created looks like a fault of Hyper-V or the card. "
    "The dump says more: in the WSL2 document it named the filter driver of another card, "
    "which NDIS called while it detached filters.",
    source="`From 10 to 40Gbps - Getting a Mellanox ConnectX-5 Working in WSL2`, Step 3; "
    "https://learn.microsoft.com/windows-hardware/drivers/debuggercmds/-analyze",
    shows=(Symptom.HOST_CRASHES,),
    check=_check,
)
