"""The Ansible collection: its documentation is read by ansible-doc, and its playbook runs here."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from ansible_collection import BIN, ROOT
from ansible_collection import environment as environment_of

from wirespeed.model.capture import parse_capture

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
