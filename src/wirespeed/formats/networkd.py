"""systemd-networkd and udev: a .link file and a .network file of each port, a .netdev of a VLAN.

The keys are those of systemd.link(5) and systemd.network(5) of systemd 252; VFs in a .link file
came with 251. A port is matched by its PCI address; in a .network file also by its name, as in
switchdev mode the representors of its VFs have the same address (Linux 5.8, 123f0f53dd64), and so
have its subfunctions. udev takes the first .link file that matches, and so the policies of
systemd's own 99-default.link stand in ours too.
"""

from collections.abc import Iterator, Mapping

from wirespeed.formats.form import Format, Written
from wirespeed.formats.wanted import Key, Setting, Value, WantedHost, WantedPort

POLICIES = (
    "NamePolicy=keep kernel database onboard slot path\n"
    "AlternativeNamesPolicy=database onboard slot path\n"
    "MACAddressPolicy=persistent\n"
)
LINK = {
    Key.MTU: "MTUBytes",
    Key.RX_RING: "RxBufferSize",
    Key.TX_RING: "TxBufferSize",
    Key.CHANNELS: "CombinedChannels",
    Key.PAUSE_AUTONEG: "AutoNegotiationFlowControl",
    Key.PAUSE_RX: "RxFlowControl",
    Key.PAUSE_TX: "TxFlowControl",
    Key.VFS: "SR-IOVVirtualFunctions",
}
NETWORK = {Key.ADDRESS: "Address", Key.TAG_NETDEV: "VLAN"}
TAGGED = {Key.TAG, Key.TAG_MTU, Key.TAG_ADDRESS}
VF = {
    Key.VLAN: "VLANId",
    Key.MAC: "MACAddress",
    Key.SPOOF_CHECK: "MACSpoofCheck",
    Key.TRUST: "Trust",
}
WHY = {Key.VLAN: "VLANId= is 1 to 4095: no tag cannot be asked for"}


def _write(host: WantedHost) -> Written:
    files: dict[str, str] = {}
    for port in host.ports:
        wanted = host.of(port)
        match = f"[Match]\nPath=pci-{port.pci_address}\n"
        name = f"10-wirespeed-{port.netdev}"
        if LINK.keys() & wanted.keys() or host.vfs(port):
            lines = "".join(_lines(LINK, wanted))
            sections = "".join(_vf(host, port, vf) for vf in host.vfs(port))
            files[f"{name}.link"] = f"{match}\n[Link]\n{POLICIES}{lines}{sections}"
        if {Key.UP, Key.ADDRESS, Key.TAG} & wanted.keys():
            up = "\n[Link]\nActivationPolicy=up\n" if Key.UP in wanted else ""
            lines = "".join(_lines(NETWORK, wanted))
            network = f"\n[Network]\n{lines}" if lines else ""
            files[f"{name}.network"] = f"{match}Name={port.netdev}\n{up}{network}"
        if Key.TAG in wanted:
            files |= _tagged(wanted)
    return Written(files, frozenset(one for one in host.settings if _is_said(one)))


def _tagged(wanted: Mapping[Key, Value]) -> dict[str, str]:
    """Give the files of the VLAN on a port: the netdev, and its address."""
    netdev = wanted[Key.TAG_NETDEV]
    mtu = f"MTUBytes={wanted[Key.TAG_MTU]}\n" if Key.TAG_MTU in wanted else ""
    address = f"Address={wanted[Key.TAG_ADDRESS]}\n" if Key.TAG_ADDRESS in wanted else ""
    name = f"10-wirespeed-{netdev}"
    tag = f"\n[VLAN]\nId={wanted[Key.TAG]}\n"
    return {
        f"{name}.netdev": f"[NetDev]\nName={netdev}\nKind=vlan\n{mtu}{tag}",
        f"{name}.network": f"[Match]\nName={netdev}\n\n[Network]\n{address}",
    }


def _is_said(one: Setting) -> bool:
    if one.vf is not None:
        return one.key in VF and (one.key, one.value) != (Key.VLAN, 0)
    return one.key in {*LINK, *NETWORK, *TAGGED, Key.UP}


def _vf(host: WantedHost, port: WantedPort, vf: int) -> str:
    wanted = host.of(port, vf)
    if not wanted.get(Key.VLAN):
        wanted.pop(Key.VLAN, None)
    lines = list(_lines(VF, wanted))
    return f"\n[SR-IOV]\nVirtualFunction={vf}\n{''.join(lines)}" if lines else ""


def _lines(keys: dict[Key, str], wanted: dict[Key, Value]) -> Iterator[str]:
    for key, name in keys.items():
        if key in wanted:
            value = wanted[key]
            yield f"{name}={('no', 'yes')[value] if isinstance(value, bool) else value}\n"


FORMAT = Format("networkd", _write, WHY)
