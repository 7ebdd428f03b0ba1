"""A reading that was cut off: exit code 2, and the first line says so, whatever reads it."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from wirespeed import cli
from wirespeed.apply.control_posix import PosixControl
from wirespeed.apply.control_script import read_script
from wirespeed.apply.planner import make_plan
from wirespeed.apply.run import JOURNAL
from wirespeed.apply.spec_file import parse_spec
from wirespeed.commands import drift
from wirespeed.host.capture_request import Captured
from wirespeed.host.local import LocalRunner
from wirespeed.host.reach_destination import SwitchHost
from wirespeed.host.runner import Completed
from wirespeed.model.capture import parse_capture
from wirespeed.model.error import HostError
from wirespeed.model.fact import HostFacts
from wirespeed.model.journal import Begun, Ended, Intent, Result, Verified
from wirespeed.model.observed import Known
from wirespeed.model.switch_kind import SwitchKind
from wirespeed.runs import link_run, prove_run, remedy_run
from wirespeed.steps.mtu import Mtu

CASE = Path(__file__).parents[1] / "rules/cases/pcie.width_below_capability/absent_x16/capture.txt"
WHOLE = CASE.read_text()
CUTS = {
    "without its end": WHOLE.removesuffix("case done\n"),
    "within a section": WHOLE[: len(WHOLE) * 2 // 3],
    "after the header": WHOLE.partition("\n")[0] + "\n",
}
SPEC = """
hosts:
  alpha: {{reach: "{path}", ports: ["0000:03:00.0"]}}
