"""NVIDIA's sysinfo-snapshot as a capture: what of our sections it holds. Pure.

sysinfo-snapshot.py 3.7.9.9 of https://github.com/Mellanox/linux-sysinfo-snapshot says which output
is where. Most stands in one HTML page (`html_write_paragraph`), a heading and a paragraph a
command or file; what is long has a file of its own (`add_ext_file_handler`).
"""

import re
from collections.abc import Iterator, Mapping

from wirespeed.doctor.snapshot_cards import card_sections
from wirespeed.doctor.snapshot_net import (
    IRQ_FILES,
    PCI_ADDRESS,
    drivers_of,
    flag_lines,
    irq_files,
    netdev_links,
    statistics,
)
from wirespeed.doctor.sosreport import (
    ETHTOOL,
    Section,
    irq_sections,
    kernel_log,
    tool_answer,
    tuned_section,
)
from wirespeed.doctor.sosreport_ip import as_json, ip_addresses
from wirespeed.doctor.sosreport_irq import irq_text
from wirespeed.doctor.sosreport_pci import PciText, lspci_blocks, lspci_head, pci_text
from wirespeed.facts.firmware_driver import MODULES
from wirespeed.facts.sysctl import NAMES

PAGE = re.compile(r"[^/]+\.html")
PAGE_WORDS = re.compile(r"Linux (?:Ethernet|Infiniband) Driver System Information Snapshot Utility")
COMMANDS = "commands_txt_output"
LSPCI = "pcie_files/lspci_nnvvvxxxx"
"""`lspci -nnvvvxxxx`: from version 3.7.6 on."""
WANTED = re.compile(
    rf"[^/]+\.html|{COMMANDS}/(?:numa_node|sysctl_a|other_system_files)|{LSPCI}|"
    r"pcie_files/system_information|ethtool_S/ethtool_S_[^/]+|journal|dmesg|"
    rf"firmware/(?:mst|mlx)config_[^/]+|ecn/config/[^/]+|{IRQ_FILES}"
)
LACKS = "the sysinfo-snapshot does not hold it"
LACKS_CODE = 3
"""No return code of grep: of a section of files, what is not there could not be read."""
OPTIONS = {prefix.removeprefix("ethtool_").rstrip("_"): name for name, prefix in ETHTOOL.items()}
OPTIONS |= {"-x": "ethtool-rss"}
REFUSED = ("Could not run command", "Command not invoked")
"""Nothing else of what the tool said was kept."""
ETHTOOL_HEAD = re.compile(r"^ethtool (-\S+)? ([^\s/]+)\n", re.M)
KEY = re.compile(r"^(RSS hash key:\n)[0-9a-f]{2}:[0-9a-f:]+$", re.M)
VULNERABILITY = re.compile(r"^Vulnerability ([^:\n]+):\s*(.+)$", re.M)
NODE_FILE = re.compile(r"/sys/devices/system/node/node\d+/cpulist")
NUMA = re.compile(r"^/sys(/devices/\S+)/numa_node (-?\d+)$", re.M)
TREE = re.compile(r"^\.\./\.\./\.\.(/devices/\S+)$", re.M)
DRIVER = re.compile(r"^[ \t]*Kernel driver in use: (\S+)$", re.M)
HEX = re.compile(r"^[0-9a-f]{2,3}: ((?:[0-9a-f]{2} ?){16})$", re.M)
JOURNAL = re.compile(r"^(\[ *[\d.]+\]) \S+ kernel: ", re.M)


def snapshot_page(files: Mapping[str, str]) -> str:
    """Give the page of all commands; empty where the archive is no snapshot."""
    pages = (text for path, text in files.items() if PAGE.fullmatch(path))
    return next((text for text in pages if PAGE_WORDS.search(text[:10_000])), "")


def snapshot_sections(files: Mapping[str, str], page: str) -> Iterator[Section]:
    """Give what the files hold, by their path below the archive's top folder."""
    texts = _paragraphs(page)
    ethtool = _ethtool(texts.get("ethtool_all_interfaces", ""))
    drivers = drivers_of(ethtool.get("-i", {}))
    if name := texts.get("hostname", "").strip():
        yield "names", "", f"hostname {name}", "", 0
    pci = _pci(files, texts, drivers)
    if pci is not None:
        yield "ports", "", "\n".join(pci.ports), "", 0
        yield "pci-hops", "", "\n".join(pci.hops), "", 0
        yield "pci", "", "\n".join(pci.attributes), LACKS, LACKS_CODE
        yield "sriov", "", "\n".join(pci.sriov), LACKS, LACKS_CODE
        yield from _registers(files[LSPCI], pci.hops)
        yield from irq_sections(irq_text(irq_files(files), pci.ports), LACKS)
    yield from tuned_section(texts.get("tuned-adm active", ""), LACKS)
    yield from _file_sections(files, texts)
    yield from _net_sections(files, texts, ethtool, drivers)
    if log := files.get("journal") or files.get("dmesg"):
        yield kernel_log(JOURNAL.sub(r"\1 ", log))
    yield from card_sections(files, texts)


