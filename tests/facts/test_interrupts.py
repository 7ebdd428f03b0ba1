"""/proc/interrupts of a virtio guest, of ixgbe with an offline CPU; irqbalance; busy threads."""

import subprocess
from pathlib import Path

import pytest

from wirespeed.facts.interrupts import Interrupts, landing
from wirespeed.facts.irqbalance import Irqbalance
from wirespeed.facts.workload import MAX_THREADS, Workload
from wirespeed.model.capture import Capture, Section
from wirespeed.model.observed import Absent, Known, Unreadable

SAMPLES = Path(__file__).parent / "samples" / "proc"
ADDRESS = "0000:00:03.0"
DENIED = "grep: /proc/irq/38/effective_affinity_list: Permission denied"


def interrupts_of(sample: str, numbers: str, again: str | None = None) -> Interrupts:
    text = (SAMPLES / sample).read_text()
    sections = [
        Section("irqs", "", f"{ADDRESS} {numbers}", "", 0),
        Section("interrupts", "", text, "", 0),
        Section("irq", "", "/proc/irq/38/smp_affinity_list:0-1", DENIED, 123),
    ]
    if again is not None:
        sections.append(Section("interrupts-again", "", again, "", 0))
    return Interrupts.parse(Capture(sections, complete=True))


def test_interrupts_of_a_function_are_counted_by_cpu():
    found = interrupts_of("interrupts_virtio.txt", "37 38 39").of(ADDRESS)
    assert isinstance(found, Known)
    config, receive, transmit = found.value
    assert (config.number, config.name, config.count_of_cpu) == (37, "virtio2-config", {})
    assert (receive.name, receive.count_of_cpu) == ("virtio2-input.0", {1: 17671})
    assert transmit.count_of_cpu == {0: 13437}
    assert receive.irq_affinity == Known(frozenset({0, 1}), "cat /proc/irq/38/smp_affinity_list")
    assert isinstance(receive.effective_affinity, Unreadable)
    assert isinstance(receive.new_of_cpu, Unreadable)


def test_interrupts_that_came_meanwhile_say_where_they_land():
    again = (
        (SAMPLES / "interrupts_virtio.txt")
        .read_text()
        .replace("    0      17671", "   5      17671")
    )
    found = interrupts_of("interrupts_virtio.txt", "37 38 39", again).of_queues(ADDRESS)
    assert isinstance(found, Known)
    assert [interrupt.number for interrupt in found.value] == [38, 39]
    assert landing(found.value[0]) == {0: 5}
    assert landing(found.value[1]) == {0: 13437}


def test_a_count_that_went_down_is_no_delta():
    again = (SAMPLES / "interrupts_virtio.txt").read_text().replace("17671", "12")
    found = interrupts_of("interrupts_virtio.txt", "38", again).of(ADDRESS)
    assert isinstance(found, Known)
    assert isinstance(found.value[0].new_of_cpu, Unreadable)


def test_an_offline_cpu_has_no_column_and_no_handler_is_no_interrupt():
    found = interrupts_of("interrupts_ixgbe_offline_cpu.txt", "191 192 193 194").of(ADDRESS)
    assert isinstance(found, Known)
    assert [interrupt.name for interrupt in found.value] == ["eth5-TxRx-0", "eth5-TxRx-1", "eth5"]
    assert found.value[0].count_of_cpu == {0: 3, 2: 310630615}
    queues = interrupts_of("interrupts_ixgbe_offline_cpu.txt", "191 192 193").of_queues(ADDRESS)
    assert isinstance(queues, Known)
    assert [interrupt.number for interrupt in queues.value] == [191, 192]


def test_the_only_interrupt_of_a_card_is_that_of_its_queue():
    found = interrupts_of("interrupts_ixgbe_offline_cpu.txt", "193").of_queues(ADDRESS)
    assert isinstance(found, Known)
    assert [interrupt.name for interrupt in found.value] == ["eth5"]


