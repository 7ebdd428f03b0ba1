"""What names, numbers, paths and keys of a spec may be."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field, StrictInt
from pydantic_core import PydanticCustomError

NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?")
MIN_MTU = 576
MAX_MTU = 9978
"""The largest that ConnectX cards take."""
PATH = re.compile(r"/[A-Za-z0-9._/@+-]{1,1023}")
"""On a host: no character that QEMU's options or XML give a meaning to."""
AUTHORIZED_KEY = re.compile(r"[a-z0-9@.-]{1,64} [A-Za-z0-9+/=]{16,8192}( [A-Za-z0-9@._-]{1,128})?")
KERNEL_LINE = re.compile(r"[ -~]{0,2000}")


def _name(text: str) -> str:
    if not NAME.fullmatch(text):
        raise ValueError(f"{text!r}: a name has small letters, digits and hyphens, 32 at most")
    return text


def whole(value: object) -> object:
    """Refuse what is equal to a whole number and none: a Literal takes 2048.0."""
    if isinstance(value, float | bool):
        raise PydanticCustomError("int_type", "no whole number")
    return value


def _authorized_key(text: str) -> str:
    if not AUTHORIZED_KEY.fullmatch(text):
        raise ValueError(f"{text[:40]!r}: no public key as authorized_keys has it, in one line")
    return text


Name = Annotated[str, AfterValidator(_name)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Mtu = Annotated[StrictInt, Field(ge=MIN_MTU, le=MAX_MTU)]
AuthorizedKey = Annotated[str, AfterValidator(_authorized_key)]
