"""Every host of an inventory read and judged; one that cannot be reached stops no other."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from wirespeed.fleet.judge import Judged, fleet_of, judge_capture, titles, without_answer
from wirespeed.fleet.records import Fleet, InventoryHost
from wirespeed.host.capture_request import Captured, Unreachable
from wirespeed.host.clock import utc_now
from wirespeed.host.files import files_in, is_folder, write_result, write_whole
from wirespeed.host.inventory import LABELS, Listed, read_inventory, template_error
from wirespeed.host.reach_destination import Destination, parse_destination
from wirespeed.host.recorded import read_recorded
from wirespeed.host.workers import each_of_many
from wirespeed.model.error import HostError, InputError, WirespeedError
from wirespeed.model.question import Question
from wirespeed.report.fleet_html import fleet_page
from wirespeed.runs.captures import collect
from wirespeed.runs.examine import Progress
from wirespeed.runs.fleet_folder import CAPTURES, PAGE, file_names, new_folder, write_fleet
from wirespeed.terminal import echo

SUFFIXES = (".txt", ".txt.gz", ".capture", ".capture.gz")


@dataclass(frozen=True, slots=True)
class FleetRequest:
    """What is to be read, and how."""

    question: Question
    inventory: tuple[str, ...] = ()
    limit: str | None = None
    captures: Path | None = None
    """A folder of captures that were made elsewhere; nothing is reached then."""
    labels: tuple[str, ...] = ()
    """Variables of the inventory beside the usual ones."""
    at_once: int = 32
    timeout_s: float = 60.0
    seconds: int = 0
    sudo: bool = False
    out: Path | None = None
    allow_inventory_code: bool = False


def fleet_doctor(asked: FleetRequest) -> tuple[Fleet, Path]:
    """Read and judge; give the answer and its folder. Raises InputError `inventory.*`."""
    hosts = hosts_of(asked)
    folder = new_folder(asked.out)
    if asked.captures is not None:
        judged = _recorded(hosts, asked.captures, asked.question)
    else:
        judged = _reached(hosts, folder / CAPTURES, asked)
    source = str(asked.captures) if asked.captures else ", ".join(asked.inventory)
    fleet = fleet_of(judged, utc_now(), source, asked.question)
    write_fleet(folder, fleet)
    write_result(folder / PAGE, fleet_page(fleet, titles()))
    return fleet, folder


def keep_in_database(fleet: Fleet, url: str | None) -> int | None:
    """Write the answer to the database; give its number.

    None: its libraries are not installed, and none was asked for: standard error has a line.
    """
    try:
        from wirespeed.runs.store.database import opened
        from wirespeed.runs.store.keep import keep_fleet
    except InputError as error:
        if url is not None:
            raise
        echo(f"not kept in a database: {error.next}", err=True)
        return None
    with opened(url) as connection:
        return keep_fleet(connection, fleet)


def hosts_of(asked: FleetRequest) -> list[InventoryHost]:
    """Give the hosts of the inventory, or those that a folder has captures of."""
    if asked.inventory:
        labels = (*LABELS, *asked.labels)
        may = asked.allow_inventory_code
        listed = read_inventory(asked.inventory, asked.limit, allow_code=may)
        return [host_of(one, labels) for one in listed]
    if asked.captures is None:
        raise InputError(
            "options.invalid",
            where="fleet doctor",
            found="neither --inventory nor --captures is given",
            next="give --inventory FILE, an Ansible inventory",
        )
    found = _files(asked.captures)
    if not found:
        raise InputError(
            "inventory.empty",
            where=str(asked.captures),
            found=f"no file there ends in {' or '.join(SUFFIXES[:2])}",
            next="make captures with `wirespeed capture --out FOLDER HOST…`",
        )
    return [InventoryHost(name=name, reach=str(path)) for name, path in sorted(found.items())]


def host_of(listed: Listed, labels: Iterable[str] = LABELS) -> InventoryHost:
    """Give a host of an inventory, with what it says of its place.

    Raises InputError `inventory.template` for a label that only Ansible could fill in.
    """
    for name in labels:
        if name in listed.templates:
            raise template_error(listed.name, name, listed.templates[name])
    said: dict[str, tuple[str, ...]] = {
        name: (str(listed.variables[name]),) for name in labels if name in listed.variables
    }
    if listed.groups:
        said["group"] = listed.groups
    return InventoryHost(
        name=listed.name,
        reach=listed.reach,
        labels=said,
        variables=dict(listed.variables),
        templates=dict(listed.templates),
    )


def _files(folder: Path) -> dict[str, Path]:
    if not is_folder(folder):
        raise InputError("file.unreadable", where=str(folder), found="not a folder")
    found = {}
    for path in files_in(folder):
        suffix = next((s for s in SUFFIXES if path.name.endswith(s)), None)
        if suffix is not None:
            found[path.name.removesuffix(suffix)] = path
    return found


def _recorded(hosts: Sequence[InventoryHost], folder: Path, question: Question) -> Iterator[Judged]:
    files = _files(folder)
    items = [(host, files.get(host.name)) for host in hosts]
    return each_of_many(partial(_judge_file, question), items)


def _judge_file(question: Question, item: tuple[InventoryHost, Path | None]) -> Judged:
    host, path = item
    if path is None:
        error = HostError(
            "capture.missing",
            where=host.name,
            found="the folder has no capture of this host",
            next=f"run `wirespeed capture --out FOLDER/{host.name}.txt {host.reach}`",
        )
        return without_answer(host, error)
    try:
        return judge_capture(host, read_recorded(path), question)
    except WirespeedError as error:
        return without_answer(host, error)


def _reached(hosts: Sequence[InventoryHost], folder: Path, asked: FleetRequest) -> Iterator[Judged]:
    places: dict[Destination, list[InventoryHost]] = {}
    ended: dict[str, Path | WirespeedError] = {}
    for host in hosts:
        try:
            places.setdefault(parse_destination(host.reach), []).append(host)
        except InputError as error:
            ended[host.name] = error
    names = file_names(host.name for host in hosts)
    show = Progress(list(places))
    results = collect(
        list(places),
        interval_s=asked.seconds,
        sudo=asked.sudo,
        limit=asked.at_once,
        timeout_s=asked.timeout_s,
        progress=show.doing,
    )
    with closing(results):
        for result in results:
            show.ended()
            for host in places[result.destination]:
                ended[host.name] = _kept(result, folder / names[host.name])
    show.close()
    return each_of_many(
        partial(_judge_kept, asked.question), [(host, ended[host.name]) for host in hosts]
    )


def _kept(result: Captured | Unreachable, path: Path) -> Path | WirespeedError:
    if isinstance(result, Unreachable):
        return result.error
    write_whole(path, result.text)
    return path


def _judge_kept(question: Question, item: tuple[InventoryHost, Path | WirespeedError]) -> Judged:
    host, kept = item
    if isinstance(kept, WirespeedError):
        return without_answer(host, kept)
    return _judge_file(question, (host, kept))
