"""`wirespeed measure`: prove a rate with packets."""

import math
import re
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import click
from pydantic import ValidationError

from wirespeed import __version__
from wirespeed.commands.doctor import examine, unanswered
from wirespeed.commands.measure_command import command as workload_command
from wirespeed.commands.report import FINDINGS, write_reports
from wirespeed.display import Display, single_core_table
from wirespeed.facts.ports import PCI_ADDRESS
from wirespeed.host.clock import utc_now
from wirespeed.host.files import make_folder, write_result
from wirespeed.host.jsonl import ResultWriter
from wirespeed.host.procfs import usable_cpus
from wirespeed.host.reach_destination import HERE
from wirespeed.lab.bed import VirtualBed
from wirespeed.lab.kernel_bed import KernelBed
from wirespeed.measure.bench.campaign import Beds, Campaign, Plan
from wirespeed.measure.bench.duts import DUT_NAMES
from wirespeed.measure.bench.external import ExternalDut
from wirespeed.measure.bench.external_bed import ExternalBed, ExternalPorts
from wirespeed.measure.bench.kernel_path import KERNEL_DUTS
from wirespeed.measure.bench.machine import describe_machine
from wirespeed.measure.bench.run_folder import TRIALS, resumable
from wirespeed.model.error import InputError, MeasurementError, WirespeedError
from wirespeed.model.question import Purpose, Question
from wirespeed.model.trial import End, FrameMix, Record, Setup
from wirespeed.report.diagnosis_hosts import Answer, json_line
from wirespeed.terminal import echo

RFC2544_SIZES = "64,128,256,512,1024,1280,1518"
"""The published report's sizes: RFC 2544 section 9.1 for Ethernet, without its 1024-to-1280 gap."""
IMIX = "64x7+594x4+1518x1"
"""The simple IMIX of 7:4:1, with sizes that include the FCS."""
OPTIONS = {
    "flows": "--flows",
    "relative_width": "--width",
    "trial_seconds": "--trial-seconds",
    "confirm_seconds": "--confirm-seconds",
    "burst_frames": "--burst",
    "link_bps": "--link-gbps",
    "max_load_pps": "--max-load",
}
"""Fields of a plan, and the options that set them."""
RESUME = "the same command with --resume: what was measured until now is kept"
MAC_ADDRESS = re.compile(r"(?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}")


@click.group()
def measure() -> None:
    """Prove a rate with packets."""


def _measure_options(command: Callable[..., int]) -> Callable[..., int]:
    """Options that every way of measuring has."""
    options = [
        click.option("--dut", "duts", multiple=True, default=("testpmd-macswap",),
                     show_default=True, help=f"One of {', '.join(DUT_NAMES)}. May be repeated."),
        click.option("--wire", default="vhost", show_default=True,
                     type=click.Choice(["vhost", "memif"]), help="What joins tester and DUT."),
        click.option("--frame-bytes", default=RFC2544_SIZES, show_default=True,
                     help="Sizes with FCS, and mixes such as imix or 64x7+594x4+1518x1."),
        click.option("--flows", default=8192, show_default=True, help="UDP flows, 1 to 2^24."),
        click.option("--search", "method", default="informed", show_default=True,
                     type=click.Choice(["informed", "rfc2544", "mlrsearch"])),
        click.option("--width", default=0.005, show_default=True,
                     help="Stop when (upper - lower) / upper is no more than this."),
        click.option("--trial-seconds", default=1.0, show_default=True,
                     help="Duration of a trial of the search."),
        click.option("--confirm-seconds", default=60.0, show_default=True,
                     help="Duration of the trial that confirms (RFC 2544: 60)."),
        click.option("--windowed/--continuous", default=False, show_default=True,
                     help="Make each trial of short windows that count one by one, for a machine "
                          "that takes cores away; not with --port or a DUT of the kernel's. "
                          "Continuous trials are RFC 2544's."),
        click.option("--burst", default=32, show_default=True, help="Frames sent at once."),
        click.option("--max-load", type=float, help="Offer no more frames per second than this."),
        click.option("--port", "ports", multiple=True,
                     help="Measure a DUT of your own behind this port (PCI address or EAL device) "
                          "instead of --dut; repeat it for the way back."),
        click.option("--expect", default="as-sent", show_default=True,
                     type=click.Choice(["as-sent", "mac", "macswap", "5tswap", "routed"]),
                     help="How the DUT behind --port hands a frame back."),
        click.option("--peer-mac", default="02:00:00:00:00:01", show_default=True,
                     help="Destination of the frames sent to the DUT behind --port."),
        click.option("--bidirectional", is_flag=True, help="With two --port: both ways at once."),
        click.option("--link-gbps", type=float, help="Line rate of the link behind --port."),
        click.option("--hugepages/--no-hugepages", default=False, help="For --port."),
        click.option("--out", type=click.Path(path_type=Path), required=True,
                     help="Run folder: trials.jsonl and the reports."),
        click.option("--resume", is_flag=True, help="Go on with the run in --out."),
        click.option("--json", "as_json", is_flag=True, help="Print every record as a JSON line."),
        click.option("--demo", is_flag=True,
                     help="Short: testpmd-macswap and l3fwd-lpm, 0.3 s a trial, 1 s confirmed."),
    ]  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


