"""The user's .wslconfig: what WSL was asked for. What it does is told by its Linux side."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.facts.virtualization_wsl import settings_of
from wirespeed.model.capture import Capture
from wirespeed.model.fact import WindowsFact
from wirespeed.model.observed import Absent, Known, Observed
from wirespeed.platforms.windows.facts.windows_rows import rows_of

SOURCE = "Get-Content -LiteralPath $env:USERPROFILE\\.wslconfig"


@dataclass(frozen=True, slots=True)
class WslConfig(WindowsFact):
    """Of the user who ran the collector."""

    text: Observed[str]
    """Absent: there is no such file."""
    settings: Observed[dict[str, str]]
    """As `wsl2.networkingmode`, in lower case, as WSL reads it: see `settings_of`."""

    powershell: ClassVar[str] = """\
Section windows-wslconfig {
	$path = Join-Path $env:USERPROFILE '.wslconfig'
	if (Test-Path -LiteralPath $path) {
		New-Object PSObject -Property @{ Text = [IO.File]::ReadAllText($path) }
	}
}
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read the one row; none: no file."""
        rows = rows_of(capture, "windows-wslconfig", SOURCE)
        if not isinstance(rows, Known):
            return cls(rows, rows)
        if not rows.value:
            absent = Absent(SOURCE, "there is no .wslconfig")
            return cls(absent, absent)
        text = rows.value[0].text("Text")
        if isinstance(text, Absent):
            text = Known("", SOURCE)
        if not isinstance(text, Known):
            return cls(text, text)
        return cls(text, Known(settings_of(text.value), SOURCE))

    def setting(self, name: str) -> str | None:
        """Give one, by its name in lower case; None where it is not set or cannot be known."""
        return self.settings.value.get(name) if isinstance(self.settings, Known) else None
