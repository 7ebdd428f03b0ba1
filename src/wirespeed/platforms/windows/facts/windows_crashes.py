"""Crashes of Windows: its own record of them, and a debugger's analysis given as a file."""

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import WindowsFact
from wirespeed.model.observed import Absent, Known, Observed, Unreadable
from wirespeed.platforms.windows.facts.windows_rows import rows_of

EVENTS_SOURCE = (
    "Get-WinEvent -FilterHashtable @{LogName='System'; "
    "ProviderName='Microsoft-Windows-WER-SystemErrorReporting'; Id=1001}"
)
ANALYSIS_SECTION = "crash-analysis"
ANALYSIS_SOURCE = "wirespeed doctor --crash-analysis FILE"
LABEL = re.compile(r"^(SYMBOL_NAME|MODULE_NAME|IMAGE_NAME):\s*(\S+)", re.M)
STACK = re.compile(r"^STACK_TEXT:[^\n]*\n((?:[^\n]+\n?)*)", re.M)
IN_FRAME = re.compile(
    r"(?:^|\s|: )([A-Za-z_][\w.-]{0,63})(?:!([A-Za-z_$?@][\w$?@<>:~]{0,127})(?:\+0x[0-9a-fA-F]+)?"
    r"|\+0x[0-9a-fA-F]+)"
)
MAX_FRAMES = 200
OF_WINDOWS = frozenset({"nt", "ntkrnlmp", "ntoskrnl", "ndis", "netio", "tcpip", "hal", "vmswitch",
                        "wdf01000", "win32k", "fltmgr"})  # fmt: skip


@dataclass(frozen=True, slots=True)
class CrashAnalysis:
    """What `!analyze -v` says."""

    symbol: str
    module: str
    image: str
    stack: tuple[tuple[str, str], ...]
    """Module and function of each frame, the innermost first; a function without symbols is empty.
    """

    @property
    def blamed(self) -> str:
        """Driver file that the debugger blames: `rtf64x64.sys`; empty where it names none."""
        if self.image:
            return self.image.lower()
        module = self.module or self.symbol.partition("!")[0].partition("+")[0]
        return f"{module.lower()}.sys" if module else ""

    @property
    def is_of_windows(self) -> bool:
        """Whether the one that is blamed is Windows' own, which tells little."""
        return self.blamed.removesuffix(".sys").removesuffix(".exe") in OF_WINDOWS


@dataclass(frozen=True, slots=True)
class WindowsCrashes(WindowsFact):
    """Those of the event log, and the one that was analysed."""

    bugchecks: Observed[tuple[tuple[str, str], ...]]
    """Time in UTC and stop code, the latest first; Known(()): none is recorded."""
    analysis: Observed[CrashAnalysis]
    """Absent: none was given."""

    powershell: ClassVar[str] = """\
Section windows-bugchecks {
	$wanted = @{
		LogName = 'System'
		ProviderName = 'Microsoft-Windows-WER-SystemErrorReporting'
		Id = 1001
	}
	Get-WinEvent -FilterHashtable $wanted -MaxEvents 20 -ErrorAction SilentlyContinue |
		ForEach-Object {
			New-Object PSObject -Property @{
				Time = $_.TimeCreated.ToUniversalTime().ToString('s')
				Code = "$($_.Properties[0].Value)"
			}
		}
}
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read the events, and the analysis where the capture has one."""
        rows = rows_of(capture, "windows-bugchecks", EVENTS_SOURCE)
        events: Observed[tuple[tuple[str, str], ...]]
        if isinstance(rows, Known):
            pairs = [(row.text("Time"), row.text("Code")) for row in rows.value]
            events = Known(
                tuple(
                    (time.value, code.value.partition(" ")[0] if isinstance(code, Known) else "")
                    for time, code in pairs
                    if isinstance(time, Known)
                ),
                EVENTS_SOURCE,
            )
        else:
            events = rows
        section = capture.section(ANALYSIS_SECTION)
        if section is None:
            return cls(events, Absent(ANALYSIS_SOURCE, "none was given"))
        return cls(events, analysis_of(section.output))


def analysis_of(text: str) -> Observed[CrashAnalysis]:
    """Read what a debugger printed for `!analyze -v`."""
    found: dict[str, str] = {}
    for label, value in LABEL.findall(text):
        found.setdefault(label, value)
    stack = STACK.search(text)
    if not found.keys() & {"SYMBOL_NAME", "MODULE_NAME", "IMAGE_NAME"}:
        return Unreadable(
            "it names no SYMBOL_NAME, MODULE_NAME or IMAGE_NAME: it is not what `!analyze -v` "
            "prints",
            ANALYSIS_SOURCE,
        )
    frames = []
    for line in (stack[1] if stack else "").splitlines()[:MAX_FRAMES]:
        match = IN_FRAME.search(line[:1000])
        if match:
            frames.append((match[1], match[2] or ""))
    return Known(
        CrashAnalysis(
            symbol=found.get("SYMBOL_NAME", ""),
            module=found.get("MODULE_NAME", ""),
            image=found.get("IMAGE_NAME", ""),
            stack=tuple(frames),
        ),
        ANALYSIS_SOURCE,
    )
