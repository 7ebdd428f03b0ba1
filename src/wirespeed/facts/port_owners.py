"""Who else sets up a port's VFs: an operator of Kubernetes, or a file of a network program."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Observed, read_as

OPERATOR = "/etc/sriov-operator"
"""Folder of the sriov-network-operator on the node: `pci/ADDRESS` for each port that it set up
(pkg/consts/constants.go, pkg/host/store/store.go), and, where it works by a service of systemd, all
that its policies select (pkg/host/internal/systemd/systemd.go). An address in the latter has no
file in `pci` before the node's next start."""
SOURCE = f"cat {OPERATOR}/pci/* {OPERATOR}/sriov-interface-config.yaml"
MOST_LINES = 10_000


@dataclass(frozen=True, slots=True)
class PortOwners(Fact):
    """What programs on this host have in their files about its ports; none of them is asked."""

    operator: Observed[dict[str, bool]]
    """PCI addresses that a policy of the sriov-network-operator selects; True: `externallyManaged`,
    which leaves the port and the number of its VFs to others."""
    vf_counts: Observed[dict[str, dict[str, int]]]
    """Netdev or PCI address to the files' number of VFs, by program."""

    # No line of another's file is printed: names and passwords stand there.
    script: ClassVar[str] = f"""\
port_owners() (
	set +f
	for function in $pfs; do
		file={OPERATOR}/pci/$function
		[ -e "$file" ] || continue
		external=no
		! grep -qs '"externallyManaged" *: *true' "$file" || external=yes
		printf 'operator %s %s\\n' "$function" "$external"
	done
	grep -hsioE 'pciaddress:.*|externallymanaged: *true' {OPERATOR}/sriov-interface-config.yaml |
		tr -d '"' | while read -r key value; do printf 'selected %s %s\\n' "$key" "$value"; done
	keyfiles=/NetworkManager/system-connections
	# Most hosts have no such file: then no port has to be looked for in them.
	if grep -qsE '^(total-vfs|SRIOV_TOTAL_VFS|SR-IOVVirtualFunctions)=' "/etc$keyfiles/"* \\
		"/run$keyfiles/"* /etc/sysconfig/network-scripts/ifcfg-* /etc/systemd/network/*.link \\
		/run/systemd/network/*.link; then
		for netdev in $port_netdevs; do
			grep -lsxF "interface-name=$netdev" "/etc$keyfiles/"* "/run$keyfiles/"* |
				while IFS= read -r file; do grep -hs '^total-vfs=' "$file"; done |
				while IFS='=' read -r key count; do
					printf 'count NetworkManager %s %s\\n' "$netdev" "$count"
				done
			grep -hs '^SRIOV_TOTAL_VFS=' "/etc/sysconfig/network-scripts/ifcfg-$netdev" |
				tr -d \\"\\' | while IFS='=' read -r key count; do
					printf 'count ifcfg %s %s\\n' "$netdev" "$count"
				done
		done
		for name in $pfs $port_netdevs; do
			grep -lsE "^(Path=.*pci-|OriginalName=)$name\\$" /etc/systemd/network/*.link \\
				/run/systemd/network/*.link |
				while IFS= read -r file; do grep -hs '^SR-IOVVirtualFunctions=' "$file"; done |
				while IFS='=' read -r key count; do
					printf 'count systemd.link %s %s\\n' "$name" "$count"
				done
		done
	fi
	grep -hsE '^ *("?[A-Za-z0-9_.@-]+"?: *$|virtual-function-count:)' /etc/netplan/*.yaml |
		tr -d '"' | while IFS= read -r line; do
		indent=${{line%%[! ]*}}
		read -r key count <<-END
			$line
		END
		case " $port_netdevs " in
		*" ${{key%:}} "*) key=${{key%:}} ;;
		*) [ "$key" = virtual-function-count: ] || key=. ;;
		esac
		printf 'netplan %s %s %s\\n' "${{#indent}}" "$key" "$count"
	done
)
show port-owners - port_owners
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read a kind and its words a line."""
        text = capture.text("port-owners", SOURCE)
        return cls(read_as(text, _selected), read_as(text, _counts))


def _lines(text: str) -> Iterator[list[str]]:
    yield from (line.split() for line in text.splitlines()[:MOST_LINES])


def _selected(text: str) -> dict[str, bool]:
    """Give the addresses of both of the operator's sources."""
    found: dict[str, bool] = {}
    last = ""
    for words in _lines(text):
        match words:
            case ["operator", address, external]:
                found[address] = external == "yes"
            case ["selected", key, address] if key.lower() == "pciaddress:":
                last = address
                found.setdefault(address, False)
            case ["selected", key, "true"] if key.lower() == "externallymanaged:" and last:
                found[last] = True
    return found


def _counts(text: str) -> dict[str, dict[str, int]]:
    """Give the counts; of netplan's, to the key that a count stands under."""
    found: dict[str, dict[str, int]] = {}
    keys: dict[int, str] = {}
    for words in _lines(text):
        match words:
            case ["count", program, name, count] if _is_number(count):
                found.setdefault(name, {})[program] = int(count)
            case ["netplan", indent, "virtual-function-count:", count] if _is_number(count):
                above = [at for at in keys if at < int(indent)]
                if above and keys[max(above)] != ".":
                    found.setdefault(keys[max(above)], {})["netplan"] = int(count)
            case ["netplan", indent, key] if _is_number(indent):
                # What is deeper belongs to the key before.
                keys = {at: name for at, name in keys.items() if at < int(indent)}
                keys[int(indent)] = key
    return found


def _is_number(text: str) -> bool:
    return re.fullmatch(r"\d{1,5}", text) is not None
