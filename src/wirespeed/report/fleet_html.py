"""The page of a fleet: one file that opens offline, with search, filters and each host's answer.

It is the one page that has a script: ten thousand hosts are too many to be read from top to bottom.
The script is in the page, and the page's policy lets no other run, by its hash, and loads nothing.
What hosts printed is data to it, and stands in the page by `textContent` alone. Without the script
the causes and outliers can be read all the same.
"""

import hashlib
import html
import json
from base64 import b64encode
from collections.abc import Iterator
from importlib.resources import files

from wirespeed import __version__
from wirespeed.fleet.records import Cause, Fleet, FleetFinding, FleetHost, HostState, Outlier
from wirespeed.model.shown import shown
from wirespeed.report.fleet_text import (
    NOTHING_IN_COMMON,
    common_text,
    cost_text,
    event_text,
    headline,
    names_text,
)
from wirespeed.report.load_text import LoadUnit

PLACES = ("rack", "switch", "row", "pod", "room", "site", "role", "group", "card")
"""What the map is by: the first of which hosts have several values."""
NAMES = 24


class _Texts:
    """Every text once: hosts of a fleet say much alike."""

    def __init__(self) -> None:
        self._number: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        return self._number.setdefault(shown(text, 2000), len(self._number))

    def all(self) -> list[str]:
        return list(self._number)


def fleet_page(fleet: Fleet, titles: dict[str, str]) -> str:
    """Give the page. `titles`: of the rules."""
    script = _template("fleet.js")
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    parts = {
        "POLICY": f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'",
        "TITLE": _safe(headline(fleet)),
        "META": _safe(f"Read {fleet.at[:19]} UTC, from {fleet.source}"),
        "STYLE": _template("style.css") + _template("fleet.css"),
        "EVENTS": "\n".join(_events(fleet)),
        "CAUSES": "\n".join(_causes(fleet)),
        "OUTLIERS": "\n".join(_outliers(fleet)),
        "FOOTER": _safe(
            f"wirespeed {__version__}. Look first at what hosts have in common; it does not prove "
            "a cause. This page loads nothing."
        ),
        "DATA": _data(fleet, titles),
        "SCRIPT": script,
    }
    # In one pass: a host's text that looks like a placeholder stays as it is.
    pieces = _template("fleet.html").split("@@")
    return "".join(parts[piece] if n % 2 else piece for n, piece in enumerate(pieces))


def _template(name: str) -> str:
    folder = files("wirespeed.report").joinpath("templates")
    return folder.joinpath(name).read_text(encoding="utf-8")


def _safe(text: str) -> str:
    return html.escape(shown(text, 2000))


def _events(fleet: Fleet) -> Iterator[str]:
    if not fleet.link_events:
        return
    yield '<section id="events"><h2>Links that went down at once</h2>'
    for event in fleet.link_events:
        shared = "; ".join(common_text(one) for one in event.common) or NOTHING_IN_COMMON
        yield f'<div class="cause risk"><h3>{_safe(event_text(event, fleet))}</h3>'
        yield f"<p>In common: {_safe(shared)}</p>"
        yield f'<p class="meta">{_safe(names_text(event.links, NAMES))}</p></div>'
    yield "</section>"


def _causes(fleet: Fleet) -> Iterator[str]:
    if not fleet.causes:
        yield "<p>Nothing above a note was found.</p>"
    for number, cause in enumerate(fleet.causes, 1):
        yield f'<div class="cause {cause.severity}" data-price="{cause.cost_pps:g}">'
        yield f"<h3>{number}. {_safe(_head(cause, fleet))}</h3>"
        if cause.common:
            text = "; ".join(common_text(one) for one in cause.common)
            yield f"<p>In common: {_safe(text)}</p>"
        seen = "; ".join(one.found for one in cause.example.evidence)
        yield f"<p>{_safe(cause.hosts[0])}: {_safe(seen)}</p>"
        if cause.example.remedy:
            yield f"<p>Fix: {_safe(cause.example.remedy)}</p>"
        yield f'<p class="meta">{_safe(cause.rule)} on {_links(cause.hosts)}</p></div>'


def _head(cause: Cause, fleet: Fleet) -> str:
    count = len(cause.hosts)
    cost = cost_text(cause, fleet)
    return f"{cause.title}: {count} host{'s' if count > 1 else ''}{f', {cost}' if cost else ''}"


def _links(names: tuple[str, ...]) -> str:
    if len(names) > NAMES:
        return _safe(names_text(names, NAMES))
    return ", ".join(_safe(name) for name in names)


def _outliers(fleet: Fleet) -> Iterator[str]:
    if not fleet.outliers:
        yield "<p>None.</p>"
        return
    yield '<div class="wide"><table><thead><tr><th>Hosts</th><th>Setting</th><th>Here</th>'
    yield "<th>The others</th></tr></thead><tbody>"
    for outlier in fleet.outliers:
        yield from _outlier(outlier)
    yield "</tbody></table></div>"


def _outlier(outlier: Outlier) -> Iterator[str]:
    names = f"{len(outlier.hosts)} of {outlier.of}: {names_text(outlier.hosts, NAMES)}"
    for number, one in enumerate(outlier.differences):
        first = f'<th rowspan="{len(outlier.differences)}">{_safe(names)}</th>'
        yield f"<tr>{'' if number else first}<td>{_safe(one.setting)}</td>"
        yield f"<td>{_safe(one.value)}</td><td>{_safe(one.usual)}</td></tr>"


def _data(fleet: Fleet, titles: dict[str, str]) -> str:
    """Give what the script reads, as JSON in which nothing can end the element that holds it."""
    text = _Texts()
    unit = LoadUnit(fleet.question.frame_bytes)
    numbers = {host.name: number for number, host in enumerate(fleet.hosts)}

    def finding(one: FleetFinding) -> list[object]:
        cost = f"{unit.text(one.cost_pps)} {unit.name}" if one.cost_pps > 0 else ""
        return [
            text(one.rule),
            text(titles.get(one.rule, one.rule)),
            text(one.where),
            text(one.severity),
            [[text(e.found), text(e.source)] for e in one.evidence],
            text(one.so),
            text(cost) if cost else 0,
            text(one.remedy),
            [text(command) for command in one.commands],
        ]

    def host(one: FleetHost) -> list[object]:
        return [
            shown(one.name),
            list(HostState).index(one.state),
            text(one.what),
            text(one.found),
            text(one.next),
            [[text(k), text(", ".join(values))] for k, values in one.traits.items()],
            [finding(f) for f in one.findings],
            [[text(k), text(v)] for k, v in one.about],
        ]

    text("")
    data = {
        "states": list(HostState),
        "place": _place(fleet),
        "hosts": [host(one) for one in fleet.hosts],
        "causes": [
            [text(cause.title), [numbers[name] for name in cause.hosts]] for cause in fleet.causes
        ],
        "outliers": [
            [
                one.of,
                [numbers[name] for name in one.hosts],
                [[text(d.setting), text(d.value), text(d.usual)] for d in one.differences],
            ]
            for one in fleet.outliers
        ],
    }
    data["texts"] = text.all()
    said = json.dumps(data, separators=(",", ":"))
    return said.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _place(fleet: Fleet) -> str:
    for trait in PLACES:
        if len({host.traits[trait] for host in fleet.hosts if trait in host.traits}) > 1:
            return trait
    return "rack"
