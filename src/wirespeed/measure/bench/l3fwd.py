"""DPDK's l3fwd as the DUT: a router with one port, by longest prefix (lpm) or exact match (em).

    starting --"softly parse"--> waiting for the link --"Port 0 Link up"--> forwarding, until closed

It begins to forward when its link comes up, or after 9 s without; it cannot be stopped and started.
It frees what its port does not take without counting it: in - out of the port is that number.
"""

import re
from typing import Literal, get_args

from wirespeed.host.files import write_exact
from wirespeed.measure.bench.dpdk_dut import DpdkDut
from wirespeed.measure.bench.dpdk_process import DpdkProcess
from wirespeed.measure.bench.dut import DutCounters, DutDescription
from wirespeed.measure.bench.eal_side import EalSide
from wirespeed.measure.bench.l3fwd_build import build_l3fwd
from wirespeed.measure.bench.l3fwd_rules import EM_IPV6, LPM_IPV6, em_ipv4, lpm_ipv4
from wirespeed.model.error import InputError

Lookup = Literal["lpm", "em"]
EM_MEMORY_MIB = 1024
"""Its hash tables have four million entries, whatever is in them: 512 MiB are too little."""
START_S = 30.0
LINK_S = 10.0
# The last whole line before it waits: what follows ends only when the link is up.
WAITING = re.compile(r"^Port 0: softly parse packet type info")
FORWARDING = re.compile(r"^Port 0 [Ll]ink (up|down|Up|Down)")


def rules_of(lookup: str, flows: int, *ports: int) -> tuple[str, str]:
    """Give the rules of IPv4 and IPv6 that send each stream out of its port; em knows one."""
    if lookup == "lpm":
        return lpm_ipv4(*ports), LPM_IPV6
    return em_ipv4(flows, *ports), EM_IPV6


class L3fwd(DpdkDut):
    """See `Dut`. Builds l3fwd if need be, starts when made; use `close` or the `with` statement.

    `flows` is how many of the tester's flows em must know; `next_hop_mac` is what it writes as
    destination: the tester's own address.
    """

    def __init__(
        self,
        side: EalSide,
        lookup: str,
        *,
        flows: int,
        next_hop_mac: str = "02:00:00:00:00:00",
    ) -> None:
        if lookup not in get_args(Lookup):
            raise InputError(
                "dut.unknown_mode",
                where=f"l3fwd {lookup}",
                found="no such lookup",
                next=f"one of {', '.join(get_args(Lookup))}",
            )
        if lookup == "em" and side.memory_mib < EM_MEMORY_MIB:
            raise InputError(
                "dut.memory",
                where="l3fwd em",
                found=f"{side.memory_mib} MiB for the DUT",
                so=f"its hash tables need {EM_MEMORY_MIB} MiB",
                next=f"give the DUT {EM_MEMORY_MIB} MiB, or use l3fwd lpm",
            )
        ipv4, ipv6 = rules_of(lookup, flows)
        program = build_l3fwd()
        rules = [side.runtime_folder / f"{side.file_prefix}-{name}" for name in ("ipv4", "ipv6")]
        for path, text in zip(rules, (ipv4, ipv6), strict=True):
            write_exact(path, text)
        argv = [
            str(program),
            *side.arguments(),
            f"--lcores={side.single_lcore()}",
            "--",
            "-p",
            "0x1",
            "-P",
            "--config=(0,0,0)",
            "--parse-ptype",
            "-L" if lookup == "lpm" else "-E",
            f"--rule_ipv4={rules[0]}",
            f"--rule_ipv6={rules[1]}",
            f"--eth-dest=0,{next_hop_mac}",
        ]
        super().__init__(DpdkProcess(argv, side, quit_line=None))
        self._forwarding = False
        try:
            self._process.read_until(WAITING, START_S)
            self._description = self._describe(lookup, len(ipv4.splitlines()))
        except BaseException:
            self.close()
            raise

    def start_trial(self) -> None:
        """Wait until its link is up and it forwards; it does so from then on."""
        self._process.await_link(LINK_S)
        if not self._forwarding:
            self._process.read_until(FORWARDING, LINK_S)
            self._forwarding = True

    def end_trial(self) -> None:
        """Do nothing but see that it is still there: it cannot be stopped."""
        self._process.require_alive()

    def read(self) -> DutCounters:
        """Read the port and its thread's CPU time; it counts neither drops nor cycles."""
        return self._process.read()

    def _describe(self, lookup: str, rules: int) -> DutDescription:
        side = self._process.side
        return DutDescription(
            name=f"l3fwd-{lookup}",
            version=self._process.telemetry.greeting().version,
            command_line=self._process.command_line,
            expect="routed",
            cpu=side.worker_cpus[0],
            details=(
                ("device", ", ".join(side.devices)),
                ("queues", "1 rx, 1 tx"),
                ("lcores", side.single_lcore()),
                ("memory", "hugepages" if side.hugepages else "no hugepages"),
                ("priority", self._process.priority),
                ("rules", f"{rules} {'routes of /24' if lookup == 'lpm' else '5-tuples'}"),
                ("built from", "the distribution's example source, checksum offload not demanded"),
            ),
        )
