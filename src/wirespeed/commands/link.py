"""`wirespeed link`: the speed of a link, at the card and at the switch's port, as one change."""

import re
from pathlib import Path

import click

from wirespeed.apply.run_place import other_run_folder
from wirespeed.commands.described import Described
from wirespeed.commands.shared_options import break_lock, undo_options
from wirespeed.platforms.switch.far_end import switchport_place
from wirespeed.runs.link_run import LinkRequest, save_link, set_link, undo_link
from wirespeed.runs.link_settings import (
    LinkSettings,
    Tool,
)
from wirespeed.runs.link_steps import Encoding
from wirespeed.runs.run_hosts import HowUndone

AUTO = "auto"


class LinkBps(click.ParamType[int | str]):
    """`10G`, `25G`, `2.5G`; `auto`."""

    name = "speed"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | str:
        """Give bits per second."""
        match = re.fullmatch(r"([0-9]{1,3}(?:\.[0-9])?)G", str(value))
        if match is None and value != AUTO:
            self.fail(f"{value!r} is not a speed of a link: write 10G, 25G or auto", param, ctx)
        return int(float(match[1]) * 10**9) if match else AUTO


@click.command(
    cls=Described,
    reads="both ends: settings, link state, LLDP neighbors",
    changes="with --apply, --undo or --save: both ends; the run folder",
    codes={
        0: "done, or nothing to do",
        1: "a change is planned but not applied",
        2: "bad input",
        3: "an end was left changed",
    },
)
@click.argument("host")
@click.argument("netdev")
@click.argument("switch", metavar="SWITCH/PORT")
@click.option(
    "--speed", "link_bps", type=LinkBps(), help="Speed of both ends, such as 10G; auto: negotiated."
)
@click.option(
    "--fec", type=click.Choice(["auto", "off", "rs", "baser"]), help="FEC mode of both ends."
)
@click.option(
    "--switch-mtu",
    type=click.IntRange(1280, 9999),
    help="MTU of the switch port, in bytes; the card's stays as it is.",
)
@click.option(
    "--by",
    "tool",
    type=click.Choice(["ethtool", "mlxlink", "mstlink"]),
    default="ethtool",
    help="Tool that sets the speed of a Linux card.",
)
@click.option(
    "--card-is",
    type=LinkBps(),
    help="Current speed setting of a Windows card, as mlx5cmd shows it.",
)
@click.option(
    "--apply",
    "is_applied",
    is_flag=True,
    help="Apply the plan; without this option the plan is only shown.",
)
@click.option("--undo", "is_undone", is_flag=True, help="Restore the former settings of both ends.")
@click.option(
    "--save", "is_saved", is_flag=True, help="Save the switch's running configuration afterwards."
)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option(
    "--port-is-right", is_flag=True, help="Confirm that you traced the cable to that port."
)
@click.option(
    "--run", "folder", type=click.Path(path_type=Path), help="Folder of the run, with its journal."
)
@undo_options
@break_lock
def link(
    host: str,
    netdev: str,
    switch: str,
    link_bps: int | str | None,
    fec: Encoding | None,
    switch_mtu: int | None,
    tool: Tool,
    card_is: int | str | None,
    is_applied: bool,
    is_undone: bool,
    is_saved: bool,
    yes: bool,
    port_is_right: bool,
    folder: Path | None,
    force: bool,
    forget: tuple[str, ...],
    breaks_lock: bool,
) -> int:
    """Set speed and FEC at both ends of a link, as one change with one undo.

    SWITCH/PORT is as in switch+dell_os6://admin@sw1/Te1/0/1. The switch port is set first, then the
    card; the card's link state proves both. If the link does not come up, both changes are undone.
    Only the switch's running configuration is changed, and a restart of the switch undoes it;
    --save, alone or with --apply or --undo, saves all of it, including unsaved changes of others.

    HOST is here, ssh://, winssh:// or winrm://. On Windows NETDEV is the name of the adapter, and
    the card must be a Mellanox card.

    wirespeed changes a switch port if its LLDP neighbor is the card. If the neighbor is another
    device, or only one end has a link, it does not; if there is no neighbor, wirespeed asks.
    --port-is-right confirms that you traced the cable.
    """
    is_set = link_bps is not None or fec is not None or switch_mtu is not None
    if not (is_undone or is_set or is_saved) or (is_saved and is_set and not is_applied):
        raise click.UsageError("--speed, --fec, --switch-mtu, --undo; --save alone or with --apply")
    of = f"link {host} {netdev} {switch}"
    asked = LinkRequest(
        LinkSettings(
            host=host,
            netdev=netdev,
            switch=switchport_place(switch),
            sets_speed=link_bps is not None,
            link_bps=link_bps if isinstance(link_bps, int) else None,
            fec=fec,
            switch_mtu=switch_mtu,
            tool=tool,
            card_is=card_is,
        ),
        switch,
        folder or other_run_folder(netdev.replace("/", "-"), of),
        of,
        is_applied=is_applied,
        is_saved=is_saved,
        yes=yes,
        port_is_right=port_is_right,
        breaks_lock=breaks_lock,
    )
    if is_undone:
        return undo_link(asked, HowUndone(force, forget))
    return set_link(asked) if is_set else save_link(asked)
