"""A described ESXi host behind a real sshd: each line of its own tools is answered or refused.

Whatever is sent there goes to `busybox sh`, as on ESXi, with a PATH that has described tools of
ESXi and the few of busybox that scripts of ours may use. What the tools keep is in files of one
folder; a tool that is asked for what it does not know says so, and it is written down.
"""

import json
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

from sshd import Home, Sshd, public

BUSYBOX = (
    *("cat", "date", "env", "grep", "kill", "mkdir", "mv", "printf", "rm", "rmdir", "sed"),
    *("sh", "sleep", "sync", "timeout", "tr", "true", "xargs"),
)
PARAMETERS = ("DRSS", "RSS", "max_vfs", "supported_num_ports")
PORTS = [
    {"Name": "vmnic4", "PCIDevice": "0000:af:00.0", "Driver": "nmlx5_core", "LinkStatus": "Up",
     "Speed": 25000, "MTU": 1500},
    {"Name": "vmnic5", "PCIDevice": "0000:af:00.1", "Driver": "nmlx5_core", "LinkStatus": "Up",
     "Speed": 25000, "MTU": 1500},
]  # fmt: skip
TABLE = """\
Name    PCI Device    Driver      Admin Status  Link Status  Speed  Duplex  MAC Address         MTU
------  ------------  ----------  ------------  -----------  -----  ------  -----------------  ----
vmnic4  0000:af:00.0  nmlx5_core  Up            Up           25000  Full    02:00:00:00:00:01  1500
vmnic5  0000:af:00.1  nmlx5_core  Up            Up           25000  Full    02:00:00:00:00:02  1500
"""
SAMPLES = Path(__file__).parents[2] / "facts/samples/esxcli"
VERSION = {"Build": "Releasebuild-9298722", "Product": "VMware ESXi", "Version": "6.5.0"}

FAULT = r"""
count=$(($(cat count) + 1))
echo "$count" >count
if [ "$count" = "$(cat at)" ]; then
	case $(cat fault_at) in
	refused)
		echo "Connection to the agent was refused" >&2
		exit 1
		;;
	hangs) exec sleep 60 ;;
	reboots)
		cp options running
		echo "2026-01-01T00:03" >booted
		rm -rf "$LOCK"
		kill -9 $(cat session)
		exit 1
		;;
	esac
fi
"""
"""Befalls call number `at` of all tools, before it does anything."""
ESXCLI = r"""#!/bin/sh
# Of `set`, all parameters are one text; the fault in `fault` befalls the first that is set, once.
cd "$STATE" || exit 1
@fault@
list() {
	sep='['
	for name in @names@; do
		value=
		for word in $(cat options); do
			[ "${word%%=*}" = "$name" ] && value=${word#*=}
		done
		printf '%s{"Name": "%s", "Value": "%s"}' "$sep" "$name" "$value"
		sep=', '
	done
	echo ']'
}
case "$*" in
"--formatter=json network nic list") cat ports ;;
"--formatter=json system version get") cat version ;;
"network nic list") cat table ;;
"network nic get -n vmnic4" | "network nic get -n vmnic5") cat nic_get_nmlx5.txt ;;
"network nic stats get -n vmnic4" | "network nic stats get -n vmnic5") cat nic_stats.txt ;;
"hardware cpu global get") cat cpu_global.txt ;;
"hardware memory get") cat memory.txt ;;
"hardware pci pcipassthru list") cat pcipassthru.txt ;;
"--formatter=json system module parameters list -m nmlx5_core") list ;;
"system module parameters set -m nmlx5_core -p "*)
	for last; do :; done
	for word in $last; do
		case " @names@ " in
		*" ${word%%=*} "*) ;;
		*)
			echo "Unable to set module parameters, these are invalid: ${word%%=*}"
			exit 1
			;;
		esac
	done
	fault=$(cat fault)
	: >fault
	case $fault in
	refused)
		echo "Cannot set parameters: it is busy" >&2
		exit 1
		;;
	hangs) exec sleep 60 ;;
	lost | reboots)
		printf '%s' "$last" >options
		if [ "$fault" = reboots ]; then
			echo "2026-01-01T00:01" >booted
			rm -rf "$LOCK"
		fi
		kill -9 $(cat session)
		;;
	ignored) ;;
	*) printf '%s' "$last" >options ;;
	esac
	;;
"system shutdown reboot --delay=10 --reason=wirespeed")
	if [ ! -e maintenance ]; then
		echo "System is not in maintenance mode, unable to perform operation." >&2
		exit 1
	fi
	cp options running
	echo "2026-01-01T00:02" >booted
	rm -rf "$LOCK"
	;;
"intnet fec list")
	# Of a plug-in that no host has unless somebody installs it.
	echo "Error: Unknown command or namespace $*" >&2
	exit 1
	;;
*)
	echo "$*" >>refused
	echo "Error: Unknown command or namespace $*" >&2
	exit 1
	;;
esac
"""
VIM_CMD = r"""#!/bin/sh
cd "$STATE" || exit 1
@fault@
case "$*" in
hostsvc/hostsummary)
	echo 'Listsummary:'
	echo '(vim.host.Summary) {'
	echo '   runtime = (vim.host.RuntimeInfo) {'
	echo "      bootTime = \"$(cat booted):07.123456Z\","
	;;
vmsvc/getallvms) echo 'Vmid   Name   File   Guest OS   Version   Annotation' ;;
*)
	echo "$*" >>refused
	exit 1
	;;
esac
"""
OLD_TIMEOUT = r"""#!/bin/sh
# As before ESXi 7: the seconds stand behind -t.
[ "$1" = -t ] || { echo "timeout: can't execute '$1'" >&2; exit 127; }
shift
exec @busybox@ timeout "$@"
"""


