"""The spec of each host of a fleet: filled in with its variables, checked before any host is."""

from pathlib import Path

import pytest

from wirespeed.fleet.records import InventoryHost
from wirespeed.model.error import InputError
from wirespeed.runs.fleet_specs import specs_of

TEMPLATE = """\
hosts:
  {{ inventory_hostname }}: {reach: "{{ reach }}", ports: ["{{ pci }}"]}
approach: none
{% if jumbo %}underlay: {subnet: 192.168.50.0/24, mtu: 9000}{% endif %}
"""


def host(name: str, **variables: str | int | float | bool) -> InventoryHost:
    return InventoryHost(name=name, reach=f"ssh://{name}", variables=variables)


A, B = host("a", pci="0000:03:00.0", jumbo=True), host("b", pci="0000:af:00.1", jumbo=False)


def test_one_template_gives_each_host_its_own_spec(tmp_path: Path):
    path = tmp_path / "spec.yaml"
    path.write_text(TEMPLATE)
    found = specs_of(path, [A, B])
    assert 'a: {reach: "ssh://a", ports: ["0000:03:00.0"]}' in found["a"]
    assert "mtu: 9000" in found["a"]
    assert 'ports: ["0000:af:00.1"]' in found["b"]
    assert "underlay" not in found["b"]


def test_a_folder_has_a_file_for_each(tmp_path: Path):
    (tmp_path / "a.yaml").write_text(TEMPLATE)
    (tmp_path / "b.yml").write_text(TEMPLATE)
    assert set(specs_of(tmp_path, [A, B])) == {"a", "b"}
    with pytest.raises(InputError) as caught:
        specs_of(tmp_path, [A, host("c")])
    assert caught.value.what == "spec.missing"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("hosts: {{ nowhere }}\n", "spec.template"),
        ("hosts: {{ ''.__class__.__mro__ }}\n", "spec.template"),
        ("hosts: {}\napproach: none\n", "spec.several_hosts"),
        ("approach: what\n", "spec.invalid"),
    ],
)
def test_a_spec_that_is_none_is_refused_before_any_host_is_reached(
    tmp_path: Path, text: str, what: str
):
    path = tmp_path / "spec.yaml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        specs_of(path, [A])
    assert caught.value.what == what
    assert "for a" in caught.value.where


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}", "end"),
        ("hosts: {{ 'a' * 10**10 }}\n", "memory"),
        ("{% macro m(n) %}{{ m(n) }}{% endmacro %}{{ m(1) }}", "recursion"),
    ],
    ids=["loops", "memory", "macro"],
)
def test_a_hostile_file_is_a_template_that_does_not_end(tmp_path: Path, text: str, found: str):
    path = tmp_path / "spec.yaml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        specs_of(path, [A])
    assert caught.value.what == "spec.template"
    assert found in caught.value.found


def test_a_variable_that_only_ansible_fills_in_is_an_error_where_a_spec_uses_it(tmp_path: Path):
    path = tmp_path / "spec.yaml"
    path.write_text(TEMPLATE)
    unfilled = InventoryHost(
        name="a", reach="ssh://a", variables={"jumbo": False}, templates={"pci": "it looks up"}
    )
    with pytest.raises(InputError) as caught:
        specs_of(path, [unfilled])
    assert "pci is a template that only Ansible could fill in: it looks up" in caught.value.found
