"""WSL in bridged mode on a card that leads to one other machine, and nowhere else."""

from collections.abc import Iterator

from wirespeed.facts.virtualization_wsl import Wsl
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import CannotTellError, Known, known, value_or_none
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.shown import shown
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapters
from wirespeed.platforms.windows.facts.windows_addresses import ROUTES_SOURCE, WindowsAddresses
from wirespeed.platforms.windows.facts.windows_behind import (
    card_of_switch,
    cards_of_switch,
    switch_of,
)
from wirespeed.platforms.windows.facts.windows_host import require_windows
from wirespeed.platforms.windows.facts.windows_switches import WindowsSwitches
from wirespeed.platforms.windows.facts.windows_wslconfig import SOURCE, WslConfig

BRIDGED = "bridged"
MODE_SOURCE = "wslinfo --networking-mode"


def _check(exam: HostExam) -> Iterator[Finding]:
    host = exam.host
    require_windows(host)
    config = host[WslConfig]
    asked = (value_or_none(config.settings) or {}).get("wsl2.networkingmode", "").lower()
    mode = _mode(host)
    if BRIDGED not in (asked, mode):
        raise DoesNotApplyError("WSL is not in bridged mode, and .wslconfig does not request it")
    name = config.setting("wsl2.vmswitch") or ""
    switches = {switch.name: switch for switch in host[WindowsSwitches].known()}
    if name not in switches:
        raise CannotTellError(f"the switch {shown(name, 60) or 'of bridged mode'}", "Get-VMSwitch")
    card, cards = card_of_switch(host, switches[name]), cards_of_switch(host, switches[name])
    defaults = known(host[WindowsAddresses].default_routes, "the default routes of Windows")
    own = {
        adapter.index
        for adapter in host[WindowsAdapters].known()
        if adapter in cards
        or (adapter.is_of_switch and adapter.name == f"vEthernet ({name})")
        or (adapter.is_of_switch and switch_of(host, adapter) == name)
    }
    if defaults & own:
        return
    yield exam.finding(
        Severity.RISK,
        (
            Evidence(
                found=f"networkingMode={asked or 'not set'}, vmSwitch={shown(name, 60)}",
                source=SOURCE,
            ),
            *((Evidence(found=f"in force: {mode}", source=MODE_SOURCE),) if mode else ()),
            Evidence(
                found="no default route of Windows leaves by "
                + (shown(card.name, 60) if card is not None else "that switch"),
                source=ROUTES_SOURCE,
            ),
        ),
        so="in bridged mode WSL has only this adapter: it reaches the host at the other end of "
        "the cable, but neither the local network nor the internet",
        where=host.name,
        remedies=(
            Remedy(
                text="choose bridged mode for the highest rate (53.6 Gb/s measured), or mirrored "
                "mode with the external switch in place (40 Gb/s, and access to all "
                "networks). The change needs `wsl --shutdown`, which ends every program in "
                "WSL. WSL 2.4.5 deprecated bridged mode, the pre-release 2.5.4 removed it, "
                "and later releases have it again: test it on your release",
                danger=Danger.DROPS_LINK,
                by_hand=ByHand.WORKLOAD,
            ),
        ),
        unpriced="it costs no frames between the two hosts; WSL loses access to all other networks",
    )


def _mode(host: HostFacts) -> str:
    try:
        mode = host[Wsl].networking_mode
    except CannotTellError:
        return ""
    return mode.value if isinstance(mode, Known) else ""


RULE = HostRule(
    slug="wsl.bridged_point_to_point",
    title="Bridged WSL on a cable to a single host",
    why="A bridged WSL gets one network adapter. If the card behind it connects to a single "
    "machine, WSL can no longer reach the router, the internet or DNS. Bridged mode was "
    "deprecated in WSL 2.4.5, removed in the pre-release 2.5.4, and then kept.",
    source="`From 10 to 40Gbps - Getting a Mellanox ConnectX-5 Working in WSL2`, Step 6; "
    "https://github.com/microsoft/WSL/issues/12743",
    check=_check,
)
