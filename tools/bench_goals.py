"""What README and docs promise of speed: each a ratio and its bound. Data."""

from typing import Literal

from wirespeed.model.frozen import Frozen


class Goal(Frozen):
    """One promise: the ratio `ours` / `beside`, and what it must be."""

    name: str
    what: str
    ours: str
    beside: str
    unit: str
    goal: float
    better: Literal["higher", "lower"]

    @property
    def bound(self) -> str:
        """The goal with its direction, to be read."""
        return f"{'>=' if self.better == 'higher' else '<='} {self.goal:.3g}"

    def is_met_by(self, ratio: float) -> bool:
        """Compare; equal is met."""
        return ratio >= self.goal if self.better == "higher" else ratio <= self.goal


GOALS: tuple[Goal, ...] = (
    Goal(
        name="generate_vs_txonly",
        what="generating to net_null on one core, 8192 flows, sequence, time and checksum",
        ours="wirespeed-tester",
        beside="testpmd txonly, multi-flow",
        unit="Mpps",
        goal=2.3,
        better="higher",
    ),
    Goal(
        name="generate_vs_flowgen",
        what="generating to net_null on one core, 8192 flows, sequence, time and checksum",
        ours="wirespeed-tester",
        beside="testpmd flowgen, 8192 flows",
        unit="Mpps",
        goal=2.3,
        better="higher",
    ),
    Goal(
        name="ring_cycles_avx512",
        what="generate, send, receive and judge over net_ring on one core, AVX-512",
        ours="wirespeed-tester",
        beside="testpmd flowgen: send, receive",
        unit="TSC cycles a frame",
        goal=0.4,
        better="lower",
    ),
    Goal(
        name="ring_cycles_portable",
        what="generate, send, receive and judge over net_ring on one core, portable path",
        ours="wirespeed-tester",
        beside="testpmd flowgen: send, receive",
        unit="TSC cycles a frame",
        goal=0.6,
        better="lower",
    ),
    Goal(
        name="forwarded_vs_flowgen",
        what="through testpmd io over memif, as fast as it goes",
        ours="wirespeed-tester, every frame judged",
        beside="testpmd flowgen, 8192 flows",
        unit="Mpps forwarded",
        goal=1.0,
        better="higher",
    ),
    Goal(
        name="cost_vs_flowgen",
        what="in the same runs: the generator's busy cycles for each frame that the wire took",
        ours="wirespeed-tester: send, receive and judge",
        beside="testpmd flowgen: send, receive",
        unit="TSC cycles a frame",
        goal=1.0,
        better="lower",
    ),
    Goal(
        name="direct_vs_flowgen",
        what="through testpmd io over memif, as fast as it goes; ours composed and judged in the "
        "shared memory (`--wire memif-direct`)",
        ours="wirespeed-tester, every frame judged",
        beside="testpmd flowgen, 8192 flows",
        unit="Mpps forwarded",
        goal=3.0,
        better="higher",
    ),
    Goal(
        name="direct_cost_vs_flowgen",
        what="in the same runs: the generator's busy cycles for each frame that the wire took",
        ours="wirespeed-tester: send, receive and judge",
        beside="testpmd flowgen: send, receive",
        unit="TSC cycles a frame",
        goal=1 / 3,
        better="lower",
    ),
    Goal(
        name="ovs_vxlan_forwarded",
        what="64-byte frames through Open vSwitch with DPDK at overload, one polling core",
        ours="VXLAN: outer headers added and taken off",
        beside="plain",
        unit="Mpps forwarded",
        goal=0.3,
        better="higher",
    ),
    Goal(
        name="ovs_vxlan_cycles",
        what="64-byte frames through Open vSwitch with DPDK at overload: busy cycles of the "
        "polling core per frame",
        ours="VXLAN: outer headers added and taken off",
        beside="plain",
        unit="TSC cycles a frame",
        goal=3.5,
        better="lower",
    ),
    Goal(
        name="ovs_cycles",
        what="64-byte frames through Open vSwitch without a tunnel: busy cycles of the polling "
        "core per frame, compared with a forwarder that looks up no flow",
        ours="Open vSwitch with DPDK",
        beside="testpmd io",
        unit="TSC cycles a frame",
        goal=3.0,
        better="lower",
    ),
    Goal(
        name="million_flows",
        what="generate, send, receive and judge over net_ring",
        ours="1048576 flows",
        beside="8192 flows",
        unit="TSC cycles a frame",
        goal=1.5,
        better="lower",
    ),
    Goal(
        name="second_queue",
        what="generate, send, receive and judge 8192 flows over net_ring on one core",
        ours="2 queues each way",
        beside="1 queue each way",
        unit="TSC cycles a frame",
        goal=1.03,
        better="lower",
    ),
    Goal(
        name="sixteen_queues",
        what="the same",
        ours="16 queues each way",
        beside="1 queue each way",
        unit="TSC cycles a frame",
        goal=1.1,
        better="lower",
    ),
    Goal(
        name="two_cores",
        what="generate, send, receive and judge 8192 flows over net_ring, with a queue for each "
        "core",
        ours="two worker cores",
        beside="one worker core",
        unit="Mpps judged",
        goal=1.9,
        better="higher",
    ),
    Goal(
        name="search_trials",
        what="trials of a search on simulated DUTs, every kind, 20 seeds each",
        ours="informed at 0.1 %",
        beside="mlrsearch at 0.5 %",
        unit="trials",
        goal=1 / 3,
        better="lower",
    ),
    Goal(
        name="search_error",
        what="error of a search against the true throughput, on the simulated DUTs that have one",
        ours="informed at 0.1 %",
        beside="mlrsearch at 0.5 %",
        unit="% of the truth",
        goal=1.0,
        better="lower",
    ),
    Goal(
        name="first_trial",
        what="from the start of `wirespeed measure rfc2544` to the start of its first trial",
        ours="wirespeed",
        beside="Python's start, and testpmd's twice",
        unit="s",
        goal=4.0,
        better="lower",
    ),
    Goal(
        name="tester_memory",
        what="peak resident memory of the tester after a trial over vhost, 8192 flows",
        ours="wirespeed-tester",
        beside="testpmd flowgen, 8192 flows, as many mbufs",
        unit="MB",
        goal=1.0,
        better="lower",
    ),
    Goal(
        name="doctor_cpu",
        what="one `wirespeed doctor` of this machine: CPU time, with Python's start and every tool",
        ours="wirespeed",
        beside="Python's start with pydantic, and the collector's script alone",
        unit="s of CPU",
        goal=4.0,
        better="lower",
    ),
    Goal(
        name="doctor_wall",
        what="one `wirespeed doctor` of this machine: time from start to end",
        ours="wirespeed",
        beside="Python's start with pydantic, and the collector's script alone",
        unit="s",
        goal=4.0,
        better="lower",
    ),
    Goal(
        name="doctor_200_hosts",
        what="`wirespeed doctor` of 200 captures of the described hosts",
        ours="wirespeed",
        beside="one of them",
        unit="s",
        goal=10.0,
        better="lower",
    ),
    Goal(
        name="doctor_vs_ansible",
        what="one `wirespeed doctor` of this machine, beside Ansible's facts of it",
        ours="wirespeed",
        beside="ansible -m setup",
        unit="s",
        goal=1.0,
        better="lower",
    ),
    Goal(
        name="capture_20_hosts",
        what="`wirespeed capture` of 20 hosts by SSH (namespaces of this machine with an sshd "
        "each), beside Ansible's facts of the same, both 20 at a time",
        ours="wirespeed capture --seconds 0",
        beside="ansible -f 20 -m setup",
        unit="s",
        goal=1.0,
        better="lower",
    ),
    Goal(
        name="plan_2_hosts",
        what="`wirespeed plan` of a spec for 2 recorded hosts, Python's start included",
        ours="wirespeed",
        beside="Python's start with pydantic",
        unit="s",
        goal=15.0,
        better="lower",
    ),
    Goal(
        name="plan_1000_hosts",
        what="`wirespeed plan` for 1,000 recorded hosts with 2 guests each",
        ours="wirespeed",
        beside="2 hosts",
        unit="s",
        goal=20.0,
        better="lower",
    ),
    Goal(
        name="plan_1000_memory",
        what="peak resident memory of `wirespeed plan` for 1,000 recorded hosts",
        ours="wirespeed",
        beside="2 hosts",
        unit="MB",
        goal=5.0,
        better="lower",
    ),
    Goal(
        name="plan_10000_growth",
        what="`wirespeed plan` for 10,000 recorded hosts with 20,000 guests",
        ours="10,000 hosts",
        beside="1,000 hosts",
        unit="s",
        goal=11.0,
        better="lower",
    ),
    Goal(
        name="plan_10000_wall",
        what="`wirespeed plan` for 10,000 recorded hosts, compared with a budget of 180 s",
        ours="10,000 hosts",
        beside="the budget",
        unit="s",
        goal=1.0,
        better="lower",
    ),
    Goal(
        name="fleet_10000_growth",
        what="`wirespeed fleet doctor` of recorded hosts with planted causes, page and database",
        ours="10,000 hosts",
        beside="1,000 hosts",
        unit="s of CPU",
        goal=11.0,
        better="lower",
    ),
    Goal(
        name="fleet_10000_cpu",
        what="`wirespeed fleet doctor` of 10,000 recorded hosts: CPU time, compared with a "
        "budget of 60 s on two cores",
        ours="10,000 hosts",
        beside="the budget",
        unit="s of CPU",
        goal=1.0,
        better="lower",
    ),
    Goal(
        name="fleet_10000_wall",
        what="`wirespeed fleet doctor` of 10,000 recorded hosts from start to end, compared with "
        "a budget of 60 s",
        ours="10,000 hosts",
        beside="the budget",
        unit="s",
        goal=1.0,
        better="lower",
    ),
    Goal(
        name="fleet_10000_memory",
        what="`wirespeed fleet doctor` of 10,000 recorded hosts: peak memory of the largest "
        "process, times the number of processes",
        ours="10,000 hosts",
        beside="the budget",
        unit="MB",
        goal=1.0,
        better="lower",
    ),
    Goal(
        name="fleet_10000_page",
        what="`wirespeed fleet doctor` of 10,000 recorded hosts: size of the page",
        ours="10,000 hosts",
        beside="the budget",
        unit="MB",
        goal=1.0,
        better="lower",
    ),
    Goal(
        name="apply_round_trips",
        what="`wirespeed apply` of an applied spec for 2 hosts: round trips to a host, counted",
        ours="wirespeed",
        beside="one, whatever there is to read",
        unit="round trips",
        goal=1.0,
        better="lower",
    ),
)
