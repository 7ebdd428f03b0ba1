"""Writes an answer or figures, and reads them again.

Texts are what hosts printed: none of them keeps the answer of the others from being kept.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Table, func, insert, select

from wirespeed.fleet.changes import HostThen, Then
from wirespeed.fleet.gate import Value
from wirespeed.fleet.records import Fleet, HostState
from wirespeed.model.error import InputError
from wirespeed.runs.store import tables

PIECE = 5000
"""Rows that are handed over at once."""


@dataclass(frozen=True, slots=True)
class KeptRun:
    """A run in a line."""

    id: int
    at: str
    source: str
    hosts: int
    well: int
    causes: int


def keep_fleet(connection: Connection, fleet: Fleet) -> int:
    """Write an answer; give its number."""
    run = _next(connection, tables.runs.c.id)
    connection.execute(
        insert(tables.runs).values(
            id=run,
            at=fleet.at,
            source=fleet.source,
            question=fleet.question.model_dump_json(),
            hosts=len(fleet.hosts),
            well=fleet.count(HostState.WELL),
            causes=len(fleet.causes),
        )
    )
    _put(connection, tables.hosts, _hosts(run, fleet))
    _put(connection, tables.traits, _traits(run, fleet))
    _put(connection, tables.findings, _findings(run, fleet))
    _put(connection, tables.causes, _causes(run, fleet))
    _put(connection, tables.settings, _settings(connection, fleet))
    return run


def kept_runs(connection: Connection) -> list[KeptRun]:
    """Give every run, the newest last."""
    t = tables.runs.c
    rows = connection.execute(
        select(t.id, t.at, t.source, t.hosts, t.well, t.causes).order_by(t.id)
    )
    return [KeptRun(*row) for row in rows]


def host_history(connection: Connection, name: str) -> Iterator[tuple[KeptRun, HostThen]]:
    """Give each run that has the host, and how it was then. Settings are left out."""
    for run in kept_runs(connection):
        found = hosts_then(connection, run.id, name).get(_key(name))
        if found is not None:
            yield run, found


def then(connection: Connection, run: int) -> Then:
    """Give a run as `diff` compares it. Raises InputError `fleet.no_run`."""
    kept = {one.id: one for one in kept_runs(connection)}
    if run not in kept:
        raise InputError(
            "fleet.no_run",
            where=str(run),
            found=f"{len(kept)} runs are kept",
            next="list the kept runs with `wirespeed fleet history`",
        )
    hosts = hosts_then(connection, run)
    keys = {host.profile for host in hosts.values()}
    t = tables.settings.c
    settings: dict[str, dict[str, str]] = {}
    for profile, name, value in connection.execute(select(t.profile, t.name, t.value)):
        if profile in keys:
            settings.setdefault(profile, {})[name] = value
    return Then(kept[run].at, hosts, settings)


def hosts_then(connection: Connection, run: int, only: str | None = None) -> dict[str, HostThen]:
    """Give the hosts of a run by name, or one of them."""
    h, f = tables.hosts.c, tables.findings.c
    rules: dict[str, set[str]] = {}
    asked = select(f.host, f.rule).where(f.run == run)
    for host, rule in connection.execute(
        asked if only is None else asked.where(f.host == _key(only))
    ):
        rules.setdefault(host, set()).add(rule)
    wanted = select(h.name, h.state, h.what, h.profile).where(h.run == run).order_by(h.name)
    rows = connection.execute(wanted if only is None else wanted.where(h.name == _key(only)))
    return {
        name: HostThen(HostState(state), what, frozenset(rules.get(name, ())), profile)
        for name, state, what, profile in rows
    }


def keep_figures(
    connection: Connection, at: str, name: str, host: str, unit: str, values: Sequence[float]
) -> None:
    """Write values of one figure that were measured together. Raises InputError `figure.unit`."""
    t = tables.figures.c
    known = connection.execute(
        select(t.unit).where(t.name == name, t.host == host).limit(1)
    ).scalar_one_or_none()
    if known not in (None, unit):
        raise InputError(
            "figure.unit",
            where=name,
            found=f"its kept values are in {known or 'no unit'}, the new ones in "
            f"{unit or 'no unit'}",
            next="use the same unit, or another name",
        )
    first, batch = _next(connection, t.id), _next(connection, t.batch)
    _put(
        connection,
        tables.figures,
        (
            {
                "id": first + number, "at": at, "name": name, "host": host, "unit": unit,
                "value": value, "batch": batch,
            }
            for number, value in enumerate(values)
        ),
    )  # fmt: skip


def figure_series(connection: Connection, name: str, host: str) -> tuple[list[Value], str]:
    """Give every value of a figure as it was kept, the newest last, and its unit."""
    t = tables.figures.c
    rows = connection.execute(
        select(t.at, t.value, t.batch, t.unit).where(t.name == name, t.host == host).order_by(t.id)
    ).all()
    return [Value(at, value, batch) for at, value, batch, _ in rows], rows[0][3] if rows else ""


def every_table(connection: Connection) -> Iterator[tuple[str, list[str], list[Any]]]:
    """Give each table: name, columns, rows."""
    for table in tables.metadata.sorted_tables:
        rows = connection.execute(select(table)).all()
        yield table.name, [column.name for column in table.columns], list(map(tuple, rows))


def _next(connection: Connection, column: Any) -> int:
    return int(connection.execute(select(func.max(column))).scalar() or 0) + 1


def _put(connection: Connection, table: Table, rows: Iterable[Mapping[str, object]]) -> None:
    piece: list[Mapping[str, object]] = []
    for row in rows:
        piece.append({name: _text(v) if isinstance(v, str) else v for name, v in row.items()})
        if len(piece) == PIECE:
            connection.execute(insert(table), piece)
            piece = []
    if piece:
        connection.execute(insert(table), piece)


def _key(text: str) -> str:
    """Fit a text into a column that tells rows apart; of a longer one the start and a digest."""
    text = _text(text)
    if len(text) <= tables.KEY:
        return text
    return f"{text[: tables.KEY - 10]}… {hashlib.sha256(text.encode()).hexdigest()[:8]}"


def _text(text: str) -> str:
    """Write out what no text of PostgreSQL may hold (its manual, character types)."""
    return text.replace("\0", "\\x00")


def _hosts(run: int, fleet: Fleet) -> Iterator[dict[str, object]]:
    for host in fleet.hosts:
        yield {
            "run": run, "name": _key(host.name), "reach": host.reach,
            "state": host.state.value, "what": host.what, "found": host.found,
            "profile": host.profile,
        }  # fmt: skip


def _traits(run: int, fleet: Fleet) -> Iterator[dict[str, object]]:
    for host in fleet.hosts:
        for trait, values in host.traits.items():
            for value in sorted({_key(value) for value in values}):
                yield {
                    "run": run, "host": _key(host.name), "trait": _key(trait), "value": value,
                }  # fmt: skip


def _findings(run: int, fleet: Fleet) -> Iterator[dict[str, object]]:
    for host in fleet.hosts:
        for number, one in enumerate(host.findings):
            yield {
                "run": run, "host": _key(host.name), "number": number, "rule": one.rule,
                "place": one.where, "severity": one.severity.value, "cost_pps": one.cost_pps,
                "evidence": json.dumps([e.model_dump() for e in one.evidence]), "so": one.so,
            }  # fmt: skip


def _causes(run: int, fleet: Fleet) -> Iterator[dict[str, object]]:
    for number, one in enumerate(fleet.causes):
        yield {
            "run": run, "number": number, "rule": one.rule, "severity": one.severity.value,
            "hosts": len(one.hosts), "cost_pps": one.cost_pps,
            "common": json.dumps([c.model_dump() for c in one.common]),
        }  # fmt: skip


def _settings(connection: Connection, fleet: Fleet) -> Iterator[dict[str, object]]:
    known = set(connection.execute(select(tables.settings.c.profile).distinct()).scalars())
    for profile, found in fleet.profiles.items():
        if profile not in known:
            for name, value in found.items():
                yield {"profile": profile, "name": _key(name), "value": value}
