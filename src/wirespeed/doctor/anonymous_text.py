"""Sections of lines in which people's words stand at a known place; the rest stays. Pure."""

import re
from collections.abc import Callable

from wirespeed.doctor.anonymous_json import is_plain
from wirespeed.doctor.anonymous_names import COMM, is_plain_netdev, is_plain_windows_name
from wirespeed.facts.tuned import ACTIVE, OWN

Name = Callable[[str], str]
"""Gives what stands for a text."""
LEFT_OUT = "left out"
LONGEST = {"crash-analysis": 1 << 20, "switch-lldp": 1 << 20, "ovs-db": 4 << 20}
"""Characters of what is gone through word by word; what is longer is left out. `!analyze -v` prints
some 10 kB, a switch with 500 neighbours 100 kB, an Open vSwitch with 1,000 ports 2 MB."""

STAT = re.compile(r"(?m)^(/proc/\d+/task/\d+/stat:\d+ \()(.*)(\) [A-Za-z] -?\d)")
COMM_LINE = re.compile(r"(?m)^(/proc/\d+/(?:task/\d+/)?status:Name:\t)(.*)$")
MOUNT = re.compile(r"(?m)^(\S+) (/\S*)( hugetlbfs )")
_MOUNT_SOURCES = "none nodev hugetlbfs hugepages huge systemd-1"
MOUNT_SOURCES = frozenset(_MOUNT_SOURCES.split())
MOUNT_PATH = re.compile(r"/(?:dev|mnt|run)/huge(?:pages)?(?:[-_]?\d{1,7}[kKMG]i?[bB]?)?")
IRQBALANCE = re.compile(
    r"environment|(?:/usr)?/s?bin/irqbalance|--?[a-z]{1,20}(?:=(?:[0-9a-fA-Fx,-]*|exact|subset|ignore))?|"
    r"exact|subset|ignore|IRQBALANCE_(?:BANNED_CPUS|BANNED_CPULIST|ONESHOT|DEBUG)=[0-9a-fA-Fx,-]*"
)
TUNED = re.compile(rf"(?m)^({re.escape(ACTIVE)}:)(.*)$")
PROFILE = re.compile(r"\S+")
WSL = re.compile(r"(?m)^(/etc/wsl\.conf:)(.*)$")
SETTING = re.compile(r"(\s*)(\w+)(\s*=\s*)(.*)", re.S)
SECTION = re.compile(r"\s*\[(?:automount|boot|experimental|filesystem|general|gpu|interop|network|"
                     r"time|user|wsl2?)\]\s*", re.I)  # fmt: skip
PLAIN_VALUE = re.compile(
    r"true|false|\d{1,12}(?:[kKMGT]?B)?|nat|mirrored|bridged|none|virtioproxy|disabled|gradual|"
    r"dropcache|/|/mnt/?", re.I,
)  # fmt: skip
NAMED_LATER = frozenset({"default", "hostname"})
"""Users and hosts are replaced as such."""
OS_RELEASE = re.compile(r"(?m)^(/etc/os-release:)(\w+)(=)(.*)$")
OF_SYSTEM = re.compile(r"(?:PRETTY_)?NAME|VERSION\w{0,12}|ID|ID_LIKE|PLATFORM_ID|VARIANT(?:_ID)?|"
                       r"CPE_NAME|ANSI_COLOR|LOGO|\w+_CODENAME|\w+_URL|SUPPORT_END")  # fmt: skip
CRASH_LINE = re.compile(
    r"\s*|\*+|\*\s+Bugcheck Analysis\s+\*|[A-Z0-9_]+ \([0-9a-f]{1,16}\)|STACK_TEXT:\s*|"
    r"(?:SYMBOL_NAME|MODULE_NAME|IMAGE_NAME|BUGCHECK_CODE|BUGCHECK_P\d):\s*[\w.!+$?@<>:~-]{1,200}|"
    r"(?:[0-9a-f`:. \t()-]{0,200}\(Inline Function\))?[0-9a-f`:. \t()-]{0,200}"
    r"[A-Za-z_][\w.-]{0,63}(?:![\w$?@<>:~]{1,128}(?:\+0x[0-9a-fA-F]+)?|\+0x[0-9a-fA-F]+)\s*"
)

ENVIRON = re.compile(r"(?m)^(/proc/\d+/environ:[A-Z_]+=)(.*)$")
IN_SETTING = re.compile(r"[^,=^:]+")
BEGINS_PLAIN = re.compile(
    r"\d{1,3}|eth|en[opsx]?|ib[ps]?|bond|br|docker|veth|virbr|lo|wl|ww|mlx[45](?:_(?:bond_?)?\d{0,3})?|"
    r"(?:bnxt_re|irdma|efa|hfi1|erdma|rxe|siw)_?\d{0,3}|"
    r"roce(?:p\d{1,3}s\d{1,3}(?:f\d)?|o\d{1,3})?|socket", re.I,
)  # fmt: skip
"""How netdevs and RDMA devices of the kernel's own naming begin, and words of NCCL."""

