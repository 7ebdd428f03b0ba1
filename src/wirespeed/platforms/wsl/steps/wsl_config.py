"""The user's .wslconfig on the Windows side: how WSL 2 is joined to the network."""

import base64
import binascii
import hashlib
import re
from typing import Annotated, ClassVar, Literal

from pydantic import Field, field_validator

from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.finding import Danger
from wirespeed.model.observed import Observed
from wirespeed.model.step import Scope, State, Step
from wirespeed.platforms.windows.steps.windows_reading import (
    Rows,
    powershell,
    state_of_rows,
    text_in,
    truth_in,
)
from wirespeed.platforms.wsl.steps.ini_text import with_values

SECTION = "wsl2"
PATH = r"^([A-Za-z]:\\([^\x00-\x1f*?\"<>|]{1,240}\\)?)?\.wslconfig$"
KEY = re.compile(r"[A-Za-z][A-Za-z0-9]{0,63}")
VALUE = re.compile(r"[^\x00-\x1f#\"\\]{0,256}")


class WslConfig(Step):
    """Keys of `[wsl2]` have these values; every other byte of the file stays.

    It is in force when WSL starts the next time: `wsl --shutdown` ends every distribution, and all
    that runs in them. So what follows on the Linux side is another stage, as after a reboot. The
    former content is in the journal, and in a copy beside the file that stays.
    """

    scope: ClassVar[Scope] = Scope.OS
    danger: ClassVar[Danger] = Danger.WSL_SHUTDOWN
    step: Literal["wsl_config"] = "wsl_config"
    path: Annotated[str, Field(pattern=PATH)] = ".wslconfig"
    """Without a folder, it is in the profile of the user who we are there."""
    values: dict[str, str]

    @field_validator("values")
    @classmethod
    def _are_keys(cls, values: dict[str, str]) -> dict[str, str]:
        for key, value in values.items():
            if not KEY.fullmatch(key) or not VALUE.fullmatch(value) or value != value.strip():
                raise ValueError(f"{key}={value} is nothing that .wslconfig can hold")
        if not values:
            raise ValueError("nothing is asked for")
        return values

    @property
    def subject(self) -> str:
        return self.path

    @property
    def why(self) -> str:
        """Say what it is good for, what it costs, and what brings it into force."""
        if self.values.get("networkingMode") == "bridged":
            return (
                "WSL gets the adapter of that switch ALONE: on a cable between two machines it "
                "LOSES LAN AND INTERNET. In force after `wsl --shutdown`, which ends all in WSL."
            )
        return (
            "WSL is joined to the network as it is asked here; in force after `wsl --shutdown`, "
            "which ends all that runs in WSL."
        )

    @property
    def ends_stage(self) -> bool:
        """It does: of the Linux side, that is a reboot."""
        return True

    @property
    def outlives_boot(self) -> bool:
        return True

    def read(self) -> Command:
        """Give the bytes of the file: a function of our scripts, as no cmdlet gives them whole."""
        return powershell("Get-FileBytes", "-Path", self.path)

    def parse(self, section: Section) -> Observed[State]:
        """Give its text; None where there is no such file. What is no UTF-8 is not touched."""
        return state_of_rows(section, self.read(), _state)

    def wanted(self, before: State) -> State:
        text = before["text"]
        return {"text": with_values("" if text is None else str(text), SECTION, self.values)}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Write the whole file, after a copy of the former. Remove one that did not exist."""
        if to["text"] is None:
            return (powershell("Remove-Item", "-LiteralPath", self.path, "-Force:$true"),)
        backup = f"{self.path}.{_digest(str(now['text']))}.wirespeed"
        copy = powershell("Copy-Item", "-LiteralPath", self.path, "-Destination", backup)
        # It writes UTF-8 without a mark, the line ends as they are; Set-Content does neither.
        write = powershell(
            *("New-Item", "-Path", self.path, "-ItemType", "File"),
            *("-Value", str(to["text"]), "-Force:$true"),
        )
        return (write,) if now["text"] is None else (copy, write)


def _digest(text: str) -> str:
    """Name a text, so that no copy takes the place of another."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _state(rows: Rows) -> State:
    if len(rows) != 1:
        raise ValueError(f"{len(rows)} answers")
    if not truth_in(rows[0], "Exists"):
        return {"text": None}
    try:
        data = base64.b64decode(text_in(rows[0], "Base64"), validate=True)
        text = data.decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        raise ValueError("it is not UTF-8: save it so first") from None
    if "\0" in text:
        raise ValueError("a NUL is in it")
    return {"text": text}
