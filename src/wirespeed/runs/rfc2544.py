"""A bench measured by RFC 2544: the searches of a plan, each record written as it comes; pages."""

import math
from collections.abc import Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from typing import TypeGuard

from pydantic import ValidationError

from wirespeed import __version__
from wirespeed.display import Display, line_rate_table, single_core_table
from wirespeed.facts.ports import PCI_ADDRESS
from wirespeed.host.clock import utc_now
from wirespeed.host.files import make_folder, write_result
from wirespeed.host.jsonl import ResultWriter
from wirespeed.host.procfs import describe_machine
from wirespeed.host.reach_destination import HERE
from wirespeed.lab.bed import VirtualBed
from wirespeed.lab.kernel_bed import KernelBed
from wirespeed.lab.wire import MEMIFS
from wirespeed.measure.bench.campaign import Beds, Campaign
from wirespeed.measure.bench.duts import DUT_NAMES
from wirespeed.measure.bench.external import ExternalDut
from wirespeed.measure.bench.external_bed import ExternalBed
from wirespeed.measure.bench.further import Further
from wirespeed.measure.bench.kernel_path import KERNEL_DUTS
from wirespeed.measure.bench.plan import Plan
from wirespeed.measure.bench.run_folder import TRIALS, resumable
from wirespeed.measure.bench.trial_maker import TesterBounds
from wirespeed.model.error import InputError, MeasurementError, WirespeedError
from wirespeed.model.frame_mix import FrameMix
from wirespeed.model.question import Purpose, Question
from wirespeed.model.trial import End, Record, Setup, Trial
from wirespeed.report.answer_text import answer_text
from wirespeed.report.diagnosis_hosts import Answer, json_line
from wirespeed.runs.bench_request import BenchRequest
from wirespeed.runs.examine import examine, unanswered
from wirespeed.runs.live_ports import keep_links, may_be_live, netdevs_of, refuse_carriers
from wirespeed.runs.plan_hosts import facts_at
from wirespeed.runs.run_pages import FINDINGS, write_reports
from wirespeed.runs.tester_of_ports import external_ports, streams_of, wire_of
from wirespeed.terminal import echo

IMIX = "64x7+594x4+1518x1"
"""The simple IMIX of 7:4:1, with sizes that include the FCS."""


OPTIONS = {
    "flows": "--flows",
    "relative_width": "--width",
    "trial_seconds": "--trial-seconds",
    "confirm_seconds": "--confirm-seconds",
    "confirmations": "--confirmations",
    "repeats": "--repeats",
    "burst_frames": "--burst",
    "link_bps": "--link-gbps",
    "max_load_pps": "--max-load",
    "gap_limit_ms": "--gap-limit-ms",
    "back_to_back": "--back-to-back",
    "recoveries": "--recoveries",
    "overload_seconds": "--overload-seconds",
    "resets": "--resets",
    "soak_seconds": "--soak",
    "stalled_share": "--stalled-share",
}
"""Fields of a plan, and the options that set them."""


ANSWER = "answer.txt"
"""What a demo showed, in a few lines."""
RESUME = "add --resume when you run the same command again: the trials made so far are kept"


