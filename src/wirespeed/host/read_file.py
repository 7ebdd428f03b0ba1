"""A file that somebody made elsewhere, read whole if it is not larger than its kind ever is."""

from pathlib import Path

from wirespeed.model.error import InputError


def read_limited(path: Path, max_bytes: int) -> bytes:
    """Read a file. Raises InputError `file.unreadable`, `file.too_large`."""
    try:
        with path.open("rb") as file:
            data = file.read(max_bytes + 1)
    except (OSError, ValueError) as error:
        raise InputError("file.unreadable", where=str(path), found=str(error)) from None
    if len(data) > max_bytes:
        raise InputError(
            "file.too_large",
            where=str(path),
            found=f"more than {max_bytes >> 20} MiB",
            so="wirespeed does not read it",
            next="check that this is the file that you meant",
        )
    return data


def read_limited_text(path: Path, max_bytes: int) -> str:
    """Read a file of UTF-8, whatever the locale. Raises as `read_limited` does."""
    try:
        return read_limited(path, max_bytes).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            "file.unreadable", where=str(path), found=f"not UTF-8: {error.reason} at byte "
            f"{error.start}", next="save the file as UTF-8",
        ) from None  # fmt: skip