@pytest.mark.parametrize(
    "name",
    [
        "mlx5_async0@pci:0000:03:00.0",
        "ena-mgmnt@pci:0000:00:05.0",
        "ice-0000:3b:00.0:misc",
        # drivers/infiniband/hw: irdma/hw.c, bnxt_re/qplib_fp.c, hns/hns_roce_hw_v2.c
        "irdma-0000:3b:00.0-AEQCEQ-0",
        "irdma-0000:3b:00.0-CEQ-3",
        "bnxt_re-nq-1@pci:0000:3b:00.0",
        "bnxt_qplib_nq-1",
        "hns-0000:7d:00.0-ceq-2",
    ],
)
def test_control_interrupts_are_not_of_a_queue(name: str):
    text = f"   CPU0\n 7: 9 PCI-MSI-edge {name}\n 8: 9 PCI-MSI-edge mlx5_comp0@pci:0000:03:00.0\n"
    sections = [
        Section("irqs", "", f"{ADDRESS} 7 8", "", 0),
        Section("interrupts", "", text, "", 0),
    ]
    found = Interrupts.parse(Capture(sections, complete=True)).of_queues(ADDRESS)
    assert isinstance(found, Known)
    assert [interrupt.number for interrupt in found.value] == [8]


@pytest.mark.parametrize(
    "name",
    [
        "ice-ens1f0-TxRx-3", "i40e-ens1f0-TxRx-3", "ens1f0np0-TxRx-3",
        "hns3-0000:7d:00.0-eth0-TxRx-3", "eth0-3", "mlx5_comp3@pci:0000:03:00.0",
    ],
)  # fmt: skip
def test_names_that_drivers_give_the_interrupt_of_a_queue(name: str):
    text = f"   CPU0\n 7: 9 PCI-MSI-edge {name}\n 8: 9 PCI-MSI-edge irdma-0000:03:00.0-CEQ-1\n"
    sections = [
        Section("irqs", "", f"{ADDRESS} 7 8", "", 0),
        Section("interrupts", "", text, "", 0),
    ]
    found = Interrupts.parse(Capture(sections, complete=True)).of_queues(ADDRESS)
    assert isinstance(found, Known)
    assert [interrupt.number for interrupt in found.value] == [7]


def test_interrupts_that_were_not_listed_are_unreadable():
    assert isinstance(interrupts_of("interrupts_virtio.txt", "too-many").of(ADDRESS), Unreadable)
    assert isinstance(interrupts_of("interrupts_virtio.txt", "38").of("0000:ff:00.0"), Unreadable)
    assert isinstance(Interrupts.parse(Capture([], complete=True)).of(ADDRESS), Unreadable)


def irqbalance(found: Section, setup: str = "", errors: str = "") -> Irqbalance:
    sections = [found, Section("irqbalance-setup", "", setup, errors, 0)]
    return Irqbalance.parse(Capture(sections, complete=True))


RUNS = Section("irqbalance", "", "/proc/812/comm", "", 0)


def test_irqbalance_that_does_not_run():
    found = irqbalance(Section("irqbalance", "", "", "", 1))
    assert isinstance(found.is_running, Known)
    assert not found.is_running.value
    assert isinstance(found.banned_cpus, Absent)


def test_irqbalance_and_what_it_leaves_alone():
    setup = "/usr/sbin/irqbalance\n--foreground\n--banirq=43\n\nenvironment\n"
    setup += "IRQBALANCE_BANNED_CPULIST=2-5"
    found = irqbalance(RUNS, setup)
    assert found.is_running == Known(value=True, source="ps -C irqbalance -o args=")
    assert isinstance(found.arguments, Known)
    assert found.arguments.value == ("--foreground", "--banirq=43")
    assert isinstance(found.banned_cpus, Known)
    assert found.banned_cpus.value == frozenset({2, 3, 4, 5})
    assert found.has_policy == Known(value=True, source="ps -C irqbalance -o args=")


@pytest.mark.parametrize(
    ("variables", "banned"),
    [
        ("IRQBALANCE_BANNED_CPULIST=-", set()),
        ("IRQBALANCE_BANNED_CPUS=0", set()),
        ("IRQBALANCE_BANNED_CPUS=30\nIRQBALANCE_BANNED_CPULIST=2-3", {4, 5}),
        ("IRQBALANCE_BANNED_CPULIST=2-3\nIRQBALANCE_BANNED_CPUS=", {2, 3}),
    ],
)
def test_irqbalance_looks_at_the_mask_first_and_may_be_told_of_none(
    variables: str, banned: set[int]
):
    """setup_banned_cpus of irqbalance's cputree.c, and its cpulist_parse."""
    found = irqbalance(RUNS, f"/usr/sbin/irqbalance\n\nenvironment\n{variables}\n").banned_cpus
    assert isinstance(found, Known)
    assert found.value == banned


