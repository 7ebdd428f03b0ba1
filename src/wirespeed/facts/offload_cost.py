"""How much an offload that is off matters: with the frames per second that the port can move."""

from wirespeed.facts.ethtool import ethtool_command
from wirespeed.facts.link import Links
from wirespeed.facts.offloads import Feature, NetdevOffloads
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Danger, Evidence, Remedy, Severity, StepCall
from wirespeed.model.observed import Known

FAST_BPS = 10_000_000_000
"""0.8 million frames of 1518 bytes a second, about what one core takes through the stack one
by one. At 1 Gb/s it is a tenth of that."""
UNPRICED = "what a frame costs a core here is not known: measure before and after"


def severity_without_offload(host: HostFacts, netdev: str) -> Severity:
    """A fault on a fast link, a note on a slow one; a risk where the port has no line rate."""
    link = host[Links].by_netdev.get(netdev)
    if link is None or not isinstance(link.link_bps, Known):
        return Severity.RISK
    return Severity.FAULT if link.link_bps.value >= FAST_BPS else Severity.NOTE


def could_be_on(offloads: NetdevOffloads, *names: str) -> tuple[str, ...]:
    """Give those of the features that are off and that the driver lets one turn on."""
    found = []
    for name in names:
        feature = offloads.feature(name)
        if isinstance(feature, Known) and not feature.value.is_on and not feature.value.is_fixed:
            found.append(name)
    return tuple(found)


def evidence_of(offloads: NetdevOffloads, name: str) -> Evidence:
    """Say how one feature is, in ethtool's words."""
    feature = offloads.feature(name)
    if not isinstance(feature, Known):
        return Evidence(found=f"no {name}", source=feature.source)
    return Evidence.of(feature, f"{name}: {_state(feature.value)}")


def turn_on(netdev: str, text: str, *names: str) -> Remedy:
    """Make the remedy that turns features on."""
    settings = [word for name in names for word in (name, "on")]
    return Remedy(
        text=text,
        commands=(ethtool_command("-K", netdev, *settings),),
        danger=Danger.DROPS_LINK,
        steps=(StepCall.of("offloads", netdev=netdev, features=dict.fromkeys(names, True)),),
    )


def _state(feature: Feature) -> str:
    if feature.is_on:
        return "on"
    return "off, though it is requested" if feature.is_requested else "off"
