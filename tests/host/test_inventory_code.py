"""An inventory is read as data: nothing is run of it, of the working directory, or the environment.

Real ansible-core reads it, asked by the real commands.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from described_ports import CABLE
from other_user import UID, needs_root, open_to_all

from wirespeed.formats.ansible import ansible_files
from wirespeed.host import inventory_program
from wirespeed.host.inventory import read_inventory, read_variables
from wirespeed.model.error import InputError
from wirespeed.runs.export_spec import spec_data_of

IMPORT = re.compile(r"^\s*(?:import|from) ansible", re.MULTILINE)
CAPTURE = Path(__file__).parents[1] / "facts/samples/captures/igb-lab.txt"
PLUGIN = """\
import os
from ansible.plugins.{kind} import {base}

open({mark!r}, "a").write("ran ")


class {name}({base}):
    NAME = "evilp"

    def verify_file(self, path):
        return False

    def get_vars(self, loader, path, entities, cache=True):
        return {{}}
"""
SETTINGS = """\
[defaults]
inventory_plugins = {folder}/plug
vars_plugins = {folder}/vars
[inventory]
enable_plugins = evilp, ini, yaml
"""


def planted(folder: Path) -> Path:
    """Put into `folder` what Ansible obeys in a working directory; give what shows that it ran."""
    mark = folder / "ran"
    for place, kind, base, name in (
        ("plug", "inventory", "BaseInventoryPlugin", "InventoryModule"),
        ("vars", "vars", "BaseVarsPlugin", "VarsModule"),
    ):
        (folder / place).mkdir()
        text = PLUGIN.format(mark=str(mark), kind=kind, base=base, name=name)
        (folder / place / "evilp.py").write_text(text)
    (folder / "ansible.cfg").write_text(SETTINGS.format(folder=folder))
    (folder / "sitecustomize.py").write_text(f"open({str(mark)!r}, 'a').write('site ')\n")
    for name in ("ansible", "jinja2", "json", "runpy"):
        (folder / f"{name}.py").write_text(f"open({str(mark)!r}, 'a').write('module ')\n")
    return mark


@pytest.fixture(name="inventory")
def _inventory(tmp_path: Path) -> Path:
    """Give an inventory in a folder of its own, with the spec that it is an export of."""
    folder = tmp_path / "good"
    folder.mkdir()
    spec = CABLE.replace("ALPHA", str(CAPTURE)).replace("BETA", str(CAPTURE))
    (folder / "spec.yaml").write_text(spec)
    for name, text in ansible_files(spec_data_of(folder / "spec.yaml")).items():
        (folder / name).write_text(text)
    (folder / "captures").mkdir()
    for name in ("alpha", "beta"):
        (folder / f"captures/{name}.txt").write_text(CAPTURE.read_text())
    return folder / "hosts.yaml"


def words_of(command: str, inventory: Path) -> list[str]:
    """Give the words of each command that reads an inventory."""
    captures, out = inventory.parent / "captures", inventory.parent / "out"
    return {
        "fleet doctor": ["fleet", "doctor", "-i", inventory, "--captures", captures, "--out", out],
        "fleet apply": ["fleet", "apply", inventory.parent / "spec.yaml", "-i", inventory],
        "import-spec": ["import-spec", "--as", "ansible", inventory],
        "plan": ["plan", "--from", "ansible", inventory, "--unread", "alpha"],
    }[command]


def called(words: list[str], cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Call wirespeed in `cwd`, as its installed program is called: not from there."""
    given = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "XDG_STATE_HOME": str(cwd.parent / "state"),
        **environment,
    }
    argv = [sys.executable, "-P", "-c", "from wirespeed.cli import main; main()", *map(str, words)]
    return subprocess.run(argv, cwd=cwd, env=given, capture_output=True, text=True, timeout=120)


READ = {
    "fleet doctor": "2 hosts: 2 well",
    "fleet apply": "spec.several_hosts",
    "import-spec": "alpha:",
    "plan": "alpha",
}
"""What each says once it has read the inventory."""
COMMANDS = list(READ)


@pytest.mark.parametrize("command", COMMANDS)
def test_ansible_config_of_the_working_directory_is_not_obeyed(
    command: str, inventory: Path, tmp_path: Path
):
    place = tmp_path / "theirs"
    place.mkdir(mode=0o755)
    mark = planted(place)
    done = called(words_of(command, inventory), place)
    assert not mark.exists(), mark.read_text()
    # It got as far as the hosts of the inventory.
    assert "internal.error" not in done.stderr
    assert READ[command] in done.stdout + done.stderr


