"""`wirespeed link`: FEC of both ends, the MTU of the switch's port, and a speed by mlxlink."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import pytest
from click.testing import CliRunner, Result
from described_switch import PORTS, DescribedSwitch, switch
from proof import Answer, DescribedControl, UnknownCommandError
from test_control_switchport import DescribedSession
from test_mlxlink_speed import Card as MlxCard

from wirespeed.apply import gate
from wirespeed.commands.link import link
from wirespeed.host.reach_destination import SwitchHost
from wirespeed.model.capture import Capture, Section
from wirespeed.model.command import Command
from wirespeed.model.error import WirespeedError
from wirespeed.model.fact import HostFacts
from wirespeed.model.switch_kind import SwitchKind
from wirespeed.platforms.switch.cable_proof import Match, PortMatch
from wirespeed.platforms.switch.control import SwitchControl
from wirespeed.runs import link_run as module
from wirespeed.runs import link_settings

K = SwitchKind
HOST, NETDEV, CARD = "ssh://root@alpha", "enp59s0f0", "0000:3b:00.0"
OF_EOS = {"reed-solomon": "rs", "fire-code": "baser"}


@dataclass
class Ends:
    """A card and a switch's port: there is a link where both have the same FEC, or one `auto`."""

    at: DescribedSwitch
    fec: str = "auto"
    mlx: MlxCard = field(default_factory=MlxCard)
    is_broken: bool = False

    @property
    def has_link(self) -> bool:
        port = self.at.ports[PORTS[self.at.kind]]
        there = OF_EOS.get(port.get("error-correction encoding", ""), "auto")
        alike = "auto" in (self.fec, there) or self.fec == there
        return alike and not self.is_broken

    def run(self, command: Command) -> Answer:
        match command.argv:
            case ("ethtool", "--show-fec", "enp59s0f0"):
                word = {"baser": "BaseR"}.get(self.fec, self.fec.upper())
                return Answer(
                    f"FEC parameters for {NETDEV}:\nSupported/Configured FEC encodings: {word}\n"
                    f"Active FEC encoding: {word if self.has_link else 'None'}\n"
                )
            case ("ethtool", "--set-fec", "enp59s0f0", "encoding", encoding):
                self.fec = encoding
                return Answer()
            case ("mlxlink", *_):
                return self.mlx.run(command)
        raise UnknownCommandError(command.line())

    def facts(self) -> HostFacts:
        slot = f"/sys/devices/pci0000:3a/0000:3a:00.0/{CARD}"
        device = f"{NETDEV} driver=mlx5_core physfn= port=p0 device={slot}\n"
        link = f"/sys/class/net/{NETDEV}/carrier:{int(self.has_link)}\n"
        sections = [Section("ports", "", device, "", 0), Section("link", "", link, "", 0)]
        return HostFacts("alpha", Capture(sections, complete=True))


Use: TypeAlias = Callable[[Ends], Ends]


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Use:
    def used(both: Ends) -> Ends:
        @contextmanager
        def ends(host: str, place: SwitchHost) -> Iterator[dict[str, object]]:
            session = SwitchControl(DescribedSession(both.at), reconnect_s=0.05, pause_s=0.01)
            yield {host: DescribedControl(both), place.text: session}

        monkeypatch.setattr(module, "ends", ends)
        monkeypatch.setattr(gate, "refuse_cutoff", lambda *_: None)
        monkeypatch.setattr(module, "facts_at", lambda _: both.facts())
        monkeypatch.setattr(module, "port_proof", lambda *_: PortMatch(Match.PROVEN, "it hears"))
        monkeypatch.setattr(link_settings, "COMES_UP_S", 0.02)
        monkeypatch.setattr(link_settings, "PAUSE_S", 0.01)
        return both

    return used


def call(folder: Path, kind: SwitchKind, *more: str) -> Result:
    at = f"switch+{kind}://admin@sw1/{PORTS[kind].replace(' ', '')}"
    arguments = [HOST, NETDEV, at, "--run", str(folder / "x.run"), *more]
    return CliRunner().invoke(link, arguments, standalone_mode=False)


def error_of(result: Result) -> WirespeedError:
    assert isinstance(result.exception, WirespeedError), (result.output, result.exception)
    return result.exception


