"""docs/link-speed.md: what it names is there, and what it shows is what is printed."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from test_link_speed import call, use
from test_link_speed_story import NETDEV, PORT, Card, Wire, as_found, status, switch

from wirespeed.catalog import rules
from wirespeed.commands.capture import capture
from wirespeed.commands.doctor import doctor
from wirespeed.commands.link import link
from wirespeed.model.switch_kind import SwitchKind
from wirespeed.platforms.switch.facts.switchport import COMMANDS

PAGE = (Path(__file__).parent.parent / "docs/link-speed.md").read_text()
SLOT = "/sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0"


def shown(start: str) -> list[str]:
    """Give the lines of the block of the page that has such a line, save for those left out."""
    blocks = re.findall(r"(?:^    .*\n|^\n(?=    ))+", PAGE, re.M)
    block = next(block for block in blocks if start in block)
    lines = [line.strip() for line in block[block.index(start) :].splitlines()]
    return [line for line in lines if line not in ("", "…", "[…]")]


def written(path: Path, *sections: tuple[str, str, str]) -> str:
    text = "wirespeed-capture 1 case\n"
    for name, subject, body in sections:
        text += f"case begin {name} {subject}".rstrip() + f"\n{body}\ncase end 0\n"
    path.write_text(text + "case done\n")
    return str(path)


def doctor_of(folder: Path, wire: Wire) -> str:
    """What the doctor says of captures of both ends, as the page has it: one file for each."""
    device = f"{NETDEV} driver=mlx5_core physfn= port=p0 device={SLOT}\n"
    flags = f"/sys/class/net/{NETDEV}/flags:0x1003\n"
    ethtool = ("ethtool", NETDEV, Card(wire).shown())
    alpha = written(folder / "a", ("ports", "", device), ("link", "", flags), ethtool)
    sections = [("kind", "dell_os6"), ("cable", f"{NETDEV} {PORT}"), ("status", status(wire))]
    sw1 = [(f"switch-{name}", "sw1", body) for name, body in (*sections, ("lldp", ""))]
    far_end = written(folder / "s", *sw1)
    return CliRunner().invoke(doctor, [alpha, "--far-end", far_end]).output


def test_what_the_page_shows_of_the_doctor_before_and_after_the_link_speed_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    # A long path would break the lines elsewhere.
    monkeypatch.chdir(tmp_path)
    wire = as_found()
    before = doctor_of(Path(), wire)
    for line in shown("enp59s0f0 is in: Te1/0/1 of sw1: no link"):
        assert line in before, line
    wire.card_mbit = 10000
    after = doctor_of(Path(), wire)
    for line in shown("no finding above a note (1518-byte frames)"):
        assert line in after, line


def test_what_the_page_shows_of_the_plan_of_a_link_speed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    use(monkeypatch, Wire(switch(SwitchKind.DELL_OS6)))
    plan = call(tmp_path, "--speed", "10G").output
    for line in shown("switch+dell_os6://admin@sw1/Te1/0/1: once per boot"):
        assert line in plan, line


def test_every_option_on_the_page_of_link_speed_is_there():
    options = {
        name for command in (link, doctor, capture) for p in command.params for name in p.opts
    }
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", PAGE)) <= options


def test_every_rule_and_every_kind_of_switchport_is_on_the_page():
    ours = {rule.slug for rule in rules() if rule.slug.startswith("switchport.")}
    assert set(re.findall(r"`(switchport\.\w+)`", PAGE)) == ours
    for kind in COMMANDS:
        assert PAGE.count(f"| `{kind}`") == 2, kind


def test_the_page_of_link_speed_says_that_nothing_of_it_was_proven_on_hardware():
    assert PAGE.split("\n\n")[1].startswith("*Not proven on hardware")
