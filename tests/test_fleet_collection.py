"""The Ansible collection: its documentation is read by ansible-doc, and its playbook runs here."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent
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
    folder = tmp_path / "ansible_collections/wirespeed"
    folder.mkdir(parents=True)
    (folder / "wirespeed").symlink_to(ROOT / "ansible")
    program = tmp_path / "wirespeed"
    paths = ":".join(filter(None, sys.path))
    program.write_text(
        f"#!/bin/sh\nPYTHONPATH='{paths}' exec {sys.executable} -c "
        "'from wirespeed.cli import main; main()' \"$@\"\n"
    )
    program.chmod(0o755)
    return {
        **os.environ,
        "ANSIBLE_COLLECTIONS_PATH": str(tmp_path),
        "ANSIBLE_HOME": str(tmp_path / "home"),
        "ANSIBLE_NOCOLOR": "1",
        "LC_ALL": "C.UTF-8",
    }


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
    (tmp_path / "specs").mkdir()
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
