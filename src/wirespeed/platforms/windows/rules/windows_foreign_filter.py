"""A filter driver of one maker's cards that is bound to another maker's card."""

import re
from collections.abc import Iterator

from wirespeed.model.command import Command, Shell
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.powershell import exactly
from wirespeed.model.rule import HostExam, HostRule
from wirespeed.model.shown import shown
from wirespeed.model.symptom import Symptom
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapter, WindowsAdapters
from wirespeed.platforms.windows.facts.windows_bindings import (
    SOURCE,
    WindowsBinding,
    WindowsBindings,
)
from wirespeed.platforms.windows.facts.windows_host import require_windows

COMPONENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


def _check(exam: HostExam) -> Iterator[Finding]:
    require_windows(exam.host)
    adapters = {a.guid: a for a in exam.host[WindowsAdapters].known()}
    found: dict[str, list[tuple[WindowsAdapter, WindowsBinding]]] = {}
    for binding in exam.host[WindowsBindings].known():
        adapter = adapters.get(binding.guid)
        if adapter is None or not binding.is_enabled or binding.is_of_windows:
            continue
        if binding.card_vendor is not None and not binding.is_own(adapter):
            found.setdefault(binding.component_id, []).append((adapter, binding))
    for component, where in found.items():
        yield _finding(exam, component, sorted(where, key=lambda pair: pair[0].index))


def _finding(
    exam: HostExam, component: str, where: list[tuple[WindowsAdapter, WindowsBinding]]
) -> Finding:
    vendor = where[0][1].card_vendor
    maker = vendor[0] if vendor else ""
    on_card = [adapter for adapter, _ in where if adapter.is_card]
    return exam.finding(
        Severity.RISK,
        tuple(
            Evidence(
                found=f"{shown(component)} ({shown(binding.display_name, 60)}) on "
                f"{shown(adapter.name, 60)}, {shown(adapter.description, 60)}",
                source=SOURCE,
            )
            for adapter, binding in where
        ),
        so=f"this filter is made for {maker} cards"
        + (", and is bound to another maker's card" if on_card else "")
        + (
            ": Windows may crash when a binding changes, for example when a virtual switch is "
            "created, and adapter properties may revert"
        ),
        remedies=(
            _remedy(
                f"unbind it from every adapter except {maker}'s own before you create or change a "
                "virtual switch. Unbinding changes a binding too and may crash Windows: save "
                "your work first",
                component,
                [adapter for adapter, _ in where],
            ),
        ),
        unpriced="a crash is not priced in frames",
    )


def _remedy(text: str, component: str, where: list[WindowsAdapter]) -> Remedy:
    if not COMPONENT.fullmatch(component) or not all(a.has_safe_name for a in where):
        return Remedy(text=text, danger=Danger.DROPS_LINK, by_hand=ByHand.NO_NAME)
    adapters = list(dict.fromkeys(a.description for a in where))
    return Remedy(
        text=text,
        commands=tuple(
            Command(
                argv=(
                    "Disable-NetAdapterBinding",
                    *("-InterfaceDescription", exactly(adapter), "-ComponentID", component),
                    *("-IncludeHidden:$true", "-Confirm:$false"),
                ),
                shell=Shell.POWERSHELL,
            )
            for adapter in adapters
        ),
        danger=Danger.DROPS_LINK,
        steps=(StepCall.of("windows_filter", component_id=component, adapters=adapters),),
    )


RULE = HostRule(
    slug="windows.foreign_filter",
    title="Filter driver of another vendor on the card (Windows)",
    why="Installers bind their filter to every adapter of a machine. When Hyper-V creates a "
    "switch, NDIS detaches filters; Realtek's filter (nt_rtf64, rtf64x64.sys) followed a "
    "null pointer there and crashed Windows at each attempt, and while bound it reverted the "
    "LSO setting of a ConnectX-5. Other filters are also known to crash Windows when "
    "detached.",
    source="`From 10 to 40Gbps - Getting a Mellanox ConnectX-5 Working in WSL2`, Steps 3 and 4; "
    "https://github.com/nmap/nmap/issues/1642",
    shows=(Symptom.FOREIGN_FILTER,),
    explains=(Symptom.HOST_CRASHES, Symptom.SETTING_REVERTED),
    check=_check,
)
