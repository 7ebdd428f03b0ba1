"""TCP of Windows whose receive window may not grow as it could."""

import re
from collections.abc import Iterator

from wirespeed.model.command import Command, Shell
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.shown import shown
from wirespeed.model.symptom import Symptom
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapters
from wirespeed.platforms.windows.facts.windows_host import is_only_windows, require_windows
from wirespeed.platforms.windows.facts.windows_tcp import SOURCE, TcpSetting, WindowsTcp

UNUSED = "Compat"
"""Template of old programs: no connection of today has it."""
SCALES = {"disabled": 0, "highlyrestricted": 2, "restricted": 4}
"""Level in lower case to the scale factor of the window: RFC 7323 shifts 64 KB by it."""
UNSCALED_BYTES = 65535
NEARLY = 1.05
"""A figure is rounded, and so is a round trip."""
FAST_BPS = 10**10
NAME = re.compile(r"[A-Za-z]{1,40}")


def _check(exam: HostExam) -> Iterator[Finding]:
    require_windows(exam.host)
    settings = [one for one in exam.host[WindowsTcp].known_settings() if one.name != UNUSED]
    if not settings:
        raise DoesNotApplyError("Windows lists no TCP setting")
    restricted = [one for one in settings if one.level.lower() in SCALES]
    heuristic = [one for one in settings if one.heuristics == "Enabled"]
    if restricted:
        yield _restricted(exam, sorted(restricted, key=_window_bytes))
    elif heuristic:
        yield _heuristics(exam, heuristic)


def _window_bytes(setting: TcpSetting) -> int:
    return UNSCALED_BYTES << SCALES[setting.level.lower()]


def _restricted(exam: HostExam, settings: list[TcpSetting]) -> Finding:
    setting = settings[0]
    window = _window_bytes(setting)
    rtt_s, speed_bps = exam.question.rtt_s, _fastest_bps(exam)
    at_most_bps = None if rtt_s is None else 8 * window / rtt_s
    is_bound = (
        at_most_bps < speed_bps
        if at_most_bps
        else window == UNSCALED_BYTES and (speed_bps >= FAST_BPS)
    )
    carries = (
        f"a connection receives at most a window of {window} bytes for each round trip"
        if at_most_bps is None
        else f"a connection receives at most {at_most_bps / 1e6:.4g} Mb/s: a window of {window} "
        f"bytes for each round trip of {1e3 * (rtt_s or 0):g} ms"
    )
    return exam.finding(
        Severity.RISK if is_bound and is_only_windows(exam.host.capture) else Severity.NOTE,
        (
            Evidence(
                found=f"autotuning of {shown(setting.name)} is {shown(setting.level)}"
                + (", by a group policy" if setting.is_of_policy else ""),
                source=SOURCE,
            ),
        ),
        so=carries,
        remedies=(_normal(settings),),
        unpriced="several connections have more together, and what is sent has the window of the "
        "peer",
    )


def _normal(settings: list[TcpSetting]) -> Remedy:
    if any(one.is_of_policy for one in settings):
        return Remedy(
            text="let the group policy set the autotuning level to Normal", by_hand=ByHand.FAR_END
        )
    return Remedy(
        text="let the window grow: autotuning Normal, which is how Windows comes. Connections that "
        "are opened after it have it",
        commands=_set(settings, "-AutoTuningLevelLocal", "Normal"),
        by_hand=ByHand.NO_STEP,
    )


def _set(settings: list[TcpSetting], option: str, value: str) -> tuple[Command, ...]:
    return tuple(
        Command(
            argv=("Set-NetTCPSetting", "-SettingName", one.name, option, value),
            shell=Shell.POWERSHELL,
        )
        for one in settings
        if NAME.fullmatch(one.name)
    )


def _heuristics(exam: HostExam, settings: list[TcpSetting]) -> Finding:
    """Windows restricts the window of a network that it took for bad, and its level stays."""
    setting = settings[0]
    rtt_s, measured_bps = exam.question.rtt_s, exam.question.measured_bps
    most_bps = 8 * (UNSCALED_BYTES << SCALES["restricted"]) / rtt_s if rtt_s else 0.0
    fits = bool(most_bps and measured_bps) and (measured_bps or 0) <= NEARLY * most_bps
    is_bound = fits and most_bps < _fastest_bps(exam) and is_only_windows(exam.host.capture)
    return exam.finding(
        Severity.RISK if is_bound else Severity.NOTE,
        (
            Evidence(
                found=f"ScalingHeuristics of {shown(setting.name)} is Enabled, autotuning is "
                f"{shown(setting.level) or 'not told'}",
                source=SOURCE,
            ),
            *(
                (
                    Evidence(
                        found=f"{(measured_bps or 0) / 1e6:.4g} Mb/s were measured: a restricted "
                        f"window is at most {most_bps / 1e6:.4g} Mb/s over "
                        f"{1e3 * (rtt_s or 0):g} ms",
                        source="as you gave it",
                    ),
                )
                if is_bound
                else ()
            ),
        ),
        so="Windows restricts the receive window of a network that it takes for a bad one, "
        "whatever the autotuning level says",
        remedies=(
            Remedy(
                text="switch the heuristics off, as they are from Windows 8.1 on; autotuning then "
                "has the level that is set",
                commands=_set(settings, "-ScalingHeuristics", "Disabled"),
                by_hand=ByHand.NO_STEP,
            ),
        ),
        unpriced="which networks are restricted is not read: `netsh interface tcp show heuristics` "
        "says it",
    )


def _fastest_bps(exam: HostExam) -> int:
    cards = exam.host[WindowsAdapters].cards()
    return max((card.shown_bps or 0 for card in cards if card.is_up), default=0)


RULE = HostRule(
    slug="windows.tcp_window_restricted",
    title="TCP's receive window is restricted (Windows)",
    why="A connection receives at most a window for each round trip. Autotuning lets the window "
    "grow to 16 MB; Restricted ends it at 1 MB, HighlyRestricted at 256 KB, and Disabled at 64 KB. "
    "The scaling heuristics do the same by themselves for a network that Windows takes for bad.",
    source="https://learn.microsoft.com/windows-server/networking/technologies/"
    "network-subsystem/net-sub-performance-tuning-nics (scale factors of the levels: none, 2, 4, "
    "8 and 14); `An Update on Windows TCP AutoTuningLevel` (heuristics are off from 8.1 on); "
    "https://learn.microsoft.com/powershell/module/nettcpip/set-nettcpsetting; RFC 7323",
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
