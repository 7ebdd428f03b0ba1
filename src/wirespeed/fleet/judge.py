"""One capture to the record of its host, and all records to the answer. Pure."""

from collections.abc import Iterable

from wirespeed.catalog import rules
from wirespeed.doctor.diagnose import diagnose
from wirespeed.facts.link_events import LinkEvents
from wirespeed.fleet.causes import find_causes
from wirespeed.fleet.cohorts import find_outliers
from wirespeed.fleet.compared import profile_key, settings_of, traits_of
from wirespeed.fleet.link_events import find_link_events
from wirespeed.fleet.records import Fleet, FleetHost, InventoryHost, host_of_answer
from wirespeed.fleet.shared_facts import FactMemory, SharedFacts
from wirespeed.model.capture import parse_capture
from wirespeed.model.error import InputError, WirespeedError
from wirespeed.model.finding import Unanswered
from wirespeed.model.question import Question

_MEMORY = FactMemory()
"""Of this process: facts are values, so what is remembered changes no answer."""
Judged = tuple[FleetHost, dict[str, str]]
"""A host's record, and its settings."""


def judge_capture(host: InventoryHost, text: str, question: Question) -> Judged:
    """Diagnose a capture and take out what is compared. One that makes no sense is *not read*."""
    try:
        facts = SharedFacts(host.name, parse_capture(text, host.name), _MEMORY)
        answer = diagnose(facts, question)
    except WirespeedError as error:
        return without_answer(host, error)
    settings = settings_of(facts)
    log = facts[LinkEvents].known
    record = host_of_answer(host, answer, traits_of(facts), profile_key(settings), log)
    return record, settings


def without_answer(host: InventoryHost, error: WirespeedError) -> Judged:
    """Record why there is no answer."""
    answer = Unanswered(
        host=host.name,
        what=error.what,
        found=error.found,
        so=error.so,
        next=error.next,
        bad_input=isinstance(error, InputError),
    )
    return host_of_answer(host, answer, {}, ""), {}


def titles() -> dict[str, str]:
    """Give the title of each rule."""
    return {rule.slug: rule.title for rule in rules()}


def fleet_of(judged: Iterable[Judged], at: str, source: str, question: Question) -> Fleet:
    """Group what was found of all hosts."""
    hosts: list[FleetHost] = []
    profiles: dict[str, dict[str, str]] = {}
    for host, settings in judged:
        hosts.append(host)
        if host.profile:
            profiles.setdefault(host.profile, settings)
    return Fleet(
        at=at,
        source=source,
        question=question,
        hosts=tuple(hosts),
        profiles=profiles,
        causes=find_causes(hosts, titles()),
        outliers=find_outliers(hosts, profiles),
        link_events=find_link_events(hosts),
    )
