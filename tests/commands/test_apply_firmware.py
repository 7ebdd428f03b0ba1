"""`wirespeed apply` writes no firmware unless it is told to, and says so before it asks."""

from pathlib import Path
from typing import Any

import pytest

from wirespeed import terminal
from wirespeed.apply.gate import Consents
from wirespeed.apply.planner import make_plan
from wirespeed.apply.run import open_run
from wirespeed.model.error import InputError
from wirespeed.model.observed import Known
from wirespeed.model.plan import Plan
from wirespeed.runs import apply_run as command
from wirespeed.runs.hosts_of_spec import lone_host
from wirespeed.steps.firmware_image import FirmwareImage
from wirespeed.steps.firmware_settings import FirmwareSettings

CARD = "0000:03:00.0"
SETTINGS = make_plan(
    [
        (
            "alpha",
            FirmwareSettings(pci_address=CARD, settings={"SRIOV_EN": 1}),
            Known({"SRIOV_EN": 0}, "mstconfig"),
        )
    ]
)
ONE_WAY = make_plan(
    [
        (
            "alpha",
            FirmwareImage(pci_address=CARD, psid="MT_0000000228", image="/a.bin", version="1.2.3"),
            Known({"stored": "1.2.2"}, "mstflint"),
        )
    ]
)


class AskedError(Exception):
    """The user was asked."""


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch):
    def ask(_: str) -> bool:
        raise AskedError

    monkeypatch.setattr(terminal.click, "confirm", ask)


def begin(plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **allowed: bool) -> None:
    """Begin the stage of a plan on a host that is described as having no ports."""
    how = command.How(tmp_path / "spec", None, False, False, 30, Consents(**allowed))
    nothing: Any = {}
    spec = lone_host("here")
    monkeypatch.setattr(command, "plan_hosts", lambda *_, **__: (plan, {}))
    with open_run(tmp_path / "spec.run") as run:
        command.Applying(spec, run, nothing, how).go()


@pytest.mark.parametrize("plan", [SETTINGS, ONE_WAY])
def test_firmware_is_refused(plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(InputError) as caught:
        begin(plan, tmp_path, monkeypatch)
    assert caught.value.what == "plan.writes_firmware"


def test_settings_are_asked_about_where_firmware_is_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with pytest.raises(AskedError):
        begin(SETTINGS, tmp_path, monkeypatch, allow_firmware=True)


def test_what_has_no_way_back_is_asked_for_on_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with pytest.raises(InputError) as caught:
        begin(ONE_WAY, tmp_path, monkeypatch, allow_firmware=True)
    assert caught.value.what == "plan.no_way_back"
    with pytest.raises(AskedError):
        begin(ONE_WAY, tmp_path, monkeypatch, allow_firmware=True, allow_no_undo=True)
