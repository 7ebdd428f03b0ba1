"""An inventory is what Ansible makes of it: groups, limits, variables, addresses."""

from pathlib import Path

import pytest

from wirespeed.host.inventory import read_inventory
from wirespeed.model.error import InputError

INI = """\
[compute]
n[1:3] rack=r1
n4 ansible_host=192.0.2.4 ansible_port=2222 ansible_user=admin

[storage]
s1 ansible_connection=local
s2 ansible_connection=winrm ansible_host=2001:db8::7
s3 wirespeed_reach=esxi://root@s3

[site:children]
compute
storage

[site:vars]
switch="sw-{{ rack | default('none') }}"
db_password=never
"""


def write(tmp_path: Path, text: str = INI, name: str = "hosts") -> str:
    (tmp_path / name).write_text(text)
    return str(tmp_path / name)


def test_ranges_groups_templates_and_addresses(tmp_path: Path):
    found = {one.name: one for one in read_inventory([write(tmp_path)])}
    assert list(found) == ["n1", "n2", "n3", "n4", "s1", "s2", "s3"]
    assert found["n1"].reach == "ssh://n1"
    assert found["n4"].reach == "ssh://admin@192.0.2.4:2222"
    assert found["s1"].reach == "here"
    assert found["s2"].reach == "winrm://[2001:db8::7]"
    assert found["s3"].reach == "esxi://root@s3"
    assert found["n2"].variables["switch"] == "sw-r1"
    assert found["n2"].groups == ("compute", "site")
    assert "db_password" not in found["n2"].variables
    assert type(found["n4"].variables["ansible_port"]) in (int, str)


def test_a_limit_is_ansibles_own(tmp_path: Path):
    source = write(tmp_path)
    assert [one.name for one in read_inventory([source], "compute:!n2")] == ["n1", "n3", "n4"]
    assert [one.name for one in read_inventory([source], "storage")] == ["s1", "s2", "s3"]


def test_hosts_are_in_the_order_of_the_inventory_and_not_of_their_names(tmp_path: Path):
    text = "[late]\nz9\nA1\n[early]\nm5\nz9\n[above:children]\nearly\n"
    found = read_inventory([write(tmp_path, text)])
    assert [one.name for one in found] == ["z9", "A1", "m5"]
    assert found[0].groups == ("above", "early", "late")


def test_group_vars_beside_it_are_read(tmp_path: Path):
    (tmp_path / "group_vars").mkdir()
    (tmp_path / "group_vars/storage.yml").write_text("role: storage\n")
    found = {one.name: one for one in read_inventory([write(tmp_path)])}
    assert found["s1"].variables["role"] == "storage"
    assert "role" not in found["n1"].variables


def test_yaml_and_toml_and_where_it_is_allowed_a_script_are_inventories_too(tmp_path: Path):
    yaml = write(tmp_path, "all: {hosts: {a: {rack: r9}}}\n", "hosts.yml")
    toml = write(tmp_path, "[g.hosts]\nc = {rack = 'r7'}\n", "hosts.toml")
    assert {one.name for one in read_inventory([yaml, toml, "d,e,"])} == {"a", "c", "d", "e"}
    script = tmp_path / "hosts.sh"
    script.write_text('#!/bin/sh\necho \'{"g": {"hosts": ["b"]}}\'\n')
    script.chmod(0o755)
    found = read_inventory([yaml, str(script)], allow_code=True)
    assert [one.name for one in found] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "limit", "what"),
    [
        ("a: [\n", None, "inventory.unreadable"),
        (INI, "nothing", "inventory.empty"),
        ("[empty]\n", None, "inventory.empty"),
    ],
)
def test_an_inventory_that_gives_no_host_is_refused(
    tmp_path: Path, text: str, limit: str | None, what: str, capfd: pytest.CaptureFixture[str]
):
    with pytest.raises(InputError) as caught:
        read_inventory([write(tmp_path, text, "hosts.yml" if "[\n" in text else "hosts")], limit)
    assert caught.value.what == what
    assert "WARNING" not in "".join(capfd.readouterr())


def test_a_list_of_hosts_may_be_longer_than_a_name_of_a_file():
    names = [f"h{n}.example.net" for n in range(400)]
    assert [one.name for one in read_inventory([",".join(names) + ","])] == names


def test_a_file_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(InputError) as caught:
        read_inventory([str(tmp_path / "nowhere")])
    assert caught.value.what == "inventory.unreadable"
