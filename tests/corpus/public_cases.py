"""Public cases: what people asked about slow cards, as described hosts with the right answer.

A folder of `cases/` is one case. Its `case.json`:

  title, found_at   what it is, and the public address that it was found at
  certainty         of the cause there: confirmed, maintainer, inferred
  kind              layer or part: medium, bus, node, driver, guest, cloud, bond, transport, tool …
  platform, vendor  linux, windows, esxi …; mellanox or other
  trap              healthy, not the network, cannot tell; empty: something is wrong
  host, parts       a described healthy host, and what is set of it
  changes           how this one differs from it besides
  question          as the doctor is asked
  answer            what a seasoned engineer says
  cause             rules one of which the first cause is; empty for a trap
  also, says, not   rules that have to be found, texts that have to be said; rules and texts that
                    must not be said
  may               of a trap: rules above a note that are true, and not the answer
  first             how the answer was judged on the code from before the case was written
  open              how it is judged now, where that is not `right`; taken out once it is corrected

The expectation is written from the public report before the doctor is asked for the first time.
"""

import json
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from corpus.public_esxi import Esxi
from corpus.public_hosts import (
    Recorded,
    gcp,
    one_card,
    one_port_of_two_functions,
    ovs_dpdk,
    rdma,
)
from described import clouds, healthy, servers
from described.host import Answer, Host, capture_of
from described.machine import _snmp, sysctl, thread
from described.ovs import DATABASE
from described.pcie import EXPRESS_AT
from described.port import IP_LINK, gateway, netdev
from described.windows import Windows, guid, machine
from wirespeed.catalog import rules
from wirespeed.doctor.diagnose import diagnose
from wirespeed.model.capture import parse_capture
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Diagnosis, Finding, Severity
from wirespeed.model.question import Question

CASES = Path(__file__).parent / "cases"
SLUGS = frozenset(rule.slug for rule in rules())
RIGHT, PARTLY, MISSED, FALSE = "right", "partly", "missed", "false"


@dataclass(frozen=True, eq=False)
class Case:
    """One case, with what is expected."""

    name: str
    told: dict[str, Any]

    @property
    def question(self) -> Question:
        """What the doctor is asked."""
        return Question.model_validate(self.told.get("question", {}))

    @property
    def capture(self) -> str:
        """What the collector reads of the host."""
        host = HOSTS[self.told["host"]](**self.told.get("parts", {}))
        for op, *rest in self.told.get("changes", []):
            CHANGES[op](host, *rest)
        return capture_of(host) if isinstance(host, Host) else host.capture()

    @property
    def recorded(self) -> str:
        """How it is judged today, as written down: right, where nothing else is."""
        return str(self.told.get("open", RIGHT))

    def answer(self, without: Collection[str] = ()) -> Diagnosis:
        """Ask the doctor, without the rules of some slugs."""
        facts = HostFacts(self.name, parse_capture(self.capture, self.name))
        return diagnose(
            facts, self.question, [rule for rule in rules() if rule.slug not in without]
        )


@cache
def cases() -> tuple[Case, ...]:
    """Read all."""
    return tuple(
        Case(path.parent.name, json.loads(path.read_text()))
        for path in sorted(CASES.glob("*/case.json"))
    )


def judged(case: Case, answer: Diagnosis) -> str:
    """Hold an answer against what is expected: right, partly, missed, or something false said."""
    if any(_is_said(answer, one) for one in case.told.get("not", [])):
        return FALSE
    told = {finding.rule for finding in answer.findings}
    above = [f.rule for f in answer.findings if f.severity is not Severity.NOTE]
    cause, also = set(case.told.get("cause", [])), set(case.told.get("also", []))
    told |= {text for text in case.told.get("says", []) if _is_said(answer, text, notes=True)}
    also |= set(case.told.get("says", []))
    if not cause:
        if case.told["trap"] and set(above) - set(case.told.get("may", [])):
            return FALSE
        return RIGHT if also <= told else MISSED
    first = {answer.findings[n].rule for one in answer.causes[:1] for n in _numbers(one)}
    if cause & first and also <= told:
        return RIGHT
    return PARTLY if cause & told else MISSED


def _numbers(cause: Any) -> Sequence[int]:
    return (*cause.findings, *cause.before)


def _is_said(answer: Diagnosis, what: str, *, notes: bool = False) -> bool:
    """A rule above a note, or a text in any sentence or command of a finding."""
    if what in SLUGS:
        return any(f.rule == what and f.severity is not Severity.NOTE for f in answer.findings)
    texts = [
        text
        for f in answer.findings
        for text in (f.so, *(e.found for e in f.evidence), *_of_remedies(f))
        if notes or f.severity is not Severity.NOTE
    ]
    return any(what in text for text in texts)


def _of_remedies(finding: Finding) -> Iterator[str]:
    for remedy in finding.remedies:
        yield remedy.text
        yield from (command.line() for command in remedy.commands)


def _windows() -> Windows:
    host = Windows()
    machine(host)
    host.card(10, "Ethernet 3")
    return host


HOSTS: dict[str, Callable[..., Host | Windows | Recorded | Esxi]] = {
    "windows": _windows,
    "esxi": Esxi,
    "one_card": one_card,
    "gcp": gcp,
    "ovs_dpdk": ovs_dpdk,
    "one_port_of_two_functions": one_port_of_two_functions,
    "recorded": Recorded,
    **{
        f"{module.__name__.rpartition('.')[2]}.{name}": value
        for module in (healthy, clouds, servers)
        for name, value in vars(module).items()
        if getattr(value, "__module__", "") == module.__name__ and callable(value)
    },
}


