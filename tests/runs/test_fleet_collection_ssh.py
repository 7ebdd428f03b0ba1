"""The collection changes real SSH hosts and takes it back: role, example playbook, every module."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collection import BIN, ROOT, environment
from namespace_hosts import PCI, NamespaceHosts

pytestmark = [
    pytest.mark.sshd,
    pytest.mark.rare,
    pytest.mark.timeout(900),
    pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root"),
]
START, GOAL = (1500, False, ()), (9000, True, ("192.168.50.1/24",))
SPEC = """\
hosts:
  {{ inventory_hostname }}: {reach: "{{ wirespeed_reach }}", ports: ["{{ data_pci }}"]}
approach: none
underlay: {subnet: 192.168.50.0/24, mtu: 9000}
"""
MODULES = """\
- hosts: all
  gather_facts: false
  connection: local
  tasks:
    - name: drift
      wirespeed.wirespeed.drift: {spec: "{{ specs }}/{{ inventory_hostname }}.yaml",
        program: "{{ program }}"}
      register: drift
      when: step == 'drift'
    - debug: {msg: "DRIFT {{ inventory_hostname }} {{ drift.drifted }} {{ drift.lines }}"}
      when: step == 'drift'
    - name: undo
      wirespeed.wirespeed.undo: {spec: "{{ specs }}/{{ inventory_hostname }}.yaml",
        program: "{{ program }}"}
      when: step == 'undo'
    - name: measure
      wirespeed.wirespeed.measure:
        command: [echo, "rate 98.5 Gbits/sec"]
        figure: '(\\S+) Gbits/sec'
        unit: Gb/s
        better: higher
        runs: 2
        out: "{{ specs }}/figures-{{ inventory_hostname }}"
        program: "{{ program }}"
      when: step == 'measure'
"""


@pytest.fixture(name="hosts", scope="module")
def _hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NamespaceHosts]:
    hosts = NamespaceHosts(2, tmp_path_factory.mktemp("collection"))
    try:
        yield hosts
    finally:
        hosts.close()


class Controller:
    """Plays playbooks where the hosts can be reached."""

    def __init__(self, hosts: NamespaceHosts, folder: Path) -> None:
        self._hosts, self._folder = hosts, folder
        self._environment = environment(folder)
        (folder / "spec.yaml.j2").write_text(SPEC)
        (folder / "specs").mkdir()
        (folder / "modules.yaml").write_text(MODULES)
        self._inventory = folder / "hosts"
        self._inventory.write_text(
            "".join(
                f"{name} data_pci={PCI} wirespeed_reach={hosts.reach(name)} "
                'ansible_python_interpreter="{{ ansible_playbook_python }}"\n'
                for name in hosts.names
            )
        )

    def play(self, playbook: Path, *words: str) -> tuple[int, str]:
        """Give exit code and output."""
        folder = self._folder
        argv = [
            str(BIN / "ansible-playbook"), str(playbook), "-i", str(self._inventory),
            "-e", f"program={folder / 'wirespeed'}", "-e", f"captures={folder}",
            "-e", f"set_up_spec={folder / 'spec.yaml.j2'}",
            "-e", f"set_up_folder={folder / 'specs'}", "-e", f"specs={folder / 'specs'}", *words,
        ]  # fmt: skip
        process = self._hosts.program(argv, self._environment)
        output, errors = process.communicate(timeout=300)
        return process.returncode, (output + errors).decode()

    def rack(self, *words: str) -> tuple[int, str]:
        """Play the example."""
        return self.play(ROOT / "ansible/playbooks/rack.yml", *words)

    def step(self, name: str, *words: str) -> tuple[int, str]:
        """Call one module on every host."""
        return self.play(self._folder / "modules.yaml", "-e", f"step={name}", *words)


def changed(said: str) -> dict[str, int]:
    """Read the recap: host to number of tasks that changed something."""
    recap = said.partition("PLAY RECAP")[2]
    return {m[1]: int(m[2]) for m in re.finditer(r"^(\S+) +: .*changed=(\d+)", recap, re.M)}


def test_fleet_collection_changes_hosts_and_takes_it_back(hosts: NamespaceHosts, tmp_path: Path):
    controller = Controller(hosts, tmp_path)
    first, second = hosts.names

    code, said = controller.rack("--check", "--diff")
    assert code == 0, said
    # Check mode is the plan, and the diff is wirespeed's own.
    assert said.count("1 mtu data0  (DROPS THE LINK)\n    -mtu 1500\n    +mtu 9000") == 2, said
    assert set(hosts.standing().values()) == {START}

    code, said = controller.rack()
    assert code == 0, said
    assert set(hosts.standing().values()) == {GOAL}
    assert (tmp_path / f"{first}.txt").read_text().startswith("wirespeed-capture 1 ")

    # Each capture is another; the role finds nothing to do.
    code, said = controller.rack()
    assert code == 0 and changed(said) == {first: 1, second: 1}, said
    code, said = controller.step("drift")
    assert code == 0 and said.count(" False ") == 2, said
    hosts.set_mtu(second, 4000)
    code, said = controller.step("drift")
    assert code == 0, said
    assert f"DRIFT {first} False" in said and f"DRIFT {second} True" in said
    hosts.set_mtu(second, 9000)

    code, said = controller.step("measure")
    assert code == 0 and changed(said) == {first: 1, second: 1}, said
    assert list((tmp_path / f"specs/figures-{first}").iterdir())

    code, said = controller.step("undo", "--check")
    assert code == 0 and changed(said) == {first: 1, second: 1}, said
    assert set(hosts.standing().values()) == {GOAL}
    code, said = controller.step("undo")
    assert code == 0 and changed(said) == {first: 1, second: 1}, said
    assert set(hosts.standing().values()) == {START}
    code, said = controller.step("undo")
    assert code == 0 and changed(said) == {first: 0, second: 0}, said


def test_fleet_collection_a_host_that_fails_is_put_back_and_ends_the_play(
    hosts: NamespaceHosts, tmp_path: Path
):
    controller = Controller(hosts, tmp_path)
    first, second = hosts.names
    hosts.break_host(first)
    try:
        code, said = controller.rack()
    finally:
        hosts.mend_host(first)
    assert code == 2, said
    assert f"fatal: [{first}" in said and "wirespeed apply: exit code" in said
    # The canary failed: the other was not begun.
    assert hosts.standing() == {first: START, second: START}
