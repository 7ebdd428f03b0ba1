"""Passwords and settings of a connection that come by the environment.

A password is taken out of the environment before anything is started, so that no child inherits
it; the kernel keeps the environment that we were started with in /proc/PID/environ, for our own
user and root. A variable that is set and empty is refused: a script that failed to read a secret
sets it so, and libraries take an empty name of a file for "check nothing".
"""

import os
from pathlib import Path

from wirespeed.host.files import is_file
from wirespeed.model.error import InputError
from wirespeed.model.shown import shown

SWITCH_PASSWORD = "WIRESPEED_SWITCH_PASSWORD"  # noqa: S105 - the names of variables
VSPHERE_PASSWORD = "WIRESPEED_VSPHERE_PASSWORD"  # noqa: S105
WINRM_PASSWORD = "WIRESPEED_WINRM_PASSWORD"  # noqa: S105
PASSWORDS = (SWITCH_PASSWORD, VSPHERE_PASSWORD, WINRM_PASSWORD)

_taken: dict[str, str] = {}


def take_passwords() -> None:
    """Take every password out of the environment and keep it here."""
    for name in PASSWORDS:
        given = os.environ.pop(name, None)
        if given is not None:
            _taken[name] = given


def password(name: str) -> str | None:
    """Give a password of `PASSWORDS`; None: it is not set. Raises InputError `variable.empty`."""
    take_passwords()
    given = _taken.get(name)
    if given == "":
        raise _empty(name)
    return given


def setting(name: str) -> str | None:
    """Give a variable; None: it is not set. Raises InputError `variable.empty`."""
    given = os.environ.get(name)
    if given == "":
        raise _empty(name)
    return given


def file_setting(name: str) -> str | None:
    """Give the path of a file that a variable names. Raises InputError `variable.*`."""
    given = setting(name)
    if given is not None and not (is_file(Path(given)) and os.access(given, os.R_OK)):
        raise InputError(
            "variable.no_file",
            where=name,
            found=f"{shown(given, 200)} is not a readable file",
            so="no connection was made",
            next=f"set {name} to the path of a file in PEM form, or unset it",
        )
    return given


def _empty(name: str) -> InputError:
    return InputError(
        "variable.empty",
        where=name,
        found="it is set but empty",
        so="no connection was made",
        next=f"set {name} to a value, or unset it",
    )