measure.add_command(workload_command)


@measure.command()
@_measure_options
def rfc2544(**options: Any) -> int:
    """Search for the highest load without loss, per frame size (RFC 2544, unless --windowed)."""
    return _run(**options)


@measure.command(name="single-core")
@_measure_options
def single_core(**options: Any) -> int:
    """The same, and print Mpps, Gb/s, core frequency and cycles per packet."""
    return _run(**options, single_core=True)


def _run(
    *,
    out: Path,
    resume: bool,
    as_json: bool,
    demo: bool,
    single_core: bool = False,
    **options: Any,
) -> int:
    if demo:
        options.update(duts=("testpmd-macswap", "l3fwd-lpm"), trial_seconds=0.3)
        options.update(confirm_seconds=1.0)
    plan = _plan(**options)
    beds = _beds(plan, **options)
    ports = "{ports}: frames to {peer_mac}, back {expect}".format(
        **{**options, "ports": ", ".join(options["ports"])}
    )
    settings = plan.settings(
        wire=ports if options["ports"] else _wires(plan, options["wire"]),
        bidirectional=options["bidirectional"],
    )
    make_folder(out)
    # Opened before it is read: nobody else can add to it in between.
    with closing(ResultWriter(out / TRIALS)) as writer:
        recorded = resumable(out, settings, resume=resume)
        if not recorded:
            writer.clear()

        def record(item: Record) -> None:
            line = item.model_dump_json()
            writer.append(line)
            if as_json:
                echo(line)

        try:
            if not recorded:
                record(_setup(plan, settings))
                answer = examine_machine(options["ports"])
                write_result(out / FINDINGS, json_line(answer) + "\n")
            with Display(len(plan.searches)) as display:
                outcomes = Campaign(plan, beds, record, display, recorded).run()
            record(End(finished_at=utc_now(), completed=True, reason=""))
        except BaseException as error:
            # The record says that it was cut short; if that cannot be written, its absence does.
            with suppress(WirespeedError):
                why = str(error) or "interrupted"
                writer.append(
                    End(finished_at=utc_now(), completed=False, reason=why).model_dump_json()
                )
                write_reports(out)
            if isinstance(error, MeasurementError):
                error.next = error.next or RESUME
            raise
        write_reports(out)
    if single_core and not as_json:
        echo(single_core_table(outcomes))
    if not as_json:
        echo(f"report: {out / 'report.html'}")
    return 0 if all(o.throughput_pps is not None for o in outcomes) else 1


