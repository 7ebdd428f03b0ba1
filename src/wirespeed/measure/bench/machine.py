"""The machine that a measurement is made on, as a reader of the report needs to know it."""

from wirespeed.host import procfs


def describe_machine() -> dict[str, str]:
    """Label to value, in reading order; what cannot be read says so."""
    cpus = procfs.usable_cpus()
    pools = [f"{pool.free} free of {pool.page_kib} KiB" for pool in procfs.read_hugepages()]
    return {
        "CPU": procfs.read_cpu_model() or "model name unreadable",
        "usable CPUs": f"{len(cpus)} ({', '.join(map(str, cpus))})",
        "kernel": procfs.kernel_release(),
        "hugepages": ", ".join(pools) or "none",
        "memory available": f"{procfs.read_available_mib()} MiB",
    }
