"""Which names nobody chose: those that a kernel, systemd, a hypervisor or a maker gives. Pure.

All other names of netdevs, namespaces, processes, adapters and switches are a person's.
"""

import re
from collections.abc import Iterable, Iterator

from wirespeed.model.capture import Capture
from wirespeed.model.error import InputError

LONGEST_NETDEV = 128
"""Another name of a netdev: ALTIFNAMSIZ of the kernel."""
MAX_NAMES = 10_000
"""Of those that are looked for everywhere."""
MIN_NAME = 3
"""What is shorter is not looked for: it stands everywhere."""
PREDICTED = r"(?:en|eth|ib|sl|wl|ww)(?:[a-zA-Z]{0,2}\d{1,5}+)+"
"""What systemd.net-naming-scheme(7) makes of a place; what the kernel itself counts."""
COUNTED = (
    "bond team br vmbr virbr docker vnet dummy ifb macvlan macvtap ipvlan vlan wg tun tap usb em "
    "vmnic vmk net vif vxlan geneve gre gretap erspan ip6tnl ip6gre sit tunl nlmon cni vhost swp "
    "rename lxcbr podman vrf lab mgmt vx dpdk pf p rep port wlan hinic cbr fwbr fwpr fwln nic"
).replace(" ", "|")
MADE = (
    r"lo|br-(?:int|ex|tun|phy|vxlan|lan|wan|ext|data|mgmt|link|underlay|provider)|patch-(?:tun|int)|"
    r"ovs-(?:system|netdev)|(?:vxlan|genev|gre)_sys(?:_\d{1,5})?|veth[0-9a-f]{1,12}|"
    r"(?:tap|qvo|qvb|qbr|qr-|qg-)[0-9a-f]{8}-[0-9a-f]{2}|enx[0-9a-f]{12}|p\d{1,3}p\d{1,3}|"
    r"ovn-[0-9a-f]{6}-[0-9a-f]{1,2}|cali[0-9a-f]{11}|flannel\.\d{1,4}|bonding_masters"
)
PART = r"(?:np|nf|v|r|d|p|i|s|pf|vf|sf|h|_|\.|:|@if)\d{1,5}|-nic|hpf"
NETDEV = re.compile(rf"(?:{PREDICTED}|(?:{COUNTED})\d{{1,5}}|{MADE})(?:{PART})*")
PREDICTABLE = re.compile(rf"{PREDICTED}(?:{PART})*")
COMM = re.compile(
    r"(?:qemu-(?:system-\w{1,12}|kvm)|kvm|CPU \d{1,4}/KVM|vhost-\d{1,8}|iperf3?|netperf|netserver|"
    r"sockperf|pmd-c\d{1,4}(?:/id:\d{1,4})?|rte[-_][\w:-]{1,12}|lcore-[\w:-]{1,10}|dpdk-[\w:-]{1,11}|"
    r"(?:dpdk-)?testpmd|l[23]fwd[\w-]{0,8}|vpp_[\w-]{1,10}|eal-intr-thread|telemetry-v2|"
    r"ovs-vswitchd|ovsdb-server|ovn-controller|urcu\d{0,4}|handler\d{1,4}|revalidator\d{1,4}|"
    r"systemd(?:-[a-z]{1,11})?|\(?sd-pam\)?|dbus-daemon|sshd|sh|bash|python3?|irqbalance|"
    r"(?:ksoftirqd|kworker|migration|rcu\w{0,6}|irq|idle_inject|cpuhp)/[\w:+.-]{1,15}|"
    r"nginx|haproxy|envoy|postgres|mysqld|mariadbd|redis-server|memcached|mongod|java|node|httpd|"
    r"apache2|varnishd|etcd|squid|suricata|bird|zebra|bgpd|wrk|nfsd|smbd|stress(?:-ng)?|"
    r"ceph-(?:osd|mon|mds|mgr)|radosgw|containerd|dockerd|libvirtd|virtqemud|"
    r"SPICE Worker|IO mon_iothread|worker|vnc_worker|io\d{1,3})"
)
_WINDOWS_WORDS = (
    "ethernet vethernet external internal private default switch connectx mellanox nvidia "
    "realtek intel broadcom killer nic lan port slot embedded lom fse wsl team virtual adapter "
    "wi fi wifi bluetooth network connection local area storage management mgmt host vnic "
    "hostvnic smb rdma hyper v eth pnic public verbindung réseau red "
    "이더넷 로컬 영역 연결 イーサネット 以太网 以太網路"
)
WINDOWS_WORDS = frozenset(_WINDOWS_WORDS.split())
WINDOWS_WORD = re.compile(r"[^\W\d_]+")
WINDOWS_NAME = ("windows-adapters", "windows-switches", "windows-teams", "windows-vm-adapters")


