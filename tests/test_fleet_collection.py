"""The Ansible collection: its documentation is read by ansible-doc, and its playbook runs here."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ansible_collection import BIN, ROOT
from ansible_collection import environment as environment_of

from wirespeed.apply.run import open_run
from wirespeed.apply.run_place import run_folder
from wirespeed.model.capture import parse_capture
from wirespeed.model.journal import Begun, Ended
from wirespeed.model.plan import Plan

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
MODULES = sorted(path.stem for path in (ROOT / "ansible/plugins/modules").glob("*.py"))
RECORDED = ROOT / "tests/facts/samples/captures/igb-lab.txt"
SPEC = """\
hosts:
  {{ inventory_hostname }}: {reach: "{{ spec_reach }}", ports: ["0000:01:00.0"]}
approach: none
underlay: {subnet: 192.168.50.0/24, mtu: 9000}
"""


@pytest.fixture(name="environment")
def _environment(tmp_path: Path) -> dict[str, str]:
    return environment_of(tmp_path)


def ran(environment: dict[str, str], program: str, *words: str) -> str:
    done = subprocess.run(
        [BIN / program, *words], env=environment, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_fleet_modules_are_documented_as_ansible_doc_reads_it(environment: dict[str, str]):
    names = [f"wirespeed.wirespeed.{name}" for name in MODULES]
    assert MODULES == ["apply", "capture", "drift", "measure", "undo"]
    found = json.loads(ran(environment, "ansible-doc", "--json", *names))
    for name in names:
        doc = found[name]["doc"]
        assert doc["short_description"], name
        assert all(option["description"] for option in doc["options"].values())
        assert name in found[name]["examples"]
        assert found[name]["return"]


def test_fleet_playbook_captures_and_its_check_mode_is_our_plan(
    environment: dict[str, str], tmp_path: Path
):
    (tmp_path / "spec.yaml.j2").write_text(SPEC)
    inventory = tmp_path / "hosts"
    inventory.write_text(f"alpha ansible_connection=local spec_reach={RECORDED}\n")
    said = ran(
        environment, "ansible-playbook", str(ROOT / "ansible/playbooks/rack.yml"),
        "-i", str(inventory), "--check", "--diff",
        "-e", f"program={tmp_path / 'wirespeed'}", "-e", f"captures={tmp_path}",
        "-e", "wirespeed_reach=here", "-e", f"set_up_spec={tmp_path / 'spec.yaml.j2'}",
        "-e", f"set_up_folder={tmp_path / 'specs'}",
    )  # fmt: skip
    assert (tmp_path / "alpha.txt").read_text().startswith("wirespeed-capture 1 ")
    # The diff is ours: what the spec wants, and the recorded port has not.
    assert "3 address enp1s0\n    -is_there no\n    +is_there yes" in said
    assert "changed: [alpha -> localhost]" in said
    assert "failed=0" in said


def test_fleet_module_apply_says_that_a_host_has_to_be_rebooted(
    environment: dict[str, str], tmp_path: Path
):
    """Exit code 4 of `apply` (docs/apply.md): a stage is done, and nothing of it was undone."""
    due = "a stage is done, but not in force until you reboot alpha\\nthen: wirespeed apply x"
    plan = json.dumps({"steps": [{"step": {"step": "mtu"}, "host": "alpha", "no_op": ""}]})
    program = tmp_path / "staged"
    program.write_text(
        f"#!/bin/sh\n[ \"$1\" = apply ] || {{ echo '{plan}'; exit 0; }}\n"
        f"printf 'alpha: until the next boot\\n{due}\\n'\nexit 4\n"
    )
    program.chmod(0o755)
    words = f"spec={tmp_path / 'x'} program={program}"
    done = subprocess.run(
        [BIN / "ansible", "localhost", "-m", "wirespeed.wirespeed.apply", "-a", words],
        env=environment, capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    assert done.returncode == 2
    answer = json.loads(done.stdout.partition("=> ")[2])
    assert answer["msg"] == (
        "a stage is done, but not in force until you reboot alpha; then: wirespeed apply x"
    )
    assert answer["changed"] and answer["reboot_required"] and answer["steps"] == ["mtu on alpha"]


def asked(environment: dict[str, str], module: str, words: str, *more: str) -> dict[str, Any]:
    """Give what a module answers; `failed` says that it did."""
    argv = [BIN / "ansible", "localhost", "-m", f"wirespeed.wirespeed.{module}", "-a", words]
    done = subprocess.run(
        [*argv, *more], env=environment, capture_output=True, text=True, timeout=240
    )
    answer: dict[str, Any] = json.loads(done.stdout.partition("=> ")[2])
    return {**answer, "failed": done.returncode != 0}


@pytest.fixture(name="spec")
def _spec(environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a spec without a run, whose run would be in a folder of its own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    environment["XDG_STATE_HOME"] = str(tmp_path / "state")
    (tmp_path / "spec.yaml").write_text(
        f"hosts: {{alpha: {{reach: {RECORDED}, ports: ['0000:01:00.0']}}}}\napproach: none\n"
    )
    return tmp_path / "spec.yaml"


@pytest.mark.parametrize("mode", [(), ("--check",)])
def test_fleet_module_undo_has_nothing_to_do_where_there_is_no_run_and_fails_for_a_typo(
    environment: dict[str, str], spec: Path, mode: tuple[str, ...]
):
    program = f"program={spec.parent / 'wirespeed'}"
    there = asked(environment, "undo", f"spec={spec} {program}", *mode)
    assert not there["failed"] and not there["changed"], there
    typo = asked(environment, "undo", f"spec={spec}x {program}", *mode)
    assert typo["failed"] and "run.missing" in typo["msg"], typo


@pytest.mark.parametrize("mode", [(), ("--check",)])
def test_fleet_module_undo_fails_for_a_run_folder_that_is_open_to_others(
    environment: dict[str, str], spec: Path, mode: tuple[str, ...]
):
    run = run_folder(spec)
    with open_run(run) as opened:
        opened.write(Begun(at="now", plan=Plan(steps=())))
        opened.write(Ended(at="now", outcome="applied"))
    run.chmod(0o777)
    words = f"spec={spec} program={spec.parent / 'wirespeed'}"
    found = asked(environment, "undo", words, *mode)
    assert found["failed"] and "file.untrusted" in found["msg"], found
    assert "0777" in found["msg"]


def test_fleet_module_undo_fails_in_check_mode_for_a_journal_that_cannot_be_undone(
    environment: dict[str, str], spec: Path
):
    run = run_folder(spec)
    with open_run(run) as opened:
        opened.write(Begun(at="now", plan=Plan(steps=())))
        opened.write(Ended(at="now", outcome="applied"))
    (run / "journal.jsonl").write_bytes(b"\0" * 99)
    words = f"spec={spec} program={spec.parent / 'wirespeed'}"
    found = asked(environment, "undo", words, "--check")
    assert found["failed"] and "run.not_a_journal" in found["msg"], found


def test_fleet_module_undo_changes_nothing_in_check_mode_once_all_is_undone(
    environment: dict[str, str], spec: Path
):
    words = f"spec={spec} program={spec.parent / 'wirespeed'}"
    spec.write_text(spec.read_text().replace(str(RECORDED), "here"))
    with open_run(run_folder(spec)) as opened:
        opened.write(Begun(at="now", plan=Plan(steps=())))
        opened.write(Ended(at="now", outcome="undone"))
    for mode in ((), ("--check",)):
        found = asked(environment, "undo", words, *mode)
        assert not found["failed"] and not found["changed"], found
    # Nor has it drifted, but it is not in force either.
    found = asked(environment, "drift", words)
    assert (found["drifted"], found["in_force"]) == (False, False)


def test_fleet_module_drift_fails_where_a_reading_failed(
    environment: dict[str, str], tmp_path: Path
):
    """Exit code 1 is that of a drift and of an error (docs: `wirespeed drift --help`, `cli`)."""
    program = tmp_path / "late"
    program.write_text("#!/bin/sh\necho 'ERROR command.timeout ethtool' >&2\nexit 1\n")
    program.chmod(0o755)
    found = asked(environment, "drift", f"spec={tmp_path} program={program}")
    assert found["failed"] and "command.timeout" in found["msg"], found


def test_fleet_module_apply_hands_on_a_try_of_no_seconds(environment: dict[str, str], spec: Path):
    """It is refused, and not left out: the change would be kept without a timer."""
    words = f"spec={spec} try_seconds=0 program={spec.parent / 'wirespeed'}"
    found = asked(environment, "apply", words)
    assert found["failed"] and "--try" in found["msg"], found


def test_fleet_playbook_has_the_collector_run_over_ansibles_own_connection(
    environment: dict[str, str], tmp_path: Path
):
    script = ran(environment, str(tmp_path / "wirespeed"), "capture", "--script", "--seconds", "0")
    (tmp_path / "wirespeed-collector.sh").write_text(script)
    inventory = tmp_path / "hosts"
    inventory.write_text("alpha ansible_connection=local\nbeta ansible_connection=local\n")
    words = ("-i", str(inventory), "wirespeed.wirespeed.capture")
    said = ran({**environment, "PWD": str(tmp_path)}, "ansible-playbook", *words)
    assert said.count("failed=0") == 2, said
    found = sorted(path.name for path in (tmp_path / "captures").iterdir())
    assert found == ["alpha.txt", "beta.txt"]
    for name in ("alpha", "beta"):
        assert parse_capture((tmp_path / f"captures/{name}.txt").read_text(), name).complete


GIT = shutil.which("git") or "git"
GET_PIP = """\
import ensurepip

