"""A netdev whose frames the kernel's own stack does not get."""

import json
import re
from dataclasses import dataclass, field

import pytest
from proof import Answer, UnknownCommandError, plan_on, prove
from samples import is_never_guessed, reason_of, section_of, state_of

from wirespeed.model.command import Command
from wirespeed.steps.ingress_drop import IngressDrop

STEP = IngressDrop(netdev="c1-n0")
NONE = "Error: No such file or directory\nlist table netdev x\n                  ^^\n"
REAL = (
    '{"nftables": [{"metainfo": {"version": "1.0.6", "release_name": "Lester Gooch #5", '
    '"json_schema_version": 1}}, {"table": {"family": "netdev", "name": "wirespeed-c1-n0", '
    '"handle": 1}}, {"chain": {"family": "netdev", "table": "wirespeed-c1-n0", "name": "ingress", '
    '"handle": 1, "type": "filter", "hook": "ingress", "prio": -500, "policy": "drop"}}]}\n'
)
"""nft 1.0.6 of Debian 12."""
MADE = re.compile(
    r'table netdev (\S+) \{ chain ingress \{ type filter hook ingress device "(\S+)" '
    r"priority -500; policy drop; \}; \}"
)


@dataclass
class DescribedTables:
    """Tables of the family netdev, and nft on them."""

    netdevs: tuple[str, ...] = ("c1-n0",)
    tables: dict[str, str] = field(default_factory=lambda: {"users": "eth0"})
    """Name: what its one chain hooks into."""

    def run(self, command: Command) -> Answer:
        assert command.stdin is None
        match command.argv:
            case ("nft", "-j", "list", "table", "netdev", name):
                if name not in self.tables:
                    return Answer("", NONE, 1)
                return Answer(REAL.replace("wirespeed-c1-n0", name))
            case ("nft", "delete", "table", "netdev", name) if name in self.tables:
                del self.tables[name]
                return Answer()
            case ("nft", text) if match := MADE.fullmatch(text):
                if match[2] not in self.netdevs:
                    return Answer("", "Error: Could not process rule: No such file or dir…", 1)
                self.tables[match[1]] = match[2]
                return Answer()
        raise UnknownCommandError(command.line())


def test_the_table_is_made_beside_a_users_own_and_taken_away():
    after = DescribedTables(tables={"users": "eth0", "wirespeed-c1-n0": "c1-n0"})
    prove(STEP, DescribedTables(), after)


def test_the_commands():
    planned = plan_on(STEP, DescribedTables()).steps[0]
    assert [c.argv for c in planned.commands] == [
        (
            "nft",
            'table netdev wirespeed-c1-n0 { chain ingress { type filter hook ingress device "c1-n0"'
            " priority -500; policy drop; }; }",
        )
    ]
    assert [c.line() for c in planned.undo] == ["nft delete table netdev wirespeed-c1-n0"]


def test_a_name_that_nftables_would_not_take():
    assert IngressDrop(netdev="a@b+c").read().argv[-1] == "wirespeed-a_b_c"


def test_real_outputs():
    assert state_of(STEP, section_of(REAL)) == {"is_there": True}
    assert state_of(STEP, section_of("", NONE, 1)) == {"is_there": False}
    newer = REAL.replace('"hook"', '"dev": "c1-n0", "hook"')
    assert state_of(STEP, section_of(newer)) == {"is_there": True}
    is_never_guessed(STEP)


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        ('"drop"', '"accept"'),
        ('"hook": "ingress"', '"hook": "egress"'),
        ('"handle": 1, "type"', '"dev": "eth0", "type"'),
        ('"policy": "drop"}}', '"policy": "drop"}}, {"rule": {"chain": "ingress"}}'),
        (', {"chain"', ', {"set"'),
    ],
)
def test_a_table_of_somebody_else_stays_as_it_is(was: str, becomes: str):
    assert was in REAL
    other = REAL.replace(was, becomes)
    json.loads(other)
    assert "there is another table" in reason_of(STEP, section_of(other))


def test_a_host_without_nftables_is_told_what_brings_it():
    assert "nftables" in reason_of(STEP, section_of("", "sh: 1: nft: not found\n", 127))
