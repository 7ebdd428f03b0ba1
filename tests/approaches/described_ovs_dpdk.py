"""A described host with a ConnectX, and Open vSwitch whose build with DPDK can be chosen.

Rules: hugetlbpage.rst (the kernel gives what is free, and says nothing), update-alternatives(1),
and Open vSwitch 3.1: which build runs, and whether DPDK started, is decided at a restart.
"""

from dataclasses import dataclass, field

from described_connectx import DescribedConnectX, refused
from proof import Answer

from wirespeed.model.command import Command

KERNEL = "/usr/lib/openvswitch-switch/ovs-vswitchd"
DPDK = "/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk"
PAGES = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"
NEEDED = 512
"""Pages of 2 MiB for 1024 MiB at the start."""


@dataclass(eq=False)
class DescribedDpdkHost(DescribedConnectX):
    """The host; `free_pages`, `has_build` and `cannot_start` are what goes wrong on it."""

    pages: int = 0
    chosen: str | None = None
    """By hand; None: the one of the highest priority, which is the kernel's."""
    runs: str = KERNEL
    free_pages: int = field(default=4096, compare=False)
    has_build: bool = field(default=True, compare=False)
    cannot_start: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.ovs.can_start_dpdk = False

    def standing(self) -> tuple[object, ...]:
        return (*super().standing(), self.pages, self.chosen, self.runs)

    def run(self, command: Command) -> Answer:
        match command.argv, command.stdin:
            case ("update-alternatives", *words), None:
                return self._alternatives(words)
            case ("grep", "-H", "", path, memory), None if path == PAGES:
                total = f"{memory}:MemTotal:       {128 << 20} kB"
                return Answer(f"{path}:{self.pages}\n{total}\n")
            case ("tee", path), str(text) if path == PAGES:
                self.pages = min(int(text), self.free_pages)
                return Answer()
            case ("systemctl", "restart", _), None if not self.no_ovs:
                self.runs = self.chosen or KERNEL
                can = self.runs == DPDK and self.pages >= NEEDED and not self.cannot_start
                self.ovs.can_start_dpdk = can
                done = super().run(command)
                if not self.ovs.dpdk_initialized:
                    # dpdk_init() returns before it reads the rest.
                    self.ovs.runs_with = {
                        key: value
                        for key, value in self.ovs.runs_with.items()
                        if not key.startswith(("dpdk-", "pmd-"))
                    }
                return done
            case ("ovs-vsctl", "--timeout=60", *rest), None:
                # A port of DPDK takes its time.
                assert "type=dpdk" in rest or "del-port" in rest
                return super().run(Command(argv=("ovs-vsctl", "--timeout=10", *rest)))
        return super().run(command)

    def _alternatives(self, words: list[str]) -> Answer:
        match words:
            case ["--query", "ovs-vswitchd"]:
                other = f"\nAlternative: {DPDK}\nPriority: 50\n" if self.has_build else ""
                return Answer(
                    f"Name: ovs-vswitchd\nLink: /usr/sbin/ovs-vswitchd\n"
                    f"Status: {'manual' if self.chosen else 'auto'}\nBest: {KERNEL}\n"
                    f"Value: {self.chosen or KERNEL}\n\n"
                    f"Alternative: {KERNEL}\nPriority: 100\n{other}"
                )
            case ["--set", "ovs-vswitchd", program]:
                if program == DPDK and not self.has_build:
                    return refused(f"alternative {program} for ovs-vswitchd not registered", 2)
                self.chosen = program
            case ["--auto", "ovs-vswitchd"]:
                self.chosen = None
        return Answer()
