"""Flood ping between guests: `ping -f`, which needs root, for without it the kernel's users wait.

Each packet leaves when the one before is answered, or after 10 ms. A warm-up comes first: flows,
ARP and a virtual switch's caches are made by it, and it counts nowhere.
"""

from collections.abc import Callable, Mapping, Sequence

from wirespeed.measure.network.endpoint import Endpoint
from wirespeed.measure.network.lease import said
from wirespeed.measure.network.path import await_path
from wirespeed.measure.network.ping_output import PingFigures, parse_ping
from wirespeed.model.error import WirespeedError
from wirespeed.model.network_trial import NetworkTrial, Pair, PingTrial
from wirespeed.model.spec.measure import PingSpec

MAX_INTERVAL_S = 0.01
"""Between two packets of a flood, where none is answered (ping(8))."""
SLACK_S = 30
ANY_MTU = 128
"""Large enough for what ping sends by itself."""
_KILL_S = 5


def flood_pings(
    endpoints: Mapping[str, Endpoint],
    spec: PingSpec,
    pairs: Sequence[Pair],
    record: Callable[[NetworkTrial], None],
    progress: Callable[[str], None] = lambda _doing: None,
) -> None:
    """Ping every pair: warm-ups, then run 1 of every pair, then run 2, and so on.

    Raises nothing for what ping or a guest did: such a trial says why it failed.
    """
    guests = dict(endpoints)
    for warmup in range(spec.warmup):
        for pair in pairs:
            progress(f"ping {pair.client} to {pair.server}, warm-up")
            record(_ping(guests, spec, pair, 0, is_first=warmup == 0))
    for number in range(1, spec.runs + 1):
        for pair in pairs:
            progress(f"ping {pair.client} to {pair.server}, run {number}")
            is_first = number == 1 and not spec.warmup
            record(_ping(guests, spec, pair, number, is_first=is_first))


def _ping(
    guests: dict[str, Endpoint], spec: PingSpec, pair: Pair, number: int, *, is_first: bool
) -> PingTrial:
    try:
        if is_first:
            await_path(guests, pair, ANY_MTU)
        figures = _flood(guests, spec.count, pair)
    except ValueError as error:
        return _trial(pair, number, PingFigures(0, 0, 0, 0, None, None, None, None), str(error))
    except WirespeedError as error:
        why = f"{error.what}: {error.found}"
        return _trial(pair, number, PingFigures(0, 0, 0, 0, None, None, None, None), why)
    return _trial(pair, number, figures, "")


def _flood(guests: dict[str, Endpoint], count: int, pair: Pair) -> PingFigures:
    address = guests[pair.server].attachments[pair.network].address
    limit_s = int(count * MAX_INTERVAL_S) + SLACK_S
    # Interrupted, it prints what it has. Not `-w`: with it, `-c` counts answers and not packets.
    ended = ("timeout", "-s", "INT", "-k", str(_KILL_S), str(limit_s))
    ping = ("env", "LC_ALL=C", "ping", "-n", "-f", "-q", "-c", str(count), str(address))
    done = guests[pair.client].runner.run((*ended, *ping), timeout_s=limit_s + SLACK_S)
    try:
        figures = parse_ping(done.output)
    except ValueError as error:
        raise ValueError(f"{error}: {said(done)}") from None
    if figures.sent != count:
        raise ValueError(f"{figures.sent} of {count} packets sent in {limit_s} s")
    return figures


def _trial(pair: Pair, number: int, figures: PingFigures, failed: str) -> PingTrial:
    return PingTrial(
        pair=pair,
        number=number,
        is_warmup=number == 0,
        sent=figures.sent,
        received=figures.received,
        rtt_us_mean=figures.mean_us,
        rtt_us_mdev=figures.mdev_us,
        rtt_us_min=figures.min_us,
        rtt_us_max=figures.max_us,
        duplicates=figures.duplicates,
        errors=figures.errors,
        failed=failed,
    )
