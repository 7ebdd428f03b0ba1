"""Network namespaces that have a name: those of guests that are no virtual machines."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Observed, read_as

MOST_LISTED = 16
"""A host of containers has hundreds of them; to list what each holds would take seconds."""


@dataclass(frozen=True, slots=True)
class Namespaces(Fact):
    """What `ip netns list` lists."""

    names: Observed[tuple[str, ...]]

    # By the shell itself: most hosts have none, and pay nothing.
    script: ClassVar[str] = """\
list_namespaces() (
	set +f
	for path in /run/netns/*; do
		case ${path##*/} in
		'*' | *[!A-Za-z0-9_.-]*) ;;
		*) printf '%s\\n' "${path##*/}" ;;
		esac
	done
)
show namespaces - list_namespaces
namespaces=0
for namespace in $(list_namespaces); do
	[ "$((namespaces += 1))" -le MOST ] || break
	run namespace-link "$namespace" ip -n "$namespace" -j -d link show
	run namespace-addr "$namespace" ip -n "$namespace" -j addr show
done
""".replace("MOST", str(MOST_LISTED))

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read one name a line."""
        text = capture.text("namespaces", "ip netns list")
        return cls(read_as(text, lambda lines: tuple(lines.split())))
