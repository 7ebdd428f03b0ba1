"""What a rule asks for that is done by another way in than the host is reached by."""

import pytest
from test_esxi_guest import host
from test_esxi_vsphere import DescribedSession

from wirespeed.apply.control_posix import PosixControl
from wirespeed.apply.remedies import chosen
from wirespeed.catalog import platforms
from wirespeed.host.local import LocalRunner
from wirespeed.model.command import Shell
from wirespeed.model.error import InputError
from wirespeed.model.finding import Danger, Finding, Remedy, Severity, StepCall
from wirespeed.platforms.esxi.control_vsphere import VsphereControl


@pytest.mark.parametrize("shell", Shell)
def test_every_way_in_has_its_words(shell: Shell):
    assert [one for one in platforms() if one.shell is shell and one.elsewhere]


def test_a_step_of_a_guest_of_esxi_is_left_with_the_way_to_it():
    call = StepCall.of("esxi_guest", number="7", reserve_memory=True)
    remedy = Remedy(text="reserve it", steps=(call,), danger=Danger.NONE)
    finding = Finding(
        rule="x.y", where="7", severity=Severity.RISK, evidence=(), so="x", remedies=(remedy,)
    )
    taken, (left,) = chosen([finding])
    assert taken == []
    assert left.why.startswith("esxi_guest: of a guest of ESXi: reach its host by vsphere://")


def test_hands_of_the_vsphere_api_are_made_as_those_of_every_host_are():
    control = VsphereControl("vmhost", DescribedSession(host()))
    assert vars(PosixControl("alpha", LocalRunner())).keys() <= vars(control).keys()


def test_what_only_a_shell_can_do_is_refused_by_the_vsphere_api_and_said():
    with pytest.raises(InputError) as caught:
        VsphereControl("vmhost", DescribedSession(host()))._ask("true", 1)
    assert caught.value.what == "vsphere.no_shell"
    assert "esxi://" in caught.value.next
