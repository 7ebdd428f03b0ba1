"""docs/esxi.md: what it names is there, and its spec is one."""

import re
from pathlib import Path

import yaml

from wirespeed.catalog import rules
from wirespeed.commands.apply import apply
from wirespeed.commands.capture import capture
from wirespeed.commands.doctor import doctor
from wirespeed.commands.remedy import remedy
from wirespeed.host import vsphere
from wirespeed.host.reach_destination import EsxiHost, VsphereHost, parse_destination
from wirespeed.model.spec.members import read_spec_data

PAGE = (Path(__file__).parent.parent / "docs/esxi.md").read_text()
OF_ESXCLI = {"--enable"}


def test_every_rule_about_esxi_is_on_the_page_and_no_other():
    ours = {rule.slug for rule in rules() if rule.slug.startswith("esxi.")}
    assert set(re.findall(r"`(esxi\.\w+)`", PAGE)) == ours


def test_every_option_on_the_esxi_page_is_there():
    commands = (doctor, capture, remedy, apply)
    options = {name for command in commands for p in command.params for name in p.opts}
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", PAGE)) - OF_ESXCLI <= options


def test_every_variable_on_the_esxi_page_is_read():
    names = {vsphere.PASSWORD, vsphere.CA, vsphere.THUMBPRINT}
    assert set(re.findall(r"WIRESPEED_\w+", PAGE)) == names


def test_the_spec_on_the_esxi_page_is_that_of_the_report():
    block = re.search(r"\n((?:    .*\n|\n)*    approach: esxi\n(?:    .*\n)*)", PAGE)
    assert block
    spec = read_spec_data(yaml.safe_load(block[1]))
    assert spec.esxi is not None
    # Table 15 of the report.
    assert spec.esxi.parameters == {"max_vfs": "1,1,1,1,1,1,1", "supported_num_ports": "8"}
    guest = spec.esxi.guests["7"]
    assert guest.affinity == ",".join(map(str, range(25, 48)))
    assert (guest.reserve_memory, guest.numa_node) == (True, 1)
    # VMware: virtual CPUs x clock; 23 of them at 2.7 GHz.
    assert guest.reserve_cpu_mhz == 23 * 2700
    ways = [type(parse_destination(host.reach)) for host in spec.hosts.values()]
    assert ways == [EsxiHost, VsphereHost]


def test_the_esxi_page_says_that_nothing_of_it_was_proven_on_hardware():
    assert PAGE.split("\n\n")[1].startswith("*Not proven on hardware.*")
