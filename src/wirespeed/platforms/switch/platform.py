"""A switch: alone, or at the far end of a host's cables."""

from wirespeed.model.command import Shell
from wirespeed.model.platform import Platform
from wirespeed.platforms.switch.anonymous import names_of_switches, without_descriptions
from wirespeed.platforms.switch.describe import (
    is_only_switch,
    switch_ledgers,
    switch_lines,
    switchports,
)

PLATFORM = Platform(
    name="a switch",
    shell=Shell.SWITCH,
    is_alone=is_only_switch,
    about_ports=switch_lines,
    ports=switchports,
    ledgers=switch_ledgers,
    private_names=names_of_switches,
    without_free_text=without_descriptions,
    can_be_locked=False,
    no_remedy="a switch: its ports are set together with what is plugged in there",
    instead_of_remedy="wirespeed link HOST NETDEV SWITCH/PORT --speed 10G; docs/link-speed.md",
    elsewhere="of a switch: wirespeed link",
)
