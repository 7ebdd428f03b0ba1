import ipaddress
import json
import re
import socket
from collections import Counter
from functools import cache
from pathlib import Path
from random import Random
from time import process_time
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wirespeed.doctor.anonymous import Anonymizer, anonymous
from wirespeed.doctor.anonymous_address import without_serial
from wirespeed.doctor.collector import collector_script
from wirespeed.doctor.diagnose import diagnose
from wirespeed.host.local import LocalRunner
from wirespeed.model.capture import parse_capture
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Diagnosis
from wirespeed.model.observed import Known
from wirespeed.model.question import Question

KEY = b"a key for tests, of thirty-two b"
CASES = sorted((Path(__file__).parent.parent / "rules/cases").glob("*/*/capture.txt"))
M = "7d1f6a3e-0000-4000-8000-00000000cafe"
TEMPLATE = f"""\
wirespeed-capture 1 {M}
{M} begin names -
hostname <host>.<domain>
domain (none)
search <domain>
user <user>

{M} end 0
{M} begin kernel -
/proc/sys/kernel/osrelease:5.15.90.1-microsoft-standard-WSL2
/proc/cmdline:BOOT_IMAGE=/boot/vmlinuz-5.15.90.1 root=UUID=<uuid> ro \
ip=<v4>::<v4b>:255.255.255.0:<host>:eth0:off isolcpus=2-5 \
resume=/dev/mapper/<host>--vg-swap inst.ks=http://<host>.<domain>/ks.cfg

{M} end 0
{M} begin ip-link -
[{{"ifname":"enp3s0","address":"<mac>","permaddr":"<mac>","ifalias":"<alias>","phys_switch_id":"<switch>","broadcast":"ff:ff:ff:ff:ff:ff"}},{{"ifname":"ib0","address":"80:00:02:08:fe:80:00:00:00:00:00:00:<guid_colons>"}}]

{M} end 0
{M} begin ip-addr -
[{{"ifname":"enp3s0","addr_info":[{{"local":"<v4>","prefixlen":24,"label":"enp3s0"}},{{"local":"<v6>","prefixlen":64}},{{"local":"<eui>","prefixlen":64}}]}}]

{M} end 0
{M} begin ip-route -
[{{"dst":"default","gateway":"<v4b>","dev":"enp3s0"}},{{"dst":"127.0.0.0/8"}},{{"dst":"::1"}}]

{M} end 0
{M} begin ethtool-m enp3s0
\tVendor name                               : Mellanox
\tVendor PN                                 : MCP1600-C003E26N
\tVendor SN                                 : <serial>
\tDate code                                 : 200114

{M} end 0
{M} begin ethtool-i enp3s0
driver: mlx5_core
version: 5.8-1.1.2.1
firmware-version: 16.35.4554 (MT_0000000012)
bus-info: 0000:03:00.0

{M} end 0
{M} begin devlink-info -
{{"info":{{"pci/0000:03:00.0":{{"driver":"mlx5_core","serial_number":"<serial>","board.serial_number":"<serial2>","versions":{{"fixed":{{"fw.psid":"MT_0000000012"}},"running":{{"fw":"14.32.1.10"}}}}}}}}}}

{M} end 0
{M} begin ovs-db -
{{"data":[[["uuid","<uuid>"],["map",[["hostname","<host>.<domain>"],["system-id","<alias>"]]],"tcp:<v4b>:6640",["map",[["remote_ip","<v4>"]]]]]}}

{M} end 0
{M} begin wsl-conf -
/etc/wsl.conf:default=<wsl_user>
/etc/wsl.conf:root = /home/<user>/share

{M} end 0
{M} begin statistics enx<mac_bare>
rx_packets 123456789012345

{M} errors
ssh: connect to <user>@<host> (<v4>): cannot reach [<v6>]:22 via <mac>: Permission denied
mount //<v4b>/home: <host> says 0x<guid_bare>, reversed <switch>, <mac_dashes>, <mac_dots>
node guid <guid_groups>
{M} end 1
{M} done
"""

