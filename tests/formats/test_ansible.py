"""A spec as an inventory of Ansible: its own programs read it, and its playbook is our plan."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ansible_collection import BIN, ROOT, environment
from click.testing import CliRunner, Result
from described_ports import BRIDGED, CABLE, GUESTS

from wirespeed.apply.spec_file import parse_spec
from wirespeed.commands.export_spec import export_spec
from wirespeed.commands.import_spec import import_spec
from wirespeed.commands.plan import plan
from wirespeed.formats.ansible import AnsibleHost, ansible_files, ansible_spec
from wirespeed.host.inventory import read_inventory
from wirespeed.model.error import InputError
from wirespeed.model.spec.spec import Spec
from wirespeed.runs.export_spec import spec_data_of

REVERSED = CABLE.replace("alpha:", "omega:")
"""Hosts in another order than that of their names, which is the order of their addresses."""
OF_THE_LAB = f"""
hosts:
  omega: {{reach: {ROOT}/tests/facts/samples/captures/igb-lab.txt, ports: ["0000:01:00.0"]}}
  beta: {{reach: {ROOT}/tests/facts/samples/captures/igb-lab.txt, ports: ["0000:01:00.0"]}}
approach: none
underlay: {{subnet: 192.168.50.0/24, mtu: 9000}}
"""
SPECS = [REVERSED, GUESTS, BRIDGED.replace("KIND", "kind: namespace")]
ALPHA, BETA = "ssh://root@192.0.2.7:2222", "ssh://root@[2001:db8::7]"


def run(command: object, *words: object) -> Result:
    given = [str(word) for word in words]
    return CliRunner().invoke(command, given, catch_exceptions=False, standalone_mode=False)  # type: ignore[arg-type]


def exported(folder: Path, text: str, alpha: str = ALPHA, beta: str = BETA) -> tuple[Spec, Path]:
    """Give the spec, and the folder with its inventory and playbook."""
    (folder / "spec.yaml").write_text(
        text.replace("ALPHA", f'"{alpha}"').replace("BETA", f'"{beta}"')
    )
    done = run(export_spec, folder / "spec.yaml", "--as", "ansible", "--out", folder / "out")
    assert done.stderr == ""
    return parse_spec((folder / "spec.yaml").read_text(), "spec"), folder / "out"


def ran(program: str, folder: Path, *words: str) -> str:
    done = subprocess.run(
        [BIN / program, "-i", "hosts.yaml", *words], cwd=folder,
        env=environment(folder.parent), capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stderr
    return done.stdout


def in_order(data: Any) -> str:
    return json.dumps(data)


@pytest.mark.parametrize("text", SPECS)
def test_what_is_written_is_read_back_as_the_same_spec_in_the_same_order(text: str, tmp_path: Path):
    spec, out = exported(tmp_path, text)
    done = run(import_spec, out / "hosts.yaml", "--as", "ansible")
    assert done.stderr == ""
    back = parse_spec(done.stdout, "spec")
    assert in_order(back.model_dump(mode="json")) == in_order(spec.model_dump(mode="json"))


def test_ansible_itself_reads_hosts_their_connection_and_the_spec(tmp_path: Path):
    spec, out = exported(tmp_path, REVERSED)
    found = json.loads(ran("ansible-inventory", out, "--list"))
    assert found["wirespeed"]["hosts"] == ["omega", "beta"] == list(spec.hosts)
    of = found["_meta"]["hostvars"]
    assert (of["omega"]["ansible_host"], of["omega"]["ansible_port"]) == ("192.0.2.7", 2222)
    assert (of["beta"]["ansible_host"], of["beta"]["ansible_user"]) == ("2001:db8::7", "root")
    assert of["beta"]["wirespeed_host"]["ports"] == ["0000:03:00.0"]
    assert of["beta"]["wirespeed_spec"]["tuning"] == {
        "rings": "largest", "channels": 4, "pause": False,
    }  # fmt: skip


def test_a_fleet_reaches_the_same_hosts(tmp_path: Path):
    _, out = exported(tmp_path, CABLE, beta="winrm://admin@b1")
    found = {one.name: one.reach for one in read_inventory([str(out / "hosts.yaml")])}
    assert found == {"alpha": ALPHA, "beta": "winrm://admin@b1"}


def test_its_check_mode_is_the_plan_of_the_spec(tmp_path: Path):
    spec, out = exported(tmp_path, OF_THE_LAB)
    program = f"program={tmp_path / 'wirespeed'}"
    said = ran("ansible-playbook", out, "apply.yaml", "--check", "--diff", "-e", program)
    made = parse_spec((out / "spec.json").read_text(), "spec")
    assert in_order(made.model_dump(mode="json")) == in_order(spec.model_dump(mode="json"))
    diff = run(plan, tmp_path / "spec.yaml", "--diff").stdout.splitlines()
    assert len(diff) > 8 and set(diff) <= {line.removeprefix("-") for line in said.splitlines()}
    assert "changed: [omega -> localhost]" in said


def test_a_part_of_the_hosts_is_refused_as_addresses_go_by_places(tmp_path: Path):
    _, out = exported(tmp_path, CABLE)
    with pytest.raises(AssertionError, match="addresses of a spec go by the places"):
        ran("ansible-playbook", out, "apply.yaml", "--check", "--limit", "beta")
    assert not (out / "spec.json").exists()


def test_another_place_of_a_host_and_variables_of_others(tmp_path: Path):
    _, out = exported(tmp_path, CABLE)
    (out / "more.ini").write_text("beta db_password=correct-horse rack=r1\nother rack=r2\n")
    words = [out / "hosts.yaml", out / "more.ini", "--as", "ansible", "--host", "beta=b.txt"]
    done = run(import_spec, *words)
    spec = parse_spec(done.stdout, "spec")
    assert [host.reach for host in spec.hosts.values()] == [ALPHA, "b.txt"]
    assert done.stderr.splitlines() == [
        "a spec cannot say:",
        "  other: all of it, as it has no variable wirespeed_host, wirespeed_spec",
        "  beta: variable db_password",
        "  beta: variable rack",
    ]
    assert "correct-horse" not in done.stdout


SPEC = {"wirespeed_spec": {"approach": "none"}, "wirespeed_host": {"ports": []}}


@pytest.mark.parametrize(
    ("variables", "reached", "what", "found"),
    [
        ([{}], {}, "formats.says_nothing", "no host has"),
        ([SPEC, SPEC | {"wirespeed_spec": {}}], {}, "formats.invalid", "another one than that"),
        ([SPEC | {"wirespeed_host": 7}], {}, "formats.invalid", "found 7; expected fields"),
        ([SPEC | {"wirespeed_spec": {"hosts": 1}}], {}, "formats.invalid", "without `hosts`"),
        ([SPEC], {"other": "here"}, "formats.invalid", "no such host; expected one of h0"),
    ],
)
def test_an_inventory_without_one_spec_is_refused(
    variables: list[dict[str, Any]], reached: dict[str, str], what: str, found: str
):
    hosts = [AnsibleHost(f"h{n}", of) for n, of in enumerate(variables)]
    with pytest.raises(InputError) as caught:
        ansible_spec(hosts, reached)
    assert caught.value.what == what and found in caught.value.found


def test_what_ansible_would_fill_in_is_refused(tmp_path: Path):
    (tmp_path / "spec.yaml").write_text(CABLE.replace("ALPHA", "'{{ x }}'"))
    with pytest.raises(InputError) as caught:
        ansible_files(spec_data_of(tmp_path / "spec.yaml"))
    assert (caught.value.what, caught.value.where) == ("formats.template", "hosts.alpha.reach")


@pytest.mark.parametrize("words", [("--subnet", "x=y"), ("--segment", "x=1")])
def test_an_inventory_needs_no_subnets(words: tuple[str, str]):
    done = CliRunner().invoke(import_spec, ["a", "--as", "ansible", *words])
    assert done.exit_code == 2 and "has all of its spec" in done.output
