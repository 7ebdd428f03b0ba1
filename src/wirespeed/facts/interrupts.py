"""Interrupts of the network functions: where they may land, and where they did."""

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.facts.cpu_list import parse_cpu_list
from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Known, Observed, Unreadable, read_as

ATTRIBUTES = ("smp_affinity_list", "effective_affinity_list")
MAX_LISTED = 4096
"""Interrupts that are looked at; what comes after them is not."""
OF_A_QUEUE = re.compile(
    r"^(?!irdma-|bnxt_re-|bnxt_qplib_|hns-|.*(:fdir|:ctrl|-event|-Mailbox)-)"
    r".*(comp\d|[tr]x|input|output|virtqueues|fp-|ntfy|_q\d|-\d+(@|$))",
    re.I,
)
"""Those of an RDMA driver on the same function are of no queue of the netdev: irdma/hw.c,
bnxt_re/qplib_fp.c and hns/hns_roce_hw_v2.c of drivers/infiniband/hw. Nor are those of flow rules,
of events and of a mailbox: i40e_vsi_open(), ice_vsi_open_ctrl(), vmxnet3_request_irqs() and
idpf_mb_intr_req_irq()."""
NO_HANDLER = re.compile(r"(\d+-)?(edge|level|fasteoi)", re.I)
SOURCE = "cat /proc/interrupts"
AFFINITY = "grep . /proc/irq/*/*affinity_list"
"""Shows where each interrupt may go, and where it is programmed for."""


@dataclass(frozen=True, slots=True)
class Interrupt:
    """One interrupt of a PCI function."""

    number: int
    name: str
    """As the driver calls it: `mlx5_comp3@pci:0000:03:00.0`, `virtio2-input.0`, `eth0-TxRx-3`."""
    count_of_cpu: dict[int, int]
    """CPU: interrupts that it took since boot, at the start of the capture; 0 is left out."""
    new_of_cpu: Observed[dict[int, int]]
    """CPU: interrupts that it took during the capture; 0 is left out."""
    irq_affinity: Observed[frozenset[int]]
    """CPUs that it may land on: `smp_affinity_list`."""
    effective_affinity: Observed[frozenset[int]]
    """CPUs that it is programmed for; on x86 exactly one."""


