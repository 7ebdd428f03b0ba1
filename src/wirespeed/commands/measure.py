"""`wirespeed measure`: prove a rate with packets."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from wirespeed.commands.described import Described
from wirespeed.commands.measure_command import command as workload_command
from wirespeed.commands.quantities import Duration
from wirespeed.commands.tester_cores import tester_cores
from wirespeed.measure.bench.duts import DUT_NAMES
from wirespeed.model.error import InputError
from wirespeed.model.spec.dpdk import PortDriver
from wirespeed.runs.bench_request import BenchRequest
from wirespeed.runs.dut_on import DutOn, measure_dut_on
from wirespeed.runs.rfc2544 import measure_bench
from wirespeed.runs.tester_of_ports import eal_device

USUAL = BenchRequest(out=Path())
"""What is measured where nothing else is asked for."""


@click.group()
def measure() -> None:
    """Measure zero-loss throughput with the tester, or run your own command n times."""


def _measure_options(command: Callable[..., int]) -> Callable[..., int]:
    """Options that every way of measuring has."""
    options = [
        click.option("--dut", "duts", multiple=True, default=USUAL.duts,
                     show_default=True, help=f"One of {', '.join(DUT_NAMES)}. May be repeated."),
        click.option("--wire", default=USUAL.wire, show_default=True,
                     type=click.Choice(["vhost", "memif", "memif-direct"]),
                     help="Wire from tester to DUT; not with --dut-on."),
        click.option("--frame-bytes", default=USUAL.frame_bytes, show_default=True,
                     help="Sizes with FCS, and mixes such as imix or 64x7+594x4+1518x1; with "
                          "--dut-on sizes alone."),
        click.option("--flows", default=USUAL.flows, show_default=True,
                     help="UDP flows, 1 to 2^24."),
        click.option("--search", "method", default=USUAL.method, show_default=True,
                     type=click.Choice(["informed", "rfc2544", "mlrsearch"]),
                     help="Search method; not with --dut-on."),
        click.option("--width", default=USUAL.width, show_default=True,
                     help="Stop when (upper - lower) / upper is no more than this."),
        click.option("--trial-seconds", default=USUAL.trial_seconds, show_default=True,
                     help="Seconds of a trial of the search."),
        click.option("--confirm-seconds", default=USUAL.confirm_seconds, show_default=True,
                     help="Seconds of the trial that confirms (RFC 2544: 60)."),
        click.option("--confirmations", default=USUAL.confirmations, show_default=True,
                     help="Number of confirming trials, all without loss; the report has the "
                          "range of their rates; not with --dut-on."),
        click.option("--repeats", default=USUAL.repeats, show_default=True,
                     help="Searches per frame size; the report has their median and range; not "
                          "with --dut-on."),
        click.option("--windowed/--continuous", default=USUAL.windowed,
                     help="Split each trial into short windows, each counted separately, for a "
                          "machine on which other programs take CPU time; not with --port, "
                          "--dut-on or a kernel DUT. Continuous trials are those of RFC 2544.  "
                          "[default: continuous; windowed with --demo]"),
        click.option("--burst", default=USUAL.burst, show_default=True,
                     help="Frames sent at once."),
        click.option("--max-load", type=float, help="Highest load to offer, in frames per second."),
        click.option("--gap-limit-ms", default=USUAL.gap_limit_ms, show_default=True,
                     help="Longest pause of a tester core, in ms: a trial with a longer pause is "
                          "void. The record names a higher limit than the default."),
        click.option("--stalled-share", default=USUAL.stalled_share, show_default=True,
                     help="Largest share of a trial in which a tester core was paused; above it "
                          "the trial is void."),
        click.option("--ladder", is_flag=True,
                     help="After each search, measure latency and loss at each tenth of the "
                          "throughput, and above it (RFC 2544, 26.2 and 26.3)."),
        click.option("--back-to-back", default=USUAL.back_to_back, metavar="N",
                     help="After each search, run N searches for the longest burst without loss "
                          "(RFC 9004 recommends 50)."),
        click.option("--recoveries", default=USUAL.recoveries, metavar="N",
                     help="After each search, run N trials that overload the DUT (110 % of the "
                          "throughput), continue at half of it, and measure how long frames are "
                          "still lost (RFC 2544, 26.5)."),
        click.option("--overload-seconds", default=USUAL.overload_seconds, show_default=True,
                     help="Length of that overload; RFC 2544 requires 60 or more."),
        click.option("--resets", default=USUAL.resets, metavar="N",
                     help="After each search, run N trials in which --dut is stopped and started "
                          "again (RFC 2544, 26.6). With --port it needs --dut-on; it does not "
                          "work with memif or a kernel DUT."),
        click.option("--soak", "soak_seconds", type=Duration(), default=USUAL.soak_seconds,
                     help="After each search, repeat trials at the throughput for this time, "
                          "such as 8h or 90m."),
        click.option("--port", "ports", multiple=True,
                     help="Port of the tester that connects to a DUT of your own (PCI address or "
                          "EAL device), instead of --dut; repeat it for a second port."),
        click.option("--expect", default=USUAL.expect, show_default=True,
                     type=click.Choice(["as-sent", "mac", "macswap", "5tswap", "routed"]),
                     help="How the DUT behind --port changes a frame that it returns; not with "
                          "--dut-on."),
        click.option("--peer-mac", "peer_macs", multiple=True,
                     help="Destination MAC address of the frames sent to the DUT: one for all "
                          "--port, or one for each.  [default: 02:00:00:00:00:01]"),
        click.option("--return", "way_back", type=click.Choice(["same", "other"]),
                     help="With two --port: frames return on the same port, and both ports send; "
                          "or on the other port.  [default: other]"),
        click.option("--hardware-stamps", is_flag=True,
                     help="Measure latency with the card's clock if --port has one. A ConnectX "
                          "then turns off completion compression and receives fewer frames."),
        click.option("--bidirectional", is_flag=True,
                     help="With two --port and --return other: send in both directions at once."),
        click.option("--cores", metavar="CPUS",
                     help="CPUs of the tester that poll --port, such as 24-27.  [default: "
                          "isolated CPUs of the card's node, else its last CPU]"),
        click.option("--queues", default=USUAL.queues, show_default=True,
                     help="Queues per --port and direction, 1 to 16; flows are distributed over "
                          "them."),
        click.option("--rx-descriptors", default=USUAL.rx_descriptors,
                     help="Receive descriptors per queue of --port.  [default: 4096, or the "
                          "card's maximum]"),
        click.option("--tx-descriptors", default=USUAL.tx_descriptors,
                     help="Transmit descriptors per queue of --port."),
        click.option("--link-gbps", type=float, help="Line rate of the link at --port, in Gb/s."),
        click.option("--hugepages/--no-hugepages", default=False, help="Hugepages for --port."),
        click.option("--out", type=click.Path(path_type=Path), required=True,
                     help="Run folder: trials.jsonl and the reports."),
        click.option("--resume", is_flag=True, help="Continue the run in --out."),
        click.option("--json", "as_json", is_flag=True,
                     help="Print every record as a JSON line; not with --dut-on."),
        click.option("--demo", is_flag=True,
                     help="Short run: testpmd-macswap and l3fwd-lpm, width 0.02, 0.3 s a trial, "
                          "confirmed three times for 0.5 s; not with --dut-on."),
    ]  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


measure.add_command(workload_command)
measure.add_command(tester_cores)


def _dut_on_options(command: Callable[..., int]) -> Callable[..., int]:
    """Options of a forwarder that is set up and started on a host."""
    options = [
        click.option("--dut-on", metavar="HOST",
                     help="Set both hosts up, start --dut there (ssh://USER@HOST), measure it from "
                          "--port, and undo the set-up, like `wirespeed prove` with a spec; the "
                          "spec is kept in --out."),
        click.option("--dut-port", "dut_ports", multiple=True, metavar="ADDRESS",
                     help="With --dut-on: port of the DUT's host, in the order of the --port "
                          "that it is cabled to.  [default: the addresses of --port]"),
        click.option("--dut-cores", metavar="CPUS",
                     help="With --dut-on: CPUs that forward.  [default: isolated ones of the "
                          "card's node]"),
        click.option("--dut-driver", type=click.Choice([one.value for one in PortDriver]),
                     help="With --dut-on: driver of the ports during the measurement, on both "
                          "hosts; kernel for mlx5.  [default: vfio-pci]"),
        click.option("--memory-mib", type=click.IntRange(64, 1 << 20),
                     help="With --dut-on: hugepages for the program of each host.  "
                          "[default: 1024]"),
        click.option("--tester-on", metavar="HOST",
                     help="With --dut-on: the host of the tester.  [default: here]"),
        click.option("--yes", is_flag=True, help="With --dut-on: do not ask for confirmation."),
    ]  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


_DESCRIBED: Mapping[str, Any] = {
    "reads": "the counters and state of tester, DUT and ports; with --dut-on, both hosts",
    "changes": "the folder --out; ports and host settings, restored at the end",
    "codes": {
        0: "a rate is proven for every frame size",
        1: "at least one is not",
        2: "bad input",
        3: "a host was left changed",
    },
}


@measure.command(cls=Described, **_DESCRIBED)
@_measure_options
@_dut_on_options
def rfc2544(
    dut_on: str | None,
    **options: Any,
) -> int:
    """Search for the highest load without loss, per frame size (RFC 2544, unless --windowed)."""
    return _measured(dut_on, options)


@measure.command(name="single-core", cls=Described, **_DESCRIBED)
@_measure_options
@_dut_on_options
def single_core(dut_on: str | None, **options: Any) -> int:
    """Measure like rfc2544, then offer line rate: average forwarded, cycles, core clock."""
    return _measured(dut_on, options, single_core=True)


def _measured(dut_on: str | None, options: dict[str, Any], *, single_core: bool = False) -> int:
    """Measure here, or what is set up on a host."""
    tester_on, dut_ports, dut_cores, dut_driver, memory_mib, yes = (
        options.pop(name)
        for name in ("tester_on", "dut_ports", "dut_cores", "dut_driver", "memory_mib", "yes")
    )
    options["ports"] = tuple(map(eal_device, options["ports"]))
    asked = BenchRequest(**options, single_core=single_core)
    fields: dict[str, Any] = {
        "tester": tester_on,
        "ports": tuple(map(eal_device, dut_ports)),
        "cores": dut_cores,
        "driver": dut_driver,
        "memory_mib": memory_mib,
    }
    given = {name: value for name, value in fields.items() if value}
    if dut_on is not None:
        return measure_dut_on(asked, DutOn(reach=dut_on, asks=not yes, **given))
    if given or yes:
        raise InputError(
            "options.invalid",
            where="--dut-on",
            found="an option of --dut-on, but no --dut-on",
            next="--dut-on ssh://USER@HOST, or leave out --tester-on, --dut-port, --dut-cores, "
            "--dut-driver, --memory-mib and --yes",
        )
    return measure_bench(asked)