def _paragraphs(page: str) -> dict[str, str]:
    """Command or file to what it gave. A tab is four blanks in HTML, and nothing else is."""
    found: dict[str, str] = {}
    for part in page.split("<h2>")[1:]:
        title, begins, rest = part.partition("</h2><p>")
        if begins and "<" not in title:
            text = rest.partition("</p>")[0].replace("<br/>", "\n").replace("&nbsp;" * 4, "\t")
            found.setdefault(title, text.replace("&lt;", "<").replace("&gt;", ">"))
    return found


def _ethtool(text: str) -> dict[str, dict[str, str]]:
    """Option to netdev to what ethtool said; without what it refused, as the reason is lost."""
    found: dict[str, dict[str, str]] = {}
    for block in text.split("\n____________"):
        if match := ETHTOOL_HEAD.search(block):
            answer = block[match.end() :]
            if not answer.startswith(REFUSED):
                found.setdefault(match[1] or "", {})[match[2]] = answer
    return found


def _pci(
    files: Mapping[str, str], texts: Mapping[str, str], drivers: Mapping[str, tuple[str, str]]
) -> PciText | None:
    lspci = files.get(LSPCI, "")
    numa = files.get(f"{COMMANDS}/numa_node", "")
    tree = texts.get("Mellanox_Nvidia_pci_buses", "")
    paths = [*(path for path, _ in NUMA.findall(numa)), *TREE.findall(tree)]
    path_of = {path.rpartition("/")[2]: path for path in paths}
    records: dict[str, dict[str, str]] = {}
    for address, block in lspci_blocks(lspci):
        head, driver = lspci_head(block), DRIVER.search(block)
        path = path_of.get(address, f"/bus/pci/devices/{address}")
        values = {"SUBSYSTEM": "pci", "PCI_SLOT_NAME": address}
        values["PCI_CLASS"] = f"{int(head, 16):x}00"
        records[path] = values | ({"DRIVER": driver[1]} if driver else {})
        path_of[address] = path
    if not records:
        return None  # without the functions there is no list of ports
    for netdev, (driver_name, bus) in drivers.items():
        # A representor has its PF's address, and is no port.
        if bus in path_of and not driver_name.endswith("_rep"):
            own = {"SUBSYSTEM": "net", "DRIVER": driver_name.partition("[")[0]}
            records[f"{path_of[bus]}/net/{netdev}"] = own
    return pci_text(records, lspci, {})


def _registers(lspci: str, hops: tuple[str, ...]) -> Iterator[Section]:
    """The configuration space of each function on the way to a card, as `od` prints it."""
    wanted = {address for path in hops for address in PCI_ADDRESS.findall(path)}
    for block in re.split(r"\n\n(?=[0-9a-f]{2,8}:)", lspci):
        for address, _ in lspci_blocks(block):
            if address in wanted and (rows := HEX.findall(block)):
                yield "pci-config", address, "\n".join(rows), "", 0


def _file_sections(files: Mapping[str, str], texts: Mapping[str, str]) -> Iterator[Section]:
    cpu = texts.get("lscpu", "")
    found: dict[str, dict[str, str]] = {
        "kernel": {p: texts[p] for p in ("/proc/cmdline", "/etc/os-release") if p in texts},
        "cpu": {p: text for p, text in texts.items() if NODE_FILE.fullmatch(p)},
        "memory": {p: texts[p] for p in ("/proc/meminfo",) if p in texts},
        "driver": dict(_modules(texts.get("/proc/modules", ""))),
        "vulnerabilities": dict(_vulnerabilities(cpu)),
        "virtualization": {
            f"/sys/class/dmi/id/{file}": match[1]
            for file, name in (("sys_vendor", "Manufacturer"), ("product_name", "Product Name"))
            if (match := _line(files.get("pcie_files/system_information", ""), name))
        },
        "sysctl": {
            f"/proc/sys/{name.replace('.', '/')}": match[1]
            for name in NAMES
            if (match := _line(files.get(f"{COMMANDS}/sysctl_a", ""), name, " ="))
        },
    }
    found["memory"] |= _default_pool(texts.get("/proc/meminfo", ""))
    clock = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
    if clock in texts:
        found["kernel"][clock] = texts[clock]
    if match := re.match(r"Linux version (\S+) ", texts.get("/proc/version", "")):
        found["kernel"]["/proc/sys/kernel/osrelease"] = match[1]
    if match := _line(cpu, r"On-line CPU\(s\) list"):
        found["cpu"]["/sys/devices/system/cpu/online"] = match[1]
    for section, paths in found.items():
        lines = [f"{path}:{line}" for path, text in paths.items() for line in text.splitlines()]
        if lines:
            yield section, "", "\n".join(lines), LACKS, LACKS_CODE
    if match := _line(cpu, "Hypervisor vendor"):
        word = {"VMware": "vmware", "Microsoft": "microsoft", "KVM": "kvm"}.get(match[1], "")
        if word:
            yield "detect-virt", "", word, "", 0
    if text := texts.get("/proc/cpuinfo"):
        yield "cpuinfo", "", text.split("\n\n")[0], "", 0
    if text := texts.get("/proc/mounts"):
        mounts = [line for line in text.splitlines() if " hugetlbfs " in line]
        yield "hugepage-mounts", "", "\n".join(mounts), "", 0
    if text := texts.get("/proc/net/softnet_stat"):
        yield "softnet", "", text, "", 0