LETTERS = "abcdefghijklmnopqrstuvwxyz"
SEEDS = range(300)
"""The same plants each time: by chance, one host's address may be what another's becomes."""


def plants(seed: int) -> dict[str, str]:
    """What identifies a host, by its place in the template."""
    drawn = Random(seed)

    def label() -> str:
        word = "".join(drawn.choices(LETTERS, k=drawn.randint(5, 9)))
        return word + str(drawn.randint(10, 9999))

    def serial() -> str:
        pair = "".join(drawn.choices(LETTERS.upper(), k=2))
        return f"MT{drawn.randint(0, 9999):04}{pair}{drawn.randint(0, 99999):05}"

    mac = drawn.randbytes(6)
    mac = bytes([mac[0] & 0xFE]) + mac[1:]
    guid = mac[:3] + b"\x03\x00" + mac[3:]
    flipped = bytes([mac[0] ^ 2]) + mac[1:3] + b"\xff\xfe" + mac[3:]
    return {
        "host": label(),
        "domain": f"{label()}.{drawn.choice(['com', 'local', 'co.kr', 'example'])}",
        "user": label(),
        "wsl_user": label(),
        "alias": f"to rack {label()}",
        "uuid": str(UUID(bytes=drawn.randbytes(16), version=4)),
        "mac": mac.hex(":"),
        "mac_bare": mac.hex(),
        "mac_dashes": mac.hex("-").upper(),
        "mac_dots": mac.hex(".", 2),
        "switch": mac[::-1].hex() + "0102",
        "guid_colons": guid.hex(":"),
        "guid_bare": guid.hex(),
        "guid_groups": guid.hex(":", 2),
        "eui": str(ipaddress.IPv6Address(b"\xfe\x80" + bytes(6) + flipped)),
        "v4": str(ipaddress.IPv4Address((10 << 24) + drawn.randrange(2**24))),
        "v4b": str(ipaddress.IPv4Address(drawn.randrange(0x14000000, 0x7E000000))),
        "v6": str(ipaddress.IPv6Address((2 << 124) + drawn.randrange(2**64, 2**124))),
        "serial": serial(),
        "serial2": serial(),
    }


def planted(values: dict[str, str]) -> str:
    return re.sub(r"<(\w+)>", lambda m: values[m[1]], TEMPLATE)


def traces(values: dict[str, str]) -> set[str]:
    """Every plant, and its parts that still tell it."""
    parts = set(values.values())
    parts.add(values["mac"][9:])
    parts.add(values["mac_bare"][6:])
    parts.add(values["mac_dashes"][9:])
    parts.add(values["switch"][:6])
    # Of what stands before it only one byte is not the vendor's: another card may have it too.
    parts.add(":".join(values["eui"].split(":")[-2:]))
    parts.add(ipaddress.ip_address(values["v6"]).exploded[-19:])
    parts.add(values["alias"].split()[-1])
    parts.add(values["domain"].partition(".")[0])
    parts.add(values["uuid"][-12:])
    return parts


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_that_was_planted_is_left(seed: int):
    values = plants(seed)
    text = planted(values)
    made = anonymous(text, "a file", KEY).lower()
    for trace in traces(values):
        assert not re.search(rf"(?<![0-9a-z]){re.escape(trace.lower())}(?![0-9a-z])", made), trace
        if len(trace) > 7:
            assert trace.lower() not in made
    assert "[\ue000-\ue1ff]" not in made


def test_an_address_all_of_whose_digits_are_below_ten_is_no_count():
    values = plants(0) | {
        "mac": "00:00:00:01:02:10", "mac_bare": "000000010210", "switch": "1002010000000102",
    }  # fmt: skip
    assert "1002010000000102" not in anonymous(planted(values), "a file", KEY)


