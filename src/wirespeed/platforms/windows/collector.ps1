# wirespeed's collector for Windows: reads this host and prints what it read. It changes nothing,
# installs nothing, writes no file. Run it elevated to see all; else it says what it could not see.
# Below the functions, each block is one source of facts, in the words that you could type yourself.

$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
$PSModuleAutoLoadingPreference = 'All'
[Console]::OutputEncoding = New-Object System.Text.UTF8Encoding $false

# Drawn anew each time, so that nothing on this host can print what looks like one of our lines.
$mark = [guid]::NewGuid().ToString()
[Console]::Out.Write("wirespeed-capture 1 $mark`n")

# Section NAME { ... }: what the block gives, as JSON: a list of objects, each with the properties
# that the block selects. A cmdlet that this Windows has not is return code 127, a refusal 1.
function Section([string]$Name, [scriptblock]$Read) {
	[Console]::Out.Write("$mark begin $Name -`n")
	$code = 0
	$said = ''
	try {
		$rows = @(& $Read | Where-Object { $null -ne $_ })
		# -InputObject: through a pipe, one row would be no list.
		[Console]::Out.Write((ConvertTo-Json -InputObject $rows -Depth 6 -Compress))
	} catch [System.Management.Automation.CommandNotFoundException] {
		$code = 127
		$said = "$($_.Exception.CommandName): not found"
	} catch {
		$code = 1
		$said = "$($_.Exception.Message)"
	}
	if ($said) {
		[Console]::Out.Write("`n$mark errors`n$said")
	}
	[Console]::Out.Write("`n$mark end $code`n")
}

# Text NAME { ... }: the same for a program that prints lines.
function Text([string]$Name, [scriptblock]$Read) {
	[Console]::Out.Write("$mark begin $Name -`n")
	$code = 0
	$said = ''
	try {
		$lines = & $Read
		[Console]::Out.Write(($lines | Out-String -Width 4096))
	} catch [System.Management.Automation.CommandNotFoundException] {
		$code = 127
		$said = "$($_.Exception.CommandName): not found"
	} catch {
		$code = 1
		$said = "$($_.Exception.Message)"
	}
	if ($said) {
		[Console]::Out.Write("`n$mark errors`n$said")
	}
	[Console]::Out.Write("`n$mark end $code`n")
}

# Guid OBJECT: the adapter's GUID, which its settings carry as {GUID} or {GUID}::NAME; where they do
# not, it is that of their InterfaceDescription, which Windows keeps to one adapter (... #2). Names
# are not kept to one, and change.
$guids = @{}
if (Get-Command Get-NetAdapter -ErrorAction SilentlyContinue) {
	Get-NetAdapter -IncludeHidden -ErrorAction SilentlyContinue | ForEach-Object {
		$guids["$($_.InterfaceDescription)"] = "$($_.InterfaceGuid)"
	}
}
function Guid($Setting) {
	if ("$($Setting.InstanceID)" -match '\{[0-9A-Fa-f-]{36}\}') { return $Matches[0] }
	$guids["$($Setting.InterfaceDescription)"]
}
