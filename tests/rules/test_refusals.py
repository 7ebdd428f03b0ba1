"""What was refused is not advised again, and an error number has the meaning of its own driver.

Sources of the cases stand in their expected.json.
"""

import pytest
from test_host_remedies import findings

UNFIT = "the driver and the firmware do not match"


@pytest.mark.parametrize(
    ("case", "begins", "never"),
    [
        ("present_module_that_ixgbe_refuses", "the driver refuses the card because of", UNFIT),
        ("present_capabilities_refused", UNFIT, "module"),
        ("present_firmware_that_does_not_start", "the card's firmware does not start", UNFIT),
        ("present_ice_in_safe_mode", "the driver found no DDP package", UNFIT),
        ("present_commands_that_the_firmware_refuses", "the firmware does not know", UNFIT),
        ("present_a_command_without_an_answer", "reset the card's firmware", UNFIT),
        ("present_no_room_for_vfs_in_the_words_of_newer_kernels", "the BIOS left no room", UNFIT),
        ("present_i40e_in_recovery_mode", "burn the card's firmware again", UNFIT),
        ("present_ice_in_rollback_mode", "burn the card's firmware again", UNFIT),
        ("present_x722_with_an_old_nvm", "update the card's firmware", "newer kernel"),
        ("present_bnxt_with_old_firmware", "update the card's firmware", "newer kernel"),
        ("present_no_bus_numbers_for_vfs", "the bridge above has no bus numbers", "Above 4G"),
    ],
)
def test_a_refusal_is_answered_by_what_helps_against_it(case: str, begins: str, never: str):
    (finding,) = findings(f"driver.refused/{case}")
    (remedy,) = finding.remedies
    assert remedy.text.startswith(begins)
    assert never not in remedy.text


def test_a_vf_that_is_trusted_already_is_not_to_be_trusted_again():
    (finding,) = findings("sriov.vf_refused/present_trusted_since_is_a_note")
    assert finding.remedies == ()
    (finding,) = findings("sriov.vf_refused/present_containers_in_a_guest")
    assert [step.parameters for r in finding.remedies for step in r.steps] == [
        {"netdev": "p0", "vf": 0, "trust": True}
    ]


def test_no_vfs_are_advised_where_there_is_no_room_for_them():
    case = "driver.refused/present_no_room_for_vfs_in_the_words_of_newer_kernels"
    (finding,) = findings(case)
    assert "sriov_numvfs" not in str(finding.remedies)


def test_an_error_number_of_another_driver_is_not_answered_with_mlx5s_advice():
    (finding,) = findings("driver.refused/present_an_error_of_another_driver")
    (remedy,) = finding.remedies
    assert remedy.text.startswith("read the kernel's log")
