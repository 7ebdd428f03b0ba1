"""Advanced properties of Windows' adapters: the keywords that a driver reads from the registry."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import WindowsFact
from wirespeed.model.observed import Known, Observed, known
from wirespeed.platforms.windows.facts.windows_rows import Row, rows_of

DECIMAL = re.compile(r"[0-9]{1,9}")
SOURCE = "Get-NetAdapterAdvancedProperty -AllProperties -IncludeHidden"


@dataclass(frozen=True, slots=True)
class AdvancedProperty:
    """One keyword of one adapter."""

    guid: str
    keyword: str
    """`*JumboPacket`, `*LsoV2IPv4`: a star for those that Microsoft standardised."""
    value: str
    """As the registry holds it; several joined by a comma."""
    shown: str
    """In the language of that Windows."""
    default: str
    """Empty: the driver names none."""
    valid: tuple[str, ...]
    """Those that the driver lists; empty where it gives a range."""
    most: str
    """End of the range of a number; empty: the driver gives none, or an older collector."""

    @property
    def largest(self) -> int | None:
        """The largest value that the driver takes, of a number; None: it tells none."""
        numbers = [int(one) for one in (*self.valid, self.most) if DECIMAL.fullmatch(one)]
        return max(numbers, default=None)


@dataclass(frozen=True, slots=True)
class WindowsAdvanced(WindowsFact):
    """All of them."""

    all: Observed[tuple[AdvancedProperty, ...]]

    powershell: ClassVar[str] = """\
Section windows-advanced {
	Get-NetAdapterAdvancedProperty -AllProperties -IncludeHidden | ForEach-Object {
		New-Object PSObject -Property @{
			Guid = Guid $_
			Keyword = $_.RegistryKeyword
			Value = @($_.RegistryValue)
			DisplayValue = "$($_.DisplayValue)"
			Default = "$($_.DefaultRegistryValue)"
			Valid = @($_.ValidRegistryValues)
			Most = "$($_.NumericParameterMaxValue)"
		}
	}
}
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read a row for each."""
        rows = rows_of(capture, "windows-advanced", SOURCE)
        if not isinstance(rows, Known):
            return cls(rows)
        return cls(Known(tuple(_properties(rows.value)), SOURCE))

    def known(self) -> tuple[AdvancedProperty, ...]:
        """Give them. Raises CannotTellError where they could not be read."""
        return known(self.all, "the advanced properties of the adapters")

    def of(self, guid: str) -> dict[str, AdvancedProperty]:
        """Give those of one adapter by keyword, in lower case."""
        return {p.keyword.lower(): p for p in reversed(self.known()) if p.guid == guid}


def _properties(rows: tuple[Row, ...]) -> Iterator[AdvancedProperty]:
    for row in rows:
        keyword = row.text("Keyword")
        if not isinstance(keyword, Known) or not row.guid:
            continue
        shown, default = row.text("DisplayValue"), row.text("Default")
        most = row.text("Most")
        yield AdvancedProperty(
            row.guid,
            keyword.value,
            ",".join(row.texts("Value")),
            shown.value if isinstance(shown, Known) else "",
            default.value if isinstance(default, Known) else "",
            row.texts("Valid"),
            most.value if isinstance(most, Known) else "",
        )
