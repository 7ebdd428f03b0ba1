"""`wirespeed watch`: a line a port, live."""

import sys

import click

from wirespeed.commands.described import Described
from wirespeed.commands.quantities import FiniteRange
from wirespeed.commands.shared_options import frame_bytes_option, purpose_option, size_asked
from wirespeed.host.clock import utc_now
from wirespeed.host.closing import until_stopped
from wirespeed.host.reach_destination import HERE
from wirespeed.model.question import Purpose, Question
from wirespeed.terminal import echo, echo_over, takes_escapes


@click.command(
    cls=Described,
    reads="the host's counters at every reading; once a minute, all that doctor reads",
    changes="nothing",
    codes={
        0: "watched until --count, --seconds or SIGTERM",
        2: "bad input, or a host that could not be read",
    },
)
@click.argument("host", default=HERE)
@click.option(
    "--port",
    "ports",
    multiple=True,
    metavar="NETDEV",
    help="Netdev to watch; may be repeated.  [default: every one with a device]",
)
@purpose_option
@frame_bytes_option(None)
@click.option(
    "--every",
    "every_s",
    default=1.0,
    show_default=True,
    type=FiniteRange(0.2, 3600),
    help="Seconds between readings.",
)
@click.option("--count", type=click.IntRange(1), help="Number of readings.  [default: no end]")
@click.option(
    "--seconds", type=FiniteRange(1, 31536000), help="Seconds to watch.  [default: no end]"
)
def watch(
    host: str,
    ports: tuple[str, ...],
    purpose: str | None,
    frame_bytes: int | None,
    every_s: float,
    count: int | None,
    seconds: float | None,
) -> int:
    """Watch each port: rate, share of its ceiling, limit, last change.

    Rates are on the wire (L1), from the driver's counters. HOST is here, or a Linux host that SSH
    reaches. On a terminal each port has one line that is updated; otherwise each reading prints one
    line per port, as with TERM=dumb.
    """
    # Only here: what judges hosts takes longer to load than a help.
    from wirespeed.report.watch_text import ago, watch_head, watch_line
    from wirespeed.runs.watch_run import watch as watched

    question = Question(purpose=Purpose(purpose) if purpose else None, **size_asked(frame_bytes))
    is_live, height = takes_escapes(sys.stdout), 0
    readings = watched(host, question, ports=ports, every_s=every_s, count=count, seconds=seconds)
    with until_stopped():
        for number, state in enumerate(readings):
            time = "" if is_live else utc_now()[11:19]
            lines = [] if number and not is_live else [watch_head(time)]
            for netdev, port in state.ports.items():
                since_s = port.standing.uptime_s - port.changed_at_s
                lines.append(
                    watch_line(netdev, port.seen, port.change and ago(port.change, since_s), time)
                )
            if is_live:
                echo_over(lines, height)
                height = len(lines)
            else:
                for line in lines:
                    echo(line.rstrip())
    return 0