def examine_machine(ports: Sequence[str]) -> Answer:
    """Ask the doctor about this machine. That it gives no answer does not end a measurement."""
    addresses = tuple(port for port in ports if PCI_ADDRESS.fullmatch(port))
    try:
        [(answer, _)] = examine([HERE], Question(purpose=Purpose.DPDK, ports=addresses))
    except WirespeedError as error:
        return unanswered(HERE, error)
    return answer


def _plan(**options: Any) -> Plan:
    try:
        return Plan(
            duts=("external",) if options["ports"] else tuple(options["duts"]),
            mixes=tuple(_mix(label.strip()) for label in options["frame_bytes"].split(",")),
            flows=options["flows"],
            method=options["method"],
            relative_width=options["width"],
            trial_seconds=options["trial_seconds"],
            confirm_seconds=options["confirm_seconds"],
            burst_frames=options["burst"],
            link_bps=_bits(options["link_gbps"]),
            max_load_pps=options["max_load"],
            windowed=options["windowed"],
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
            next="sizes of 64 to 9600 bytes with FCS, or mixes such as imix or 64x7+594x4+1518x1",
        ) from None


def _bits(gigabits: float | None) -> int | None:
    if gigabits is None:
        return None
    if not math.isfinite(gigabits):
        raise InputError(
            "options.invalid", where="--link-gbps", found=f"{gigabits}: no rate", next="such as 100"
        )
    return int(gigabits * 1e9)


def _beds(plan: Plan, **options: Any) -> Beds:
    kernel = [dut for dut in plan.duts if dut in KERNEL_DUTS]
    if plan.windowed and (options["ports"] or kernel):
        raise InputError(
            "options.invalid",
            where="--windowed",
            found="--port" if options["ports"] else f"--dut {kernel[0]}",
            so="whether the DUT had its core while frames were sent cannot be told",
            next="leave --windowed out: its trials are continuous",
        )
    sizes = [share.frame_bytes for mix in plan.mixes for share in mix.shares]
    largest = max(1518, *sizes)
    ports: Sequence[str] = options["ports"]
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
            else VirtualBed(dut, options["wire"], flows=plan.flows, frame_bytes_max=largest)
        )
    _check_ports(ports, options)
    cpus = usable_cpus()
    streams = ((0, 0),) if len(ports) == 1 else ((0, 1), (1, 0))
    external = ExternalPorts(
        devices=tuple(ports),
        streams=streams if options["bidirectional"] else streams[:1],
        peer_mac=options["peer_mac"],
        control_cpu=cpus[0],
        worker_cpus=cpus[-1:],
        hugepages=options["hugepages"],
        frame_bytes_max=largest,
    )
    return lambda dut: ExternalBed(ExternalDut(dut, options["expect"]), external)


def _check_ports(ports: Sequence[str], options: dict[str, Any]) -> None:
    wrong = None
    if len(ports) > 2:
        wrong = ("--port", f"{len(ports)} ports", "one --port, or two: out and back")
    elif options["bidirectional"] and len(ports) < 2:
        wrong = ("--bidirectional", "one --port", "a second --port")
    elif not MAC_ADDRESS.fullmatch(options["peer_mac"]):
        wrong = ("--peer-mac", f"{options['peer_mac']!r}", "a MAC address: 02:00:00:00:00:01")
    if wrong:
        raise InputError("options.invalid", where=wrong[0], found=wrong[1], next=wrong[2])


def _setup(plan: Plan, settings: dict[str, str]) -> Setup:
    return Setup(
        wirespeed=__version__,
        started_at=utc_now(),
        machine=describe_machine(),
        duts={},
        tester={},
        settings=settings,
        link_bps=plan.link_bps,
        full_method_seconds=plan.full_method_seconds,
        trial_seconds=plan.trial_seconds,
        confirm_seconds=plan.confirm_seconds,
        planned=len(plan.searches),
    )
