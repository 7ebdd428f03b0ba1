"""What cannot be made to last, or taken away, is refused before a host is written to."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from wirespeed.apply.planner import make_plan
from wirespeed.apply.run import open_run
from wirespeed.commands.persist import persist
from wirespeed.model.error import InputError
from wirespeed.model.journal import Begun, Ended, Entry, Intent, Result, Verified
from wirespeed.model.observed import Known, Observed
from wirespeed.model.spec.members import read_spec_data
from wirespeed.model.step import State, Step
from wirespeed.runs.persist_run import _refuse_drifted, is_made_to_last, places_of
from wirespeed.steps.mtu import Mtu
from wirespeed.steps.netdev_name import NetdevName

PORT = "0000:01:00.0"
SPEC = {
    "hosts": {"alpha": {"reach": "here", "ports": [PORT]}},
    "approach": "legacy-vlan",
    "failover": "none",
    "underlay": {"subnet": "192.168.9.0/24", "mtu": 9080},
    "networks": {"storage": {"segment": 42, "subnet": "192.168.10.0/24", "mtu": 9000}},
    "guests": {},
}


def spec_with(folder: Path, *entries: Entry) -> Path:
    path = folder / "spec.yaml"
    path.write_text(json.dumps(SPEC))
    journal(Path(f"{path}.run"), *entries)
    return path


def journal(folder: Path, *entries: Entry) -> None:
    folder.mkdir(parents=True)
    text = "".join(entry.model_dump_json() + "\n" for entry in entries)
    (folder / "journal.jsonl").write_text(text)


def begun() -> list[Entry]:
    plan = make_plan([("alpha", Mtu(netdev="no-such", mtu=9080), Known({"mtu": 1500}, "cat"))])
    undo = plan.steps[0].undo
    return [Begun(at="now", plan=plan), Intent(number=0, before={"mtu": 1500}, undo=undo)]


def refusal(*arguments: str) -> InputError:
    result = CliRunner().invoke(persist, list(arguments))
    assert isinstance(result.exception, InputError), result.output
    return result.exception


@pytest.mark.parametrize("outcome", ["unfinished", "undone"])
def test_a_run_that_does_not_stand_cannot_be_made_to_last(tmp_path: Path, outcome: str):
    ended: list[Entry] = [Ended(at="now", outcome="undone")] if outcome == "undone" else []
    spec = spec_with(tmp_path, *begun(), *ended)
    error = refusal(str(spec), "--yes")
    assert (error.what, error.found) == ("run.not_applied", f"its run is {outcome}")


def test_what_never_was_made_to_last_cannot_be_taken_away(tmp_path: Path):
    assert refusal(str(spec_with(tmp_path, *begun())), "--remove").what == "run.missing"


def test_whether_it_lasts_is_what_its_own_journal_says(tmp_path: Path):
    folder = tmp_path / "spec.yaml.run"
    assert not is_made_to_last(folder)
    done = Result(number=0, verdict=Verified.VERIFIED, now={"mtu": 9080})
    journal(folder / "persist", *begun(), done, Ended(at="now", outcome="applied"))
    assert is_made_to_last(folder)
    with (folder / "persist" / "journal.jsonl").open("a") as lines:
        lines.write(Ended(at="now", outcome="undone").model_dump_json() + "\n")
    assert not is_made_to_last(folder)


def test_a_virtual_machine_has_a_boot_of_its_own_that_waits_for_its_slots():
    machine = {"host": "alpha", "networks": ["storage"], "kind": "qemu", "image": "/x.qcow2"}
    namespace = {"host": "alpha", "networks": ["storage"], "kind": "namespace"}
    spec = read_spec_data({**SPEC, "guests": {"gpu-1": machine, "ceph-1": namespace}})
    named = NetdevName(pci_address="0000:00:08.0", netdev="net0p0")
    plan = make_plan([("gpu-1", named, None), ("alpha", Mtu(netdev="eth0", mtu=9080), None)])
    assert places_of(spec, plan) == {"alpha": (PORT,), "gpu-1": ["0000:00:08.0"]}


class Reads:
    """A host whose steps have this state."""

    def __init__(self, mtu: int) -> None:
        self.mtu = mtu

    def read(self, steps: Sequence[Step]) -> list[Observed[State]]:
        return [Known({"mtu": self.mtu}, "cat") for _ in steps]


@pytest.mark.parametrize(("now", "is_refused"), [(9080, False), (4000, True)])
def test_what_others_changed_since_the_run_is_not_made_to_last(
    tmp_path: Path, now: int, is_refused: bool
):
    """Each boot would overwrite it, as a timer without a comparison would."""
    done = Result(number=0, verdict=Verified.VERIFIED, now={"mtu": 9080})
    spec_with(tmp_path, *begun(), done, Ended(at="now", outcome="applied"))
    with open_run(tmp_path / "spec.yaml.run", must_exist=True) as run:
        assert run.plan is not None
        check = (run, run.plan, read_spec_data(SPEC), {"alpha": Reads(now)})
        if not is_refused:
            _refuse_drifted(*check)  # type: ignore[arg-type]
            return
        with pytest.raises(InputError) as caught:
            _refuse_drifted(*check)  # type: ignore[arg-type]
    assert caught.value.what == "persist.changed_by_others"
    assert "left as" in caught.value.found and "4000" in caught.value.found
