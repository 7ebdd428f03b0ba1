"""Pairs of SSH keys, made for one purpose and thrown away with it."""

import os
from pathlib import Path

import asyncssh

from wirespeed.model.error import InputError


def make_key(path: Path) -> str:
    """Write a new Ed25519 key that only we can read, and give its public half in one line."""
    key = asyncssh.generate_private_key("ssh-ed25519")
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "wb") as file:
            file.write(key.export_private_key())
    except OSError as error:
        raise InputError("file.unwritable", where=str(path), found=str(error)) from None
    return key.export_public_key().decode().strip()
