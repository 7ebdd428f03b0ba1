"""A timer on a Windows host, which undoes a step unless we come back by a new connection. Pure.

    arm      a folder, and a task of Windows that starts the undo, as the system itself
    change   the step's commands, each only while nobody has claimed the folder
    claim    whoever makes the file `taken` in the folder first: we, come back, or the task
             we then write `confirmed`, the task `result` when its undo is done
             a change that finds another state than it leads from claims it at once: `untouched`
    before   what the step's reading gave before the change, and `left` some seconds after it: a
    left     state that is neither was set by others, and the task leaves it alone

The folder is where only administrators write, and the script is in the task itself. What Windows
is set to outlives a boot, and so does its task: one whose time came meanwhile is started then.
"""

import base64
from collections.abc import Sequence

from wirespeed.apply.guard_timer import TIMER, UNDOING_S, Outcome
from wirespeed.apply.guard_timer_change import TimerScripts
from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.step import Step
from wirespeed.platforms.windows.control_script import (
    change_script,
    form_of,
    line_of,
    read_script,
    reads_of,
    whole_script,
)

LEAST_S = 120
LEFT_S = 5
"""A card starts again when a property of it is set, and gives its state a moment later."""
SYSTEM = "S-1-5-18"
"""The account of the system: its name is in the language of that Windows, its SID is not."""
MAX_ARGUMENT = 30_000
"""What Windows takes as a command line is 32767 characters: CreateProcess."""
_UNDO = """\
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
$PSModuleAutoLoadingPreference = 'All'
$ConfirmPreference = 'None'
$env:Path += ";$env:ProgramFiles\\Mellanox\\MLNX_WinOF2\\Management Tools"
"""
_TEXT_OF = """\
function TextOf([string]$Form, [scriptblock]$Do) {
	$found = @(& $Do | Where-Object { $null -ne $_ })
	if ($Form -eq 'rows') { return ConvertTo-Json -InputObject $found -Depth 6 -Compress }
	$found | Out-String -Width 4096
}
"""
"""What a reading gives, in the form of `Step`."""
_RESULT = f"""\
function Result {{
	$result = Join-Path $undo 'result'
	foreach ($second in 1..{UNDOING_S}) {{
		if (Test-Path -LiteralPath $result) {{ return Get-Content -LiteralPath $result }}
		Start-Sleep -Seconds 1
	}}
	'undoing'
}}
"""


def arm_script(token: str, undo: Sequence[Command], within_s: int, step: Step) -> str:
    """Start the task; the section `armed` says whether it is there."""
    encoded = base64.b64encode(undo_script(token, undo, step).encode("utf-16-le")).decode()
    argument = f"-NoProfile -NonInteractive -WindowStyle Hidden -EncodedCommand {encoded}"
    is_short = len(argument) <= MAX_ARGUMENT
    task = f"""\
	New-Item -ItemType Directory -Path $undo | Out-Null
	$program = Join-Path $PSHOME 'powershell.exe'
	$action = New-ScheduledTaskAction -Execute $program -Argument '{argument}'
	$at = New-ScheduledTaskTrigger -Once -At (Get-Date).AddSeconds({within_s})
	$how = New-ScheduledTaskSettingsSet -StartWhenAvailable -AllowStartIfOnBatteries `
		-DontStopIfGoingOnBatteries
	$who = New-ScheduledTaskPrincipal -UserId '{SYSTEM}' -LogonType ServiceAccount `
		-RunLevel Highest
	Register-ScheduledTask -TaskName '{_name(token)}' -Action $action -Trigger $at `
		-Settings $how -Principal $who | Out-Null
"""
    refusal = "\tthrow 'what would undo it is longer than a task of Windows may be'\n"
    return whole_script(_folder(token), f"Step armed none {{\n{task if is_short else refusal}}}\n")


def undo_script(token: str, undo: Sequence[Command], step: Step) -> str:
    """Give what the task runs: every command, also after one that failed, and what became of it.

    Where others changed the step's state since, nothing. What cannot be read is not known to be
    theirs.
    """
    runs = [
        f"""\
try {{
	$global:LASTEXITCODE = 0
	{line_of(command)} | Out-Null
	if ($global:LASTEXITCODE) {{ throw 'refused' }}
}} catch {{ $failed += ' {number}' }}
"""
        for number, command in enumerate(undo)
    ]
    return f"""\
{_UNDO}{_TEXT_OF}{_folder(token)}\
try {{ [IO.File]::Open((Join-Path $undo 'taken'), 'CreateNew').Close() }} catch {{ exit 0 }}
$kept = 'left', 'before' | ForEach-Object {{ Join-Path $undo $_ }}
if (Test-Path -LiteralPath $kept[0]) {{
	try {{
		$now = TextOf {form_of(step.read())} {{
{line_of(step.read())}
		}}
		$texts = $kept | ForEach-Object {{ [IO.File]::ReadAllText($_) }}
		if ($texts -cnotcontains $now) {{
			Set-Content -LiteralPath (Join-Path $undo 'result') -Value '{Outcome.THEIRS}'
			exit 0
		}}
	}} catch {{ $failed = '' }}
}}
$failed = ''
{"".join(runs)}\
$draft = Join-Path $undo 'draft'
Set-Content -LiteralPath $draft -Value "undone$failed"
Move-Item -LiteralPath $draft -Destination (Join-Path $undo 'result')
"""


