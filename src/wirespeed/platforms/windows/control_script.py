"""The PowerShell scripts that are sent to Windows; the answer is a capture like any other. Pure.

boot-id    when the first process of this boot was started: it stays where the clock is set
lock       a folder in ProgramData: it is made or it is not, and is void after a reboot
stranger   what is there by an ordinary user, who may make things there, is neither read nor written
"""

from collections.abc import Sequence

from wirespeed.apply.control_script import CHANGE_TIMEOUT_S
from wirespeed.apply.control_still import STILL
from wirespeed.model.capture import Section
from wirespeed.model.command import Command, Shell
from wirespeed.model.powershell import PROGRAMS, quoted
from wirespeed.model.step import Step

LOCK = "wirespeed.lock"
PRELUDE = """\
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
$PSModuleAutoLoadingPreference = 'All'
$ConfirmPreference = 'None'
[Console]::OutputEncoding = New-Object System.Text.UTF8Encoding $false
$mark = [guid]::NewGuid().ToString()
[Console]::Out.Write("wirespeed-capture 1 $mark`n")
Set-Location -LiteralPath $env:USERPROFILE
$env:Path += ";$env:ProgramFiles\\Mellanox\\MLNX_WinOF2\\Management Tools"
$lock = Join-Path $env:ProgramData 'wirespeed.lock'
$global:code = 0

# Step NAME FORM { ... }: what the block gives, as JSON rows, as lines, or not at all; and how it
# ended: 0, a program's own code, 127 for a command that this Windows has not, 1 for a refusal.
function Step([string]$Name, [string]$Form, [scriptblock]$Do) {
	[Console]::Out.Write("$mark begin $Name -`n")
	$global:code = 0
	$said = ''
	$global:LASTEXITCODE = 0
	try {
		$found = @(& $Do | Where-Object { $null -ne $_ })
		$global:code = $global:LASTEXITCODE
		# -InputObject: through a pipe, one row would be no list.
		if ($Form -eq 'rows') {
			[Console]::Out.Write((ConvertTo-Json -InputObject $found -Depth 6 -Compress))
		} elseif ($Form -eq 'lines') {
			[Console]::Out.Write(($found | Out-String -Width 4096))
		} elseif ($global:code) {
			$said = "$($found | Out-String -Width 4096)"
		}
	} catch [System.Management.Automation.CommandNotFoundException] {
		$global:code = 127
		$said = "$($_.Exception.CommandName): not found"
	} catch {
		$global:code = 1
		$said = "$($_.Exception.Message)"
	}
	if ($said) {
		[Console]::Out.Write("`n$mark errors`n$said")
	}
	[Console]::Out.Write("`n$mark end $global:code`n")
}

# Still FORM TEXT { ... }: fails where the block no longer gives this text, in the form of `Step`.
function Still([string]$Form, [string]$Text, [scriptblock]$Do) {
	$found = @(& $Do | Where-Object { $null -ne $_ })
	$now = if ($Form -eq 'rows') {
		ConvertTo-Json -InputObject $found -Depth 6 -Compress
	} else {
		$found | Out-String -Width 4096
	}
	if (-not [string]::Equals("$now", $Text)) { throw 'it is no longer as it was read' }
}

# The bytes of a file, which may not be there: the one source that no cmdlet of Windows gives whole.
function Get-FileBytes([string]$Path) {
	$full = $ExecutionContext.SessionState.Path.GetUnresolvedProviderPathFromPSPath($Path)
	$there = [IO.File]::Exists($full)
	$bytes = if ($there) { [Convert]::ToBase64String([IO.File]::ReadAllBytes($full)) } else { '' }
	New-Object PSObject -Property @{ Exists = $there; Base64 = $bytes }
}

function BootId {
	$first = Get-Process -Name smss | Sort-Object -Property StartTime | Select-Object -First 1
	"$($first.StartTime.ToUniversalTime().Ticks)"
}

# Whose a path is, where it is neither ours nor the system's nor an administrator's: by its SID.
# Where nothing is there, or it is as it should be, nothing.
function Stranger([string]$Path) {
	$item = Get-Item -LiteralPath $Path -Force -ErrorAction SilentlyContinue
	if (-not $item) { return }
	if ($item.Attributes -band [IO.FileAttributes]::ReparsePoint) { return 'a link' }
	$sid = [System.Security.Principal.SecurityIdentifier]
	$owner = (Get-Acl -LiteralPath $Path).GetOwner($sid).Value
	$user = [System.Security.Principal.WindowsIdentity]::GetCurrent().User.Value
	if (@($user, 'S-1-5-18', 'S-1-5-32-544') -notcontains $owner) { "owned by $owner" }
}

function StrangerInLock {
	$paths = @($lock) + @('owner', 'boot', 'change' | ForEach-Object { Join-Path $lock $_ })
	foreach ($path in $paths) {
		try { $whose = Stranger $path } catch { $whose = "of an unknown owner: $_" }
		if ($whose) { return "$path is $whose" }
	}
}

# Waits for a change whose connection was lost; one that hangs is ended.
function AwaitChange {
	$file = Join-Path $lock 'change'
	if (-not (Test-Path -LiteralPath $file) -or (StrangerInLock)) { return }
	$id, $ticks = "$(Get-Content -LiteralPath $file)".Split(' ')
	$latest = (Get-Date).AddSeconds(WAIT_S)
	while ($true) {
		$change = Get-Process -Id $id -ErrorAction SilentlyContinue
		if (-not $change -or "$($change.StartTime.Ticks)" -ne $ticks) { return }
		if ((Get-Date) -gt $latest) { Stop-Process -Id $id -Force; return }
		Start-Sleep -Seconds 1
	}
}
""".replace("WAIT_S", str(CHANGE_TIMEOUT_S))
DONE = '[Console]::Out.Write("$mark done`n")\n'
SAY_CHANGE = """\
if ((Test-Path -LiteralPath $lock) -and -not (StrangerInLock)) {
	"$PID $((Get-Process -Id $PID).StartTime.Ticks)" |
		Set-Content -LiteralPath (Join-Path $lock 'change')
}
"""
BOOT_ID = "Step boot-id lines { BootId }\n"
OWNER = "Get-Content -LiteralPath (Join-Path $lock 'owner') -Encoding UTF8"