@needs_root
def test_ansible_config_of_another_users_folder_is_not_obeyed_by_root(
    inventory: Path, tmp_path: Path
):
    place = tmp_path / "theirs"
    place.mkdir(mode=0o755)
    mark = planted(place)
    open_to_all(tmp_path)
    for path in (place, *place.rglob("*")):
        os.chown(path, UID, UID)
    assert called(words_of("import-spec", inventory), place).returncode == 0
    assert not mark.exists(), mark.read_text()


@pytest.mark.parametrize("command", COMMANDS)
def test_ansible_config_of_the_environment_names_no_plugin(
    command: str, inventory: Path, tmp_path: Path
):
    place = tmp_path / "theirs"
    place.mkdir()
    mark = planted(place)
    for name in ("sitecustomize", "ansible", "jinja2", "json", "runpy"):
        (place / f"{name}.py").unlink()
    called(
        words_of(command, inventory),
        tmp_path / "good",
        ANSIBLE_CONFIG=str(place / "ansible.cfg"),
        ANSIBLE_INVENTORY_PLUGINS=str(place / "plug"),
        ANSIBLE_INVENTORY_ENABLED="evilp,ini,yaml",
        ANSIBLE_VARS_PLUGINS=str(place / "vars"),
        ANSIBLE_PLAYBOOK_DIR=str(place),
    )
    assert not mark.exists(), mark.read_text()


def test_ansible_config_a_home_of_ansible_names_no_plugin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HOME", str(tmp_path))
    place = tmp_path / ".ansible/plugins"
    place.mkdir(parents=True)
    mark = planted(place)
    (place / "plug").rename(place / "inventory")
    for folder in ("inventory", "vars"):
        (place / folder / "evilp.py").rename(place / folder / "ini.py")
    (tmp_path / "hosts").write_text("a\n")
    assert [one.name for one in read_inventory([str(tmp_path / "hosts")])] == ["a"]
    assert not mark.exists()