def test_irqbalance_of_a_default_service_has_no_policy():
    found = irqbalance(RUNS, "/usr/sbin/irqbalance\n--foreground\n\nenvironment\n")
    assert found.has_policy == Known(value=False, source="ps -C irqbalance -o args=")
    assert isinstance(found.banned_cpus, Absent)


@pytest.mark.parametrize(
    ("options", "has_policy"),
    [
        (("--hintpolicy=exact",), True),
        (("--hintpolicy", "exact"), True),
        (("-h", "subset", "--foreground"), True),
        (("-hexact",), True),
        (("--hintpolicy", "ignore"), False),
        (("-h", "ignore"), False),
    ],
)
def test_irqbalance_that_keeps_to_the_hint_of_the_driver(
    tmp_path: Path, options: tuple[str, ...], *, has_policy: bool
):
    """getopt_long in parse_command_line of irqbalance.c takes a value after a blank, too."""
    line = "".join(f"{word}\0" for word in ("/usr/sbin/irqbalance", *options, "not an option"))
    (tmp_path / "cmdline").write_text(line)
    (tmp_path / "environ").write_text("LANG=C\0IRQBALANCE_ARGS=\0")
    script = f"show() {{ find_irqbalance() {{ echo {tmp_path}/comm; }}; "
    script += '[ "$1" = irqbalance ] || "$3"; }\n' + Irqbalance.script
    done = subprocess.run(["/bin/sh", "-c", script], capture_output=True, text=True, timeout=20)
    assert "not an option" not in done.stdout
    found = irqbalance(RUNS, done.stdout)
    assert found.arguments == Known(options, "ps -C irqbalance -o args=")
    assert found.has_policy == Known(has_policy, "ps -C irqbalance -o args=")


def test_irqbalance_of_somebody_else_hides_its_environment():
    setup = "/usr/sbin/irqbalance\n--foreground\n\nenvironment\n"
    found = irqbalance(RUNS, setup, "sh: cannot open /proc/812/environ: Permission denied")
    assert isinstance(found.banned_cpus, Unreadable)


def test_hidden_processes_leave_irqbalance_unknown():
    said = "Permission denied: /proc hides processes"
    assert isinstance(irqbalance(Section("irqbalance", "", "", said, 2)).is_running, Unreadable)


def stat(pid: int, tid: int, name: str, ticks: int, cpu: int) -> str:
    """A line as in proc(5), with the numbers of a thread of this kernel."""
    return (
        f"/proc/{pid}/task/{tid}/stat:{tid} ({name}) R 1 {pid} {pid} 0 -1 4210752 9 0 0 0"
        f" {ticks} 5 0 0 20 0 4 0 812 1000 2000 18446744073709551615 1 1 0 0 0 0 0 4096 0 0 0 0 17"
        f" {cpu} 0 0 0 0 0 0 0 0 0 0 0 0 0"
    )


def workload(before: str, after: str) -> Workload:
    status = "/proc/7/task/8/status:Name:\trte worker\n/proc/7/status:Name:\tdpdk-testpmd\n"
    status += "/proc/7/task/8/status:Cpus_allowed_list:\t3"
    sections = [
        Section("threads", "", before, "", 0),
        Section("threads-again", "", after, "", 0),
        Section("thread-status", "", status, "", 0),
    ]
    return Workload.parse(Capture(sections, complete=True))