def read_script(steps: Sequence[Step]) -> str:
    """Read the state of every step: sections `step-0`, `step-1` and so on."""
    return whole_script(*reads_of(steps))


def change_script(
    step: Step,
    commands: Sequence[Command],
    unless: str = "",
    expected: Section | None = None,
    otherwise: str = "",
    around: tuple[str, str] = ("", ""),
) -> str:
    """Run commands in sections `change-0`, … up to the first that fails; then read the state.

    None is begun when what `unless` gives, an expression of PowerShell, is true; nor where the
    step's reading is not `expected`: then `otherwise` is run. `around`: what is done before the
    first command, and after the last where none failed.
    """
    check = f"if ({unless}) {{ break }}\n" if unless else ""
    still = "" if expected is None else _still(step.read(), expected, otherwise)
    runs = [
        f"{check}Step change-{number} none {{\n{line_of(command)}\n}}\n"
        "if ($global:code) { break }\n"
        for number, command in enumerate(commands)
    ]
    first, last = around
    parts = (still, first, *runs, last)
    return whole_script(SAY_CHANGE, "do {\n", *parts, "} while ($false)\n", *reads_of([step]))


def settled_read_script(step: Step) -> str:
    """Read boot and state when the change that was under way there has come to its end."""
    return whole_script("AwaitChange\n", BOOT_ID, *reads_of([step]))


def boot_id_script() -> str:
    """Read the boot id."""
    return whole_script(BOOT_ID)


