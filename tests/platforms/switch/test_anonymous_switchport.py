"""An anonymous capture of a switch names nobody, and its ports read as before."""

from pathlib import Path

import pytest

from wirespeed.doctor.anonymous import anonymous
from wirespeed.model.capture import parse_capture
from wirespeed.model.observed import Known
from wirespeed.model.switch_kind import SwitchKind
from wirespeed.platforms.switch.facts.switchport import Switches

SAMPLES = Path(__file__).parents[2] / "facts" / "samples" / "switchport"
FILES = {
    SwitchKind.DELL_OS6: {"status": "os6_status", "lldp": "os6_lldp"},
    SwitchKind.DELL_OS10: {"interfaces": "os10_interface", "lldp": "os10_lldp"},
    SwitchKind.SONIC: {"status": "sonic_status", "lldp": "sonic_lldp"},
    SwitchKind.EOS: {"interfaces": "eos_interfaces", "lldp": "eos_lldp"},
    SwitchKind.NXOS: {"interfaces": "nxos_interface", "lldp": "nxos_lldp"},
    SwitchKind.CUMULUS: {"interfaces": "nvue_interface", "lldp": "lldpcli"},
}
SECRETS = ("sw-cellar", "node-1", "longer name", "To_node", "b8:59:9f:00:00:01", "b859.9f00.0001")


def capture_of(kind: SwitchKind) -> str:
    text = f"wirespeed-capture 1 mmmm\nmmmm begin switch-kind sw-cellar\n{kind}\n\nmmmm end 0\n"
    for key, name in FILES[kind].items():
        body = (SAMPLES / f"{name}.txt").read_text()
        text += f"mmmm begin switch-{key} sw-cellar\n{body}\nmmmm end 0\n"
    return text + "mmmm done\n"


@pytest.mark.parametrize("kind", FILES)
def test_an_anonymous_switchport_names_nobody_and_reads_as_before(kind: SwitchKind):
    text = capture_of(kind)
    hidden = anonymous(text, "x", b"k" * 32)
    for secret in SECRETS:
        assert secret.lower() not in hidden.lower(), secret
    before = Switches.parse(parse_capture(text, "x")).by_name["sw-cellar"].ports
    ((name, after),) = Switches.parse(parse_capture(hidden, "x")).by_name.items()
    assert name.startswith("host-")
    assert isinstance(before, Known) and isinstance(after.ports, Known)
    told = [(p.name, p.is_up, p.link_bps, p.mtu_bytes, p.fcs_errors) for p in before.value]
    assert told == [
        (p.name, p.is_up, p.link_bps, p.mtu_bytes, p.fcs_errors) for p in after.ports.value
    ]
