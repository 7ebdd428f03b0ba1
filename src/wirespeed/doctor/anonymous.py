"""Replaces what identifies a host or its people in a capture, and leaves what the doctor reads.

Replaced, the same wherever it stands: hardware addresses, IP addresses, GUIDs, UUIDs, serial
numbers, names of the host, of its domain, of users and of what they called things, URLs, paths of
homes. Kept: vendors, subnets, models, versions, PCI addresses, netdevs, loopback, multicast, masks.

What is replaced becomes a mark of characters that no pattern matches, so that no later step takes
it up again; the last step puts in what each stands for. Pure.
"""

import ipaddress
import re
from functools import cache

from wirespeed.catalog import platforms
from wirespeed.doctor import anonymous_patterns as patterns
from wirespeed.doctor.anonymous_address import (
    Addresses,
    ipv6_parts,
    is_mask,
    suffix,
    without_serial,
)
from wirespeed.doctor.anonymous_free import SYSTEM, without_free_names, without_long_words
from wirespeed.doctor.anonymous_json import without_free_texts
from wirespeed.doctor.anonymous_marks import Marks
from wirespeed.doctor.anonymous_names import (
    MAX_NAMES,
    MIN_NAME,
    WINDOWS_NAME,
    any_of,
    is_plain_netdev,
    is_plain_windows_name,
    names_of_netdevs,
    too_large,
    too_many_names,
    words_of_release,
)
from wirespeed.doctor.anonymous_ovs import without_free_columns
from wirespeed.doctor.anonymous_text import (
    LEFT_OUT,
    LONGEST,
    without_free_settings,
    without_free_words,
)
from wirespeed.doctor.collector import collector_script
from wirespeed.doctor.section_names import known_parts
from wirespeed.model.capture import HEADER, MAX_SECTION_CHARACTERS, parse_capture

NO_COUNTRY = frozenset({"ko", "xz", "gz", "so", "sh", "py", "rx", "tx", "hz", "hw", "sw", "fw"})
NOBODY = frozenset({"", "root", "nobody", "none", "(none)", "localhost", "localdomain", "unknown"})
SYSTEMS = frozenset({"debian", "ubuntu", "linux", "fedora", "centos", "rocky", "host", "server"})
LONGEST_NAME, MOST_NAMES = 256, 5000
"""Of those that are looked for in every section; Windows allows an adapter 256 characters."""
MAX_CHARACTERS = 8 << 20
"""A host of 512 CPUs whose cards have 512 interrupts has 6 MB, nearly all of it counts of these."""
LONGEST_LEARNED = 256
"""Of a label's value: what is longer is replaced there alone."""
BEGIN = "begin "
MADE_BY_OTHERS = frozenset({("esxi-module", "name"), ("windows-wslconfig", "text")})
"""Names of a driver's parameters; what is gone through line by line."""
MAX_HEAD_CHARACTERS = 200
NAMES_SECTIONS = ("names", "windows-names")


