"""Which CPU does what, on a machine that holds both the tester and the DUT. Pure."""

from collections.abc import Sequence

from wirespeed.host.procfs import CpuTopology
from wirespeed.model.error import InputError
from wirespeed.model.frozen import Frozen


class Placement(Frozen):
    """The DUT forwards on a CPU of its own if there are two; control threads keep off it."""

    dut_cpu: int
    tester_cpus: tuple[int, ...]
    control_cpu: int
    """For everything that is not a hot loop, of both programs."""
    warnings: tuple[str, ...]


def place(cpus: Sequence[CpuTopology], tester_workers: int = 1) -> Placement:
    """DUT on the last CPU; the tester's workers near it: its cache, else its package, not its core.

    A cache line's round trip between cores of two caches takes four to six times as long as
    between two of one (`search.outcome.FAR_APART_CYCLES`). Control threads get a CPU of their own
    where one is left. Raises InputError `cpus.too_few` when the workers do not fit beside the DUT,
    and none for a single CPU with one worker: that works, and is warned of.
    """
    if not cpus or tester_workers < 1:
        raise ValueError("no CPUs or no workers to place")
    dut = cpus[-1]
    if len(cpus) == 1 and tester_workers == 1:
        return Placement(
            dut_cpu=dut.cpu,
            tester_cpus=(dut.cpu,),
            control_cpu=dut.cpu,
            warnings=(
                f"only CPU {dut.cpu} can be used: tester and DUT take turns on it, so rates say "
                "little and zero loss will rarely be seen",
            ),
        )
    others = sorted(
        cpus[:-1],
        key=lambda other: (
            other.package != dut.package,
            other.cpu in dut.siblings,
            bool(dut.near) and other.cpu not in dut.near,
        ),
    )
    if len(others) < tester_workers:
        raise InputError(
            "cpus.too_few",
            where="this machine",
            found=f"{len(cpus)} CPUs are available, {tester_workers + 1} are needed",
            so="the tester's workers and the DUT do not fit",
            next=f"give at most {max(1, len(others))} tester lcores, or allow more CPUs with "
            "taskset",
        )
    workers, left = others[:tester_workers], others[tester_workers:]
    warnings = []
    if any(worker.cpu in dut.siblings for worker in workers):
        warnings.append(f"the tester shares a core with the DUT's CPU {dut.cpu} (SMT siblings)")
    if any(worker.package != dut.package for worker in workers):
        warnings.append("the tester runs on another CPU package than the DUT")
    elif dut.near and any(worker.cpu not in dut.near for worker in workers):
        warnings.append(
            f"no usable CPU shares a last-level cache with the DUT's CPU {dut.cpu}: the tester's "
            "cores lie far from it, and rates are lower by that"
        )
    return Placement(
        dut_cpu=dut.cpu,
        tester_cpus=tuple(worker.cpu for worker in workers),
        # Last in the order of preference: the CPU that a hot loop needs least.
        control_cpu=(left or workers)[-1].cpu,
        warnings=tuple(warnings),
    )