def lock_script(line: str, then: str = "", others: str = "") -> str:
    """Lock the host for the owner that `line` names, if it is not locked.

    The section `owner` says who has the lock now. A lock of an earlier boot does not count. `then`:
    what is done next, if it is this owner's; `others`: what is told then in any case.
    """
    return _taking(
        f"""\
$boot = BootId
$stranger = StrangerInLock
if (-not $stranger) {{
$of = Get-Content -LiteralPath (Join-Path $lock 'boot') -ErrorAction SilentlyContinue
if ((Test-Path -LiteralPath $lock) -and "$of" -ne $boot) {{
	Remove-Item -LiteralPath $lock -Recurse -Force
}}
try {{
	New-Item -ItemType Directory -Path $lock | Out-Null
	Set-Content -LiteralPath (Join-Path $lock 'owner') -Value {_text(line)} -Encoding UTF8
	Set-Content -LiteralPath (Join-Path $lock 'boot') -Value $boot
}} catch [System.IO.IOException] {{
	# It is taken: the section tells by whom.
}}
}}
""",
        line,
        then,
        others,
    )


def take_over_script(line: str, former: str | None, then: str = "", others: str = "") -> str:
    """Do as `lock_script` where the lock has the line `former`; None: whatever it has.

    Of two that take over at once, one gets it: the owner's file is moved away once.
    """
    check = "$true" if former is None else f'"$({OWNER})" -eq {_text(former)}'
    return _taking(
        f"""\
$stranger = StrangerInLock
if (-not $stranger -and ({check})) {{
	$owner = Join-Path $lock 'owner'
	$was = Join-Path $lock ([guid]::NewGuid().ToString())
	try {{
		if (Test-Path -LiteralPath $owner) {{ Move-Item -LiteralPath $owner -Destination $was }}
		Set-Content -LiteralPath $owner -Value {_text(line)} -Encoding UTF8
		Set-Content -LiteralPath (Join-Path $lock 'boot') -Value (BootId)
	}} catch [System.Management.Automation.ItemNotFoundException] {{
		# Another one moved it: the section tells who.
	}}
}}
""",
        line,
        then,
        others,
    )


def unlock_script(line: str, first: str = "") -> str:
    """Give the host back, if it is this owner's; `first` is done before."""
    return whole_script(
        f"""\
Step owner lines {{
	if (-not (StrangerInLock) -and (Test-Path -LiteralPath $lock) -and
		"$({OWNER})" -eq {_text(line)}) {{
{first}		Remove-Item -LiteralPath $lock -Recurse -Force
	}}
}}
"""
    )


def _taking(take: str, line: str, then: str, others: str) -> str:
    return whole_script(
        take,
        f"""\
Step stranger lines {{ $stranger }}
Step owner lines {{ if (-not $stranger) {{ {OWNER} }} }}
{BOOT_ID}if (-not $stranger -and "$({OWNER})" -eq {_text(line)}) {{
AwaitChange
{then}}}
{others}""",
    )


def whole_script(*parts: str) -> str:
    """Put what every script needs around its parts."""
    return "".join([PRELUDE, *parts, DONE])


def reads_of(steps: Sequence[Step]) -> list[str]:
    """Read the states of steps: parts of a script."""
    return [_read(number, step.read()) for number, step in enumerate(steps)]


def _read(number: int, command: Command) -> str:
    return f"Step step-{number} {form_of(command)} {{\n{line_of(command)}\n}}\n"


def _still(command: Command, expected: Section, otherwise: str) -> str:
    """Compare a reading, and leave the loop where it differs."""
    asked = f"Still {form_of(command)} {_text(expected.output)} {{\n{line_of(command)}\n}}\n"
    return f"Step {STILL} none {{\n{asked}}}\nif ($global:code) {{\n{otherwise}\tbreak\n}}\n"


def form_of(command: Command) -> str:
    """Give the form in which `Step` tells what a command gives."""
    return "lines" if command.argv[0] in PROGRAMS else "rows"


def line_of(command: Command) -> str:
    """Give a command of Windows as a line."""
    if command.shell is not Shell.POWERSHELL:
        raise AssertionError(f"{command.line()}: no command of Windows")
    return command.line()


def _text(value: str) -> str:
    """Quote a text; a number too, which would be none here."""
    line = quoted(value)
    return line if line.startswith("'") else f"'{line}'"