def test_ansible_config_variables_beside_the_inventory_alone_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Ansible also reads those of the working directory, as that of a playbook."""
    for folder, rack in (("theirs", "moved"), ("good", "r1")):
        (tmp_path / folder / "group_vars").mkdir(parents=True)
        (tmp_path / folder / "host_vars").mkdir()
        (tmp_path / folder / "group_vars/all.yml").write_text(f"rack: {rack}\n")
        (tmp_path / folder / "host_vars/a.yml").write_text(f"role: {rack}\n")
    (tmp_path / "theirs/host_vars/a.yml").write_text("wirespeed_reach: here\n")
    (tmp_path / "good/hosts").write_text("a\n")
    monkeypatch.chdir(tmp_path / "theirs")
    for source in (str(tmp_path / "good/hosts"), "../good/hosts"):
        (found,) = read_inventory([source])
        assert found.reach == "ssh://a"
        assert (found.variables["rack"], found.variables["role"]) == ("r1", "r1")
    # A list of hosts has no folder.
    (found,) = read_inventory(["a,"])
    assert (found.reach, "rack" in found.variables) == ("ssh://a", False)


def test_ansible_config_leaves_limit_files_where_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "hosts").write_text("a\nb\nc\n")
    (tmp_path / "failed").write_text("b\nc\n")
    monkeypatch.chdir(tmp_path)
    assert [one.name for one in read_inventory(["hosts"], "@failed:!c")] == ["b"]


LOOKUP = "{{{{ lookup('pipe', 'touch {mark}; echo 192.0.2.9') }}}}"


def test_ansible_config_a_lookup_is_not_run(tmp_path: Path):
    mark = tmp_path / "ran"
    lookup = LOOKUP.format(mark=mark)
    (tmp_path / "hosts").write_text(f'a note="{lookup}" ansible_host=192.0.2.1\n')
    (found,) = read_inventory([str(tmp_path / "hosts")])
    assert not mark.exists()
    assert found.reach == "ssh://192.0.2.1"
    assert "note" not in found.variables and "lookup" in found.templates["note"]


@pytest.mark.parametrize(
    "name",
    [
        "ansible_host", "ansible_port", "ansible_user", "ansible_connection", "wirespeed_reach",
    ],
)  # fmt: skip
def test_ansible_config_a_lookup_in_an_address_is_an_error_with_host_and_variable(
    name: str, tmp_path: Path
):
    mark = tmp_path / "ran"
    (tmp_path / "hosts").write_text(f'b\na {name}="{LOOKUP.format(mark=mark)}"\n')
    with pytest.raises(InputError) as caught:
        read_inventory([str(tmp_path / "hosts")])
    assert not mark.exists()
    assert (caught.value.what, caught.value.where) == ("inventory.template", f"a: {name}")
    assert "lookup" in caught.value.found and name in caught.value.next


def test_ansible_config_a_lookup_in_a_label_or_in_what_a_spec_uses_is_an_error(
    inventory: Path, tmp_path: Path
):
    mark = tmp_path / "ran"
    folder, lookup = inventory.parent, LOOKUP.format(mark=mark)
    (folder / "host_vars").mkdir()
    (folder / "host_vars/beta.yml").write_text(f'rack: "{lookup}"\n')
    done = called(words_of("fleet doctor", inventory), tmp_path)
    assert done.returncode == 2 and "inventory.template beta: rack" in done.stderr
    (folder / "host_vars/beta.yml").write_text(f'data_pci: "{lookup}"\n')
    (folder / "spec.yaml").write_text(
        "hosts:\n  h: {reach: '{{ reach }}', "
        "ports: ['{{ data_pci | default(\"0000:01:00.0\") }}']}\napproach: none\n"
    )
    done = called(words_of("fleet apply", inventory), tmp_path)
    assert done.returncode == 2 and "spec.template" in done.stderr
    assert "data_pci is a template" in done.stderr and "for beta" in done.stderr
    assert not mark.exists()


def test_ansible_config_a_lookup_in_an_imported_spec_is_an_error(tmp_path: Path):
    mark = tmp_path / "ran"
    (tmp_path / "hosts.yml").write_text(
        "all: {hosts: {a: {wirespeed_host: {ports: [ok, "
        f'"{LOOKUP.format(mark=mark)}"]}}}}}}}}\n'
    )
    with pytest.raises(InputError) as caught:
        read_variables([str(tmp_path / "hosts.yml")], ["wirespeed_host"])
    assert not mark.exists()
    assert caught.value.where == "a: wirespeed_host.ports"


def test_a_template_that_joins_variables_is_filled_in_for_a_spec_too(tmp_path: Path):
    (tmp_path / "hosts.yml").write_text(
        "all:\n  vars: {domain: example.net, mtu: 9000}\n  hosts:\n    a.b:\n"
        '      ansible_host: "{{ inventory_hostname_short }}.{{ domain }}"\n'
        '      kept: !unsafe "{{ lookup(1) }}"\n'
        '      of: {z: "{{ mtu }}", a: ["{{ domain | upper }}", 1], k: null}\n'
    )
    source = str(tmp_path / "hosts.yml")
    (listed,) = read_inventory([source])
    assert listed.reach == "ssh://a.example.net"
    assert listed.variables["kept"] == "{{ lookup(1) }}"
    (found,) = read_variables([source], ["of"])
    # Numbers stay numbers, and names stay in their order.
    assert json.dumps(found.variables["of"]) == '{"z": 9000, "a": ["EXAMPLE.NET", 1], "k": null}'
    assert found.others == ("domain", "kept", "mtu")


PROGRAM = '#!/bin/sh\ntouch {mark}\necho \'{{"g": {{"hosts": ["b"]}}}}\'\n'


def program(folder: Path, mark: Path) -> Path:
    script = folder / "hosts.sh"
    script.write_text(PROGRAM.format(mark=mark))
    script.chmod(0o755)
    return script


def constructed(folder: Path) -> Path:
    """Give the configuration of a plugin of Ansible's own, after hosts for it."""
    (folder / "1-hosts").write_text("b\n")
    (folder / "2.yml").write_text(
        "plugin: ansible.builtin.constructed\nstrict: true\ngroups: {made: true}\n"
    )
    return folder


def test_ansible_config_a_program_is_refused_unless_it_is_allowed(tmp_path: Path):
    mark = tmp_path / "ran"
    for source in (program(tmp_path, mark), tmp_path):
        with pytest.raises(InputError) as caught:
            read_inventory([str(source)])
        assert (caught.value.what, mark.exists()) == ("inventory.program", False)
        assert str(tmp_path / "hosts.sh") in caught.value.where
        assert "--allow-inventory-code" in caught.value.next
    (found,) = read_inventory([str(tmp_path / "hosts.sh")], allow_code=True)
    assert (found.name, found.groups, mark.exists()) == ("b", ("g",), True)