def test_what_identifies_nobody_stays_as_it_is():
    made = anonymous(planted(dict.fromkeys(re.findall(r"<(\w+)>", TEMPLATE), "x")), "a file", KEY)
    for kept in (
        "osrelease:5.15.90.1-microsoft-standard-WSL2",
        "BOOT_IMAGE=/boot/vmlinuz-5.15.90.1 ",
        "isolcpus=2-5",
        ":255.255.255.0:",
        "version: 5.8-1.1.2.1",
        "firmware-version: 16.35.4554 (MT_0000000012)",
        "bus-info: 0000:03:00.0",
        '"fw":"14.32.1.10"',
        '"dst":"127.0.0.0/8"',
        '"dst":"::1"',
        '"broadcast":"ff:ff:ff:ff:ff:ff"',
        "MCP1600-C003E26N",
        "rx_packets 123456789012345",
        '"label":"enp3s0"',
        ": Permission denied",
    ):
        assert kept in made, kept


def test_the_same_becomes_the_same_and_relations_stay():
    values = {
        "host": "alphahost1", "domain": "corp.example", "user": "someone7",
        "wsl_user": "another8", "alias": "to rack b12",
        "uuid": "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "mac": "b8:59:9f:03:aa:bb",
        "mac_bare": "b8599f03aabb", "mac_dashes": "B8-59-9F-03-AA-BB",
        "mac_dots": "b859.9f03.aabb", "switch": "bbaa039f59b80102",
        "guid_colons": "b8:59:9f:03:00:03:aa:bb", "guid_bare": "b8599f030003aabb",
        "guid_groups": "b859:9f03:0003:aabb",
        "eui": "fe80::ba59:9fff:fe03:aabb", "v4": "10.20.30.40", "v4b": "10.20.30.1",
        "v6": "2001:db8:1:2::40", "serial": "MT2020VS12345", "serial2": "MT2020VS99999",
    }  # fmt: skip
    made = anonymous(planted(values), "a file", KEY)
    link, other = json.loads(re.findall(r"^\[.*enp3s0.*permaddr.*\]$", made, re.M)[0])
    mac = link["address"]
    assert mac.startswith("b8:59:9f:")
    assert link["permaddr"] == mac
    assert f"begin statistics enx{mac.replace(':', '')}\n" in made
    assert mac.replace(":", "-").upper() in made
    assert other["address"].startswith("80:00:02:08:fe:80:")
    assert other["address"].endswith(mac[9:])
    local, _, eui = json.loads(re.findall(r'^\[.*"addr_info".*\]$', made, re.M)[0])[0]["addr_info"]
    assert eui["local"].startswith("fe80::ba59:9fff:fe")
    assert eui["local"].replace(":", "").endswith(mac.replace(":", "")[-4:])
    gateway = json.loads(re.findall(r'^\[.*"gateway".*\]$', made, re.M)[0])[0]["gateway"]
    networks = {ipaddress.ip_network(f"{a}/24", strict=False) for a in (local["local"], gateway)}
    assert len(networks) == 1
    hosts = set(re.findall(r"host-[0-9a-f]{8}", made))
    assert f"hostname {next(iter(hosts & set(re.findall(r'hostname (host-[0-9a-f]{8})', made))))}"
    assert made.count(link["phys_switch_id"]) == 2


def test_two_captures_of_one_host_have_nothing_in_common():
    text = planted(dict.fromkeys(re.findall(r"<(\w+)>", TEMPLATE), "b8:59:9f:03:aa:bb"))
    one, two = anonymous(text, "x", KEY), anonymous(text, "x", KEY[::-1])
    assert one != two
    assert one == anonymous(text, "x", KEY)


def test_the_serial_number_in_the_configuration_space_goes():
    space = bytearray(range(256)) + bytearray(4096 - 256)
    space[0x100:0x104] = (0x1A0 << 20 | 1 << 16 | 0x0001).to_bytes(4, "little")
    space[0x1A0:0x1A4] = (1 << 16 | 0x0003).to_bytes(4, "little")
    space[0x1A4:0x1AC] = bytes.fromhex("bbaa0300039f59b8")
    lines = [space[n : n + 16].hex(" ") for n in range(0, 4096, 16)]
    body = "".join(f" {line}\n" for line in lines) + "\n"
    made = without_serial(body, Anonymizer(KEY)._addresses)
    before, after = bytes.fromhex(body.replace("\n", " ")), bytes.fromhex(made.replace("\n", " "))
    assert len(before) == len(after)
    assert [n for n in range(4096) if before[n] != after[n]] == list(range(0x1A4, 0x1AC))
    assert without_serial(" 00 zz\n\n", Anonymizer(KEY)._addresses) == "\n"


