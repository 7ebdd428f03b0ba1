"""The WSL2 document's machine, both sides of it, stateful: what is changed is what is captured."""

import json
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from described_files import DescribedFiles
from described_windows import Adapter, DescribedWindows, Switch
from proof import Answer, DescribedControl, UnknownCommandError

from described import doc_wsl2
from described.host import Host, capture_of
from described.windows import Windows, as_found, external_switch
from wirespeed.apply.claim import Claim
from wirespeed.apply.control import Changed
from wirespeed.model.capture import Capture, parse_capture
from wirespeed.model.command import Command
from wirespeed.model.observed import Observed
from wirespeed.model.step import State, Step
from wirespeed.platforms.wsl.control import WslControl

CARD = "Mellanox ConnectX-5 Ex Adapter #10"
OWN = "Realtek PCIe 10GbE Family Controller"
SWITCH = "wirespeed-external"
WSLCONFIG = "# 이 컴퓨터\r\n[wsl2]\r\nmemory=64GB\r\n"
QUEUES = 8
SYSCTLS = {
    "net.core.wmem_max": "212992", "net.core.rmem_max": "212992",
    "net.ipv4.tcp_wmem": "4096\t16384\t4194304", "net.ipv4.tcp_rmem": "4096\t131072\t6291456",
    "net.core.netdev_max_backlog": "1000", "net.ipv4.tcp_congestion_control": "cubic",
}  # fmt: skip


def windows_as_found() -> DescribedWindows:
    rows = Windows()
    as_found(rows)
    adapters: dict[str, Adapter] = {}
    by_guid: dict[str, Adapter] = {}
    for row in rows.rows["adapters"]:
        adapters[row["Description"]] = by_guid[row["Guid"]] = Adapter(row["Name"])
    for row in rows.rows["bindings"]:
        by_guid[row["Guid"]].bindings[row["ComponentId"]] = row["Enabled"]
    for row in rows.rows["advanced"]:
        by_guid[row["Guid"]].properties[row["Keyword"]] = row["Value"]
    # Step 4: the filter sets it back while it is bound.
    adapters[CARD].properties["*LsoV2IPv4"] = ["0"]
    switches = {row["Name"]: Switch(1, None, True, False) for row in rows.rows["switches"]}
    files = {".wslconfig": WSLCONFIG.encode()}
    return DescribedWindows(adapters, switches, files, {"nt_rtf64": OWN})


@dataclass
class Linux(DescribedFiles):
    """WSL's Linux: files of the distribution stay, the kernel's are as each start makes them."""

    modules: set[str] = field(default_factory=set)
    rings: dict[str, int] = field(default_factory=lambda: {"rx": 1751, "tx": 170})
    boots: int = field(default=1, compare=False)

    def start(self) -> None:
        """Start it: all but files is as found."""
        self.files = {p: text for p, text in self.files.items() if p.startswith("/etc/")}
        for name, value in SYSCTLS.items():
            self.files[f"/proc/sys/{name.replace('.', '/')}"] = f"{value}\n"
        self.files["/sys/class/net/eth2/mtu"] = "1500\n"
        for queue in range(QUEUES):
            self.files[f"/sys/class/net/eth2/queues/tx-{queue}/xps_cpus"] = "000000\n"
        self.modules, self.rings = set(), {"rx": 1751, "tx": 170}

    def run(self, command: Command) -> Answer:
        match command.argv:
            case ("ls", "-d", path):
                if path.rpartition("/")[2] in self.modules:
                    return Answer(f"{path}\n")
                said = f"ls: cannot access '{path}': No such file or directory"
                return Answer(errors=said, returncode=2)
            case ("modprobe", name):
                self.modules.add(name)
                return Answer()
            case ("modprobe", "-r", name):
                self.modules.discard(name)
                return Answer()
            case ("ethtool", "-g", "eth2"):
                now = f"RX:\t\t{self.rings['rx']}\nTX:\t\t{self.rings['tx']}\n"
                return Answer(
                    "Ring parameters for eth2:\nPre-set maximums:\nRX:\t\t3502\nTX:\t\t2560\n"
                    f"Current hardware settings:\n{now}"
                )
            case ("ethtool", "-G", "eth2", *words):
                pairs = dict(zip(words[::2], map(int, words[1::2]), strict=True))
                assert pairs.get("rx", 0) <= 3502 and pairs.get("tx", 0) <= 2560
                self.rings |= pairs
                return Answer()
            case ("ip", "link", "set", "dev", "eth2", "mtu", mtu):
                self.files["/sys/class/net/eth2/mtu"] = f"{mtu}\n"
                return Answer()
            case _:
                return super().run(command)

    def write(self, path: str, text: str) -> str:
        if path.endswith("/xps_cpus"):
            self.files[path] = f"{int(text, 16):06x}\n"
        elif path.endswith("tcp_congestion_control") and text == "bbr":
            if "tcp_bbr" not in self.modules:
                return "No such file or directory"
            self.files[path] = "bbr\n"
        elif path.startswith("/proc/sys/net/"):
            self.files[path] = text.replace(" ", "\t") + "\n"
        else:
            raise UnknownCommandError(f"{text!r} to {path}")
        return ""