def timed_change_script(
    token: str, step: Step, commands: Sequence[Command], expected: Section | None = None
) -> str:
    """Do the commands, each only while the folder is not claimed; then read the state.

    Where the step's reading is not `expected`, nothing is done, and nothing will be undone.
    """
    path = f"(Join-Path $env:ProgramFiles '{_name(token)}\\taken')"
    disarm = f"""\
	{_folder(token)}\
	try {{ [IO.File]::Open((Join-Path $undo 'taken'), 'CreateNew').Close() }} catch {{ break }}
	foreach ($name in 'untouched', 'confirmed') {{
		New-Item -ItemType File -Path (Join-Path $undo $name) | Out-Null
	}}
	Unregister-ScheduledTask -TaskName '{_name(token)}' -Confirm:$false
"""
    return change_script(
        step,
        commands,
        f"Test-Path -LiteralPath {path}",
        expected,
        disarm,
        around=(f"{_TEXT_OF}{_folder(token)}{_keep('before', step)}", _keep("left", step, LEFT_S)),
    )


def _keep(name: str, step: Step, after_s: int = 0) -> str:
    """Keep what the step's reading gives now, for the task."""
    return f"""\
Step keep-{name} none {{
	Start-Sleep -Seconds {after_s}
	$text = TextOf {form_of(step.read())} {{
{line_of(step.read())}
	}}
	[IO.File]::WriteAllText((Join-Path $undo '{name}'), $text)
}}
"""


def confirm_script(token: str, step: Step) -> str:
    """Claim the folder before the task does, then read the step's state.

    A change that is still under way is waited for. It may be asked again, where the answer was
    lost.
    """
    return whole_script(
        f"""\
{_folder(token)}{_RESULT}\
AwaitChange
Step outcome lines {{
	$confirmed = Join-Path $undo 'confirmed'
	if (Test-Path -LiteralPath $undo) {{
		$mine = $true
		try {{ [IO.File]::Open((Join-Path $undo 'taken'), 'CreateNew').Close() }}
		catch {{ $mine = $false }}
		if ($mine) {{
			New-Item -ItemType File -Path $confirmed | Out-Null
			Unregister-ScheduledTask -TaskName '{_name(token)}' -Confirm:$false
		}}
	}}
	if (Test-Path -LiteralPath (Join-Path $undo 'untouched')) {{ 'untouched' }}
	elseif (Test-Path -LiteralPath $confirmed) {{ 'confirmed' }}
	elseif (Test-Path -LiteralPath $undo) {{ Result }}
	else {{ 'gone' }}
}}
""",
        *reads_of([step]),
    )


def settle_part(run: str) -> str:
    """Have the host undo now what a run left armed: it was killed before it could confirm."""
    return f"""\
{_RESULT}\
Get-ChildItem -LiteralPath $env:ProgramFiles -Filter '{TIMER}{run}-*' | ForEach-Object {{
	$undo = $_.FullName
	if (-not (Test-Path -LiteralPath (Join-Path $undo 'confirmed'))) {{
		Start-ScheduledTask -TaskName $_.Name -ErrorAction SilentlyContinue
		Result | Out-Null
	}}
}}
"""


def sweep_part(run: str) -> str:
    """Remove what a run confirmed, or Windows undid; what is still armed stays."""
    return f"""\
		Get-ChildItem -LiteralPath $env:ProgramFiles -Filter '{TIMER}{run}-*' | ForEach-Object {{
			$confirmed = Join-Path $_.FullName 'confirmed'
			if ((Test-Path -LiteralPath $confirmed) -or
				(Test-Path -LiteralPath (Join-Path $_.FullName 'result'))) {{
				Unregister-ScheduledTask -TaskName $_.Name -Confirm:$false `
					-ErrorAction SilentlyContinue
				Remove-Item -LiteralPath $_.FullName -Recurse -Force
			}}
		}}
"""


def others_part(run: str) -> str:
    """Name the folders of what other runs left armed: the section `others`."""
    return f"""\
Step others lines {{
	Get-ChildItem -LiteralPath $env:ProgramFiles -Filter '{TIMER}*' | Where-Object {{
		$_.Name -notlike '{TIMER}{run}-*' -and
		-not (Test-Path -LiteralPath (Join-Path $_.FullName 'confirmed')) -and
		-not (Test-Path -LiteralPath (Join-Path $_.FullName 'result'))
	}} | ForEach-Object {{ $_.Name }}
}}
"""


def _by_hand(token: str) -> str:
    return f"Start-ScheduledTask -TaskName '{_name(token)}'"


def _name(token: str) -> str:
    return f"{TIMER}{token}"


def _folder(token: str) -> str:
    return f"$undo = Join-Path $env:ProgramFiles '{_name(token)}'\n"


WINDOWS_TIMER = TimerScripts(arm_script, timed_change_script, read_script, confirm_script, _by_hand)