def test_common_words_as_names_do_not_spoil_the_rest():
    for name in ("ethtool", "kernel", "x", "12345"):
        text = planted(dict.fromkeys(re.findall(r"<(\w+)>", TEMPLATE), name))
        made = anonymous(text, "a file", KEY)
        assert f"hostname {name}" not in made
        assert parse_capture(made, "x").sections("kernel")


@pytest.mark.parametrize("path", CASES, ids=lambda p: f"{p.parent.parent.name}-{p.parent.name}")
def test_the_findings_stay_those_of_the_original_but_for_the_names(path: Path):
    expected = json.loads((path.parent / "expected.json").read_text())
    question = Question(**expected.get("question", {}))
    text = path.read_text()
    tool = Anonymizer(KEY)
    made = parse_capture(tool.capture(text, "case"), "case")
    original = diagnose(HostFacts("case", parse_capture(text, "case")), question)
    peer = None if question.peer is None else tool.line(question.peer)
    found = diagnose(HostFacts("case", made), question.model_copy(update={"peer": peer}))
    mine, theirs = Counter(said(found, None)), Counter(said(original, tool))
    # A name that was cut in a sentence is not known in it any more: what stands for it is whole.
    cut = Counter({line: n for line, n in theirs.items() if "…" in "".join(line)})
    assert theirs - mine <= cut
    assert mine.total() == theirs.total()


def said(diagnosis: Diagnosis, tool: Anonymizer | None) -> list[tuple[str, str, str]]:
    text = str if tool is None else cache(tool.line)
    lines = [(f.rule, text(f.where), f.severity.value) for f in diagnosis.findings]
    lines += [(f.rule, "", text(e.found)) for f in diagnosis.findings for e in f.evidence]
    lines += [(v.rule, text(v.where), text(f"{v.outcome} {v.reason}")) for v in diagnosis.verdicts]
    return sorted(lines)


def test_a_large_capture_is_done_in_time():
    rows = "".join(f'{{"address":"b8:59:9f:00:{n >> 8:02x}:{n & 255:02x}"}},' for n in range(20000))
    text = f"wirespeed-capture 1 {M}\n{M} begin ip-link -\n[{rows}]\n\n{M} end 0\n{M} done\n"
    started = process_time()
    anonymous(text, "x", KEY)
    assert process_time() - started < 20


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=300))
def test_any_text_is_taken(text: str):
    body = text.replace("\r", "")
    made = anonymous(f"wirespeed-capture 1 {M}\n{M} begin modules -\n{body}\n{M} end 0\n", "x", KEY)
    assert parse_capture(made, "x").sections("modules")


def test_a_capture_of_this_machine_names_it_no_more():
    text = LocalRunner().run(["sh", "-s"], stdin=collector_script()).output
    made = anonymous(text, "here", KEY)
    secrets = {socket.gethostname(), socket.getfqdn()} - {"localhost"}
    secrets |= {path.read_text().strip() for path in Path("/sys/class/net").glob("*/address")}
    links = parse_capture(text, "here").text("ip-addr", "ip -j addr show")
    for link in json.loads(links.value) if isinstance(links, Known) else ():
        secrets |= {info["local"] for info in link["addr_info"]}
    # A short name is a word of many: `vm` stands in /proc/sys/vm.
    secrets = {secret for secret in secrets if len(secret) > 4}
    for secret in secrets - {"00:00:00:00:00:00", "127.0.0.1"}:
        assert not re.search(rf"(?<![0-9A-Za-z]){re.escape(secret)}(?![0-9A-Za-z])", made), secret
    before, after = parse_capture(text, "here"), parse_capture(made, "here")
    assert [s.name for s in before.all_sections()] == [s.name for s in after.all_sections()]
