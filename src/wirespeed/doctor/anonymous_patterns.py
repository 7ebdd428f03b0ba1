"""What identifies somebody by its form, wherever it stands in a capture. Pure."""

import re

FIRST, LAST, DIGITS = "\ue000", "\ue001", 0xE100
OURS = re.compile("[\ue000-\ue1ff]")
"""What marks a text that was put in: a host that prints one has it replaced."""
MARKED = re.compile(f"{FIRST}([\ue100-\ue1ff]+){LAST}")
HEX = "[0-9A-Fa-f]"
UUID = re.compile(rf"(?<!{HEX}){HEX}{{8}}(?:-{HEX}{{4}}){{3}}-{HEX}{{12}}(?!{HEX})")
OCTETS = re.compile(rf"(?<![0-9A-Za-z]){HEX}{{2}}([:-]){HEX}{{2}}(?:\1{HEX}{{2}}){{4,}}(?!{HEX})")
DOTTED_MAC = re.compile(rf"(?<![\w.]){HEX}{{4}}\.{HEX}{{4}}\.{HEX}{{4}}(?![\w.])")
GUID = re.compile(rf"(?<![0-9A-Fa-f:]){HEX}{{4}}(?::{HEX}{{4}}){{3}}(?![0-9A-Fa-f:])")
ENX = re.compile(rf"(?<![A-Za-z0-9])(enx)({HEX}{{12}})(?!{HEX})")
MAC_OCTETS = 6
LONG_HEX = re.compile(rf"(?<!\w)(0[xX])?({HEX}{{12,}})(?!\w)")
IPV6 = re.compile(
    r"(?<![0-9A-Fa-f:])(?=[0-9A-Fa-f]*:[0-9A-Fa-f]*:)([0-9A-Fa-f:]++(?:(?:\.\d{1,3}+){3})?)"
    r"(?:/(\d{1,3}))?(?![\w:])"
)
"""All that may be one, once: behind a letter or a dot, what comes after the first colon."""
IPV4 = re.compile(r"(?<![\d.])(?<![vV])(\d{1,3}(?:\.\d{1,3}){3})(?:/(\d{1,2}))?(?!\d|\.\d)")
DASHED_IPV4 = re.compile(r"\bip-\d{1,3}(?:-\d{1,3}){3}\b")
VERSION_BEFORE = re.compile(
    r"(?:version|firmware|osrelease|vermagic|fw[\w.-]*|vmlinuz|modules)[\"']?\s*[:=/-]?\s*[\"']?[\w.+~()-]*$",
    re.I,
)
LABELS = (
    r"vendor sn|serial(?:[ _]?n(?:o|um(?:ber)?))?|[\w.]*serial(?:_number)?|s/n|asset[ _]?tag|"
    r"service tag|system-id|[\w.]*host-?name|domainname|nodename|ifalias|machine-id|boot_id|"
    r"user|SUDO_USER|LOGNAME|vm-uuid|vm-id|vmname|iface-id|(?-i:PARTUUID|LABEL|PARTLABEL|UUID)(?==)"
)
LABEL = re.compile(LABELS, re.I)
LABELLED = re.compile(
    rf"(?<![\w.-])(?P<key>{LABELS})(?:"
    r"(?P<in_json>\"\s*[:,]\s*\")(?P<json>(?:[^\"\\\n]|\\.)+)|"
    r"(?P<equals>\s?=\s?[\"']?)(?P<word>[^\s\"',]+)|"
    r"(?P<colon>\s*:[ \t]*[\"']?)(?P<rest>[^\s\"'][^\"'\n]*)|"
    r"(?P<space>[ \t]+)(?P<last>\S+)$)",
    re.I | re.M,
)
LABEL_WORDS = (
    "vendor sn", "serial", "s/n", "asset", "service tag", "system-id", "hostname", "host-name",
    "domainname", "nodename", "ifalias", "machine-id", "boot_id", "user", "logname", "vm-uuid",
    "vm-id", "vmname", "iface-id", "uuid", "label",
)  # fmt: skip
"""One of these stands in each label, in lower case: a text without them has none."""
AT = re.compile(r"(?<![\w.+-])[A-Za-z_][\w.+-]*@[A-Za-z0-9][\w-]*(?:\.[\w-]+)*")
URL = re.compile(r"\b((?:https?|nfs|s?ftp|tftp|ssh|iscsi|smb|cifs)://)([^\s\"'<>]+)")
IQN = re.compile(r"\b(?:iqn|nqn)\.\d{4}-\d\d\.[^\s\"',]+", re.I)
HOME = re.compile(r"(/(?:home|Users)/)([^/\s:\"',\]}]+)")
WSL_TEXT = re.compile(r'("Text"\s*:\s*")((?:[^"\\\n]|\\.)*+)')
WSL_USER = re.compile(r"(/etc/wsl\.conf:\s*default\s*=\s*)([^\s\"']+)")
MAPPER = re.compile(r"(/dev/mapper/)([^\s\"',:]+)")
LVM = re.compile(r"(rd\.lvm\.(?:lv|vg)=)(\S+)")
TOP = ("com net org edu gov mil info biz local lan internal intranet corp home private localdomain "
       "example invalid test arpa").replace(" ", "|")  # fmt: skip
FQDN = re.compile(
    rf"(?<![\w.@/-])(?:[A-Za-z0-9](?:[\w-]*[A-Za-z0-9])?\.)+(?:{TOP}|[a-z]{{2}})(?![\w-]|\.\w)",
    re.I,
)