def test_ansible_config_a_program_without_its_first_line_is_not_run_either(tmp_path: Path):
    """What the kernel does not run, a shell might: it is data to us."""
    mark = tmp_path / "ran"
    script = program(tmp_path, mark)
    script.write_text(f"touch {mark}\n")
    with pytest.raises(InputError):
        read_inventory([str(script)])
    script.write_text("a rack=r1\n")
    assert [one.name for one in read_inventory([str(script)])] == ["a"]
    assert not mark.exists()


def test_ansible_config_a_plugin_is_refused_unless_it_is_allowed(tmp_path: Path):
    source = str(constructed(tmp_path))
    with pytest.raises(InputError) as caught:
        read_inventory([source])
    assert caught.value.what == "inventory.plugin"
    assert "--allow-inventory-code" in caught.value.next
    (found,) = read_inventory([source], allow_code=True)
    assert (found.name, found.groups) == ("b", ("made",))


@pytest.mark.parametrize("command", COMMANDS)
def test_ansible_config_every_command_has_the_option(command: str, inventory: Path, tmp_path: Path):
    mark = tmp_path / "ran"
    words = words_of(command, inventory)
    script = program(inventory.parent, mark)
    words[words.index(inventory)] = script
    assert "inventory.program" in called(words, tmp_path).stderr
    assert not mark.exists()
    done = called([*words, "--allow-inventory-code"], tmp_path)
    assert mark.exists() and "inventory.program" not in done.stderr


def test_ansible_config_of_the_working_directory_is_not_obeyed_where_code_is_allowed(
    inventory: Path, tmp_path: Path
):
    place = tmp_path / "theirs"
    place.mkdir()
    mark = planted(place)
    for name in ("sitecustomize", "ansible", "jinja2", "json", "runpy"):
        (place / f"{name}.py").rename(place / "vars" / f"{name}.py")
    done = called(
        [*words_of("import-spec", inventory), "--allow-inventory-code"],
        place,
        ANSIBLE_CONFIG="",
        ANSIBLE_VARS_PLUGINS=str(place / "vars"),
        ANSIBLE_INVENTORY_ENABLED="evilp,ini,yaml",
        ANSIBLE_INVENTORY_PLUGINS=str(place / "plug"),
    )
    assert done.returncode == 0 and not mark.exists()


def test_ansible_config_what_does_not_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(inventory_program, "LONGEST_S", 2.0)
    os.mkfifo(tmp_path / "hosts")
    with pytest.raises(InputError) as caught:
        read_inventory([str(tmp_path / "hosts")])
    assert caught.value.found == "it was not read within 2 s"


@pytest.mark.rare
def test_ansible_config_aliases_that_grow_without_end_are_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(inventory_program, "MAX_MEMORY_BYTES", 256 << 20)
    lines = ["all:", "  vars:", "    v0: &v0 [x, x, x, x, x, x, x, x, x, x]"]
    for n in range(1, 12):
        refers = ", ".join([f"*v{n - 1}"] * 10)
        lines.append(f"    v{n}: &v{n} [{refers}]")
    (tmp_path / "hosts.yml").write_text("\n".join([*lines, "  hosts: {a: {}}", ""]))
    with pytest.raises(InputError) as caught:
        read_inventory([str(tmp_path / "hosts.yml")])
    assert caught.value.what == "inventory.unreadable"


def test_without_ansible_it_says_how_to_add_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "hosts").write_text("a\n")
    monkeypatch.setattr(sys, "executable", getattr(sys, "_base_executable", sys.executable))
    with pytest.raises(InputError) as caught:
        read_inventory([str(tmp_path / "hosts")])
    assert (caught.value.what, caught.value.where) == ("fleet.library", "ansible-core")


def test_no_module_of_ansible_comes_into_the_process():
    """Its licence, the GPL, is that of a program that is run."""
    files = Path(inventory_program.__file__).parents[1].rglob("*.py")
    assert not [file for file in files if IMPORT.search(file.read_text())]


@pytest.mark.parametrize("file", ["hosts.ini", "group_vars/all.yml"])
def test_a_hostile_file_of_megabytes_is_no_inventory(file: str, tmp_path: Path):
    """Ansible takes 13 s for a megabyte of YAML."""
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_text("# " + "x" * (4 << 20))
    (tmp_path / "other.ini").write_text("alpha\n")
    source = str(tmp_path) if "/" not in file else str(path.parent)
    with pytest.raises(InputError) as caught:
        read_inventory([source], None, allow_code=False)
    assert caught.value.what == "file.too_large"
