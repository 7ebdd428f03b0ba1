"""What changed between two answers: hosts, states, findings and settings, by number of hosts."""

from wirespeed.fleet.changes import Changed, HostThen, Then, changes
from wirespeed.fleet.records import HostState

WELL, FOUND, GONE = HostState.WELL, HostState.FINDINGS, HostState.NOT_REACHED
SETTINGS = {"old": {"kernel": "6.1", "turbo": "on"}, "new": {"kernel": "6.12", "turbo": "on"}}


def then(**hosts: tuple[HostState, tuple[str, ...], str]) -> Then:
    return Then(
        "2026",
        {
            name: HostThen(state, "", frozenset(rules), profile)
            for name, (state, rules, profile) in hosts.items()
        },
        SETTINGS,
    )


def test_what_most_hosts_changed_in_comes_first():
    before = then(
        a=(WELL, (), "old"),
        b=(WELL, (), "old"),
        c=(FOUND, ("link.down",), "old"),
        d=(WELL, (), "old"),
    )
    after = then(
        a=(WELL, (), "new"), b=(FOUND, ("mtu.x",), "new"), c=(WELL, (), "new"), e=(WELL, (), "new")
    )
    rows = changes(before, after)
    assert rows[0] == Changed("kernel: 6.1 -> 6.12", ("a", "b", "c"))
    assert set(rows[1:]) == {
        Changed("finding link.down: gone", ("c",)),
        Changed("finding mtu.x: new", ("b",)),
        Changed("gone from the fleet", ("d",)),
        Changed("new in the fleet", ("e",)),
        Changed("well -> with findings", ("b",)),
        Changed("with findings -> well", ("c",)),
    }


def test_of_a_host_that_is_not_reached_nothing_else_is_said_to_have_changed():
    before = then(a=(FOUND, ("link.down",), "old"))
    after = then(a=(GONE, (), ""))
    assert changes(before, after) == (Changed("with findings -> not reached", ("a",)),)


def test_equal_answers_have_no_change():
    one = then(a=(WELL, (), "old"))
    assert changes(one, one) == ()
