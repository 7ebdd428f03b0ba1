"""A host that is described by its cores: the masks of transmit queues, the lists of interrupts."""

import re
from dataclasses import dataclass

from described_files import DescribedFiles

MASK = re.compile(r"[0-9a-f]{1,8}(,[0-9a-f]{8})*")
SPAN = re.compile(r"(\d+)(?:-(\d+))?")
INVALID = "Invalid argument"
TOO_LARGE = "Value too large for defined data type"


@dataclass
class DescribedCpus(DescribedFiles):
    """It has `cpus` cores; those of `offline` are."""

    cpus: int = 64
    offline: frozenset[int] = frozenset()
    managed: frozenset[str] = frozenset()
    """Lists that the kernel changes by itself."""

    def write(self, path: str, text: str) -> str:
        if path.endswith(("/xps_cpus", "/rps_cpus")):
            return self._write_mask(path, text)
        if path.endswith("/smp_affinity_list"):
            return self._write_list(path, text)
        return super().write(path, text)

    def mask(self, *cpus: int) -> str:
        """Give a mask as the kernel prints it (`%*pb`, lib/vsprintf.c): as wide as it has cores."""
        digits = f"{sum(1 << cpu for cpu in set(cpus)):0{(self.cpus + 3) // 4}x}"
        head = len(digits) % 8
        groups = [digits[:head]] if head else []
        return ",".join(groups + [digits[i : i + 8] for i in range(head, len(digits), 8)]) + "\n"

    def _write_mask(self, path: str, text: str) -> str:
        # bitmap_parse (lib/bitmap-str.c): groups of eight digits, no bit beyond the last core.
        if not MASK.fullmatch(text):
            return INVALID
        value = int(text.replace(",", ""), 16)
        if value >> self.cpus:
            return TOO_LARGE
        # __netif_set_xps_queue (net/core/dev.c), netdev_rx_queue_set_rps_mask (net-sysfs.c): of
        # cores that are offline there is no map.
        wanted = {n for n in range(self.cpus) if value >> n & 1} - self.offline
        self.files[path] = self.mask(*wanted)
        return ""

    def _write_list(self, path: str, text: str) -> str:
        # write_irq_affinity (kernel/irq/proc.c).
        if path in self.managed:
            return "Input/output error"
        cpus: set[int] = set()
        for part in text.split(","):
            match = SPAN.fullmatch(part)
            if match is None:
                return INVALID
            last = int(match[2] or match[1])
            if last >= self.cpus:
                return "Numerical result out of range"
            cpus.update(range(int(match[1]), last + 1))
        if not cpus - self.offline:
            return INVALID
        self.files[path] = listed(sorted(cpus)) + "\n"
        return ""


def listed(cpus: list[int]) -> str:
    """Write a list as the kernel prints it (`%*pbl`)."""
    text = ""
    for cpu in cpus:
        if cpu - 1 not in cpus:
            text += f",{cpu}"
        elif cpu + 1 not in cpus:
            text += f"-{cpu}"
    return text.removeprefix(",")