POLLED = re.compile(r"(?m)^(  port: )(\S+)")
CELL = re.compile(r"\S+(?: \S+)*")
_LLDP_WORDS = (
    "lldp remote device summary local remid chassis id port system name interface loc portid "
    "rem host remotedevice remoteportid capability capabilities remoteportdescr localport codes "
    "router bridge other total entries displayed as r b o br w t c p s wlan telephone docsis "
    "station repeater access point ttl not advertised"
)
LLDP_WORDS = frozenset(_LLDP_WORDS.split())


def without_free_words(section: str, body: str, name: Name) -> str:
    """Replace what people chose in the lines of a section; of one that is not known, nothing."""
    if section.startswith("thread"):
        body = STAT.sub(lambda m: m[1] + _comm(m[2], name) + m[3], body)
        return COMM_LINE.sub(lambda m: m[1] + _comm(m[2], name), body)
    if section == "collective":
        return ENVIRON.sub(lambda m: m[1] + IN_SETTING.sub(
            lambda word: _interface(word[0], name), m[2]), body)  # fmt: skip
    if section == "ovs-pmd-rxq":
        return POLLED.sub(lambda m: m[1] + (m[2] if is_plain_netdev(m[2]) else name(m[2])), body)
    if section == "hugepage-mounts":
        return MOUNT.sub(lambda m: _mount(m, name), body)
    if section == "irqbalance-setup":
        return "\n".join(_words(line, name) for line in body.split("\n"))
    if section == "tuned":
        return TUNED.sub(lambda m: m[1] + PROFILE.sub(lambda word: _profile(word[0], name), m[2]),
                         body)  # fmt: skip
    if section == "wsl-conf":
        return WSL.sub(lambda m: m[1] + _setting(m[2], name), body)
    if section == "kernel":
        return OS_RELEASE.sub(lambda m: m[0] if OF_SYSTEM.fullmatch(m[2]) else
                              f"{m[1]}{m[2]}={name(m[4])}" if m[4] else m[0], body)  # fmt: skip
    if section == "switch-lldp" and body.lstrip()[:1] not in ("{", "["):
        return CELL.sub(lambda m: _cell(m[0], name), body)
    if section == "crash-analysis":
        return "\n".join(
            line if CRASH_LINE.fullmatch(line) else LEFT_OUT for line in body.split("\n")
        )
    return body


def without_free_settings(text: str, name: Name) -> str:
    """Do the same for .wslconfig, a text of JSON whose ends of lines are written out."""
    return re.sub(
        r"((?:\\[rnt])*)((?:[^\\]|\\[^rnt])*+)", lambda m: m[1] + _setting(m[2], name), text
    )


def _cell(text: str, name: Name) -> str:
    words = (word.strip("(),:") for word in text.split(" "))
    is_known = all(
        word.lower() in LLDP_WORDS or is_plain("", word) or is_plain_netdev(word) for word in words
    )
    return text if is_known else name(text)


def _comm(text: str, name: Name) -> str:
    return text if COMM.fullmatch(text) or not text else name(text)


def _interface(text: str, name: Name) -> str:
    return text if BEGINS_PLAIN.fullmatch(text) or is_plain_netdev(text) else name(text)


def _profile(text: str, name: Name) -> str:
    return text if text in OWN else name(text)


def _mount(match: re.Match[str], name: Name) -> str:
    source = match[1] if match[1] in MOUNT_SOURCES else name(match[1])
    path = match[2] if MOUNT_PATH.fullmatch(match[2]) else f"/{name(match[2])}"
    return f"{source} {path}{match[3]}"


def _words(line: str, name: Name) -> str:
    key, equals, value = line.partition("=")
    if key == "IRQBALANCE_ARGS":
        said = " ".join(w if IRQBALANCE.fullmatch(w) else name(w) for w in value.split())
        return f"{key}{equals}{said}"
    if not line.strip() or IRQBALANCE.fullmatch(line):
        return line
    is_known = re.fullmatch(r"--?[a-z]{1,20}|IRQBALANCE_[A-Z_]{1,20}", key)
    return f"{key}={name(value)}" if is_known and equals else name(line)


def _setting(line: str, name: Name) -> str:
    if not line.strip() or SECTION.fullmatch(line):
        return line
    match = SETTING.fullmatch(line)
    if match is None:
        return name(line)
    indent, key, equals, text = match.groups()
    value = text.rstrip()
    rest = text[len(value) :]
    if key.lower() in NAMED_LATER or PLAIN_VALUE.fullmatch(value):
        return line
    if value.isascii() and is_plain_windows_name(value):
        return line
    return f"{indent}{key}{equals}{name(value)}{rest}"
