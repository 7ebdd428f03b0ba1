"""Bridged or mirrored: how WSL2 gets at a card."""

from wirespeed.advice.capacity import slot_gbps
from wirespeed.model.advice import Advice, Certainty, Choice, Ground

SOURCE = (
    "a WSL2 host with a ConnectX-5 Ex of 100 Gb/s in a slot of PCIe 4.0 x4, by DAC to one Linux "
    "host; iperf"
)
INTERNAL, NO_SWITCH, MIRRORED, BRIDGED = 10.0, 23.0, 40.0, 53.6
"""Gb/s, stage by stage."""


def advise_wsl2(*, is_point_to_point: bool, needs_lan: bool) -> Advice:
    """Answer for a card on a point-to-point link, or in a network with a router."""
    loses = is_point_to_point and needs_lan
    bridged = _stage(
        "bridged on an external switch",
        BRIDGED,
        "LAN and internet are lost"
        if is_point_to_point
        else "its one interface is the card's network",
    )
    mirrored = _stage("mirrored, external switch there", MIRRORED, "all networks are kept")
    rest = (
        _stage("mirrored, no external switch", NO_SWITCH, ""),
        _stage("internal switch, as found", INTERNAL, "the virtual adapter reports 10 Gb/s"),
    )
    slot = slot_gbps(4, 4, both_ways=False)
    return Advice(
        question=f"WSL2 with its card {'point to point' if is_point_to_point else 'in a network'}, "
        f"{'with' if needs_lan else 'without'} need of LAN and internet",
        answer=(
            "Mirrored, with an external switch on the card: 40 Gb/s, and all other networks keep "
            "working."
            if loses
            else "Bridged: 53.6 Gb/s, but deprecated: mirrored, with 40 Gb/s, is what stays."
        ),
        choices=(mirrored, bridged, *rest) if loses else (bridged, mirrored, *rest),
        todo=(
            "unbind every foreign filter driver from the card first: creating the switch may "
            "crash Windows otherwise",
            '> New-VMSwitch -Name "NAME" -NetAdapterName "ADAPTER" -AllowManagementOS $true '
            "-EnableIov $true",
            "in .wslconfig, under [wsl2]: networkingMode=mirrored"
            if loses
            else "in .wslconfig, under [wsl2]: networkingMode=bridged and vmSwitch=NAME",
            "> wsl --shutdown",
        ),
        grounds=(
            Ground(
                says="Bridged, WSL2 has one interface. On a point-to-point link without a router "
                "it lost the LAN, the internet and ssh by name.",
                certainty=Certainty.PUBLISHED,
                source=SOURCE,
            ),
            Ground(
                says="An external switch that mirrored mode does not use raised it from 23 to 40 "
                "Gb/s.",
                certainty=Certainty.PUBLISHED,
                source=SOURCE,
            ),
            Ground(
                says="Bridged mode is deprecated.",
                certainty=Certainty.VENDOR,
                source="Microsoft Learn, Advanced settings configuration in WSL: networkingMode",
            ),
            Ground(
                says=f"That slot carries {slot.low:.1f} to {slot.high:.1f} Gb/s of wire time: no "
                "mode could be faster there.",
                certainty=Certainty.COMPUTED,
                source="wirespeed ceiling --pcie 4.0x4 --link 100",
            ),
        ),
        unknown=(
            "Whether your release of WSL still has bridged mode: wsl --version, and wslinfo "
            "--networking-mode once it is set.",
            "The figures are of one machine: compare yours before and after with `wirespeed "
            "measure command`.",
        ),
    )


def _stage(name: str, gbps: float, note: str) -> Choice:
    return Choice(
        name=name,
        gbps_low=gbps,
        gbps_high=gbps,
        cpu_percent="",
        certainty=Certainty.PUBLISHED,
        note=note,
    )