def test_a_thread_has_its_process_its_cpu_and_its_share():
    name = "rte) R 1 worker"
    found = workload(
        f"uptime 100.00\n{stat(7, 8, name, 5000, 1)}\n{stat(9, 9, 'systemd', 2000, 0)}",
        f"uptime 100.50\n{stat(7, 8, name, 5050, 3)}\n{stat(9, 9, 'systemd', 2000, 0)}",
    )
    assert isinstance(found.threads, Known)
    busy, idle = found.threads.value
    assert (busy.pid, busy.tid, busy.process, busy.name) == (
        7,
        8,
        "dpdk-testpmd",
        "rte) R 1 worker",
    )
    assert busy.last_cpu == 3
    assert isinstance(busy.cpu_share, Known)
    assert busy.cpu_share.value == pytest.approx(1.0)
    assert isinstance(busy.allowed_cpus, Known)
    assert busy.allowed_cpus.value == frozenset({3})
    assert idle.process == "systemd"
    assert found.of_process(None) == Known((busy,), found.threads.source)
    assert found.of_process("systemd") == Known((idle,), found.threads.source)
    assert isinstance(found.of_process("iperf3"), Absent)


def test_readings_close_together_tell_the_share_since_the_thread_started():
    # It started at tick 812 of 100 a second and has run for 500 ticks and 5 of the system.
    line = stat(9, 9, "iperf3", 500, 0)
    found = workload(f"uptime 18.20\n{line}", f"uptime 18.22\n{line}").threads
    assert isinstance(found, Known)
    share = found.value[0].cpu_share
    assert isinstance(share, Known)
    assert share.value == pytest.approx(5.05 / 10.1)


def test_a_name_is_compared_as_far_as_the_kernel_keeps_it():
    line = stat(9, 9, "qemu-system-x86", 2000, 0)
    found = workload(f"uptime 1.00\n{line}", "uptime 2.00\n")
    assert isinstance(found.of_process("qemu-system-x86_64"), Known)
    assert isinstance(found.threads, Known)
    assert isinstance(found.threads.value[0].cpu_share, Unreadable)


def test_without_threads_nothing_is_known_of_the_workload():
    found = Workload.parse(Capture([], complete=True))
    assert isinstance(found.of_process("iperf3"), Unreadable)


def test_the_main_thread_of_any_dpdk_program_moves_frames():
    lines = "\n".join(
        [
            stat(17, 17, "my-forwarder", 5000, 2),
            stat(17, 19, "rte_mp_handle", 1, 0),
            stat(17, 20, "rte-worker-3", 5000, 3),
            stat(17, 21, "my-statistics", 2000, 0),
        ]
    )
    found = workload(f"uptime 1.00\n{lines}", f"uptime 2.00\n{lines}").of_process(None)
    assert isinstance(found, Known)
    assert [thread.name for thread in found.value] == ["my-forwarder", "rte-worker-3"]


def test_where_threads_were_cut_off_a_missing_one_is_not_absent():
    lines = "\n".join(stat(30, 30 + n, "worker", 5000, 0) for n in range(MAX_THREADS))
    found = workload(f"uptime 1.00\n{lines}", f"uptime 2.00\n{lines}")
    assert isinstance(found.of_process("worker"), Known)
    assert isinstance(found.of_process("iperf3"), Unreadable)


@pytest.mark.parametrize(
    ("queue", "other"),
    [
        ("i40e-ens1f0-TxRx-0", "i40e-0000:18:00.0:fdir-TxRx-0"),
        ("ice-ens1f0-TxRx-0", "ice-0000:18:00.0:ctrl-TxRx-0"),
        ("ens192-rxtx-0", "ens192-event-1"),
        ("idpf-ens1-TxRx-0", "idpf-Mailbox-0"),
    ],
)
def test_an_interrupt_that_only_sounds_like_a_queue_is_none(queue: str, other: str):
    """i40e_vsi_open(), ice_vsi_open_ctrl(), vmxnet3_request_irqs(), idpf_mb_intr_req_irq()."""
    head = "            CPU0       CPU1\n"
    rows = [f" {n}:  5  0  PCI-MSIX-0000:18:00.0  {n}-edge  {name}" for n, name in
            ((38, queue), (39, other))]  # fmt: skip
    sections = [
        Section("irqs", "", f"{ADDRESS} 38 39", "", 0),
        Section("interrupts", "", head + "\n".join(rows), "", 0),
    ]
    found = Interrupts.parse(Capture(sections, complete=True)).of_queues(ADDRESS)
    assert isinstance(found, Known)
    assert [interrupt.name for interrupt in found.value] == [queue]