def test_the_fec_of_card_and_switchport_is_one_change_and_undone_as_one(use: Use, tmp_path: Path):
    both = use(Ends(switch(K.EOS)))
    start = deepcopy(both)
    result = call(tmp_path, K.EOS, "--fec", "rs", "--apply", "--yes")
    assert result.return_value == 0, result.exception
    assert both.fec == "rs" and both.has_link
    assert both.at.ports["Ethernet1"] == {"error-correction encoding": "reed-solomon"}
    assert call(tmp_path, K.EOS, "--undo").return_value == 0
    assert both == start


def test_a_link_that_stays_down_with_that_fec_of_its_switchport_is_put_back(
    use: Use, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    both = use(Ends(switch(K.EOS)))
    start = deepcopy(both)
    # The cable has no link with RS; it had one before.
    has_link = type(both).has_link
    without_rs = property(lambda self: has_link.fget(self) and self.fec != "rs")
    monkeypatch.setattr(Ends, "has_link", without_rs)
    found = error_of(call(tmp_path, K.EOS, "--fec", "rs", "--apply", "--yes"))
    assert found.what == "link.down"
    assert both == start and both.has_link


def test_a_link_that_was_down_before_is_not_put_back_for_being_down(use: Use, tmp_path: Path):
    both = use(Ends(switch(K.EOS), is_broken=True))
    result = call(tmp_path, K.EOS, "--fec", "baser", "--apply", "--yes")
    assert result.return_value == 1 and "no link, as before" in result.output
    assert both.fec == "baser"


def test_the_mtu_of_the_switchport_is_set_alone(use: Use, tmp_path: Path):
    both = use(Ends(switch(K.NXOS, mtu="1500")))
    assert call(tmp_path, K.NXOS, "--switch-mtu", "9216", "--apply", "--yes").return_value == 0
    assert both.at.ports["Ethernet1/1"] == {"mtu": "9216"}
    assert call(tmp_path, K.NXOS, "--undo").return_value == 0
    assert both.at.ports["Ethernet1/1"] == {"mtu": "1500"}


def test_a_kind_without_such_a_setting_of_a_switchport_says_so(use: Use, tmp_path: Path):
    use(Ends(switch(K.DELL_OS6)))
    found = error_of(call(tmp_path, K.DELL_OS6, "--fec", "rs"))
    assert found.what == "link.switch" and "no setting of its fec" in found.found


def test_a_forced_card_without_a_link_is_set_by_mlxlink_with_its_switchport(
    use: Use, tmp_path: Path
):
    # What ethtool cannot: it tells to what the card is set only once there is a link.
    both = use(Ends(switch(K.DELL_OS6), mlx=MlxCard(speeds="25G", negotiates=False)))
    start = deepcopy(both)
    more = ["--speed", "10G", "--by", "mlxlink"]
    result = call(tmp_path, K.DELL_OS6, *more, "--apply", "--yes")
    assert result.return_value == 0 and "link is up" in result.output, result.exception
    assert (both.mlx.speeds, both.mlx.negotiates) == ("10G", False)
    assert both.at.ports["Te1/0/1"] == {"speed": "10000"}
    assert call(tmp_path, K.DELL_OS6, "--undo").return_value == 0
    assert both == start


@pytest.mark.parametrize(("bps", "name"), [
    (10**11, "100G"), (25 * 10**8, "2.5G"), (10**9, "1G"), (10**8, "100M"),
])  # fmt: skip
def test_a_speed_is_called_as_mlxlink_calls_it(bps: int, name: str):
    # EthExtSpeed2Str of mstflint's mlxlink_maps.cpp.
    assert link_settings.mlxlink_name(bps) == name


def test_a_speed_that_the_cable_has_not_leaves_the_switchport_alone(use: Use, tmp_path: Path):
    both = use(Ends(switch(K.DELL_OS6)))
    start = deepcopy(both)
    found = error_of(call(tmp_path, K.DELL_OS6, "--speed", "40G", "--by", "mlxlink", "--apply"))
    assert found.what == "link.cannot_tell" and "25G,10G" in found.found
    assert both == start
