"""A step within a network namespace of the host: the network of a container, or of a tenant."""

from functools import cached_property
from typing import Any, ClassVar, Literal

from pydantic import field_validator

from wirespeed.catalog import read_step
from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.names import NamespaceName
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Scope, State, Step


class InNamespace(Step):
    """Another step, all of whose commands run in the namespace, by `ip netns exec`.

    That mounts a /sys of the namespace's own netdevs, so that what is read below /sys/class/net is
    theirs.
    """

    scope: ClassVar[Scope] = Scope.GUEST
    step: Literal["in_namespace"] = "in_namespace"
    namespace: NamespaceName
    inner: dict[str, Any]
    """The other step, as the catalog reads it."""

    @field_validator("inner")
    @classmethod
    def _is_a_step(cls, inner: dict[str, Any]) -> dict[str, Any]:
        # Written down and read again, it is the same.
        return read_step(inner).model_dump(mode="json")

    @classmethod
    def of(cls, namespace: str, step: Step) -> "InNamespace":
        """Wrap a step."""
        return cls(namespace=namespace, inner=step.model_dump(mode="json"))

    @property
    def subject(self) -> str:
        """The other one's, and where."""
        return f"{self._inner.subject} in {self.namespace}"

    @property
    def why(self) -> str:
        return self._inner.why

    @cached_property
    def _inner(self) -> Step:
        return read_step(self.inner)

    def read(self) -> Command:
        return self._there(self._inner.read())

    @property
    def mark(self) -> str | None:
        return self._inner.mark

    def parse(self, section: Section) -> Observed[State]:
        """Give the other one's state; unreadable where there is no such namespace."""
        source = self.read().line()
        found = self._inner.parse(section)
        if isinstance(found, Known):
            return Known(found.value, source)
        return Unreadable(found.reason, source)

    @property
    def is_maker(self) -> bool:
        return self._inner.is_maker

    def made(self) -> State | None:
        return self._inner.made()

    def wanted(self, before: State) -> State:
        return self._inner.wanted(before)

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Give the other one's commands, to be run there."""
        return tuple(self._there(command) for command in self._inner.change(now, to))

    def _there(self, command: Command) -> Command:
        return Command(
            argv=("ip", "netns", "exec", self.namespace, *command.argv), stdin=command.stdin
        )