class LinuxControl(DescribedControl):
    """Its control, with everything that commands ask of them; `look` sees both sides.

    `trouble` by the number of a command: `fail`; `hang`, which ends it after its time; `lose`, as
    the connection ends and all is done; `restart`: WSL is shut down in its midst, and starts anew.
    """

    interruption = WslControl.interruption

    def __init__(self, host: Linux, windows: DescribedWindows) -> None:
        super().__init__(host)
        self.linux, self.windows = host, windows
        self.trouble: dict[int, str] = {}

    def change(self, step: Step, commands: Sequence[Command], now: State | None = None) -> Changed:
        at = [n for n in range(len(commands)) if self.count + n in self.trouble]
        if not at:
            return super().change(step, commands, now)
        trouble = self.trouble.pop(self.count + at[0])
        if trouble == "lose":
            done = super().change(step, commands, now)
            return Changed("", done.now)
        super().change(step, commands[: at[0]], now)
        self.count += 1
        line = commands[at[0]].line()
        if trouble == "restart":
            self.restart()
            return Changed("", self._state(step))
        said = "1: refused" if trouble == "fail" else "still running after 120 s, and ended"
        return Changed(f"{line}: {said}", self._state(step))

    def capture(
        self, collector: str, steps: Sequence[Step]
    ) -> tuple[Capture, list[Observed[State]]]:
        assert "wirespeed" in collector
        return parse_capture(captured(self.windows), "desk"), self.read(steps)

    def change_or_roll_back(
        self,
        step: Step,
        commands: Sequence[Command],
        undo: Sequence[Command],
        within_s: int,
        now: State | None = None,
    ) -> Changed:
        raise AssertionError("nothing here cuts anybody off")

    def boot_id(self) -> str:
        return f"wsl-{self.linux.boots}"

    def reboot(self, before: str) -> str:
        """`wsl --shutdown`, and the next command starts it again."""
        assert before == self.boot_id()
        self.restart()
        return self.boot_id()

    def restart(self) -> None:
        self.linux.start()
        self.linux.boots += 1

    def lock(self, claim: Claim) -> str:
        return self.boot_id()

    def unlock(self, claim: Claim) -> None:
        pass


def linux_as_found(wsl_conf: str = doc_wsl2.WSL_CONF) -> Linux:
    linux = Linux({"/etc/wsl.conf": f"{wsl_conf}\n"})
    linux.start()
    return linux


def captured(windows: DescribedWindows) -> str:
    """Give what the collector would print of both sides."""
    bindings = tuple((d, *sorted(a.bindings.items())) for d, a in windows.adapters.items())
    return _captured(SWITCH in windows.switches, bindings, windows.files.get(".wslconfig"))


@cache
def _captured(is_made: bool, bindings: tuple[Any, ...], content: bytes | None) -> str:
    linux, rows = Host(), Windows()
    doc_wsl2.workstation(linux)
    as_found(rows)
    if is_made:
        external_switch(rows)
        doc_wsl2.external_switch(linux)
        text = json.dumps(rows.rows, ensure_ascii=False).replace("ConnectX-External", SWITCH)
        rows.rows = json.loads(text)
    names = {row["Guid"]: row["Description"] for row in rows.rows["adapters"]}
    bound = {adapter: dict(pairs) for adapter, *pairs in bindings}
    for row in rows.rows["bindings"]:
        row["Enabled"] = bound[names[row["Guid"]]][row["ComponentId"]]
    rows.rows["wslconfig"] = [] if content is None else [{"Text": content.decode()}]
    return rows.capture(capture_of(linux))


def machine() -> tuple[DescribedWindows, Linux]:
    return deepcopy(windows_as_found()), linux_as_found()
