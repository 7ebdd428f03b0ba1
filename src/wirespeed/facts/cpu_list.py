"""Sets of CPUs as the kernel writes them: `0-3,8` and `ff,ffffffff`."""

from collections.abc import Iterable

MAX_CPUS = 1 << 16
"""Far more than Linux has (8192); a list that goes beyond it is not from a kernel."""


def parse_cpu_list(text: str) -> frozenset[int]:
    """Give the CPUs of `0-3,8`, `0-30:2/4` too. Raises ValueError where it is no such list."""
    cpus: set[int] = set()
    for part in text.strip().split(","):
        if not part and not text.strip():
            break
        span, _, group = part.partition(":")
        first, dash, last = span.partition("-")
        start, end = _cpu(first), _cpu(last if dash else first)
        if group:
            used, _, period = group.partition("/")
            size = max(1, _cpu(period))
            cpus.update(n for n in range(start, end + 1) if (n - start) % size < _cpu(used))
        else:
            cpus.update(range(start, end + 1))
    return frozenset(cpus)


def parse_cpu_mask(text: str) -> frozenset[int]:
    """Give the CPUs of a hexadecimal mask, `ff,ffffffff`. Raises ValueError where it is none."""
    digits = text.strip().replace(",", "")
    if len(digits) * 4 > MAX_CPUS:
        raise ValueError(f"a mask of {len(digits)} digits")
    mask = int(digits, 16)
    return frozenset(n for n in range(mask.bit_length()) if mask >> n & 1)


def cpu_list_text(cpus: Iterable[int]) -> str:
    """Write a set as `0-3,8`, the form that the kernel reads."""
    spans: list[list[int]] = []
    for cpu in sorted(set(cpus)):
        if spans and cpu == spans[-1][1] + 1:
            spans[-1][1] = cpu
        else:
            spans.append([cpu, cpu])
    return ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in spans)


def _cpu(text: str) -> int:
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 6 else MAX_CPUS
    if number >= MAX_CPUS:
        raise ValueError(f"{text[:20]!r} is not a CPU")
    return number
