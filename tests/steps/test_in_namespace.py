"""A step within a network namespace."""

from dataclasses import dataclass, field

import pytest
from described_files import DescribedFiles
from proof import Answer, plan_on, prove
from pydantic import ValidationError
from samples import reason_of, section_of

from wirespeed.model.command import Command
from wirespeed.model.error import InputError
from wirespeed.steps.in_namespace import InNamespace
from wirespeed.steps.link_up import LinkUp
from wirespeed.steps.sysctl import Sysctl

INNER = Sysctl(name="net.ipv4.ip_forward", value="1", reason="a router")
STEP = InNamespace.of("ceph-1", INNER)
PATH = "/proc/sys/net/ipv4/ip_forward"


@dataclass
class Described(DescribedFiles):
    """Has namespaces, each with files of its own, beside the host's."""

    namespaces: dict[str, DescribedFiles] = field(default_factory=dict)

    def run(self, command: Command) -> Answer:
        match command.argv:
            case ("ip", "netns", "exec", name, *argv):
                if name not in self.namespaces:
                    return Answer(
                        errors=f'Cannot open network namespace "{name}": '
                        "No such file or directory\n",
                        returncode=1,
                    )
                return self.namespaces[name].run(Command(argv=tuple(argv), stdin=command.stdin))
            case _:
                return super().run(command)


class Writable(DescribedFiles):
    def write(self, path: str, text: str) -> str:
        self.files[path] = f"{text}\n"
        return ""


def host(value: int) -> Described:
    inside = Writable({PATH: f"{value}\n"})
    return Described({PATH: "0\n"}, {"ceph-1": inside, "gpu-1": Writable({PATH: "0\n"})})


def test_it_is_about_that_namespace_and_no_other():
    prove(STEP, host(0), host(1))


def test_the_commands_are_what_an_administrator_would_type():
    planned = plan_on(STEP, host(0)).steps[0]
    assert planned.subject == "net.ipv4.ip_forward in ceph-1"
    assert [c.line() for c in planned.commands] == [f"echo 1 | ip netns exec ceph-1 tee {PATH}"]
    assert [c.line() for c in planned.undo] == [f"echo 0 | ip netns exec ceph-1 tee {PATH}"]


def test_a_namespace_that_is_not_there_is_not_known():
    errors = 'Cannot open network namespace "ceph-1": No such file or directory\n'
    assert reason_of(STEP, section_of("", errors, 1))
    assert STEP.made() == INNER.made()
    assert InNamespace.of("ceph-1", LinkUp(netdev="eth0")).made() == LinkUp(netdev="eth0").made()


@pytest.mark.parametrize("namespace", ["", "-n", "a/b", "a b", "..", "a\n"])
def test_a_namespace_is_named_safely(namespace: str):
    with pytest.raises(ValidationError):
        InNamespace.of(namespace, INNER)


def test_what_is_no_step_is_refused():
    with pytest.raises(InputError):
        InNamespace(namespace="ceph-1", inner={"step": "format_disk"})