def is_plain_netdev(name: str) -> bool:
    """Tell whether a netdev is called as no person would call one of theirs."""
    return len(name) <= LONGEST_NETDEV and NETDEV.fullmatch(name) is not None


def is_plain_windows_name(name: str) -> bool:
    """Tell whether each word of it is one that Windows, or everybody, gives."""
    return all(word.lower() in WINDOWS_WORDS for word in WINDOWS_WORD.findall(name))


def names_of_netdevs(capture: Capture) -> Iterator[str]:
    """Give names of netdevs and namespaces where they stand as such."""
    for section in capture.all_sections():
        if section.name.startswith(("namespace-", "bonding")):
            yield section.subject
        elif section.name == "namespaces":
            yield from section.output.split()
        elif section.name == "ports":
            yield from (line.partition(" ")[0] for line in section.output.splitlines())
        elif section.name == "link":
            yield from re.findall(r"(?m)^/sys/class/net/([^/\s:]+)/", section.output)


RELEASE = re.compile(r"(?m)^/proc/sys/kernel/osrelease:(\S+)")
_OF_RELEASES = (
    "generic amd64 arm64 x86_64 aarch64 lowlatency azure oracle cloud microsoft standard wsl2 "
    "default preempt virtual linux xanmod mainline longterm edge current stable dirty cachyos "
    "hardened unsigned kvmsmall tegra raspi nvidia vanilla liquorix esxi photon flatcar talos "
    "alpine server desktop"
)
OF_RELEASES = frozenset(_OF_RELEASES.split())
WORD = re.compile(r"[A-Za-z][A-Za-z0-9]{3,}")
COUNTED_WORD = re.compile(
    r"(?:deb|el|fc|bpo|rc|git|mvl|amzn|ubuntu|lp|oe|uek|rt)\d+\w{0,8}|[gv]?[0-9a-f]{4,}"
)


def words_of_release(text: str) -> Iterator[str]:
    """Give what of a kernel's release is no word of a distribution: whoever built it chose it."""
    for release in RELEASE.findall(text):
        for word in WORD.findall(release):
            if word.lower() not in OF_RELEASES and not COUNTED_WORD.fullmatch(word.lower()):
                yield word


def any_of(names: Iterable[str]) -> re.Pattern[str] | None:
    """Find whole names, the longest first; LVM doubles their dashes. None where there are none."""
    every = {form for name in names for form in (name, name.replace("-", "--"))}
    if not every:
        return None
    return re.compile(rf"(?<![A-Za-z0-9]){branches(every)}(?![A-Za-z0-9])", re.I)


def branches(names: Iterable[str]) -> str:
    """Give one of `names`, letter by letter: not each of thousands is tried at each place."""
    by_first: dict[str, list[str]] = {}
    for name in names:
        by_first.setdefault(name[:1], []).append(name[1:])
    # One that ends here is taken where none that goes on is.
    ends = "?" if by_first.pop("", None) else ""
    if not by_first:
        return ""
    if len(by_first) == 1 and not ends:
        ((letter, rest),) = by_first.items()
        return re.escape(letter) + branches(rest)
    found = (re.escape(letter) + branches(rest) for letter, rest in sorted(by_first.items()))
    return f"(?:{'|'.join(found)}){ends}"


def too_many_names(where: str) -> InputError:
    """Say that a capture has more names than can be looked for."""
    return too_large(
        where,
        f"more than {MAX_NAMES} names of netdevs, hosts and the like",
        "they cannot all be looked for in the whole text, and none may stay",
    )


def too_large(where: str, found: str, so: str = "") -> InputError:
    """Say that a capture is larger than any of a host, and is not gone through."""
    return InputError(
        "capture.too_large",
        where=where,
        found=found,
        so=so or "no host's own capture has so much, and none of it may stay unread",
        next="capture the host itself with --anonymous, or look which section is so long",
    )
