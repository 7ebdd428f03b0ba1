"""Nothing is applied that did not pass the one gate, and the gate asks every guard each time."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import wirespeed
from wirespeed.apply import gate
from wirespeed.apply.gate import GUARDS, HOSTS, Change, Consents, admit, refuse_by_hosts
from wirespeed.apply.planner import make_plan
from wirespeed.apply.rest import rest_of
from wirespeed.facts.lockdown import PATH
from wirespeed.model.capture import Capture, Section
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Danger
from wirespeed.model.journal import Begun, Intent, Result, Verified
from wirespeed.model.observed import Known
from wirespeed.model.plan import Plan
from wirespeed.steps.mtu import Mtu
from wirespeed.steps.read_request import ReadRequest

SOURCES = Path(wirespeed.__file__).parent
PORT, NETDEV = "0000:03:00.0", "eth0"
ALL = Consents(allow_cutoff=True, allow_firmware=True, allow_no_undo=True)
OWNED = Section("port-owners", "", f"operator {PORT} no\n", "", 0)
LOCKED = Section("lockdown", "", f"{PATH}:none [integrity] confidentiality\n", "", 0)


def facts(*sections: Section) -> dict[str, HostFacts]:
    device = f"/sys/devices/pci0000:00/{PORT}"
    ports = f"{NETDEV} driver=mlx5_core physfn= port= device={device}\n"
    of_ports = Section("ports", "", ports, "", 0)
    return {"alpha": HostFacts("alpha", Capture([of_ports, *sections], complete=True))}


def plan(**changes: object) -> Plan:
    """Two steps at the port, the second of which writes the card, and is as the changes say."""
    first = ("alpha", Mtu(netdev=NETDEV, mtu=9000), Known({"mtu": 1500}, "cat"))
    size = {"max_read_request_bytes": 4096}
    last = (
        "alpha",
        ReadRequest(pci_address=PORT, **size),
        Known({"max_read_request_bytes": 512}, "setpci"),
    )
    steps = [
        one.model_copy(update={"danger": Danger.NONE}) for one in make_plan([first, last]).steps
    ]
    return Plan(steps=(steps[0], steps[1].model_copy(update=changes)))


REFUSED = {
    "plan.port_of_operator": (plan(), facts(OWNED)),
    "plan.locked_down": (plan(), facts(LOCKED)),
    "plan.writes_firmware": (plan(danger=Danger.FIRMWARE), facts()),
    "plan.no_way_back": (plan(danger=Danger.FIRMWARE, undo=()), facts()),
    "plan.cutoff_unknown": (plan(danger=Danger.DROPS_LINK), facts()),
}
LIFTED = {
    "plan.writes_firmware": ALL,
    "plan.no_way_back": ALL,
    "plan.cutoff_unknown": ALL,
    "plan.port_of_operator": None,
    "plan.locked_down": None,
}
BUT = {"plan.no_way_back": Consents(allow_firmware=True, allow_cutoff=True)}


def done(made: Plan, number: int) -> list[Begun | Intent | Result]:
    """Entries of a run in which this step alone is in place."""
    return [
        Begun(at="now", plan=made),
        Intent(number=number, before=made.steps[number].goal, undo=()),
        Result(number=number, verdict=Verified.VERIFIED, now=made.steps[number].goal),
    ]


@pytest.mark.parametrize("why", REFUSED)
def test_one_gate_asks_every_guard_of_a_plan_and_of_its_rest(why: str):
    made, hosts = REFUSED[why]
    consents = BUT.get(why, Consents())
    # The first step is in place; what is refused is the second, or any at that port.
    for asked in (made, rest_of(made, done(made, 0), ())):
        change = Change(asked, hosts, consents, ports={"alpha": (PORT,)})
        with pytest.raises(InputError) as caught:
            admit(change, made)
        assert caught.value.what == why and caught.value.next


@pytest.mark.parametrize("why", REFUSED)
def test_one_gate_is_lifted_by_its_own_consent_and_by_no_other(why: str):
    made, hosts = REFUSED[why]
    change = Change(made, hosts, ALL, ports={"alpha": (PORT,)})
    if LIFTED[why] is None:
        with pytest.raises(InputError):
            admit(change)
        with pytest.raises(InputError):
            refuse_by_hosts(change)
    else:
        assert len(admit(change).plan.steps) == 2
        refuse_by_hosts(change)


def test_one_gate_does_not_ask_of_what_is_in_place():
    made = plan(danger=Danger.FIRMWARE)
    rest = rest_of(made, done(made, 1), ())
    assert admit(Change(rest, facts()), made).plan == made


def test_one_gate_marks_what_may_cut_off_in_the_whole_plan():
    made = plan(danger=Danger.DROPS_LINK)
    stage = Plan(steps=made.steps[1:])
    whole = admit(Change(stage, facts(), ALL), made).plan
    assert [bool(step.cuts) for step in whole.steps] == [False, True]


def test_one_gate_has_each_guard_once():
    assert len(set(GUARDS)) == len(GUARDS) == 5 and set(HOSTS) < set(GUARDS)


def calls(name: str) -> Iterator[str]:
    """Give the files of the package that call a function or a class of that name."""
    for path in sorted(SOURCES.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                called = node.func
                found = called.attr if isinstance(called, ast.Attribute) else None
                if (called.id if isinstance(called, ast.Name) else found) == name:
                    yield str(path.relative_to(SOURCES))


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("Admitted", {"apply/gate.py"}),
        ("apply_plan", {"runs/change_hosts.py"}),
        # Where it applies, and where it undoes.
        ("Executor", {"runs/run_hosts.py", "runs/link_run.py"}),
        *((f"refuse_{one}", {"apply/gate.py"}) for one in (
            "owned", "locked_down", "firmware", "no_way_back", "cutoff",
        )),
    ],
)  # fmt: skip
def test_one_gate_is_the_only_way_to_the_hosts(name: str, where: set[str]):
    assert set(calls(name)) == where


def test_one_gate_is_what_link_does_not_pass_by():
    """Its `Executor` only puts both ends back."""
    text = (SOURCES / "runs/link_run.py").read_text()
    assert text.count("Executor(") == text.count("run.entries).undo()") == 1
    assert gate.admit.__name__ in text
