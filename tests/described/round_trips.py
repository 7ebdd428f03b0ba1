"""Round trips of an `apply` of what was applied: `python -m described.round_trips` prints them.

Both hosts are described as the spec wants them; each is behind a runner that counts, which answers
the scripts that it is sent from the host's capture, and knows no others.
"""

import json
import re
import shlex
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from unittest import mock

from click.testing import CliRunner

from described.doc_sriov import PFS, as_found, legacy_vlan, ports, rebooted, vf_settings
from described.host import Host, capture_of
from described.pcie import DEVICES
from described.planned import spec_of
from wirespeed.apply.control_recorded import RecordedControl
from wirespeed.apply.make import plan_spec
from wirespeed.apply.recorded_answers import RecordedAnswers
from wirespeed.apply.run import JOURNAL
from wirespeed.apply.run_place import run_folder
from wirespeed.apply.spec_file import parse_spec
from wirespeed.approaches.guest_network import guest_mac
from wirespeed.commands.apply import apply
from wirespeed.doctor.collector import collector_script
from wirespeed.host.runner import MAX_OUTPUT_BYTES, Completed
from wirespeed.model.capture import Section, parse_capture
from wirespeed.model.command import Command
from wirespeed.model.fact import HostFacts
from wirespeed.model.journal import Begun, Ended
from wirespeed.model.plan import Plan
from wirespeed.runs import hosts_of_spec

VFS = ("0000:03:00.2", "0000:03:00.3", "0000:03:02.2", "0000:03:02.3")
NETWORKS = {"storage": 42, "public": 40}
GUESTS = {
    name: {"host": host, "networks": list(NETWORKS)}
    for name, host in (("ceph-1", "alpha"), ("gpu-1", "beta"))
}
READ = re.compile(r"^run (step-\d+) - (.+)$", re.M)
NOW = "2026-01-01T00:00:00Z"


def applied(guest: str) -> str:
    """Capture of a host after the spec was applied to it, by hand: what one of its guests needs."""
    host = Host()
    for step in (as_found, rebooted, legacy_vlan):
        step(host)
    settings = vf_settings(tuple(NETWORKS.values()))
    for setting, network in zip(settings, NETWORKS, strict=True):
        setting["address"] = guest_mac(guest, network)
    ports(host, mtu=9080, link={"vfinfo_list": settings})
    for address in PFS:
        host.put(host.links[f"{DEVICES}/{address}"], sriov_drivers_autoprobe=0)
    for address in VFS:
        host.put(host.links[f"{DEVICES}/{address}"], driver_override="vfio-pci")
    return capture_of(host)


class RecordedRunner:
    """A host that answers from its capture, and counts how often it is asked."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._capture = parse_capture(text, "a described host")
        self._answers = RecordedControl(self._capture, RecordedAnswers(collector_script()))
        self.trips = 0

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 60.0,
        stdin: str | None = None,
        max_bytes: int = MAX_OUTPUT_BYTES,
    ) -> Completed:
        """Answer the collector, and readings of steps; a script with a change is refused."""
        self.trips += 1
        if tuple(argv) != ("sh", "-s") or stdin is None or "change-0" in stdin or "mkdir" in stdin:
            raise AssertionError(f"the described host is only read, and not sent {argv}: {stdin}")
        output = self._text if collector_script() in stdin else ""
        sections = [self._section(*match.groups()) for match in READ.finditer(stdin)]
        if sections:
            output += "".join(("wirespeed-capture 1 read\n", *sections, "read done\n"))
        return Completed(argv=argv, output=output, errors="", returncode=0, duration_s=0.0)

    def _section(self, name: str, line: str) -> str:
        found: Section | None = self._answers.said(Command(argv=tuple(shlex.split(line))))
        if found is None:
            raise AssertionError(f"the described host does not know: {line}")
        said = f"\nread errors\n{found.errors}" if found.errors else ""
        return f"read begin {name} -\n{found.output}{said}\nread end {found.returncode}\n"


def trips(folder: Path) -> tuple[dict[str, int], Plan]:
    """Apply what was applied; give each host's round trips, and the plan of no-ops."""
    captures = {str(guest["host"]): applied(name) for name, guest in GUESTS.items()}
    path = spec_of(folder, captures, GUESTS)
    content = path.read_text()
    for name in captures:
        content = content.replace(str(folder / f"{name}.txt"), f"ssh://{name}")
    path.write_text(content)
    runners = {name: RecordedRunner(text) for name, text in captures.items()}
    spec = parse_spec(content, str(path))
    answers = RecordedAnswers(collector_script())
    parsed = {name: parse_capture(text, name) for name, text in captures.items()}
    plan = plan_spec(
        spec,
        {name: HostFacts(name, capture) for name, capture in parsed.items()},
        {name: RecordedControl(capture, answers) for name, capture in parsed.items()},
    )
    run_folder(path).mkdir(mode=0o700, parents=True)
    entries = (Begun(at=NOW, plan=plan), Ended(at=NOW, outcome="applied"))
    lines = "".join(f"{entry.model_dump_json()}\n" for entry in entries)
    (run_folder(path) / JOURNAL).write_text(lines)

    def runner(name: str, *_: object) -> RecordedRunner:
        return runners[name]

    with mock.patch.object(hosts_of_spec, "_runner", runner):
        done = CliRunner().invoke(apply, [str(path), "--yes"], standalone_mode=False)
    if done.exception is not None or done.return_value != 0:
        raise AssertionError(f"{done.output}\n{done.exception!r}")
    return {name: one.trips for name, one in runners.items()}, plan


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        sys.stdout.write(json.dumps(trips(Path(scratch))[0]))
