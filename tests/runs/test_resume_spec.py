"""An edited spec does not change what an interrupted run goes on with, in silence or with --yes."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from described_host import Put
from rebooting_host import PutAndReboot, RebootingHost, use_hosts, write_spec

from wirespeed.apply.run_place import run_folder
from wirespeed.approaches.traits import RequestedStep
from wirespeed.commands.apply import apply
from wirespeed.commands.undo import undo
from wirespeed.model.error import InputError
from wirespeed.runs.run_hosts import REBOOT_DUE

START = {"first": 1, "kept.cmdline": 0, "last": 3}
WANTED = [
    RequestedStep(Put(key="first", value=10)),
    RequestedStep(PutAndReboot(key="kept.cmdline", value=5)),
    RequestedStep(Put(key="last", value=30)),
]
GOAL = {"first": 10, "kept.cmdline": 5, "last": 30}


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    write_spec(tmp_path / "spec.yaml", "alpha")
    return tmp_path / "spec.yaml"


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> RebootingHost:
    host = RebootingHost(dict(START))
    use_hosts(monkeypatch, {"alpha": host}, WANTED)
    return host


def call(command: object, *arguments: object) -> Result:
    return CliRunner().invoke(command, [str(a) for a in arguments], standalone_mode=False)  # type: ignore[arg-type]


def edit(spec: Path, old: str, new: str) -> None:
    text = spec.read_text()
    assert old in text
    spec.write_text(text.replace(old, new))


@pytest.fixture(params=["stopped by --until", "staged"])
def begun(request: pytest.FixtureRequest, spec: Path, host: RebootingHost) -> dict[str, int]:
    """Begin a run that goes on; gives what stands on the host."""
    if request.param == "staged":
        assert call(apply, spec, "--yes").return_value == REBOOT_DUE
        host.reboot_now()
    else:
        assert call(apply, spec, "--yes", "--until", "1").return_value == 0
    return dict(host.values)


def test_an_edited_spec_is_shown_by_field_and_refused_also_with_yes(
    spec: Path, host: RebootingHost, begun: dict[str, int]
):
    edit(spec, "mtu: 9000", "mtu: 8000")
    edit(spec, "networks: {}", "networks: {a: {segment: 7, subnet: 10.1.0.0/24, mtu: 1500}}")
    error = call(apply, spec, "--yes").exception
    assert isinstance(error, InputError) and error.what == "run.spec_changed"
    assert [line.split(" -> ")[0] for line in sorted(error.found.splitlines())] == [
        "networks.a: not there", "underlay.mtu: 9000",
    ]  # fmt: skip
    assert "underlay.mtu: 9000 -> 8000" in error.found
    assert '-> {"segment": 7, "subnet": "10.1.0.0/24"' in error.found
    assert "--as-begun" in error.next and "wirespeed undo" in error.next
    assert host.values == begun


@pytest.mark.usefixtures("begun")
def test_as_begun_finishes_it_with_the_journals_spec(spec: Path, host: RebootingHost):
    edit(spec, "mtu: 9000", "mtu: 8000")
    for _ in range(2):
        assert call(apply, spec, "--yes", "--as-begun").return_value in (0, REBOOT_DUE)
        if host.values == GOAL:
            break
        host.reboot_now()
    assert host.values == GOAL
    assert '"mtu":8000' not in (run_folder(spec) / "journal.jsonl").read_text()


@pytest.mark.usefixtures("begun")
def test_an_edited_spec_is_undone_as_ever(spec: Path, host: RebootingHost):
    edit(spec, "mtu: 9000", "mtu: 8000")
    assert call(undo, spec).exception is None
    assert host.values == START


@pytest.mark.usefixtures("begun")
def test_comments_spaces_and_the_order_of_keys_are_no_difference(spec: Path):
    edit(spec, "underlay: {subnet: 192.168.9.0/24, mtu: 9000}\n", "# a word\n")
    spec.write_text("underlay: {mtu:   9000,\n  subnet: 192.168.9.0/24}\n" + spec.read_text())
    done = call(apply, spec, "--yes")
    assert done.exception is None and done.return_value in (0, REBOOT_DUE)


@pytest.mark.usefixtures("host")
def test_as_begun_with_nothing_to_finish_is_refused(spec: Path):
    error = call(apply, spec, "--yes", "--as-begun").exception
    assert isinstance(error, InputError) and error.what == "run.nothing_to_finish"
