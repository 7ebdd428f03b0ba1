"""WSL 2 that comes to a card of its Windows: an external switch on the card, mirrored mode.

A host has two sides, in the plan `desk` (Linux) and `desk.windows`. In this order: filters of other
vendors off all adapters but their own (while one is bound, making a switch may crash Windows); the
switch; the card's properties; .wslconfig, after which WSL is shut down and what follows is another
stage; then the Linux side. WSL was measured at 40 Gb/s so in mirrored mode, and at 53.6 in bridged
mode, where it loses LAN and internet on a cable between two machines: that has to be asked for.
"""

from collections.abc import Iterator

from wirespeed.approaches.traits import ApproachTraits, RequestedStep
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import Known
from wirespeed.model.shown import shown
from wirespeed.model.spec.members import Wsl2
from wirespeed.model.spec.settings import WslNetworking, WslSpec
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapter, WindowsAdapters
from wirespeed.platforms.windows.facts.windows_advanced import AdvancedProperty, WindowsAdvanced
from wirespeed.platforms.windows.facts.windows_bindings import WindowsBindings
from wirespeed.platforms.windows.facts.windows_hardware import WindowsHardwares
from wirespeed.platforms.windows.facts.windows_host import WindowsHost, has_windows_side
from wirespeed.platforms.windows.facts.windows_switches import WindowsSwitches
from wirespeed.platforms.windows.steps.windows_filter import WindowsFilter
from wirespeed.platforms.windows.steps.windows_property import WindowsProperty
from wirespeed.platforms.windows.steps.windows_switch import WindowsSwitch
from wirespeed.platforms.wsl.approach_linux import linux_side
from wirespeed.platforms.wsl.steps.wsl_config import WslConfig

SIDE = ".windows"
ETHERNET_HEADER_BYTES = 14
USUAL_MTU = 1500
JUMBO_MTU, HOST_JUMBO = 9000, 9014
MIRRORED_FROM_BUILD = 22_621
"""Windows 11 22H2: github.com/microsoft/WSL/issues/12569; older ones: issues 11045 and 11414."""
OFFLOADS = ("*LsoV2IPv4", "*LsoV2IPv6")
"""Large send offload: a foreign filter has been seen to turn it off, again and again."""


def wsl2(spec: Wsl2, name: str, host: HostFacts) -> Iterator[RequestedStep]:
    """Give the steps of the host `name`. Raises InputError `spec.*`, CannotTellError."""
    there = name + SIDE
    wsl = spec.wsl
    _require_windows(host, name)
    if wsl.networking is WslNetworking.MIRRORED:
        _require_mirrored(host, name)
    card = _card(host, name, spec.hosts[name].ports[0])
    switch = _switch_name(host, card, wsl.switch)
    filters = _foreign_filters(host, f"vEthernet ({switch})")
    for component, (foreign, _) in filters.items():
        if foreign:
            step = WindowsFilter(component_id=component, adapters=foreign)
            yield RequestedStep(step, guest=there)
    own = dict.fromkeys(adapter for _, mine in filters.values() for adapter in mine)
    yield RequestedStep(
        WindowsSwitch(
            name=switch,
            adapter=card.description,
            filters=tuple(filters),
            own=tuple(own),
            host_jumbo=_host_jumbo(spec),
        ),
        guest=there,
    )
    for keyword, value in _properties(host, card, spec.underlay.mtu, name):
        step_ = WindowsProperty(adapter=card.description, keyword=keyword, value=value)
        yield RequestedStep(step_, guest=there)
    yield RequestedStep(WslConfig(values=_settings(wsl, switch, name)), guest=there)
    yield from map(RequestedStep, linux_side(spec, name, host, card))


def _require_windows(host: HostFacts, name: str) -> None:
    if not has_windows_side(host.capture):
        raise InputError(
            "spec.no_windows",
            where=name,
            found="its Windows side was not read",
            so="its card and its virtual switches are not known",
            next="give a machine with WSL 2: `here` inside it, winssh://USER@HOST, or "
            "winrm://USER@HOST",
        )
    is_administrator = host[WindowsHost].is_administrator
    if isinstance(is_administrator, Known) and not is_administrator.value:
        raise InputError(
            "spec.not_administrator",
            where=name,
            found="Windows was read without an administrator's rights",
            so="Windows would refuse every change",
            next="start WSL from a terminal that runs as administrator, or reach the host by "
            "winssh:// or winrm:// as an administrator",
        )


def _require_mirrored(host: HostFacts, name: str) -> None:
    build = host[WindowsHost].build
    if isinstance(build, Known) and build.value < MIRRORED_FROM_BUILD:
        raise InputError(
            "spec.no_mirrored",
            where=name,
            found=f"this Windows, build {build.value}, has no mirrored mode",
            so="WSL would fall back to NAT with a warning, and would not use the card",
            next="update to Windows 11 22H2 (build 22621) or later; or choose `networking: "
            "bridged`, which has other costs: docs/wsl2.md",
        )


