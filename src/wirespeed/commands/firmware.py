"""`wirespeed firmware`: settings and images of a ConnectX card, planned, done and undone."""

import re
from typing import Any, get_args

import click

from wirespeed.commands.described import Described
from wirespeed.commands.shared_options import apply_options
from wirespeed.host.reach_destination import HERE
from wirespeed.model.error import InputError
from wirespeed.model.names import PCI_ADDRESS
from wirespeed.model.shown import shown
from wirespeed.runs.firmware_run import FirmwareRequest, set_firmware
from wirespeed.runs.host_plan import Allowed
from wirespeed.steps.firmware_query import IMAGE
from wirespeed.steps.firmware_settings import Setting

WORDS = {
    **{name: {"FALSE": 0, "TRUE": 1} for name in ("SRIOV_EN",)},
    **{name: {"IB": 1, "ETH": 2} for name in ("LINK_TYPE_P1", "LINK_TYPE_P2")},
    "CQE_COMPRESSION": {"BALANCED": 0, "AGGRESSIVE": 1},
}
"""What mstconfig calls the values of a setting (`mstconfig -d CARD i`)."""
MAX_VALUE = 65535


@click.command(
    cls=Described,
    reads="the host, as doctor does; the card and the images, by mstflint and mstconfig",
    changes="with --apply --allow-firmware: the card's flash; the run folder",
    codes={
        0: "nothing to do, or done",
        1: "a change is planned but not applied",
        2: "bad input",
        3: "a host was left changed",
    },
)
@click.argument("host", default=HERE)
@click.option("--port", default="", metavar="ADDRESS", help="PCI address of a port of the card.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help=f"Setting for the next boot: {', '.join(get_args(Setting))}; may be repeated.",
)
@click.option("--image", default="", metavar="PATH", help="Image to burn: its path on the host.")
@click.option(
    "--former-image",
    default="",
    metavar="PATH",
    help="Image of the card's present firmware, which undo burns again.",
)
@click.option(
    "--may-be-older", is_flag=True, help="Also burn an image older than the card's firmware."
)
@click.option(
    "--reset", "is_reset", is_flag=True, help="Reset the card: its ports go down for seconds."
)
@apply_options
def firmware(
    host: str,
    port: str,
    settings: tuple[str, ...],
    image: str,
    former_image: str,
    may_be_older: bool,
    is_reset: bool,
    **allowed: Any,
) -> int:
    """Store settings in a card's firmware, burn an image, or reset the card.

    HOST is here or ssh://. Stored settings and images take effect at the host's next boot, or with
    --reset. `wirespeed undo FOLDER` stores the former ones again; a reset cannot be undone.
    """
    _check(port, image, former_image, is_reset=is_reset, sets=bool(settings))
    asked = FirmwareRequest(
        host,
        port,
        dict(map(_setting, settings)),
        image,
        former_image,
        may_be_older=may_be_older,
        is_reset=is_reset,
        allowed=Allowed(**allowed),
    )
    return set_firmware(asked)


def _check(port: str, image: str, former_image: str, *, is_reset: bool, sets: bool) -> None:
    if port and not PCI_ADDRESS.fullmatch(port):
        raise _invalid("--port", port, "as in 0000:3b:00.0")
    for option, path in (("--image", image), ("--former-image", former_image)):
        if path and (not re.fullmatch(IMAGE, path) or ".." in path):
            raise _invalid(option, path, "an absolute path on the host that ends in .bin or .mfa2")
    if former_image and not image:
        raise _invalid("--former-image", former_image, "give --image too")
    if former_image and former_image == image:
        raise _invalid("--former-image", former_image, "two images are two files")
    if not (sets or image or is_reset):
        raise InputError(
            "options.invalid",
            where="wirespeed firmware",
            found="none of --set, --image and --reset is given",
            next="wirespeed firmware HOST --set NUM_OF_VFS=16",
        )
    if sets and is_reset:
        raise InputError(
            "options.invalid",
            where="--reset",
            found="--set is given in the same command",
            so="a reset cannot be undone, a stored setting can",
            next="store the settings first; then run `wirespeed firmware HOST --reset`",
        )


def _setting(text: str) -> tuple[str, int]:
    name, _, value = text.partition("=")
    if name not in get_args(Setting):
        raise _invalid("--set", text, f"NAME is one of {', '.join(get_args(Setting))}")
    number = WORDS.get(name, {}).get(value.upper())
    if number is None and re.fullmatch("[0-9]{1,5}", value) and int(value) <= MAX_VALUE:
        number = int(value)
    if number is None:
        known = ", ".join(WORDS.get(name, ())) or "a number"
        raise _invalid("--set", text, f"VALUE of {name}: {known}, or 0 to {MAX_VALUE}")
    return name, number


def _invalid(option: str, value: str, next_step: str) -> InputError:
    return InputError("options.invalid", where=option, found=shown(value, 80), next=next_step)
