"""A crash whose analysis blames a driver: which one it is, and where it is bound."""

from collections.abc import Iterator

from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, CannotTellError, Known, known
from wirespeed.model.rule import HostExam, HostRule
from wirespeed.model.shown import shown
from wirespeed.model.symptom import Symptom
from wirespeed.platforms.windows.facts.windows_adapters import SOURCE as ADAPTERS_SOURCE
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapters
from wirespeed.platforms.windows.facts.windows_bindings import SOURCE as BINDINGS_SOURCE
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
        raise CannotTellError(
            f"Windows recorded {_recorded(events)}: a debugger names the driver from the dump "
            "(`!analyze -v`)",
            ANALYSIS_SOURCE,
        )
    analysis = known(crashes.analysis, "what the debugger said")
    drives = tuple(_driven(exam.host, analysis))
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
            *drives,
            *bound,
            *_events(exam.host),
        ),
        so="the debugger names a module of Windows itself, which shows the fault but seldom "
        "causes it"
        if analysis.is_of_windows
        else "this driver is the likely cause: examine it before the card or a virtual switch",
        remedies=(_remedy(analysis, is_of_card=bool(drives), is_bound=bool(bound)),),
        unpriced="a crash is not priced in frames",
    )


def _remedy(analysis: CrashAnalysis, *, is_of_card: bool, is_bound: bool) -> Remedy:
    if analysis.is_of_windows:
        return Remedy(
            text="in the crash's stack, look for modules that are not part of Windows",
            by_hand=ByHand.FIND_FIRST,
        )
    if is_of_card:
        text = "install another version of this driver: a newer one, or the one before the crashes"
    elif is_bound:
        text = (
            "update this filter, or unbind it from the adapters that do not need it "
            "(Disable-NetAdapterBinding). Unbinding may crash Windows too: save your work first"
        )
    else:
        text = "update or remove this driver"
    return Remedy(text=text, by_hand=ByHand.SOFTWARE)


def _recorded(events: tuple[tuple[str, str], ...]) -> str:
    """Count them, and give time and code of the last one."""
    time, code = events[0]
    crashes = "1 crash" if len(events) == 1 else f"{len(events)} crashes"
    return f"{crashes}, the last at {shown(time)} UTC with {shown(code) or 'no code'}"


def _named(analysis: CrashAnalysis) -> str:
    symbol = f" ({shown(analysis.symbol)})" if analysis.symbol else ""
    return f"{shown(analysis.blamed)}{symbol}"


def _stack(analysis: CrashAnalysis) -> str:
    frames = [f"{module}!{function}" if function else module for module, function in analysis.stack]
    return shown(" < ".join(frames[:6]))


def _driven(host: HostFacts, analysis: CrashAnalysis) -> Iterator[Evidence]:
    adapters = host[WindowsAdapters].all
    for adapter in adapters.value if isinstance(adapters, Known) else ():
        driver = adapter.driver_file
        if isinstance(driver, Known) and driver.value.lower() == analysis.blamed:
            found = f"{shown(driver.value)} is the driver of {shown(adapter.name, 60)}"
            yield Evidence(found=found, source=ADAPTERS_SOURCE)


def _bound(host: HostFacts, analysis: CrashAnalysis) -> Iterator[Evidence]:
    try:
        adapters = {a.guid: a for a in host[WindowsAdapters].known()}
        bindings = host[WindowsBindings].known()
    except CannotTellError:
        return
    for binding in bindings:
        adapter = adapters.get(binding.guid)
        if adapter and binding.is_enabled and binding.is_of_image(analysis.blamed):
            found = f"{shown(binding.component_id)} is bound to {shown(adapter.name, 60)}"
            yield Evidence(found=found, source=BINDINGS_SOURCE)


def _events(host: HostFacts) -> Iterator[Evidence]:
    events = host[WindowsCrashes].bugchecks
    if isinstance(events, Known) and events.value:
        yield Evidence(found=f"Windows recorded {_recorded(events.value)}", source=EVENTS_SOURCE)


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
