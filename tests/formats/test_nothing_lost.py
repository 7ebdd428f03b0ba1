"""All that a spec wants is in the files of a format, or in its list; for every format and spec."""

import pytest
from described_ports import BRIDGED, CABLE, GUESTS, ONE_EACH, SPACES, wanted

from wirespeed import catalog
from wirespeed.formats.every import FORMATS
from wirespeed.formats.form import Written, exported
from wirespeed.formats.wanted import FIELDS, Key

BEHIND = BRIDGED.replace("KIND", "kind: namespace")
TAGGED = CABLE.replace("mtu: 9000", "mtu: 9000, vlan: 40")
UNTAGGED = "\n".join(
    line for line in GUESTS.replace("segment: 42", "segment: 0").split("\n")
    if "public" not in line
)  # fmt: skip
SPECS = [GUESTS, ONE_EACH, SPACES, CABLE, BEHIND, TAGGED, UNTAGGED]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("text", SPECS)
def test_what_is_said_stands_in_a_file_and_the_rest_in_every_head(form: str, text: str):
    host = wanted(text)
    said = FORMATS[form].write(host)
    made = exported(FORMATS[form], host)
    for one in host.settings:
        is_listed = any(line.startswith(one.words()) for line in made.unsaid)
        assert (one in said.said) != is_listed, one.words()
        if one in said.said and one.key is not Key.UP and not isinstance(one.value, bool):
            assert any(str(one.value).partition("/")[0] in body for body in said.files.values())
    assert set(host.others) <= set(made.unsaid)
    for content in made.files.values():
        head = " ".join(content.partition("\n\n")[0].replace("\n#", " ").split())
        assert all(" ".join(line.split()) in head for line in made.unsaid)


def test_a_format_that_says_nothing_lists_all():
    host = wanted(GUESTS)
    silent = exported(type(FORMATS["netplan"])("silent", lambda _: Written({}, frozenset())), host)
    assert len(silent.unsaid) == len(host.settings) + len(host.others)


def test_what_runs_in_a_guest_is_listed_with_its_value():
    assert "address bond0 in web-1: address 192.168.20.1/24" in wanted(ONE_EACH).others
    assert not any("reason" in line for line in wanted(GUESTS).others)


def test_the_operator_has_no_word_for_a_vlan_of_hosts():
    assert exported(FORMATS["sriov-operator"], wanted(TAGGED)).unsaid[-4:] == (
        "enp3s0f0np0: VLAN on it 40",
        "enp3s0f0np0: netdev of the VLAN on it enp3s0f0np0.40",
        "enp3s0f0np0: MTU of the VLAN on it 9000",
        "enp3s0f0np0: address in the VLAN on it 192.168.9.1/24",
    )


def test_every_field_of_a_step_is_a_setting_or_says_of_what_it_is():
    beyond = {"lag_of", "is_lag_shown", "has_representors", "rx", "tx"}
    for step, keys in FIELDS.items():
        assert step in catalog.step_types().values()
        fields = set(step.model_fields) - {"step", "netdev", "pci_address", "vf"}
        assert fields - set(keys) <= beyond, step


def test_of_vfs_that_are_taken_away_and_made_the_last_number_counts():
    host = wanted(BEHIND)
    assert [one.value for one in host.settings if one.key is Key.VFS] == [2]
