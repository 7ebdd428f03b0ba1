
# The Windows side of WSL 2: the collector for Windows, given to Windows' own PowerShell. Its
# sections get our mark in place of its own, so that one capture holds both sides. One that hangs
# costs 40 s; without `timeout` nobody would end it, so it is not begun.
windows_lines() {
	tr -d '\r' | {
		theirs=
		while read -r magic _ theirs; do
			case $magic in *wirespeed-capture) break ;; esac
			theirs=
		done
		case $theirs in
		'' | *[!0-9A-Fa-f-]*) ;;
		*) sed "s/^$theirs /$mark /; /^$mark done\$/d" ;;
		esac
	}
}
windows_side() {
	powershell=$(command -v powershell.exe) ||
		powershell=/mnt/c/Windows/System32/WindowsPowerShell/v1.0/powershell.exe
	if ! [ -e "$powershell" ]; then
		errors='powershell.exe: not found' code=127
	elif [ -z "$limit" ]; then
		errors='timeout: not found' code=127
	else
		errors=
		# 3 is where this script prints to, 4 where the return code goes.
		{
			code=$({ { windows_collector; echo "$?" >&4; } | windows_lines >&3; } 4>&1)
		} 3>&1
	fi
	printf '\n%s begin windows-collector -\n' "$mark"
	end_section "${code:-1}"
}
windows_collector() {
	# shellcheck disable=SC2016 # these variables are PowerShell's
	timeout 40 "$powershell" -NoLogo -NoProfile -NonInteractive -Command \
		'@FROM_INPUT@' \
		2>/dev/null <<'END_OF_WINDOWS_COLLECTOR'
@SCRIPT@
END_OF_WINDOWS_COLLECTOR
}
release=
{ read -r release </proc/sys/kernel/osrelease; } 2>/dev/null
case $release in
*-Microsoft) ;;
*[Mm]icrosoft*) windows_side ;;
esac