class Anonymizer:
    """Everything of one capture goes through the same one: the same in, the same out."""

    def __init__(self, key: bytes) -> None:
        self._addresses = Addresses(key)
        self._macs: set[str] = set()
        self._marks = Marks()
        self._find: re.Pattern[str] | None = None
        self._learns = True
        self._names: dict[str, str] = {}
        self._versions: frozenset[str] = frozenset()
        self._netdevs: frozenset[str] = frozenset()

    def capture(self, text: str, where: str) -> str:
        """Give the capture with all replacements.

        Raises InputError `capture.too_large`, and as `parse_capture` does.
        """
        self._marks.where = where
        if len(text) > MAX_CHARACTERS:
            raise too_large(where, f"more than {MAX_CHARACTERS >> 20} MiB")
        parsed = parse_capture(text, where)
        kernel = parsed.section("kernel")
        release = re.findall(r"osrelease:(\d+(?:\.\d+){3})", kernel.output) if kernel else []
        self._versions = frozenset(release)
        named = re.findall(r'"(?:ifname|link)":"([^"\\]+)"', text)
        self._netdevs = frozenset(named) | {
            s.subject for s in parsed.all_sections() if not s.name.startswith("switch-")
        }
        for platform in platforms():
            for name in platform.private_names(parsed):
                self._learn("host", name)
        for name in (*named, *names_of_netdevs(parsed)):
            self._learn("net", name)
        for word in words_of_release(kernel.output if kernel else ""):
            self._learn("name", word)
        for name in NAMES_SECTIONS:
            for section in parsed.sections(name).values():
                self._learn_names(section.output)
        header = HEADER.search(text)
        if header is None:
            raise AssertionError("it was parsed")
        mark = header[2]
        lines = text[header.start() :].replace("\r\n", "\n")
        parts = known_parts(re.split(rf"^({re.escape(mark)} )", lines, flags=re.M))
        # Twice: what the first round learns at a late place stands at an early one too. Only then
        # names are looked for: what finds them is made once.
        for _ in range(2):
            self._marks.clear()
            made = [parts[0], *(self._part(part, f"{mark} ") for part in parts[1:])]
            if len(self._names) > MAX_NAMES:
                raise too_many_names(where)
            self._find, self._learns = any_of(self._names), False
        return "".join(made)

    def line(self, text: str) -> str:
        """Replace in a text that is about the same host."""
        self._marks.clear()
        return self._anonymous(patterns.OURS.sub("\ufffd", text))

    def _part(self, part: str, mark: str) -> str:
        if part == mark:
            return part
        # Once, before anything is put in: what is put in later is marked by the same characters.
        part = patterns.OURS.sub("\ufffd", part)
        if len(part) > MAX_SECTION_CHARACTERS:
            # No parser reads it either, see `parse_capture`.
            head = self._anonymous(part.partition("\n")[0][:MAX_HEAD_CHARACTERS])
            return f"{head}\nleft out: the section is too long to be true\n\n"
        if part.startswith("begin pci-config "):
            head, _, body = part.partition("\n")
            return f"{self._anonymous(head)}\n{without_serial(body, self._addresses)}"
        if part.startswith(tuple(f"begin {name} " for name in NAMES_SECTIONS)):
            head, _, body = part.partition("\n")
            return f"{head}\n{self._anonymous_names(body)}"
        for platform in platforms():
            part = platform.without_free_text(part, self._netdevs)
        if part.startswith(BEGIN):
            head, end, body = part.partition("\n")
            part = f"{head}{end}{self._without_free(head.split(' ')[1], body)}"
        return self._anonymous(part)

    def _without_free(self, section: str, body: str) -> str:
        """Replace what people chose, where the section tells what that is."""

        def keeps(field: str, text: str) -> bool:
            return self._keeps(section, field, text)

        if len(body) > LONGEST.get(section, MAX_CHARACTERS):
            return f"{LEFT_OUT}\n\n"
        if section == "ovs-db":
            lines = body.split("\n")
            made = (without_free_columns(line, keeps, self._called) for line in lines)
            body = "\n".join(m or line for m, line in zip(made, lines, strict=True))
        elif body.lstrip()[:1] in ("{", "["):
            body = without_free_texts(body, keeps, self._called)
        if section == "windows-wslconfig":
            body = patterns.WSL_TEXT.sub(
                lambda m: f"{m[1]}{without_free_settings(m[2], self._called)}", body
            )
        return without_free_words(section, body, self._called)

    def _keeps(self, section: str, field: str, text: str) -> bool:
        plain = text.strip().lower()
        if len(plain) < MIN_NAME or plain in _words() or plain in self._names:
            return True
        if (section, field) in MADE_BY_OTHERS:
            return True
        if patterns.LABEL.fullmatch(field) or SYSTEM.fullmatch(text) or is_plain_netdev(text):
            return True
        return section in WINDOWS_NAME and is_plain_windows_name(text)

    def _called(self, text: str) -> str:
        """Give what stands for a text that a person chose, wherever it stands."""
        if known := self._names.get(text.strip().lower()):
            return self._keep(known)
        if (
            patterns.MARKED.search(text) is None
            and len(text) <= LONGEST_NAME
            and len(self._names) < MOST_NAMES
        ):
            self._learn("name", text)
        return self._name("name", text)

    def _anonymous(self, text: str) -> str:
        # Where what a pattern needs does not stand in a text, its search of it is left out: each
        # takes 5 to 120 ms for a megabyte, and most sections need few.
        text = without_free_names(without_long_words(text, self._name), self._name)
        if "-" in text:
            text = patterns.UUID.sub(self._uuid, text)
        lower = text.lower()
        if any(word in lower for word in patterns.LABEL_WORDS):
            text = patterns.LABELLED.sub(self._labelled, text)
        if "://" in text:
            text = patterns.URL.sub(lambda m: m[1] + self._name("url", m[2]), text)
        if "iqn." in lower or "nqn." in lower:
            text = patterns.IQN.sub(lambda m: self._name("target", m[0]), text)
        for pattern in (patterns.HOME, patterns.WSL_USER, patterns.MAPPER, patterns.LVM):
            text = pattern.sub(self._path, text)
        if self._learns:
            # The round that learns: of what follows, hardware addresses alone are known later on.
            if ":" in text or "-" in text:
                patterns.OCTETS.sub(self._octets, text)
            return text
        if "@" in text:
            text = patterns.AT.sub(self._at, text)
        if "ip-" in text:
            text = patterns.DASHED_IPV4.sub(lambda m: self._name("host", m[0]), text)
        has_dots, has_colons = "." in text, ":" in text
        if has_dots:
            text = patterns.FQDN.sub(self._fqdn, text)
        text = self._replace_names(text)
        if "enx" in text:
            text = patterns.ENX.sub(lambda m: m[1] + self._keep(self._octets_of(m[2]).hex()), text)
        if has_colons or "-" in text:
            text = patterns.OCTETS.sub(self._octets, text)
        if has_dots:
            text = patterns.DOTTED_MAC.sub(self._dotted, text)
        if has_colons:
            text = patterns.IPV6.sub(self._ipv6, text)
            text = patterns.GUID.sub(self._guid, text)
        if has_dots:
            text = patterns.IPV4.sub(self._ipv4, text)
        text = patterns.LONG_HEX.sub(self._long_hex, text)
        return self._marks.put_in(text)

    # What is put in, and how it is kept from later steps.

    def _keep(self, text: str) -> str:
        return self._marks.made_for(text)

    def _name(self, kind: str, text: str) -> str:
        return self._keep(self._word(kind, text))

    def _word(self, kind: str, text: str) -> str:
        return f"{kind}-{self._addresses.digest(kind, text.lower().encode(), 4).hex()}"

    # Names.

    def _learn(self, kind: str, text: str) -> None:
        plain = text.strip().lower()
        if plain in _words() or is_plain_netdev(plain) or plain.isdecimal():
            return
        if MIN_NAME <= len(plain) <= LONGEST_LEARNED:
            self._names.setdefault(plain, self._word(kind, plain))

    def _learn_names(self, text: str) -> None:
        for line in text.split("\n"):
            label, _, value = line.partition(" ")
            for word in value.split():
                if label == "user":
                    self._learn("user", word)
                    continue
                host, _, domain = word.partition(".")
                if label == "hostname":
                    self._learn("host", word)
                    self._learn("host", host)
                    self._learn("domain", domain)
                else:
                    self._learn("domain", word)

    def _anonymous_names(self, text: str) -> str:
        """Here a name stands as such, however common a word it is."""
        lines = []
        for line in text.split("\n"):
            label, space, value = line.partition(" ")
            kind = {"hostname": "host", "user": "user"}.get(label, "domain")
            if space and value.strip() not in NOBODY:
                words = [self._names.get(w.lower(), self._word(kind, w)) for w in value.split()]
                line = f"{label} {' '.join(words)}"
            lines.append(line)
        return "\n".join(lines)

    def _replace_names(self, text: str) -> str:
        return self._find.sub(self._known_name, text) if self._find else text

    def _known_name(self, match: re.Match[str]) -> str:
        plain = match[0].lower()
        return self._keep(self._names.get(plain) or self._names[plain.replace("--", "-")])

    def _labelled(self, match: re.Match[str]) -> str:
        groups: dict[str, str] = match.groupdict("")
        gap = next(filter(None, (groups[g] for g in ("in_json", "equals", "colon", "space"))))
        value = next(filter(None, (groups[g] for g in ("json", "word", "rest", "last"))))
        plain, key = self._marks.put_in(value.rstrip()), match["key"].lower()
        if plain.lower() in NOBODY or patterns.MARKED.fullmatch(value):
            return match[0]
        kind = "host" if "host" in key or "node" in key else "user" if "user" in key else "name"
        if "serial" in key or key in ("s/n", "vendor sn"):
            kind = "serial"
        self._learn(kind, plain)
        replaced = self._names.get(plain.lower()) or self._word(kind, plain)
        return match["key"] + gap + self._keep(replaced) + value[len(value.rstrip()) :]

    def _path(self, match: re.Match[str]) -> str:
        if patterns.FIRST in match[2]:
            return match[0]
        kind = "user" if match.re in (patterns.HOME, patterns.WSL_USER) else "name"
        self._learn(kind, match[2])
        return match[1] + self._name(kind, match[2])

    def _at(self, match: re.Match[str]) -> str:
        user, _, host = match[0].rpartition("@")
        if host in self._netdevs or re.fullmatch(r"if\d+|tty\w*|pci|auxiliary", host):
            return match[0]  # eth0.5@eth0, getty@tty1, mlx5_comp0@pci:0000:03:00.0
        return f"{self._name('user', user)}@{self._name('host', host)}"

    def _fqdn(self, match: re.Match[str]) -> str:
        labels = match[0].split(".")
        if len(labels[-1]) == 2 and (len(labels) < 3 or labels[-1].lower() in NO_COUNTRY):
            return match[0]
        if match[0].lower() in self._names:
            return self._keep(self._names[match[0].lower()])
        return self._name("host", match[0])

    # Numbers.

    def _uuid(self, match: re.Match[str]) -> str:
        digits = match[0].replace("-", "")
        if not digits.strip("0") or not digits.strip("fF"):
            return match[0]
        h = self._addresses.hexadecimal(digits)
        return self._keep(f"{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}")

    def _octets_of(self, digits: str) -> bytes:
        return self._addresses.octets(bytes.fromhex(digits))

    def _octets(self, match: re.Match[str]) -> str:
        octets = bytes.fromhex(match[0].replace(match[1], ""))
        if len(octets) == patterns.MAC_OCTETS:
            self._macs |= {octets.hex(), octets[::-1].hex()}
        made = self._addresses.octets(octets).hex(match[1])
        return self._keep(made.upper() if match[0] != match[0].lower() else made)

    def _dotted(self, match: re.Match[str]) -> str:
        if self._is_count(match[0].replace(".", "")):
            return match[0]
        made = self._octets_of(match[0].replace(".", "")).hex()
        return self._keep(f"{made[:4]}.{made[4:8]}.{made[8:]}")

    def _is_count(self, digits: str) -> bool:
        """Tell a number from an address, whose digits may all be below ten: that one is known."""
        if not digits.isdecimal() or digits[0] == "0":
            return False
        places = range(len(digits) - 2 * patterns.MAC_OCTETS + 1)
        return not any(digits[at : at + 2 * patterns.MAC_OCTETS] in self._macs for at in places)

    def _guid(self, match: re.Match[str]) -> str:
        made = self._octets_of(match[0].replace(":", "")).hex()
        return self._keep(":".join(made[at : at + 4] for at in range(0, 16, 4)))

    def _long_hex(self, match: re.Match[str]) -> str:
        prefix, digits = match[1] or "", match[2]
        quoted = match.string[match.start() - 1 : match.start()] == '"'
        if not prefix and not quoted and self._is_count(digits):
            return match[0]
        if not digits.strip("0") or not digits.strip("fF"):
            return match[0]
        if len(digits) in (12, 16):
            made = self._octets_of(digits).hex()
            return self._keep(prefix + (made.upper() if digits != digits.lower() else made))
        return self._keep(prefix + self._addresses.hexadecimal(digits))

    def _ipv4(self, match: re.Match[str]) -> str:
        start = max(0, match.start() - 80)
        before = match.string[start : match.start()].rpartition("\n")[2]
        if match[1] in self._versions or patterns.VERSION_BEFORE.search(before):
            return match[0]
        try:
            address, prefix = ipaddress.IPv4Address(match[1]), int(match[2] or 32)
        except ValueError:
            return match[0]
        if prefix > 32 or is_mask(int(address)):
            return match[0]
        return self._keep(str(self._addresses.ipv4(address, prefix))) + suffix(match[2])

    def _ipv6(self, match: re.Match[str]) -> str:
        prefix = int(match[2] or 128)
        for before, address, after in ipv6_parts(match):
            if prefix <= 128:
                made = self._keep(str(self._addresses.ipv6(address, prefix)))
                return before + made + after + suffix(match[2])
        return match[0]


def anonymous(text: str, where: str, key: bytes) -> str:
    """Give a capture without what identifies its host; `key` is random, new for each capture."""
    return Anonymizer(key).capture(text, where)


@cache
def _words() -> frozenset[str]:
    """Words that a capture is made of: a host called like one cannot be told from it."""
    return frozenset(re.findall(r"[a-z0-9]+", collector_script().lower())) | NOBODY | SYSTEMS
