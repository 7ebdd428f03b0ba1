"""systemd-networkd and udev: a .link file and a .network file of each port.

The keys are those of systemd.link(5) and systemd.network(5) of systemd 252; VFs in a .link file
came with 251. A port is matched by its PCI address. udev takes the first .link file that matches,
and so the policies of systemd's own 99-default.link stand in ours too.
"""

from collections.abc import Iterator

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
        if Key.UP in wanted or Key.ADDRESS in wanted:
            up = "\n[Link]\nActivationPolicy=up\n" if Key.UP in wanted else ""
            address = wanted.get(Key.ADDRESS)
            network = f"\n[Network]\nAddress={address}\n" if address is not None else ""
            files[f"{name}.network"] = f"{match}{up}{network}"
    return Written(files, frozenset(one for one in host.settings if _is_said(one)))


def _is_said(one: Setting) -> bool:
    if one.vf is not None:
        return one.key in VF and (one.key, one.value) != (Key.VLAN, 0)
    return one.key in LINK or one.key in (Key.UP, Key.ADDRESS)


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
