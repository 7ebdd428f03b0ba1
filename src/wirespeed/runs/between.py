"""Two ends of one cable: found among the hosts that were read, and judged together."""

from collections.abc import Mapping, Sequence
from itertools import permutations

from wirespeed.doctor.diagnose import asked_ports
from wirespeed.doctor.pair import judge_pair
from wirespeed.doctor.pair_end import End
from wirespeed.model.capture import parse_capture
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import CannotTellError
from wirespeed.model.pair import PairAnswer, PairVerdict
from wirespeed.model.question import Question
from wirespeed.model.shown import shown

Between = tuple[tuple[str, str], tuple[str, str]]
"""Host and port of each end."""


def parse_between(text: str, hosts: Sequence[str]) -> Between:
    """Split `alpha:p0,beta:p0` by the hosts' own names, which may hold a colon or a comma.

    Raises InputError `options.invalid`.
    """
    found = set()
    for first, second in permutations(dict.fromkeys(hosts), 2):
        if text.startswith(f"{first}:"):
            rest = text.removeprefix(f"{first}:")
            port, comma, other = rest.partition(f",{second}:")
            if comma and port and other:
                found.add(((first, port), (second, other)))
    if len(found) != 1:
        raise InputError(
            "options.invalid",
            where="--between",
            found=f"{shown(text, 200)!r} does not name a port of each of two of the hosts "
            f"{shown(', '.join(hosts), 200) or '(none)'}",
            next="write it as in `wirespeed doctor alpha beta --between alpha:p0,beta:p0`, with "
            "the hosts spelled the same in both places",
        )
    return found.pop()


def answer_between(between: Between, captures: Mapping[str, str], question: Question) -> PairAnswer:
    """Judge both ends. Raises InputError `port.unknown` where a host has no such port."""
    labels = f"{between[0][0]}:{between[0][1]}", f"{between[1][0]}:{between[1][1]}"
    silent = [host for host, _ in between if not captures.get(host)]
    if silent:
        return _nothing(labels, f"no answer from {' and '.join(silent)}", "wirespeed capture")
    try:
        first, second = (_end(host, port, captures[host], question) for host, port in between)
    except CannotTellError as error:
        return _nothing(labels, error.reason, error.would_tell)
    return judge_pair((first, second), question)


def _nothing(labels: tuple[str, str], reason: str, would_tell: str) -> PairAnswer:
    verdict = PairVerdict(
        rule="pair.read", outcome="cannot tell", reason=reason, would_tell=would_tell
    )
    return PairAnswer(between=labels, verdicts=(verdict,))


def _end(name: str, port: str, text: str, question: Question) -> End:
    host = HostFacts(name, parse_capture(text, name))
    for one in asked_ports(host, question.model_copy(update={"ports": (port,)})):
        return End(name, host, one)
    raise InputError(
        "port.unknown",
        where=name,
        found=f"{shown(port)} is not on a Linux host: --between compares Linux hosts only",
        next="run the doctor on each host separately, without --between",
    )