def _replace(host: Host, where: str, old: str, new: str) -> None:
    if where in host.answers:
        host.replace_answer(where, old, new)
        return
    for files in (host.files, host.later):
        if where in files:
            text = str(files[where])
            if old not in text:
                raise LookupError(f"{old!r} does not stand in {where}")
            files[where] = text.replace(old, new)


def _answer(host: Host, line: str, output: str, errors: str = "", returncode: int = 0) -> None:
    host.answers[line] = Answer(output, errors, returncode)
    host.answers_later.pop(line, None)


def _file(host: Host, path: str, text: str, later: str | None = None) -> None:
    host.files[path] = text
    if later is not None or path in host.later:
        host.later[path] = later if later is not None else text


def _counter(host: Host, netdev: str, name: str, before: int, after: int) -> None:
    line = f"ethtool -S {netdev}"
    for answers, count in ((host.answers, before), (host.answers_later, after)):
        said = answers.get(line, host.answers[line]).output
        row = f"     {name}: {count}\n"
        found = re.compile(rf"(?m)^ *{re.escape(name)}: \d+\n")
        answers[line] = Answer(found.sub(row, said) if found.search(said) else said + row)


def _statistic(host: Host, netdev: str, name: str, before: int, after: int) -> None:
    path = f"/sys/class/net/{netdev}/statistics/{name}"
    host.files[path], host.later[path] = str(before), str(after)


def _link(host: Host, netdev: str, changed: dict[str, Any]) -> None:
    (one,) = (link for link in host.data[IP_LINK] if link["ifname"] == netdev)
    one.update(changed)


def _tcp(host: Host, sent: int, resent: int) -> None:
    """So many segments during the capture."""
    before = "/proc/net/snmp"
    host.files[before] = _snmp(1_000_000, 10)
    host.later[before] = _snmp(1_000_000 + sent, 10 + resent)


def _dmesg(host: Host, *lines: str) -> None:
    said = host.answers["dmesg"].output if "dmesg" in host.answers else ""
    host.answers["dmesg"] = Answer(said + "".join(f"{line}\n" for line in lines))
    host.answers_later.pop("dmesg", None)


def _remove(host: Host, what: str) -> None:
    for one in (host.answers, host.answers_later, host.files, host.later, host.links, host.data):
        one.pop(what, None)  # type: ignore[attr-defined]


def _without_driver(host: Host, netdev: str, address: str) -> None:
    """Take the driver of a function away, and with it its netdev."""
    path = host.links[f"/sys/bus/pci/devices/{address}"]
    own = f"/sys/class/net/{netdev}"
    for what in [host.files, host.later, host.links]:
        for name in [one for one in what if one.startswith(f"{own}/")]:
            del what[name]  # type: ignore[attr-defined]
    host.links.pop(f"{path}/driver")
    for line in [one for one in host.answers if netdev in one.split()]:
        _remove(host, line)
    for line, links in host.data.items():
        if line.startswith("ip -j"):
            host.data[line] = [one for one in links if one.get("ifname") != netdev]


def _aspm(host: Host, address: str, states: int) -> None:
    """Let both ends of a link sleep: 1 L0s, 2 L1, 3 both (PCI Express 5.0, section 7.5.3.7)."""
    device = host.links[f"/sys/bus/pci/devices/{address}"]
    for path in (device, device.rpartition("/")[0]):
        config = bytearray(host.files[f"{path}/config"])  # type: ignore[arg-type]
        config[EXPRESS_AT + 0x10] |= states
        host.files[f"{path}/config"] = bytes(config)


def _ovs(host: Host, name: str, value: str) -> None:
    """Set a key of the switch's other_config."""
    switch = host.data[DATABASE][0]
    (_, pairs) = switch["data"][0][switch["headings"].index("other_config")]
    pairs[:] = [pair for pair in pairs if pair[0] != name] + [[name, value]]


def _address(host: Host, name: str, link: dict[str, Any], *addresses: str) -> None:
    """Add a netdev, or change one, and give it addresses."""
    up = {"flags": ["BROADCAST", "MULTICAST", "UP", "LOWER_UP"], "operstate": "UP"}
    netdev(host, name, *addresses, **{**up, **link})


def _property(host: Windows, number: int, keyword: str, value: str) -> None:
    """Set an advanced property of a card."""
    for row in host.rows["advanced"]:
        if row["Guid"] == guid(number) and row["Keyword"] == keyword:
            row.update(Value=[value], DisplayValue=value)


CHANGES: dict[str, Callable[..., None]] = {
    "replace": _replace,
    "answer": _answer,
    "file": _file,
    "counter": _counter,
    "statistic": _statistic,
    "link": _link,
    "tcp": _tcp,
    "dmesg": _dmesg,
    "remove": _remove,
    "sysctl": sysctl,
    "thread": lambda host, pid, name, told: thread(host, pid, name, **told),
    "aspm": _aspm,
    "rdma": lambda host, name, told: rdma(host, name, **told),
    "ovs": _ovs,
    "netdev": _address,
    "gateway": gateway,
    "without_driver": _without_driver,
    "text": lambda host, old, new: host.replace(old, new),
    "property": _property,
    "row": lambda host, section, row: host.add(section, **row),
    "set": lambda host, section, number, values: host.change(section, number, **values),
}
"""How a host of a case differs: each by its name, with what it takes."""