def measure_bench(asked: BenchRequest) -> int:
    """Measure, write every record and the pages; give the exit code.

    Raises InputError `options.invalid`, `dut.unknown`; MeasurementError, with what was measured
    kept for `--resume`.
    """
    if asked.demo:
        asked = replace(
            asked,
            duts=("testpmd-macswap", "l3fwd-lpm"),
            width=0.02,
            trial_seconds=0.3,
            confirm_seconds=0.5,
            confirmations=3,
            windowed=asked.windowed is not False,
        )
    plan = _plan(asked)
    beds = _beds(plan, asked)
    settings = plan.settings(
        wire=wire_of(asked) if asked.ports else _wires(plan, asked.wire),
        bidirectional=asked.bidirectional,
    )
    live = _live_ports(asked.ports)
    make_folder(asked.out)
    # Opened before it is read: nobody else can add to it in between.
    with closing(ResultWriter(asked.out / TRIALS)) as writer:
        recorded = resumable(asked.out, settings, resume=asked.resume)
        if not recorded:
            writer.clear()

        of_line = [one for one in recorded if is_of_line(one)]

        def record(item: Record) -> None:
            if is_of_line(item):
                of_line.append(item)
            line = item.model_dump_json()
            writer.append(line)
            if asked.as_json:
                echo(line)

        try:
            if not recorded:
                record(_setup(plan, settings, _ways(asked)))
                answer = examine_machine(asked.ports)
                write_result(asked.out / FINDINGS, json_line(answer) + "\n")
            with (
                ExitStack() as kept,
                Display(len(plan.searches), brief=asked.demo) as display,
            ):
                keep_links(kept, live)
                outcomes = Campaign(plan, beds, record, display, recorded).run()
            record(End(finished_at=utc_now(), completed=True, reason=""))
        except BaseException as error:
            # The record says that it was cut short; if that cannot be written, its absence does.
            with suppress(WirespeedError):
                why = str(error) or "interrupted"
                writer.append(
                    End(finished_at=utc_now(), completed=False, reason=why).model_dump_json()
                )
                write_reports(asked.out)
            if isinstance(error, MeasurementError):
                error.next = f"{error.next}\n{RESUME}".lstrip()
            raise
        write_reports(asked.out)
        if asked.demo:
            write_result(asked.out / ANSWER, answer_text(outcomes))
    if asked.single_core and not asked.as_json:
        echo(single_core_table(outcomes))
        echo(line_rate_table(of_line))
    if not asked.as_json:
        echo(f"report: {asked.out / 'report.html'}")
    return 0 if all(o.throughput_pps is not None for o in outcomes) else 1


def is_of_line(record: Record) -> TypeGuard[Trial]:
    """Tell whether it is a trial of a full line."""
    return isinstance(record, Trial) and record.purpose == "line"


def _live_ports(ports: Sequence[str]) -> tuple[str, ...]:
    """Give the netdevs behind the ports. Raises InputError `port.cuts_off`."""
    if not may_be_live(ports):
        return ()
    facts = facts_at(HERE)
    netdevs = netdevs_of(ports, facts)
    refuse_carriers(netdevs, facts)
    return netdevs


def examine_machine(ports: Sequence[str]) -> Answer:
    """Ask the doctor about this machine. That it gives no answer does not end a measurement."""
    # Behind a comma stand options for DPDK's driver.
    named = [port.partition(",")[0] for port in ports]
    addresses = tuple(port for port in named if PCI_ADDRESS.fullmatch(port))
    try:
        [(answer, _)] = examine([HERE], Question(purpose=Purpose.DPDK, ports=addresses))
    except WirespeedError as error:
        return unanswered(HERE, error)
    return answer


def _plan(asked: BenchRequest) -> Plan:
    try:
        return Plan(
            duts=("external",) if asked.ports else tuple(asked.duts),
            mixes=tuple(_mix(label.strip()) for label in asked.frame_bytes.split(",")),
            flows=asked.flows,
            method=asked.method,
            relative_width=asked.width,
            trial_seconds=asked.trial_seconds,
            confirm_seconds=asked.confirm_seconds,
            confirmations=asked.confirmations,
            repeats=asked.repeats,
            burst_frames=asked.burst,
            link_bps=_bits(asked),
            max_load_pps=asked.max_load,
            windowed=bool(asked.windowed),
            further=Further(
                line_rate=asked.single_core,
                ladder=asked.ladder,
                back_to_back=asked.back_to_back,
                recoveries=asked.recoveries,
                overload_seconds=asked.overload_seconds,
                resets=asked.resets,
                soak_seconds=asked.soak_seconds,
            ),
            bounds=TesterBounds(gap_limit_ms=asked.gap_limit_ms, stalled_share=asked.stalled_share),
        )
    except ValidationError as error:
        first = error.errors()[0]
        field = str(first["loc"][0]) if first["loc"] else ""
        said = first["msg"].removeprefix("Value error, ")
        raise InputError(
            "options.invalid",
            where=OPTIONS.get(field, "command line"),
            found=f"{first['input']}: {said}" if field else said,
            next="wirespeed measure rfc2544 --help",
        ) from None