@dataclass(frozen=True, slots=True)
class Interrupts(Fact):
    """Interrupts by the PCI function that raises them."""

    functions: dict[str, Observed[tuple[Interrupt, ...]]]

    # /proc/interrupts of a large host has megabytes: only the lines of these functions are kept.
    script: ClassVar[str] = """\
list_irqs() (
	set +f
	total=0
	for address in $pfs; do
		cd "/sys/bus/pci/devices/$address" || continue
		if [ -d msi_irqs ] && cd msi_irqs; then
			set -- *
			[ "$1" = '*' ] && continue
		elif read -r number <irq && [ "$number" != 0 ]; then
			set -- "$number"
		else
			continue
		fi
		total=$((total + $#))
		[ "$total" -le MAX_LISTED ] || set -- too-many
		printf '%s %s\\n' "$address" "$*"
	done
)
irqs=$(list_irqs 2>/dev/null)
irq_pattern=
irq_paths=
for word in $irqs; do
	case $word in
	*[!0-9]*) ;;
	*)
		irq_pattern="$irq_pattern|$word"
		irq_paths="$irq_paths /proc/irq/$word/smp_affinity_list"
		irq_paths="$irq_paths /proc/irq/$word/effective_affinity_list"
		;;
	esac
done
if [ -n "$irq_pattern" ]; then
	irq_pattern="^ *(CPU[0-9]|(${irq_pattern#|}):)"
	show irqs - printf '%s\\n' "$irqs"
	run interrupts - grep -E "$irq_pattern" /proc/interrupts
	printf '%s\\0' $irq_paths | files irq -
fi
""".replace("MAX_LISTED", str(MAX_LISTED))
    script_again: ClassVar[str] = """\
[ -z "$irq_pattern" ] || run interrupts-again - grep -E "$irq_pattern" /proc/interrupts
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read `irqs`, `interrupts`, `interrupts-again` and the files of `irq`."""
        before = read_as(capture.text("interrupts", SOURCE), _lines)
        after = read_as(capture.text("interrupts-again", SOURCE), _lines)
        files = capture.files("irq", ATTRIBUTES)
        section = capture.section("irqs")
        functions: dict[str, Observed[tuple[Interrupt, ...]]] = {}
        for line in section.output.splitlines() if section else ():
            address, *numbers = line.split() or [""]
            if not all(number.isdecimal() and len(number) < 10 for number in numbers):
                reason = f"over {MAX_LISTED} interrupts: those of {address} were not read"
                functions[address] = Unreadable(reason, SOURCE)
            elif isinstance(before, Known):
                lines = before.value
                found = (
                    Interrupt(
                        number=number,
                        name=lines[number][0],
                        count_of_cpu=lines[number][1],
                        new_of_cpu=_new(number, lines[number][1], after),
                        irq_affinity=_cpus(files[f"/proc/irq/{number}/smp_affinity_list"]),
                        effective_affinity=_cpus(
                            files[f"/proc/irq/{number}/effective_affinity_list"]
                        ),
                    )
                    for number in sorted(map(int, numbers))
                    if number in lines
                )
                functions[address] = Known(tuple(found), SOURCE)
            else:
                functions[address] = Unreadable(before.reason, SOURCE)
        return cls(functions)

    def of(self, pci_address: str | None) -> Observed[tuple[Interrupt, ...]]:
        """Interrupts of one function that have a handler; unreadable where none was listed."""
        nothing = Unreadable(f"no interrupts of {pci_address} were listed", SOURCE)
        return self.functions.get(pci_address or "", nothing)

    def of_queues(self, pci_address: str | None) -> Observed[tuple[Interrupt, ...]]:
        """Those that belong to a queue; all of them where no name says so, as with one for all."""
        every = self.of(pci_address)
        if not isinstance(every, Known):
            return every
        found = tuple(interrupt for interrupt in every.value if OF_A_QUEUE.search(interrupt.name))
        return Known(found or every.value, every.source)


def landing(interrupt: Interrupt) -> dict[int, int]:
    """CPU: how often it took the interrupt, during the capture if it came then, else since boot."""
    if isinstance(interrupt.new_of_cpu, Known) and interrupt.new_of_cpu.value:
        return interrupt.new_of_cpu.value
    return interrupt.count_of_cpu


def _lines(text: str) -> dict[int, tuple[str, dict[int, int]]]:
    """Read /proc/interrupts: number -> name and counts. An offline CPU has no column."""
    header, _, rest = text.partition("\n")
    cpus = [int(word[3:]) for word in header.split() if re.fullmatch(r"CPU\d{1,5}", word)]
    if not cpus:
        raise ValueError("no CPU in its first line")
    lines = {}
    for line in rest.splitlines():
        number, *words = line.split()
        counts = words[: len(cpus)]
        if not re.fullmatch(r"\d{1,9}:", number) or not "".join(counts).isdecimal():
            continue
        described = words[len(cpus) :]
        if not described or NO_HANDLER.fullmatch(described[-1]):
            continue
        taken = {c: int(n) for c, n in zip(cpus, counts, strict=False) if n != "0"}
        lines[int(number[:-1])] = (described[-1], taken)
    return lines


def _new(
    number: int, before: dict[int, int], after: Observed[dict[int, tuple[str, dict[int, int]]]]
) -> Observed[dict[int, int]]:
    if not isinstance(after, Known):
        return after
    if number not in after.value:
        return Unreadable("it was gone at the end of the capture", SOURCE)
    now = after.value[number][1]
    new = {cpu: count - before.get(cpu, 0) for cpu, count in now.items()}
    if any(count < 0 for count in new.values()) or before.keys() - now.keys():
        return Unreadable("its count went down during the capture", SOURCE)
    return Known({cpu: count for cpu, count in new.items() if count}, SOURCE)


def _cpus(text: Observed[str]) -> Observed[frozenset[int]]:
    return read_as(text, parse_cpu_list)
