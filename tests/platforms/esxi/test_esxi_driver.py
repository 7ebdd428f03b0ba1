"""The driver of a described ESXi host, over a real SSH connection: planned, applied, undone.

It can refuse, hang, lose the connection or reboot in the midst of a change. It is of ESXi 6.5, and
of 7 where that is another thing.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from described_esxi import DescribedEsxi, described_esxi

from wirespeed.apply import control_posix, control_script
from wirespeed.commands.apply import apply
from wirespeed.commands.doctor import doctor
from wirespeed.commands.plan import plan
from wirespeed.commands.status import status
from wirespeed.commands.undo import undo
from wirespeed.model.error import ApplyError, InputError, LeftChangedError, WirespeedError
from wirespeed.platforms.esxi import control as control_esxi

pytestmark = pytest.mark.sshd
SPEC = """\
hosts:
  vmhost: {reach: "esxi://vmhost", ports: ["0000:af:00.0", "0000:af:00.1"]}
approach: esxi
esxi:
  parameters: {max_vfs: "1,1,1,1,1,1,1", supported_num_ports: "8"}
"""
BEFORE = "DRSS=4"
AFTER = "DRSS=4 max_vfs=1,1,1,1,1,1,1 supported_num_ports=8"
REBOOT_DUE = 4


RELEASES = pytest.mark.parametrize("host", ["esxi 6.5", "esxi 7"], indirect=True)


@pytest.fixture(name="host")
def _host(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[DescribedEsxi]:
    made = described_esxi(tmp_path / "esxi", is_old=getattr(request, "param", "") != "esxi 7")
    assert made.home and made.server
    monkeypatch.setenv("HOME", str(made.home.folder))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    monkeypatch.setattr(control_esxi, "ESXI_LOCK", str(made.lock))
    yield made
    made.server.close()
    # Nobody asked it for anything that ESXi does not know.
    assert made.says("refused") == ""


@pytest.fixture(name="spec")
def _spec(tmp_path: Path) -> Path:
    path = tmp_path / "spec.yaml"
    path.write_text(SPEC)
    return path


def run(command: Any, *words: object) -> int:
    return int(command.main([str(word) for word in words], standalone_mode=False) or 0)


def test_the_drivers_parameters_of_an_esxi_host_from_plan_to_undo(
    host: DescribedEsxi, spec: Path, capsys: pytest.CaptureFixture[str]
):
    assert run(doctor, host.reach, "--for", "guests") == 1
    assert "esxi.no_vfs" in capsys.readouterr().out
    assert run(plan, spec) == 0
    said = capsys.readouterr().out
    assert "esxcli system module parameters set -m nmlx5_core" in said
    assert AFTER in said.replace("\\\n", "").replace("  ", " ") or "max_vfs=1,1,1,1,1,1,1" in said
    assert host.says("options") == BEFORE

    assert run(apply, spec, "--yes") == REBOOT_DUE
    assert (host.says("options"), host.says("running")) == (AFTER, BEFORE)
    assert not host.lock.exists()
    assert run(doctor, host.reach, "--for", "guests") == 0
    capsys.readouterr()
    assert run(status, spec) == REBOOT_DUE
    assert "reboot" in capsys.readouterr().out

    # A host whose guests may be on is not rebooted: the host itself says so.
    with pytest.raises(LeftChangedError) as caught:
        run(apply, spec, "--yes", "--reboot")
    assert "reboot.refused" in caught.value.found
    assert "maintenance mode" in caught.value.found
    assert (host.says("options"), host.says("running")) == (AFTER, BEFORE)
    host.put("maintenance", "")
    assert run(apply, spec, "--yes", "--reboot") == 0
    assert (host.says("options"), host.says("running")) == (AFTER, AFTER)
    assert run(apply, spec, "--yes") == 0

    assert run(undo, spec) == 0
    assert host.says("options") == BEFORE
    assert not host.lock.exists()


def test_an_esxi_host_that_refuses_is_as_it_was(host: DescribedEsxi, spec: Path):
    host.put("fault", "refused")
    with pytest.raises(ApplyError) as caught:
        run(apply, spec, "--yes")
    assert "it is busy" in caught.value.found
    assert host.says("options") == BEFORE


def test_an_esxi_host_that_takes_a_change_and_does_not_do_it_is_not_believed(
    host: DescribedEsxi, spec: Path
):
    host.put("fault", "ignored")
    with pytest.raises(ApplyError) as caught:
        run(apply, spec, "--yes")
    assert caught.value.what == "step.contradicted"
    assert host.says("options") == BEFORE


@RELEASES
def test_a_command_of_esxi_that_hangs_is_ended_and_put_back(
    host: DescribedEsxi, spec: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(control_script, "CHANGE_TIMEOUT_S", 1)
    monkeypatch.setattr(control_esxi, "PRELUDE", control_esxi.PRELUDE.replace("30", "1"))
    host.put("fault", "hangs")
    with pytest.raises(ApplyError):
        run(apply, spec, "--yes")
    assert host.says("options") == BEFORE


@pytest.mark.parametrize("fault", ["lost", "reboots"])
def test_what_became_of_a_change_on_esxi_is_read_when_its_connection_is_lost(
    host: DescribedEsxi, spec: Path, fault: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(control_posix, "RECONNECT_S", 10.0)
    host.put("fault", fault)
    try:
        assert run(apply, spec, "--yes") in (0, REBOOT_DUE)
    except WirespeedError as error:
        assert not isinstance(error, LeftChangedError), error
    if host.says("options") == AFTER:
        assert run(undo, spec) == 0
    assert host.says("options") == BEFORE
    assert not host.lock.exists()


def test_two_runs_on_one_esxi_host_exclude_each_other(host: DescribedEsxi, spec: Path):
    host.lock.mkdir()
    (host.lock / "owner").write_text("somebody\n")
    with pytest.raises(InputError) as caught:
        run(apply, spec, "--yes")
    assert caught.value.what == "host.in_use"
    assert host.says("options") == BEFORE


@pytest.mark.usefixtures("host")
def test_guests_of_an_esxi_host_need_the_api(spec: Path):
    spec.write_text(SPEC + "  guests: {'7': {numa_node: 1}}\n")
    with pytest.raises(InputError) as caught:
        run(plan, spec)
    assert caught.value.what == "spec.nobody_does_it"
