"""Refuses to change a port that another program's file sets up: never two actors on one port. Pure.

What a policy of the sriov-network-operator selects is the operator's: its daemon sets the port, its
VFs and their drivers up again whenever it looks. `externallyManaged: true` leaves the port and the
number of its VFs to others; the VFs stay the operator's. NetworkManager, networkd and netplan are
in the way where a file of theirs has a number of VFs for the port, and the plan makes VFs.
"""

from collections.abc import Iterable, Iterator

from wirespeed.facts.port_owners import OPERATOR, PortOwners
from wirespeed.facts.ports import Ports
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import CannotTellError, known
from wirespeed.model.plan import PlannedStep

VF_STEPS = "vf_"
VF_COUNT = "vf_count"
FILES = {
    "NetworkManager": "remove [sriov] of its connection: nmcli connection modify NAME remove sriov",
    "ifcfg": "remove SRIOV_TOTAL_VFS from /etc/sysconfig/network-scripts/ifcfg-{name}",
    "systemd.link": "remove SR-IOVVirtualFunctions= from its .link file in /etc/systemd/network",
    "netplan": "remove virtual-function-count of {name} from /etc/netplan, then netplan apply",
}


def refuse_owned(
    host: str, steps: Iterable[PlannedStep], facts: HostFacts, ports: Iterable[str]
) -> None:
    """Raise InputError `plan.port_of_operator`, `plan.vfs_of_another` for one of these ports.

    Only a host that the steps change is looked at. One whose files could not be read is not
    refused.
    """
    kinds = {str(one.step["step"]) for one in steps if one.host == host and not one.no_op}
    for address in ports if kinds else ():
        _refuse(host, address, facts, kinds)


def ports_named(steps: Iterable[PlannedStep], host: str, facts: HostFacts) -> list[str]:
    """Give the PCI addresses of the ports that the steps of a host name, by address or netdev."""
    words = {
        word
        for one in steps
        if one.host == host and not one.no_op
        for value in one.step.values()
        for word in (value if isinstance(value, list | tuple) else (value,))
        if isinstance(word, str)
    }
    try:
        ports = facts[Ports].ports
    except CannotTellError:
        return []
    return [p.pci_address for p in ports if p.pci_address and {p.pci_address, p.netdev} & words]


def _refuse(host: str, address: str, facts: HostFacts, kinds: set[str]) -> None:
    try:
        owners = facts[PortOwners]
        selected = known(owners.operator, "what the operator selects")
        counts = known(owners.vf_counts, "what files say of VFs")
    except CannotTellError:
        return
    makes_vfs = any(kind.startswith(VF_STEPS) for kind in kinds)
    if address in selected and (makes_vfs or not selected[address]):
        raise _of_operator(host, address, is_external=selected[address])
    for name in _names(facts, address):
        for program, count in counts.get(name, {}).items():
            if VF_COUNT in kinds:
                raise InputError(
                    "plan.vfs_of_another",
                    where=f"{host} {address}",
                    found=f"{program} makes {count} VFs on {name}",
                    so="that program sets the number of VFs again whenever it starts or reloads, "
                    "which removes VFs in use; nothing is changed",
                    next=FILES[program].format(name=name) + "; or leave VFs out of the spec",
                )


def _of_operator(host: str, address: str, *, is_external: bool) -> InputError:
    if is_external:
        return InputError(
            "plan.port_of_operator",
            where=f"{host} {address}",
            found="a policy of the sriov-network-operator selects it, with externallyManaged: "
            f"true ({OPERATOR}/pci/{address})",
            so="the operator manages the VFs and their drivers, but not the port itself; nothing "
            "is changed",
            next="leave VFs out of the spec, or take the port out of the policy",
        )
    return InputError(
        "plan.port_of_operator",
        where=f"{host} {address}",
        found=f"a policy of the sriov-network-operator selects it ({OPERATOR}/pci/{address})",
        so="the operator would overwrite any change; nothing is changed",
        next="configure the port in the policy (`wirespeed export-spec --as sriov-operator`), or "
        "take the port out of the policy; if the operator is gone, remove "
        f"{OPERATOR}/pci/{address} and {OPERATOR}/sriov-interface-config.yaml",
    )


def _names(facts: HostFacts, address: str) -> Iterator[str]:
    yield address
    try:
        yield from (p.netdev for p in facts[Ports].ports if p.pci_address == address and p.netdev)
    except CannotTellError:
        return