def _vulnerabilities(lscpu: str) -> Iterator[tuple[str, str]]:
    """`Vulnerability Spectre v1: Mitigation; …`: lscpu puts a semicolon for the first colon."""
    for name, state in VULNERABILITY.findall(lscpu):
        path = f"/sys/devices/system/cpu/vulnerabilities/{name.replace(' ', '_').lower()}"
        yield path, state.replace("Mitigation;", "Mitigation:", 1)


def _modules(text: str) -> Iterator[tuple[str, str]]:
    """`mlx5_core 2437120 1 mlx5_ib, Live 0xffffffffc0a00000 (OE)`: the last word is the taint."""
    for line in text.splitlines():
        words = line.split()
        if words[0] in MODULES and len(words) > 5:
            yield f"/sys/module/{words[0]}/initstate", words[4].lower()
            yield f"/sys/module/{words[0]}/taint", "".join(words[6:]).strip("()")


def _default_pool(meminfo: str) -> dict[str, str]:
    """Hugepages of the default size, where all that are reserved (`Hugetlb`) are of it."""
    names = ("HugePages_Total", "HugePages_Free", "Hugepagesize", "Hugetlb")
    found = [re.search(rf"^{name}: +(\d{{1,12}})\b", meminfo, re.M) for name in names]
    if not all(found):
        return {}
    total, free, kilobytes, all_kilobytes = (int(match[1]) for match in found if match)
    if total * kilobytes != all_kilobytes:
        return {}
    folder = f"/sys/kernel/mm/hugepages/hugepages-{kilobytes}kB"
    return {f"{folder}/nr_hugepages": str(total), f"{folder}/free_hugepages": str(free)}


def _line(text: str, name: str, colon: str = ":") -> re.Match[str] | None:
    return re.search(rf"^[ \t]*{name}{colon}[ \t]*(\S[^\n]*)$", text, re.M)


def _net_sections(
    files: Mapping[str, str],
    texts: Mapping[str, str],
    ethtool: Mapping[str, Mapping[str, str]],
    drivers: Mapping[str, tuple[str, str]],
) -> Iterator[Section]:
    text = texts.get("ip -s -s link show", "")
    bonding = dict(_bonding(texts.get("proc_net_bonding_files", "")))
    links = netdev_links(text, drivers, bonding, texts)
    if links:
        yield "ip-link", "", as_json(links), "", 0
        yield "link", "", "\n".join(flag_lines(links)), LACKS, LACKS_CODE
    if text := texts.get("ip -s -s addr show", ""):
        yield "ip-addr", "", as_json(ip_addresses(text)), "", 0
    for netdev, state in bonding.items():
        yield "bonding", netdev, state, "", 0
    counts = statistics(texts.get("ip -s -s link show", ""))
    for netdev, (_, bus) in drivers.items():
        if not PCI_ADDRESS.fullmatch(bus):
            continue
        if netdev in counts:
            yield "statistics", netdev, "\n".join(counts[netdev]), "", 0
        own = files.get(f"ethtool_S/ethtool_S_{netdev.replace(':', '').replace('.', '')}", "")
        if own and not own.startswith(REFUSED):
            yield "ethtool-S", netdev, *tool_answer(own)
        for option, section in OPTIONS.items():
            if (answer := ethtool.get(option, {}).get(netdev)) is not None:
                yield section, netdev, *tool_answer(KEY.sub(r"\1not read", answer))


def _bonding(text: str) -> Iterator[tuple[str, str]]:
    """Each file below its path (`zz_files_handler`)."""
    for part in re.split(r"^-{50}$", text, flags=re.M):
        if match := re.match(r"\s*/proc/net/bonding/([^/\s]+):\n", part):
            yield match[1], part[match.end() :].strip()
