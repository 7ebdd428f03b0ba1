"""Switches, over SSH: read here, and changed by `wirespeed link` alone."""

from wirespeed.host.reach_destination import SwitchHost
from wirespeed.host.reach_switch import reach_switches
from wirespeed.platforms.access import Access, Turn, Way

ACCESS = Access("a switch", (Way(SwitchHost, reach_switches, Turn.ONE_BY_ONE, approaches=()),))
