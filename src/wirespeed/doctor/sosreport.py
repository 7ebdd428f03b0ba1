"""A sosreport as a capture: what of our sections its files hold; the rest cannot be told. Pure.

File names: the sos project, sos/report/plugins/{networking,pci,devices,kernel,processor,numa,
memory,host,hardware,tuned,openvswitch,mellanox_firmware}.py, and `_mangle_command` of
plugins/__init__.py. A sosreport reads once, so that what is counted between two readings is never
known from it.
"""

import json
import re
from collections.abc import Iterator, Mapping

from wirespeed.doctor.sosreport_ip import as_json, ip_addresses, ip_links
from wirespeed.doctor.sosreport_irq import FILES as IRQ_FILES
from wirespeed.doctor.sosreport_irq import IrqText, irq_text
from wirespeed.doctor.sosreport_ovs import FILES as OVS_FILES
from wirespeed.doctor.sosreport_ovs import ovs_answers
from wirespeed.doctor.sosreport_pci import PciText, pci_text, udev_records
from wirespeed.facts.firmware_driver import MODULES
from wirespeed.facts.module import (
    BUS_ERRORS,
    COMPLAINTS,
    DRIVERS_TOO,
    LAG_WORDS,
    REFUSALS,
    RESETS,
    RESETS_TOO,
    TABLES,
    VF_REFUSALS,
    VFS_TOO,
)
from wirespeed.facts.sysctl import NAMES
from wirespeed.facts.tc import MOST_NETDEVS
from wirespeed.facts.tuned import ACTIVE, PID

