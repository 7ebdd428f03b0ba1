"""tuned: the daemon that sets CPUs, memory and sysctls by a profile, each time that it starts."""

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Absent, Known, Observed, Unreadable

PID = "/run/tuned/tuned.pid"
ACTIVE = "/etc/tuned/active_profile"
PROFILE = re.compile(r"[A-Za-z0-9][\w.-]{0,63}")
MOST = 8
_OWN = (
    "accelerator-performance atomic-guest atomic-host aws balanced balanced-battery "
    "cpu-partitioning cpu-partitioning-powersave cpu-partitioning-virt-host default desktop "
    "desktop-powersave enterprise-storage hpc-compute intel-sst k8s-container laptop-ac-powersave "
    "laptop-battery-powersave latency-performance mssql network-latency network-throughput "
    "openshift openshift-control-plane openshift-node optimize-serial-console oracle postgresql "
    "powersave realtime realtime-virtual-guest realtime-virtual-host sap sap-hana "
    "sap-hana-kvm-guest sap-hana-vmware sap-netweaver server-powersave spectrumscale-ece "
    "spindown-disk sst throughput-intel-uncore-balanced-performance throughput-performance "
    "virtual-guest virtual-host"
)
OWN = frozenset(_OWN.split())
"""Names in its folder `profiles`; others are chosen by a site."""
PARTITIONING = ("cpu-partitioning", "cpu-partitioning-powersave", "cpu-partitioning-virt-host")


@dataclass(frozen=True, slots=True)
class Tuned(Fact):
    """Whether it runs, and by which profiles."""

    profiles: Observed[tuple[str, ...]]
    """Several are merged, and a later one overrides an earlier one. Absent: it does not run, or has
    none."""

    script: ClassVar[str] = f"""\
tuned_files() {{
	printf '%s\\0' {PID} {ACTIVE}
}}
tuned_files | files tuned -
"""
    """Its unit names the file of its PID, which systemd removes when it stops (tuned.service)."""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read the section `tuned`."""
        files = capture.files("tuned", ("tuned.pid", "active_profile"))
        pid, active = files[PID], files[ACTIVE]
        if isinstance(pid, Absent):
            return cls(Absent(pid.source, "tuned does not run"))
        if not isinstance(pid, Known):
            return cls(pid)
        if not isinstance(active, Known):
            return cls(active)
        names = active.value.split()[:MOST]
        if not names:
            return cls(Absent(active.source, "tuned has no profile"))
        if not all(PROFILE.fullmatch(name) for name in names):
            return cls(Unreadable("it does not hold the name of a profile", active.source))
        return cls(Known(tuple(names), active.source))

    @property
    def partitions_cpus(self) -> bool:
        """Whether it keeps other threads off the CPUs without a tick.

        By systemd's CPUAffinity, and by moving what runs there: profiles/cpu-partitioning.
        """
        return isinstance(self.profiles, Known) and not set(PARTITIONING).isdisjoint(
            self.profiles.value
        )
