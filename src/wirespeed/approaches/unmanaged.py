"""What keeps the host's own network programs off VFs and representors that a spec sets up.

NetworkManager makes a connection for each netdev that appears, asks for an address by DHCP and sets
its MTU; networkd does the same where a file of its own matches, as netplan writes them. Either does
so in the moments between a VF's making and its move to a guest, or takes a representor down later.
Both leave alone what udev says is another's: NM_UNMANAGED (NetworkManager(8)), and a property that
a file of networkd matches (systemd.network(5), `Property=` since systemd 243).
"""

from collections.abc import Iterator, Sequence

from wirespeed.facts.installed import Installed
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import CannotTellError, Known, value_or_none
from wirespeed.steps.file_content import FileContent

PROPERTY = "WIRESPEED_UNMANAGED"
WHY = "VFs and representors are set up by this spec alone, and not by the host's network programs."
UNKNOWN = "whether NetworkManager or networkd runs could not be read"
NOT_KEPT_OFF = "no file keeps them off its VFs and representors"


def unmanaged(host: HostFacts, pf: str, vfs: Sequence[str]) -> Iterator[FileContent]:
    """Give the files that keep the programs which run off the VFs of `pf`, before these are made.

    `pf` and `vfs` are PCI addresses. A host on which neither program runs needs none.
    """
    managers = running_managers(host)
    if not managers or not vfs:
        return
    port = pf.replace(":", "-")
    if "networkd" in managers:
        path = f"/etc/systemd/network/05-wirespeed-{port}.network"
        content = f"[Match]\nProperty={PROPERTY}={pf}\n\n[Link]\nUnmanaged=yes\n"
        yield FileContent(path=path, content=content, reason=WHY, read_by="networkd")
    # After NetworkManager's own rules, which are numbered 85.
    path = f"/etc/udev/rules.d/86-wirespeed-{port}.rules"
    yield FileContent(path=path, content=_rules(pf, vfs), reason=WHY, read_by="udev")


def running_managers(host: HostFacts) -> frozenset[str]:
    """Give the programs that may set up a netdev that appears; none where that is not known."""
    try:
        return value_or_none(host[Installed].managers) or frozenset()
    except CannotTellError:
        return frozenset()


def not_kept_off(host: HostFacts) -> str:
    """Say that they are not kept off, where it is not known whether one runs; else empty."""
    try:
        managers = host[Installed].managers
    except CannotTellError as error:
        return f"{UNKNOWN} ({error.reason}): {NOT_KEPT_OFF}"
    return "" if isinstance(managers, Known) else f"{UNKNOWN} ({managers.reason}): {NOT_KEPT_OFF}"


def _rules(pf: str, vfs: Sequence[str]) -> str:
    """Name the VFs by their PCI addresses, and representors by the PF that they belong to.

    The port of a representor is called pf0vf1; the uplink's, p0, is the PF's own and not meant.
    """
    netdev = 'SUBSYSTEM=="net", ACTION!="remove"'
    sets = f'ENV{{NM_UNMANAGED}}="1", ENV{{{PROPERTY}}}="{pf}"'
    return (
        f'{netdev}, KERNELS=="{"|".join(vfs)}", {sets}\n'
        f'{netdev}, KERNELS=="{pf}", ATTR{{phys_port_name}}=="*vf[0-9]*", {sets}\n'
    )
