"""What a sysinfo-snapshot holds about cards: firmware, link quality, RDMA, health. Pure.

mlxlink's text has the headings and names of its JSON (mlxlink_commander.cpp of mstflint).
"""

import json
import re
from collections.abc import Iterator, Mapping

from wirespeed.doctor.sosreport import Section

CONFIG = re.compile(r"firmware/(mst|mlx)config_[^/]+")
CONFIG_OF = re.compile(r"\A(?:mst|mlx)config -d ((?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.\d) ")
MLXLINK = re.compile(
    r"^#\d+ m[sl]x?t?link -d ((?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.\d) (-[mec]|--rx_fec.*)$",
    re.M,
)
HEADING = re.compile(r"^(\w[^:\n]*)\n-{4,}[ \t]*$", re.M)
FIELD = re.compile(r"^(\S[^:\n]*): (.*\S.*)$", re.M)
LIST = re.compile(r"[^\s,\[(]+(?:,[^\s,\[(]+)+")
QOS = re.compile(r"^mlnx_qos -i (\S+)\n", re.M)
REPORTER = re.compile(r"^  reporter (\S+)\n    state (\w+) error (\d+) recover (\d+)", re.M)
MODE = re.compile(r"^(\S+): (legacy|switchdev)$", re.M)
RDMA_FILE = re.compile(
    r"^File: /sys/devices/\S*/([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f])/infiniband/"
    r"([^/\s]+)/((?:ports/(\d+)/)?[\w./]+): ([^\n]*)$",
    re.M,
)
VERBS = re.compile(r"\s*(?:hca_id|port|max_mtu|active_mtu):")
"""Of its other lines, some name the card: GUIDs and serial numbers."""
ECN = re.compile(r"^/sys/class/net/([^/]+)/ecn/(roce_[nr]p)/enable/([0-7])= ([01])$", re.M)
"""ecn_configuration_handler of sysinfo-snapshot.py."""
SYSFS = "/sys/class/infiniband"
GID_FILE = re.compile(r"ports/\d+/gids/(\d+)")


def card_sections(files: Mapping[str, str], texts: Mapping[str, str]) -> Iterator[Section]:
    """Give what is there; `texts` are the page's paragraphs."""
    for path, text in files.items():
        match, of = CONFIG.fullmatch(path), CONFIG_OF.match(text)
        if match and of:
            yield f"{match[1]}config", _whole(of[1]), text, "", 0
    yield from _mlxlink(texts.get("mlxlink / mstlink", ""))
    for block in texts.get("mlnx_qos_handler", "").split("\n____________"):
        qos = QOS.search(block)
        if qos and "Could not run command" not in block:
            yield "mlnx-qos", qos[1], block[qos.end() :], "", 0
    if health := dict(_health(texts.get("devlink_handler", ""))):
        yield "devlink-health", "", json.dumps({"health": health}), "", 0
    if package := texts.get("ofed_info -s"):
        yield "driver-package", "", package, "", 0
    mtus = [line for line in texts.get("ibv_devinfo -v", "").splitlines() if VERBS.match(line)]
    if mtus:
        yield "rdma-mtu", "", "\n".join(mtus), "", 0
    ecn: dict[str, list[str]] = {}
    for path, text in files.items():
        for netdev, *values in ECN.findall(text) if path.startswith("ecn/config/") else ():
            ecn.setdefault(netdev, []).append(" ".join(values))
    for netdev, lines in ecn.items():
        yield "roce-ecn", netdev, "\n".join(lines), "", 0
    yield from _rdma(files.get("commands_txt_output/other_system_files", ""))


def _whole(address: str) -> str:
    return address if address.count(":") == 2 else f"0000:{address}"


def _mlxlink(text: str) -> Iterator[Section]:
    """Runs with -m, -e and -c are one of our own run."""
    found: dict[tuple[str, str], dict[str, dict[str, object]]] = {}
    runs = [*MLXLINK.finditer(text)]
    for match in runs:
        ends = text.find("\n#", match.end())
        output = text[match.end() : ends if ends >= 0 else None]
        if "Errors detected while running" in output:
            continue
        section = "mlxlink-fec" if match[2].startswith("--") else "mlxlink"
        whole = found.setdefault((section, _whole(match[1])), {})
        parts = HEADING.split(output)
        for title, body in zip(parts[1::2], parts[2::2], strict=True):
            whole.setdefault(title, {}).update(_field(*pair) for pair in FIELD.findall(body))
    for (section, address), output_of in found.items():
        yield section, address, json.dumps({"result": {"output": output_of}}), "", 0


def _field(name: str, value: str) -> tuple[str, object]:
    """A list of lanes is one in JSON, too; with the alarms behind it, it is one text."""
    name, value = name.rstrip(), value.rstrip()
    return name, {"values": value.split(",")} if LIST.fullmatch(value) else value


def _health(text: str) -> Iterator[tuple[str, list[dict[str, object]]]]:
    """`devlink health show`, which stands before the rule."""
    shown = text.partition("\n----")[0]
    for part in re.split(r"^(?=\S)", shown, flags=re.M):
        handle, colon, rest = part.partition(":\n")
        rows = [
            {"reporter": m[1], "state": m[2], "error": int(m[3]), "recover": int(m[4])}
            for m in REPORTER.finditer(rest)
        ]
        if colon and rows:
            yield handle, rows


def _rdma(text: str) -> Iterator[Section]:
    """Files below /sys/devices/…/infiniband."""
    ports: dict[str, None] = {}
    lines, values = [], {}
    for address, device, path, port, value in RDMA_FILE.findall(text):
        if path.endswith("/state"):
            ports[f"{device} {port} {address}"] = None
        if "/gid" not in path:
            lines.append(f"{SYSFS}/{device}/{path}:{value}")
        values[device, path] = value
    if not ports:
        return
    yield "rdma", "", "\n".join(ports), "", 0
    lacks = "the sysinfo-snapshot does not hold it"
    yield "rdma-counters", "", "\n".join(lines), lacks, 3
    gids = []
    for (device, path), value in values.items():
        if match := GID_FILE.fullmatch(path):
            port, number = path.split("/")[1], match[1]
            kind = "link-local" if value.startswith("fe80:") else "ip"
            said = values.get((device, f"ports/{port}/gid_attrs/types/{number}"), "")
            gids += [f"{device} {port} {number} {kind} {said}"] if said else []
    yield "rdma-gids", "", "\n".join(gids), "", 0