ensurepip.bootstrap()
"""
"""ansible-test puts pip into each environment that it makes by a script from its own server, and
takes one that stands in its cache instead. Python has pip in itself."""
TESTS = {
    "action-plugin-docs", "ansible-doc", "changelog", "compile", "empty-init", "ignores", "import",
    "line-endings", "no-assert", "no-get-exception", "no-illegal-filenames", "no-smart-quotes",
    "pep8", "pylint", "replace-urlopen", "runtime-metadata", "shebang", "shellcheck", "symlinks",
    "use-argspec-type-path", "use-compat-six", "validate-modules", "yamllint",
}  # fmt: skip
"""All that ansible-test 2.19 has, but what is about PowerShell: there is none in the collection."""


def sane(folder: Path) -> tuple[int, str]:
    """Run every sanity test on a copy of the collection, by this Python; give code and output."""
    found = environment_of(folder, copied=True)
    cache = folder / ".ansible/test/cache"
    cache.mkdir(parents=True)
    (cache / "get_pip_24_2.py").write_text(GET_PIP)
    place = folder / "ansible_collections/wirespeed/wirespeed"
    for words in (("init", "-q", "."), ("add", "-A")):
        subprocess.run([GIT, *words], cwd=place, check=True, timeout=60)
    names = [word for name in sorted(TESTS) for word in ("--test", name)]
    done = subprocess.run(
        [BIN / "ansible-test", "sanity", "--python", PYTHON, "--color", "no", *names],
        cwd=place, env={**found, "HOME": str(folder), "PATH": f"{BIN}:{found['PATH']}"},
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


@pytest.mark.rare
@pytest.mark.timeout(700)
def test_fleet_collection_passes_every_sanity_test_of_ansible(tmp_path: Path):
    code, said = sane(tmp_path)
    assert code == 0, said
    ran_tests = {line.split('"')[1] for line in said.splitlines() if "Running sanity test" in line}
    assert ran_tests == TESTS
    assert "ERROR" not in said
