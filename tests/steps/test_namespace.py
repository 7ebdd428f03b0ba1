"""A namespace is made, marked, and gone again; another's is left alone."""

import pytest
from described_namespaces import HOST, DescribedNamespaces, Netdev, lo
from proof import plan_on, prove
from pydantic import ValidationError
from samples import reason_of, section_of

from wirespeed.model.observed import CannotTellError
from wirespeed.steps.namespace import Namespace

STEP = Namespace(namespace="ceph-1")


def host(**namespaces: dict[str, Netdev]) -> DescribedNamespaces:
    return DescribedNamespaces({HOST: {"lo": lo()}, **namespaces})


def marked() -> dict[str, Netdev]:
    return {"lo": Netdev(mac="00:00:00:00:00:00", alias="wirespeed")}


def test_it_is_made_and_marked_and_taken_away():
    prove(STEP, host(other={"lo": lo()}), host(other={"lo": lo()}, **{"ceph-1": marked()}))


def test_the_commands_are_what_an_administrator_would_type():
    planned = plan_on(STEP, host()).steps[0]
    assert [c.line() for c in planned.commands] == [
        "ip netns add ceph-1",
        "ip -n ceph-1 link set dev lo alias wirespeed",
    ]
    assert [c.line() for c in planned.undo] == ["ip netns del ceph-1"]


def test_nothing_is_planned_where_somebody_else_has_one_of_that_name():
    with pytest.raises(CannotTellError, match="its owner is not known"):
        plan_on(STEP, host(**{"ceph-1": {"lo": lo()}}))
    with pytest.raises(CannotTellError):
        plan_on(STEP, host(**{"ceph-1": {"lo": Netdev(alias="podman")}}))


def test_who_may_not_look_into_it_knows_nothing():
    denied = 'Cannot open network namespace "ceph-1": Permission denied\n'
    reason_of(STEP, section_of("", denied, 255))
    other = 'Cannot open network namespace "ceph-10": No such file or directory\n'
    reason_of(STEP, section_of("", other, 255))
    reason_of(STEP, section_of('[{"ifname":"eth0"}]'))
    assert STEP.made() == plan_on(STEP, host()).steps[0].before


@pytest.mark.parametrize("name", ["", "-n", "a/b", "..", "a b"])
def test_it_is_named_safely(name: str):
    with pytest.raises(ValidationError):
        Namespace(namespace=name)