def _card(host: HostFacts, name: str, address: str) -> WindowsAdapter:
    """Find the card by its PCI address. Raises InputError `spec.port_unknown`."""
    cards = host[WindowsAdapters].cards()
    slots = {card.guid: host[WindowsHardwares].of(card.guid) for card in cards}
    has: list[str] = []
    for card in cards:
        slot = slots[card.guid]
        if isinstance(slot, Known) and slot.value.pci_address:
            if slot.value.pci_address == address:
                return card
            has.append(f"{slot.value.pci_address} {card.description}")
    raise InputError(
        "spec.port_unknown",
        where=f"{name} {address}",
        found=f"no card of Windows has that PCI address; there are {', '.join(has) or 'none'}",
        next="name one of these under `ports`",
    )


def _switch_name(host: HostFacts, card: WindowsAdapter, wanted: str) -> str:
    """Give the switch that the card is bound to already, else the one that is asked for."""
    for switch in host[WindowsSwitches].known():
        on_card = card.guid in switch.card_guids or card.description in switch.card_descriptions
        if switch.reaches_a_card and on_card:
            return switch.name
    return wanted


def _foreign_filters(
    host: HostFacts, of_switch: str
) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Give filters of makers of cards: the adapters that are not theirs, and their own.

    The host's own adapter on our switch is that step's affair.
    """
    adapters = {a.guid: a for a in host[WindowsAdapters].known()}
    found: dict[str, tuple[list[str], list[str]]] = {}
    for binding in host[WindowsBindings].known():
        adapter = adapters.get(binding.guid)
        if adapter is None or not adapter.description or binding.is_of_windows:
            continue
        if binding.card_vendor is None or adapter.name == of_switch:
            continue
        is_own = binding.is_own(adapter) and not adapter.is_of_switch
        foreign, own = found.setdefault(binding.component_id, ([], []))
        (own if is_own else foreign).append(adapter.description)
    return {
        component: (tuple(dict.fromkeys(foreign)), tuple(dict.fromkeys(own)))
        for component, (foreign, own) in found.items()
    }


def _properties(
    host: HostFacts, card: WindowsAdapter, mtu: int, where: str
) -> Iterator[tuple[str, str]]:
    """Give keywords and their values; of what the driver has no keyword for, nothing.

    Raises InputError `spec.mtu_unknown` for an MTU that is larger than all that the driver lists.
    """
    has = host[WindowsAdvanced].of(card.guid)
    for keyword in OFFLOADS:
        if keyword.lower() in has:
            yield keyword, "1"
    jumbo = has.get("*jumbopacket")
    if mtu > USUAL_MTU and jumbo is not None:
        yield "*JumboPacket", _listed(jumbo, mtu + _header_bytes(jumbo), where)


def _listed(jumbo: AdvancedProperty, wanted: int, where: str) -> str:
    """Give it, or the next value above it that the driver lists, where that has an enumeration."""
    listed = sorted(int(one) for one in jumbo.valid if one.isdecimal())
    if not listed:
        return str(wanted)
    for value in listed:
        if value >= wanted:
            return str(value)
    raise InputError(
        "spec.mtu_unknown",
        where=f"{where} underlay",
        found=f"the card's driver lists {', '.join(map(str, listed))} for *JumboPacket, and the "
        f"MTU needs {wanted}",
        so="Windows would refuse the change",
        next=f"set an MTU of {max(USUAL_MTU, listed[-1] - _header_bytes(jumbo))} or less at both "
        "ends",
    )


def _host_jumbo(spec: Wsl2) -> int | None:
    """Give what the host's own adapter on the switch needs: it has 1500 or 9000, and no more.

    WSL in mirrored mode takes its MTU over: microsoft/WSL, WslMirroredNetworking.cpp (NlMtu).
    """
    is_mirrored = spec.wsl.networking is WslNetworking.MIRRORED
    return HOST_JUMBO if is_mirrored and spec.underlay.mtu == JUMBO_MTU else None


def _header_bytes(jumbo: AdvancedProperty) -> int:
    """Give what the keyword counts beside the MTU: 14 with most drivers, nothing with some."""
    return 0 if str(USUAL_MTU) in (jumbo.value, jumbo.default) else ETHERNET_HEADER_BYTES


def _settings(wsl: WslSpec, switch: str, where: str) -> dict[str, str]:
    if wsl.networking is not WslNetworking.BRIDGED:
        return {"networkingMode": "mirrored"}
    # WSL's parser keeps 8 bits of each letter: microsoft/WSL, src/shared/configfile/configfile.cpp.
    if not switch.isascii() or set(switch) & set('#"\\') or switch != switch.strip():
        raise InputError(
            "spec.switch_name",
            where=where,
            found=f"the card has the external switch {shown(switch, 60)}",
            so="bridged mode names the switch in .wslconfig, and WSL cannot read that name there",
            next="rename it with Rename-VMSwitch to letters, digits and blanks, or choose "
            "`networking: mirrored`, which needs no name",
        )
    return {"networkingMode": "bridged", "vmSwitch": switch}


APPROACH = ApproachTraits(Wsl2, wsl2, has_cards_elsewhere=True)
