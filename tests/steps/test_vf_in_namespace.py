"""The netdev of a VF moves into a namespace under a name of ours, and back under its own."""

import pytest
from described_namespaces import HOST, DescribedNamespaces, Netdev, lo
from proof import plan_on, prove
from samples import reason_of, section_of

from wirespeed.steps.vf_in_namespace import VfInNamespace

ADDRESS = "0000:01:10.0"
STEP = VfInNamespace(pci_address=ADDRESS, namespace="ceph-1", netdev="net0p0")


def host(here: dict[str, Netdev], there: dict[str, Netdev] | None = None) -> DescribedNamespaces:
    neighbour = {"enp1s0v1": Netdev(parentdev="0000:01:10.2", is_up=True)}
    return DescribedNamespaces(
        {HOST: {"lo": lo(), **here, **neighbour}, "ceph-1": {"lo": lo(), **(there or {})}}
    )


def vf(**changes: bool) -> Netdev:
    return Netdev(parentdev=ADDRESS, **changes)


@pytest.mark.parametrize("is_up", [False, True])
@pytest.mark.parametrize("name", ["enp1s0v0", "eth7", "net0p0"])
def test_it_moves_and_comes_back_as_it_was_whatever_it_is_called(name: str, is_up: bool):
    prove(STEP, host({name: vf(is_up=is_up)}), host({}, {"net0p0": vf()}))


def test_one_that_is_there_under_another_name_is_named():
    """As a kill between the kernel's move and its naming would leave it."""
    prove(STEP, host({}, {"enp1s0v0": vf()}), host({}, {"net0p0": vf()}))


def test_that_it_is_up_there_is_not_its_business():
    assert plan_on(STEP, host({}, {"net0p0": vf(is_up=True)})).steps[0].commands == ()


def test_the_commands_are_what_an_administrator_would_type():
    planned = plan_on(STEP, host({"enp1s0v0": vf(is_up=True)})).steps[0]
    assert [c.line() for c in planned.commands] == [
        "ip link set dev enp1s0v0 netns ceph-1 name net0p0"
    ]
    assert [c.line() for c in planned.undo] == [
        "ip -n ceph-1 link set dev net0p0 netns 1 name enp1s0v0",
        "ip link set dev enp1s0v0 up",
    ]


def test_one_that_is_not_there_yet_is_found_by_its_address_when_it_is():
    made = STEP.made()
    goal = STEP.wanted(made)
    assert [c.argv[-3:] for c in STEP.change(made, goal)] == [(ADDRESS, "ceph-1", "net0p0")]
    assert [c.line() for c in STEP.change(goal, made)] == [
        "ip -n ceph-1 link set dev net0p0 netns 1"
    ]


def reason(of: DescribedNamespaces) -> str:
    answer = of.run(STEP.read())
    return reason_of(STEP, section_of(answer.output, answer.errors, answer.returncode))


def test_one_that_somebody_uses_is_left_alone():
    bonded = Netdev(parentdev=ADDRESS, master="bond9")
    assert "belongs to a bond" in reason(host({"enp1s0v0": bonded}))


def test_a_name_that_is_taken_there_is_seen_before():
    assert "another net0p0" in reason(host({"enp1s0v0": vf()}, {"net0p0": Netdev()}))


def test_without_a_netdev_nothing_is_known():
    assert "no netdev" in reason(host({}))
    assert "2 netdevs" in reason(host({"eth0": vf(), "eth1": vf()}))


def test_a_namespace_that_is_missing_hides_no_netdev_of_the_host():
    of = host({"enp1s0v0": vf()})
    del of.places["ceph-1"]
    planned = plan_on(STEP, of).steps[0]
    assert planned.before == {"namespace": None, "netdev": "enp1s0v0", "is_up": False}


@pytest.mark.parametrize(
    ("output", "errors", "code"),
    [
        ("[]\n", "", 0),
        ("[]\n{}\n", "", 0),
        ("[]\n[\n", "", 0),
        ("[]\n[]\n[]\n", "", 0),
        ("[]\n", 'Cannot open network namespace "ceph-1": Permission denied\n', 1),
        ("", 'Cannot open network namespace "ceph-1": No such file or directory\n', 1),
        ("[]\n[]\n", "", 124),
        ("[]\n[]\n", "", None),
        (f'[{{"ifname":"-x","parentbus":"pci","parentdev":"{ADDRESS}"}}]\n[]\n', "", 0),
    ],
)
def test_what_is_not_two_lists_of_netdevs_is_unreadable(output: str, errors: str, code: int):
    reason_of(STEP, section_of(output, errors, code))