COMMANDS = "sos_commands/"
LACKS = "the sosreport does not hold it"
LACKS_CODE = 3
"""No return code of grep: of a section of files, what is not there could not be read."""
CPU = r"sys/devices/system/cpu"
NODE = r"sys/devices/system/node/node\d+"
NUMA_HUGEPAGES = r"hugepages/hugepages-\d+kB/(?:nr|free)_hugepages"
FILES = {
    "kernel": (r"proc/sys/kernel/osrelease|proc/cmdline|etc/os-release|"
               r"sys/devices/system/clocksource/clocksource0/(?:current|available)_clocksource"),
    "cpu": (rf"{CPU}/(?:online|isolated|nohz_full)|{CPU}/cpu\d+/topology/(?:core_id|"
            rf"physical_package_id|thread_siblings_list)|{CPU}/cpu\d+/cpufreq/cpuinfo_max_freq|"
            rf"{CPU}/cpu0/cpufreq/base_frequency|{NODE}/cpulist"),
    "vulnerabilities": rf"{CPU}/vulnerabilities/\w+",
    "cpu-power": (rf"{CPU}/cpufreq/policy\d+/(?:related_cpus|scaling_governor|scaling_max_freq|"
                  rf"scaling_min_freq|cpuinfo_max_freq)|{CPU}/intel_pstate/no_turbo|"
                  rf"{CPU}/cpufreq/boost|{CPU}/cpu0/cpufreq/scaling_driver|"
                  rf"{CPU}/cpuidle/current_(?:driver|governor)(?:_ro)?|"
                  rf"{CPU}/cpu\d+/cpuidle/state\d+/(?:disable|name|latency)"),
    "memory": (rf"proc/meminfo|{NODE}/(?:meminfo|{NUMA_HUGEPAGES})|"
               rf"sys/kernel/mm/(?:transparent_hugepage/enabled|{NUMA_HUGEPAGES})"),
    "driver": rf"sys/module/(?:{'|'.join(MODULES)})/(?:initstate|taint|version)",
    "sysctl": "|".join(f"proc/sys/{re.escape(name.replace('.', '/'))}" for name in NAMES),
}  # fmt: skip
"""Section to the paths of its small files, below the archive's top folder."""
ETHTOOL = {
    "ethtool": "ethtool_", "ethtool-a": "ethtool_-a_", "ethtool-fec": "ethtool_--show-fec_",
    "ethtool-i": "ethtool_-i_", "ethtool-m": "ethtool_-m_", "ethtool-S": "ethtool_-S_",
    "ethtool-features": "ethtool_-k_", "ethtool-private-flags": "ethtool_--show-priv-flags_",
    "ethtool-rings": "ethtool_-g_", "ethtool-channels": "ethtool_-l_",
    "ethtool-coalescing": "ethtool_-c_",
}  # fmt: skip
TEXTS = {
    "udev": f"{COMMANDS}devices/udevadm_info_--export-db",
    "lspci": f"{COMMANDS}pci/lspci_-nnvv",
    "link": f"{COMMANDS}networking/ip_-s_-d_link",
    "address": f"{COMMANDS}networking/ip_-d_address",
    "dmesg": f"{COMMANDS}kernel/dmesg",
    "hostname": f"{COMMANDS}host/hostname",
    "hostnamectl": f"{COMMANDS}host/hostnamectl_status",
    "dmidecode": f"{COMMANDS}hardware/dmidecode",
    "devlink-info": f"{COMMANDS}networking/devlink_dev_info",
    "tuned": f"{COMMANDS}tuned/tuned-adm_active",
}
CONTAINERS = frozenset(
    ("systemd-nspawn", "lxc-libvirt", "lxc", "openvz", "docker", "podman", "rkt", "proot", "pouch")
)
"""What systemd calls containers, by its word in `hostnamectl` (systemd-detect-virt(1))."""
NET_FILE = re.compile(r"sys/(?:class/net|devices/\S*/net)/([^/]+)/(flags|statistics/\w+)")
STATISTICS = ("rx_packets", "tx_packets", "tx_dropped", "rx_missed_errors", "rx_crc_errors")
ESWITCH = f"{COMMANDS}networking/devlink_dev_eswitch_show_pci."
MSTCONFIG = re.compile(rf"{COMMANDS}mellanox_firmware/mstconfig_-d_([0-9a-f_]+\.[0-9a-f])_-e_q")
OF_A_PROCESS = r"\d{1,10}/"
OWN = re.compile(rf"(?<=^proc/){OF_A_PROCESS}(?=mounts$|net/)")
"""/proc/net and /proc/mounts are links to the folder of the process that reads them, and sos keeps
links: the files are in the folder of its own process (_make_leading_paths() of sos/archive.py)."""
POLICY = re.compile(rf"{CPU}/cpufreq/policy(\d+)/(cpuinfo_max_freq|base_frequency|scaling_driver)")
Section = tuple[str, str, str, str, int]
"""Name, subject, output, errors and return code."""
WANTED = re.compile(
    "|".join(
        (
            *FILES.values(), *(re.escape(path) for path in TEXTS.values()), NET_FILE.pattern,
            rf"{COMMANDS}networking/ethtool_\S+", re.escape(ESWITCH) + r"\S+", MSTCONFIG.pattern,
            r"proc/(?:cpuinfo|vmstat)", POLICY.pattern,
            rf"proc/(?:{OF_A_PROCESS})?(?:mounts|net/(?:softnet_stat|snmp|bonding/[^/]+))",
            r"usr/lib/os-release", IRQ_FILES, OVS_FILES,
            rf"{COMMANDS}networking/tc_-s_filter_show_dev_\S+_ingress",
        )
    )
)  # fmt: skip
MESSAGES = re.compile(
    "|".join((*COMPLAINTS, *REFUSALS, *LAG_WORDS, *RESETS, *BUS_ERRORS, *VF_REFUSALS, *TABLES))
)
FAILED = re.compile(
    r"^(?:Cannot |netlink error:|no stats available|Operation not supported)|: Operation not ", re.I
)
SAYS = re.compile(r":\s*\S")
HEADING = re.compile(r"^(?:Settings|Features|\w+ parameters|Coalesce parameters) for ", re.I)


def sosreport_sections(files: Mapping[str, str]) -> Iterator[Section]:
    """Give what the files hold, by their path below the archive's top folder."""
    files = dict(_behind_links(files)) | dict(files)
    texts = {name: files.get(path, "") for name, path in TEXTS.items()}
    links = ip_links(texts["link"])
    names = {str(link["ifname"]): str(link.get("phys_port_name", "")) for link in links}
    pci = pci_text(dict(udev_records(texts["udev"])), texts["lspci"], names)
    if texts["hostname"]:
        yield "names", "", f"hostname {texts['hostname'].strip()}", "", 0
    yield from _pci_sections(pci, texts)
    for name in FILES:
        yield from _file_section(name, files)
    if links:
        yield "ip-link", "", as_json(links), "", 0
    if texts["address"]:
        yield "ip-addr", "", as_json(ip_addresses(texts["address"])), "", 0
    yield from _host_sections(files, texts)
    yield from irq_sections(irq_text(files, pci.ports), LACKS)
    for section, answer in ovs_answers(files):
        yield section, "", *answer
    yield from _tc_filters(
        files, [str(link["ifname"]) for link in links if "phys_switch_id" in link]
    )
    netdevs = {line.partition(" ")[0] for line in pci.ports} - {"-"}
    yield from _netdev_sections(files, netdevs)
    yield from _card_sections(files, texts["devlink-info"])