approach: legacy-vlan
failover: none
underlay: {{subnet: 192.168.9.0/24, mtu: 9000}}
networks: {{}}
guests: {{}}
"""
Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Iterator[Call]:
    def run(*arguments: object) -> tuple[int, str, str]:
        capfd.readouterr()
        monkeypatch.setattr(sys, "argv", ["wirespeed", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, err = capfd.readouterr()
        return (ended.value.code if isinstance(ended.value.code, int) else 0), out, err

    yield run


@pytest.fixture(params=CUTS)
def cut(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "cut.txt"
    path.write_text(CUTS[request.param])
    return path


def first(text: str) -> str:
    return text.partition("\n")[0]


def test_the_doctor_of_one_host_says_it_first(call: Call, cut: Path):
    code, out, _ = call("doctor", cut)
    assert code == 2
    assert first(out).startswith("INCOMPLETE") and "cut off" in out[:200]
    code, out, _ = call("doctor", cut, "--json")
    assert code == 2
    assert json.loads(out)["is_complete"] is False


def test_the_doctor_of_several_hosts_names_first_what_was_cut_off(
    call: Call, cut: Path, tmp_path: Path
):
    wholes = [tmp_path / f"whole{number}.txt" for number in range(3)]
    for path in wholes:
        path.write_text(WHOLE)
    code, out, _ = call("doctor", *wholes, cut)
    assert code == 2
    assert first(out).startswith("INCOMPLETE: 1 of 4 readings cut off")
    assert "cut.txt" in out[:200]
    code, out, _ = call("doctor", *wholes)
    assert code == 0
    assert "INCOMPLETE" not in out


def test_the_page_of_the_doctor_says_it_in_its_heading(call: Call, cut: Path, tmp_path: Path):
    page = tmp_path / "page.html"
    call("doctor", cut, "--html", page)
    assert "<h2>INCOMPLETE" in page.read_text()


def test_a_capture_that_was_cut_off_is_kept_and_said_first(call: Call, cut: Path, tmp_path: Path):
    out_file = tmp_path / "out.txt"
    code, _, err = call("capture", cut, "--anonymous", "--out", out_file)
    assert code == 2
    assert out_file.exists()
    assert first(err).startswith("INCOMPLETE")
    whole = tmp_path / "whole.txt"
    whole.write_text(WHOLE)
    code, _, err = call("capture", whole, cut, "--out", tmp_path / "many")
    assert code == 2
    assert len(list((tmp_path / "many").iterdir())) == 2
    assert call("capture", whole, "--out", out_file)[0] == 0


def test_a_ceiling_of_part_of_a_host_says_it_first(call: Call, tmp_path: Path):
    path = tmp_path / "cut.txt"
    path.write_text(CUTS["without its end"])
    code, out, _ = call("ceiling", path)
    assert code == 2
    assert first(out).startswith("INCOMPLETE")
    code, out, _ = call("ceiling", path, "--json")
    assert code == 2
    assert json.loads(out)["is_complete"] is False


@pytest.mark.parametrize("option", [(), ("--json",), ("--diff",), ("--shell", "alpha")])
def test_nothing_is_planned_by_part_of_a_capture(
    option: tuple[str, ...], call: Call, cut: Path, tmp_path: Path
):
    spec = tmp_path / "spec.yaml"
    spec.write_text(SPEC.format(path=cut))
    code, out, err = call("plan", spec, *option)
    assert (code, out) == (2, "")
    assert first(err).startswith("ERROR host.half_read")


def test_a_proof_does_not_compare_part_of_a_host(cut: Path):
    with pytest.raises(HostError) as caught:
        prove_run.captured(parse_spec(SPEC.format(path=cut), "spec.yaml"))
    assert caught.value.what == "host.half_read"


def test_nothing_is_mended_by_part_of_a_reading(
    call: Call, cut: Path, monkeypatch: pytest.MonkeyPatch
):
    examine = remedy_run.examine
    monkeypatch.setattr(remedy_run, "examine", lambda *_: examine([str(cut)], *_[1:]))
    code, _, err = call("remedy", "here")
    assert code == 2
    assert first(err).startswith("ERROR host.half_read")


def test_a_cable_is_not_proven_by_part_of_what_a_switch_said(monkeypatch: pytest.MonkeyPatch):
    place = SwitchHost("switch+eos://sw1/Et1", "sw1", SwitchKind.EOS, switchport="Et1")
    told = Captured(place, "wirespeed-capture 1 case\ncase begin switch-kind sw1\neos\n", 0.1)
    monkeypatch.setattr(link_run, "collect", lambda _: [told])
    with pytest.raises(HostError) as caught:
        link_run.port_proof(HostFacts("x", parse_capture(WHOLE, "x")), "eth0", place)
    assert caught.value.what == "host.half_read"


class Torn(LocalRunner):
    """This machine, whose answer ends too soon."""

    def run(self, *arguments: object, **options: object) -> Completed:
        done = super().run(*arguments, **options)  # type: ignore[arg-type]
        head = done.output.partition("begin step-1")[0].rstrip("\n")
        return done.model_copy(update={"output": head.removesuffix(head.split()[-1])})


def test_a_drift_that_was_read_in_part_is_no_answer(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    steps = [Mtu(netdev="lo", mtu=9000), Mtu(netdev="lo1", mtu=9000)]
    plan = make_plan([("alpha", step, Known({"mtu": 1500}, "cat")) for step in steps])
    assert "step-1" in read_script(steps)
    entries: list[object] = [Begun(at="2026-01-01T00:00:00Z", plan=plan)]
    for number, step in enumerate(plan.steps):
        entries.append(Intent(number=number, before={"mtu": 1500}, undo=step.undo))
        entries.append(Result(number=number, verdict=Verified.VERIFIED, now=step.goal))
    entries.append(Ended(at="2026-01-01T00:00:01Z", outcome="applied"))
    folder = tmp_path / "lab.run"
    folder.mkdir(mode=0o700)
    (folder / JOURNAL).write_text("".join(f"{e.model_dump_json()}\n" for e in entries))  # type: ignore[attr-defined]
    (folder / JOURNAL).chmod(0o600)
    controls = {"alpha": PosixControl("alpha", Torn())}
    monkeypatch.setattr(drift, "controls_of", lambda _: nullcontext(controls))
    monkeypatch.setattr(drift, "spec_of_run", lambda *_: None)
    code, out, err = call("drift", folder)
    assert code == 2, err
    assert first(out).startswith("INCOMPLETE: the reading of 1 of 2 steps was cut off")
