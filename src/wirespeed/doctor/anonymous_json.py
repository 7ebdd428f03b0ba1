"""Texts in JSON: kept is what the system itself says by its own words, all else is replaced. Pure.

A text is looked at with the name of its field; within a list that is the list's. Text that is torn
or no JSON at all is gone through the same way: nothing is parsed, and each text is met once.
"""

import re
from collections.abc import Callable

Name = Callable[[str], str]
"""Gives what stands for a text; it is learned, so that it is replaced wherever else it stands."""

STRING = re.compile(r'"((?:[^"\\\n]|\\.)*+)(?:"(\s*:)?)?')
_FIELDS = (
    "encap-mode inline-mode mode driver type adminstatus duplex linkstatus version family flags "
    "link_type operstate qdisc scope ad_lacp_rate ad_select ad_lacp_active arp_all_targets "
    "arp_validate df fail_over_mac info_kind info_slave_kind inet6_addr_gen_mode link_state "
    "linkmode parentbus parentdev phys_port_name primary_reselect xmit_hash_policy pref "
    "mii_status state src addrgenmode componentid componentclass bindname displayname "
    "displayvalue drivername driverfile driverprovider driverversion description status keyword "
    "flowcontrol technology profile support caption kind card cards iovsupportreasons code time "
    "powerstate latencysensitivity.level pcidevice admin_state eth_admin_fec_state eth_autoneg "
    "eth_duplex eth_hw_desc eth_oper_fec_state state_rsn_desc errcorrencodingstatus "
    "autonegotiate hardware interfacestatus lineprotocolstatus admin-status auto-negotiate fec "
    "oper-status speed via eth_speed loadbalancingalgorithm encap ipv4failurereason "
    "ipv6failurereason settingname autotuninglevellocal autotuninglevelgrouppolicy "
    "autotuningleveleffective scalingheuristics"
)
BY_THE_SYSTEM = frozenset(_FIELDS.split())
"""Fields whose text no person chose, in small letters."""
_WORDS = (
    "main local default all none unspec static boot kernel redirect ra dhcp bgp ospf isis babel "
    "zebra bird rip unicast broadcast anycast multicast blackhole unreachable prohibit throw "
    "nat 802.1q 802.1ad ieee internal auto unknown"
)
WORDS = frozenset(_WORDS.split())
"""What the kernel, iproute2 and switches call tables, protocols and the like."""
VERSION = re.compile(r"fw(?:\..*)?")
PLAIN = re.compile(
    r"[\s0-9.,:;/%*+()\[\]-]*|(?:0[xX])?[0-9A-Fa-f:.-]*(?:/\d{1,3})?|\{[0-9A-Fa-f-]*\}|"
    r"(?:pci[/:])?[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7]"
    r"(?:,(?:representor|class|dv_flow_en)=[\w\[\],-]{0,40})*|"
    r"\d[\d.,]* ?(?:[kKMGT]?i?(?:b|B|bit|bps|b/s|B/s|bit/s|base[-\w]{0,6})|s|ms|us|ns|Hz)?|"
    r"(?:[Ee]th(?:ernet)?|Te|Tw|Gi|Fo|Fi|Hu|swp|[Pp]ort-[Cc]hannel|[Mm]gmt|[Mm]anagement|[Vv]lan|"
    r"Twe|Hun|TenGigabitEthernet|GigabitEthernet|TwentyFiveGigE|HundredGigE|Loopback) ?"
    r"\d{1,4}(?:/\d{1,4})*(?:[.:]\d{1,5})*|"
    r"MT_\d{10}|PCI\\\\VEN_[\w&\\]*|USB\\\\VID_[\w&\\]*"
)
"""Numbers, addresses, which are replaced later, and ports of a switch as its maker counts them."""


def without_free_texts(body: str, keeps: Callable[[str, str], bool], name: Name) -> str:
    """Replace each text that is neither plain nor by the system; `keeps` knows more of those.

    It is asked with the field, in small letters, and the text.
    """
    field = ""

    def replaced(match: re.Match[str]) -> str:
        nonlocal field
        text = match[1]
        if match[2]:
            field = text.lower()
            return match[0]
        if is_plain(field, text) or keeps(field, text):
            return match[0]
        end = match[0][1 + len(text) :]
        return f'"{name(text)}{end}'

    return STRING.sub(replaced, body)


def is_plain(field: str, text: str) -> bool:
    """Tell whether a text of a field identifies nothing."""
    is_by_the_system = field in BY_THE_SYSTEM or VERSION.fullmatch(field)
    return bool(is_by_the_system) or text.lower() in WORDS or PLAIN.fullmatch(text) is not None