def _behind_links(files: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Give files by the path that is a link in the archive: `cpu3/cpufreq` is one to a policy."""
    for path, text in files.items():
        yield OWN.sub("", path), text
        if match := POLICY.fullmatch(path):
            related = files.get(f"{CPU}/cpufreq/policy{match[1]}/related_cpus", match[1])
            for cpu in related.split():
                yield f"{CPU}/cpu{cpu}/cpufreq/{match[2]}", text


def _pci_sections(pci: PciText, texts: Mapping[str, str]) -> Iterator[Section]:
    if not texts["udev"]:
        return  # without the paths of devices there is no list of ports
    yield "ports", "", "\n".join(pci.ports), "", 0
    yield "pci-hops", "", "\n".join(pci.hops), "", 0
    yield "pci", "", "\n".join(pci.attributes), LACKS, LACKS_CODE
    yield "sriov", "", "\n".join(pci.sriov), LACKS, LACKS_CODE


def _file_section(name: str, files: Mapping[str, str]) -> Iterator[Section]:
    found = {path: text for path, text in files.items() if re.fullmatch(FILES[name], path)}
    if name == "kernel" and "etc/os-release" not in found and "usr/lib/os-release" in files:
        found["etc/os-release"] = files["usr/lib/os-release"]
    lines = [f"/{path}:{line}" for path in sorted(found) for line in found[path].splitlines()]
    if lines:
        yield name, "", "\n".join(lines), LACKS, LACKS_CODE


def _host_sections(files: Mapping[str, str], texts: Mapping[str, str]) -> Iterator[Section]:
    if "proc/cpuinfo" in files:
        yield "cpuinfo", "", files["proc/cpuinfo"].split("\n\n")[0], "", 0
    if "proc/mounts" in files:
        mounts = [line for line in files["proc/mounts"].splitlines() if " hugetlbfs " in line]
        yield "hugepage-mounts", "", "\n".join(mounts), "", 0
    if "proc/net/softnet_stat" in files:
        yield "softnet", "", files["proc/net/softnet_stat"], "", 0
    if "proc/net/snmp" in files:
        tcp = [line for line in files["proc/net/snmp"].splitlines() if line.startswith("Tcp:")]
        yield "tcp-counts", "", "\n".join(tcp), "", 0
    if "proc/vmstat" in files:
        swapped = [line for line in files["proc/vmstat"].splitlines() if line.startswith("pswp")]
        yield "swapped", "", "\n".join(swapped), "", 0
    yield from _virtualization(texts["hostnamectl"], texts["dmidecode"])
    yield from tuned_section(texts["tuned"], LACKS)
    if texts["dmesg"]:
        yield kernel_log(texts["dmesg"])
    for path, text in files.items():
        if path.startswith("proc/net/bonding/"):
            yield "bonding", path.rpartition("/")[2], text, "", 0


def _tc_filters(files: Mapping[str, str], netdevs: list[str]) -> Iterator[Section]:
    """Give the words of each filter that say where it is, as the collector counts them."""
    lines = []
    for netdev in netdevs[:MOST_NETDEVS]:
        path = f"{COMMANDS}networking/tc_-s_filter_show_dev_{_mangled(netdev)}_ingress"
        if path in files:
            lines += [f"netdev {netdev}", *re.findall(r"\b(?:not_)?in_hw\b", files[path])]
    if lines:
        yield "tc-filters", "", "\n".join(lines), "", 0


def irq_sections(irqs: IrqText | None, lacks: str) -> Iterator[Section]:
    """Give the sections of interrupts; `lacks` is said of the files that are not there."""
    if irqs is not None:
        yield "irqs", "", "\n".join(irqs.functions), "", 0
        yield "interrupts", "", "\n".join(irqs.interrupts), "", 0
        yield "irq", "", "\n".join(irqs.affinities), lacks, LACKS_CODE


def tuned_section(text: str, lacks: str) -> Iterator[Section]:
    """Give the files that tuned has while it runs; words: its tuned/admin/admin.py."""
    if match := re.search(r"^Current active profile: (\S.*)$", text, re.M):
        yield "tuned", "", f"{PID}:\n{ACTIVE}:{match[1]}", lacks, LACKS_CODE
    elif re.search(r"daemon is not running|^No current active profile", text, re.M):
        yield "tuned", "", "", f"grep: {PID}: No such file or directory", 2


def _virtualization(hostnamectl: str, dmidecode: str) -> Iterator[Section]:
    """Give what systemd names: of a container that alone, so that CPU and DMI tell of a guest.

    Where systemd did not answer, nothing: that is not bare metal.
    """
    match = re.search(r"^[ \t]*Virtualization: (\S+)", hostnamectl, re.M)
    word = match[1] if match else "none" if "Operating System:" in hostnamectl else ""
    found = []
    if word in CONTAINERS:
        found.append(f"/run/systemd/container:{word}")
    elif word:
        yield "detect-virt", "", word, "", 0
    vendor = re.search(r"^System Information\n(?:\t.*\n)*?\tManufacturer: (.+)$", dmidecode, re.M)
    if vendor:
        found.append(f"/sys/class/dmi/id/sys_vendor:{vendor[1].strip()}")
    if found:
        yield "virtualization", "", "\n".join(found), LACKS, LACKS_CODE


def kernel_log(text: str) -> Section:
    """Give the section of the kernel's messages that a rule asks about."""
    refused = text.startswith("dmesg: ")
    said = [line for line in text.splitlines() if MESSAGES.search(line)]
    output = "\n".join([DRIVERS_TOO, VFS_TOO, RESETS_TOO, *said])
    return "module-messages", "", output, text if refused else "", int(refused)


def _netdev_sections(files: Mapping[str, str], netdevs: set[str]) -> Iterator[Section]:
    for netdev in sorted(netdevs):
        for section, prefix in ETHTOOL.items():
            text = files.get(f"{COMMANDS}networking/{prefix}{_mangled(netdev)}")
            if text is not None:
                yield section, netdev, *tool_answer(text)
    flags, counts = [], dict[str, list[str]]()
    for path, text in files.items():
        match = NET_FILE.fullmatch(path)
        if match is None or match[1] not in netdevs:
            continue
        attribute = match[2].rpartition("/")[2]
        if attribute == "flags":
            flags.append(f"/sys/class/net/{match[1]}/flags:{text.strip()}")
        elif attribute in STATISTICS:
            counts.setdefault(match[1], []).append(f"{attribute} {text.strip()}")
    if flags:
        yield "link", "", "\n".join(dict.fromkeys(flags)), LACKS, LACKS_CODE
    for netdev, lines in counts.items():
        yield "statistics", netdev, "\n".join(lines), "", 0


def _card_sections(files: Mapping[str, str], info: str) -> Iterator[Section]:
    if info:
        yield "devlink-info", "", json.dumps({"info": dict(_devlink_info(info))}), "", 0
    for path, text in files.items():
        if path.startswith(ESWITCH):
            for address, words in re.findall(r"^pci/(\S+): (.*)$", text, re.M):
                values = words.split()
                pairs = dict(zip(values[::2], values[1::2], strict=False))
                answer = json.dumps({"dev": {f"pci/{address}": pairs}})
                yield "devlink-eswitch", address, answer, "", 0
        elif match := MSTCONFIG.fullmatch(path):
            domain, bus, rest = match[1].split("_")
            yield "mstconfig", f"{domain}:{bus}:{rest}", text, "", 0


def _devlink_info(text: str) -> Iterator[tuple[str, object]]:
    """`pci/…:`, then `driver`, then `versions:` with `fixed:`, `running:` and `stored:` in it."""
    for part in re.split(r"^(?=pci/)", text, flags=re.M):
        device, _, rest = part.partition("\n")
        versions: dict[str, dict[str, str]] = {}
        place = ""
        for line in rest.splitlines():
            word, _, value = line.strip().partition(" ")
            if word.rstrip(":") in ("fixed", "running", "stored"):
                place = word.rstrip(":")
            elif place and value:
                versions.setdefault(place, {})[word] = value.strip()
        if device.startswith("pci/"):
            yield device.strip().rstrip(":"), {"versions": versions}


def _mangled(netdev: str) -> str:
    """As sos names a file after a command."""
    return re.sub(r"[^\w\-.]+", "_", netdev).strip(" ._-")


def tool_answer(text: str) -> tuple[str, str, int]:
    """Give output, errors and return code: both outputs stand in one file, without the code."""
    lines = text.splitlines()
    errors = [line for line in lines if FAILED.search(line)]
    said = [line for line in lines if not FAILED.search(line)]
    answers = any(SAYS.search(line) and not HEADING.search(line) for line in said)
    return "\n".join(said), "\n".join(errors), 1 if errors and not answers else 0