@dataclass
class DescribedEsxi:
    """The host; `folder` holds its state, its tools and its sshd."""

    folder: Path
    server: Sshd | None
    home: Home | None

    @property
    def reach(self) -> str:
        return "esxi://vmhost"

    @property
    def starts(self) -> tuple[str, ...]:
        """Command that is a session there; what is sent is its input."""
        return ("env", "SSH_ORIGINAL_COMMAND=sh -s", str(self.folder / "starts"))

    @property
    def state(self) -> Path:
        return self.folder / "state"

    @property
    def lock(self) -> Path:
        return self.folder / "lock"

    def says(self, name: str) -> str:
        return (self.state / name).read_text()

    def put(self, name: str, text: str) -> None:
        (self.state / name).write_text(text)


def described_esxi(folder: Path, *, is_old: bool = False, with_sshd: bool = True) -> DescribedEsxi:
    """Make one; `is_old`: of before ESXi 7."""
    made = DescribedEsxi(folder, None, None)
    made.state.mkdir(parents=True)
    made.put("options", "DRSS=4")
    made.put("running", "DRSS=4")
    made.put("booted", "2026-01-01T00:00")
    made.put("fault", "")
    made.put("fault_at", "")
    made.put("at", "")
    made.put("count", "0")
    made.put("refused", "")
    made.put("ports", json.dumps(PORTS))
    made.put("version", json.dumps(VERSION))
    made.put("table", TABLE)
    for path in SAMPLES.glob("*.txt"):
        made.put(path.name, path.read_text())
    _tools(made, is_old=is_old)
    # The last word of the line is `sh -s`: what else is asked for is refused.
    starts = made.folder / "starts"
    starts.write_text(
        f"#!/bin/sh\n[ \"$SSH_ORIGINAL_COMMAND\" = 'sh -s' ] || exit 1\n"
        f"echo $$ >{shlex.quote(str(made.state / 'session'))}\n"
        f"exec env -i PATH={shlex.quote(str(folder / 'bin'))} STATE={shlex.quote(str(made.state))} "
        f"LOCK={shlex.quote(str(made.lock))} sh -s\n"
    )
    starts.chmod(0o755)
    if with_sshd:
        home = Home(folder / "home")
        server = Sshd(folder / "sshd", home.key)
        home.add_host("vmhost", server.port)
        home.known_hosts.write_text(server.known_as())
        server.authorized.write_text(f'command="{starts}" {public(home.key)}\n')
        made.server, made.home = server, home
    return made


def _tools(made: DescribedEsxi, *, is_old: bool) -> None:
    tools = made.folder / "bin"
    tools.mkdir()
    busybox = shutil.which("busybox")
    assert busybox, "busybox: scripts/install-system.sh test"
    for name in (*BUSYBOX, "cp"):
        (tools / name).symlink_to(busybox)
    texts = {"esxcli": ESXCLI.replace("@names@", " ".join(PARAMETERS)), "vim-cmd": VIM_CMD}
    texts = {name: text.replace("@fault@", FAULT) for name, text in texts.items()}
    if is_old:
        (tools / "timeout").unlink()
        texts["timeout"] = OLD_TIMEOUT.replace("@busybox@", busybox)
    for name, text in texts.items():
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
