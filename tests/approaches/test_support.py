"""A BlueField, a multi-host or a socket-direct card is not taken for a ConnectX in one slot."""

import pytest
from test_switchdev_drivers import connectx
from whole_plan import SPEC

from described.firmware import SETTINGS
from described.host import Host, capture_of
from wirespeed.approaches.ovs_tc import ovs_tc
from wirespeed.approaches.support import require_host_managed, require_one_card
from wirespeed.catalog import approaches
from wirespeed.model.capture import parse_capture
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import CannotTellError
from wirespeed.model.spec.members import read_spec_data
from wirespeed.model.spec.spec import Spec

PFS = ("0000:03:00.0", "0000:03:00.1")
BLUEFIELD_2 = "0xa2d6"
QUERY = f"mstconfig -d {PFS[0]} -e q"
HEADER = "Configurations:    Default    Current    Next Boot\n"


def bluefield(owner: str | None) -> Host:
    host = connectx()
    for pf in PFS:
        host.put(host.links[f"/sys/bus/pci/devices/{pf}"], device=BLUEFIELD_2)
    row = f"   INTERNAL_CPU_OFFLOAD_ENGINE    ENABLED(0)    {owner}    {owner}\n"
    host.answer(QUERY, f"{HEADER}{row if owner else ''}   NUM_OF_VFS    0    16    16\n")
    return host


def facts(host: Host) -> HostFacts:
    return HostFacts("beta", parse_capture(capture_of(host), "beta"))


@pytest.mark.parametrize("approach", ["ovs-tc", "ovs-dpdk", "legacy-vlan"])
@pytest.mark.parametrize("owner", ["ENABLED(0)", None])
def test_a_card_that_its_own_processors_manage_is_refused(owner: str | None, approach: str):
    assert "INTERNAL_CPU_OFFLOAD_ENGINE" not in SETTINGS
    spec = read_spec_data(SPEC.model_dump(mode="json") | {"approach": approach})
    host = bluefield(owner)
    for pf in PFS:
        # Before its firmware is told anything, too.
        host.put(host.links[f"/sys/bus/pci/devices/{pf}"], sriov_totalvfs=0)
    with pytest.raises(InputError) as caught:
        list(approaches()[approach].steps(spec, "beta", facts(host)))
    assert caught.value.what == "spec.card_managed"
    assert "BlueField-2" in caught.value.found


def test_one_in_nic_mode_is_as_a_connectx():
    assert list(ovs_tc(SPEC, "beta", facts(bluefield("DISABLED(1)"))))


def test_one_whose_mode_cannot_be_read_is_not_guessed():
    host = bluefield("DISABLED(1)")
    host.answer(QUERY, errors="-E- Failed to open device", returncode=3)
    with pytest.raises(CannotTellError):
        require_host_managed(SPEC, "beta", facts(host))


def spec_of(ports: list[str], **changes: object) -> Spec:
    data = SPEC.model_dump(mode="json") | changes
    data["hosts"]["beta"]["ports"] = ports
    return read_spec_data(data)


def test_ports_of_two_slots_make_no_vf_lag():
    with pytest.raises(InputError) as caught:
        require_one_card(spec_of(["0000:03:00.0", "0000:83:00.0"]), "beta")
    assert caught.value.what == "spec.two_cards"
    assert "socket-direct" in caught.value.found
    require_one_card(spec_of(["0000:03:00.0", "0000:83:00.0"], failover="none"), "beta")
    require_one_card(SPEC, "beta")