def _wires(plan: Plan, wire: str) -> str:
    """Name what joins tester and DUTs: the kernel's are joined by veth, whatever is asked for."""
    kernel = [dut in KERNEL_DUTS for dut in plan.duts]
    return "veth" if all(kernel) else f"{wire}, veth" if any(kernel) else wire


def _mix(label: str) -> FrameMix:
    try:
        return FrameMix.parse(IMIX if label == "imix" else label)
    except ValueError as error:
        wrong = isinstance(error, ValidationError) and error.errors()[0]["msg"]
        raise InputError(
            "options.invalid",
            where="--frame-bytes",
            found=f"{label!r}: {wrong or 'no frame size'}",
            next="give sizes of 64 to 9600 bytes with FCS, or mixes such as imix or "
            "64x7+594x4+1518x1",
        ) from None


def _bits(asked: BenchRequest) -> int | None:
    """Give the line rate of all ports that send."""
    gigabits = asked.link_gbps
    if gigabits is None:
        return None
    if not math.isfinite(gigabits):
        raise InputError(
            "options.invalid",
            where="--link-gbps",
            found=f"{gigabits} is not a valid rate",
            next="give Gb/s, such as 100",
        )
    return int(gigabits * 1e9) * _ways(asked)


def _ways(asked: BenchRequest) -> int:
    return len(streams_of(asked)) if asked.ports else 1


def _beds(plan: Plan, asked: BenchRequest) -> Beds:
    kernel = [dut for dut in plan.duts if dut in KERNEL_DUTS]
    if plan.windowed and (asked.ports or kernel):
        raise InputError(
            "options.invalid",
            where="--windowed",
            found="--port" if asked.ports else f"--dut {kernel[0]}",
            so="wirespeed cannot see whether the DUT had its core while frames were sent",
            next="leave --windowed out: trials are then continuous; where the tester's machine "
            "stalls, --gap-limit-ms and --stalled-share",
        )
    if plan.further.resets and (asked.ports or kernel or asked.wire in MEMIFS):
        raise InputError(
            "options.invalid",
            where="--resets",
            found="--port"
            if asked.ports
            else f"--dut {kernel[0]}"
            if kernel
            else f"--wire {asked.wire}",
            so="wirespeed cannot restart that DUT while the tester sends",
            next="leave --resets out, or measure a DUT on --wire vhost or with --dut-on",
        )
    sizes = [share.frame_bytes for mix in plan.mixes for share in mix.shares]
    largest = max(1518, *sizes)
    ports = asked.ports
    if not ports:
        unknown = [dut for dut in plan.duts if dut not in DUT_NAMES]
        if unknown:
            raise InputError(
                "dut.unknown",
                where=unknown[0],
                found="no DUT of that name",
                next=f"one of {', '.join(DUT_NAMES)}",
            )
        return lambda dut: (
            KernelBed(dut, frame_bytes_max=largest)
            if dut in KERNEL_DUTS
            else VirtualBed(dut, asked.wire, flows=plan.flows, frame_bytes_max=largest)
        )
    external = external_ports(asked, largest)
    return lambda dut: ExternalBed(ExternalDut(dut, asked.expect), external)


def _setup(plan: Plan, settings: dict[str, str], ways: int) -> Setup:
    return Setup(
        wirespeed=__version__,
        started_at=utc_now(),
        machine=describe_machine(),
        duts={},
        tester={},
        settings=settings,
        # A page counts the ports that sent.
        link_bps=plan.link_bps and plan.link_bps // ways,
        full_method_seconds=plan.full_method_seconds,
        trial_seconds=plan.trial_seconds,
        confirm_seconds=plan.confirm_seconds,
        planned=len(plan.searches),
    )
