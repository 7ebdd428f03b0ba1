"""`From 10 to 40Gbps - Getting a Mellanox ConnectX-5 Working in WSL2`: its Linux sides."""

from described.firmware import firmware, mlx5_eswitch, module_of_kernel
from described.host import Host
from described.machine import FLAGS, busy_kernel, cpus, kernel, memory, sysctl
from described.pcie import card
from described.port import Ethernet, Port, gateway, interrupts, mlx5_names, netdev
from described.stage import Stage
from wirespeed.model.question import Purpose, Question

RELEASE = "6.6.87.2-microsoft-standard-WSL2"
PEER = "10.10.10.2"
RTT_S = 0.001
"""Of a loaded path through Windows' virtual switch; the document gives none."""
VMBUS = "/sys/devices/LNXSYSTM:00/LNXSYBUS:00/ACPI0004:00/VMBUS:00/"
WSL_CONF = "[boot]\nsystemd=true"


def question(purpose: Purpose = Purpose.TCP) -> Question:
    """Ask as its author would: a stream to the other end of the cable."""
    return Question(purpose=purpose, rtt_s=RTT_S, peer=PEER, ports=("eth2",))


def adapter(
    name: str,
    megabits: int,
    *,
    number: int = 1,
    tx_ring: int = 170,
    rx_ring: int = 1751,
    mtu: int = 1500,
    xps: dict[int, str] | None = None,
) -> Port:
    """An adapter of hv_netvsc. What it says of its speed is what Windows' switch says of it."""
    link = Ethernet(megabits, (), port="Other", supported_fec="Not reported", fec="None",
                    configured_fec="", autonegotiation=False,
                    partner_autonegotiation=None)  # fmt: skip
    guid = f"{number:08x}-9c35-4b3c-8f5e-7f9f0f6c5a00"
    return Port(
        name, None, "hv_netvsc", link, mtu=mtu, rings=(rx_ring, tx_ring), rings_max=(3502, 2560),
        channels=8, channels_max=8, usecs=None, pause=None, private_flags=None, module=None,
        counters={"tx_scattered": 0, "tx_no_memory": 0, "tx_busy": 12, "rx_comp_busy": 0,
                  "stop_queue": 40, "wake_queue": 40},
        firmware="N/A", version="", xps=xps if xps is not None else {}, bus_path=VMBUS + guid,
    )  # fmt: skip


def workstation(host: Host) -> None:
    """WSL2 on the Windows workstation, in mirrored mode; eth2 is the way to the other end."""
    kernel(host, release=RELEASE, distribution="Ubuntu 24.04.1 LTS", guest_of="wsl",
           command_line="initrd=\\initrd.img WSL_ROOT_INIT=1 panic=-1 nr_cpus=24 console=hvc0",
           clocksource="tsc",
           clocksources="tsc hyperv_clocksource_tsc_page acpi_pm ")  # fmt: skip
    for name in ("sys_vendor", "product_name"):
        del host.files[f"/sys/class/dmi/id/{name}"]
    cpus(host, model="AMD Ryzen 9 9900X 12-Core Processor", cores=12, threads=2, max_khz=None,
         idle_driver="none", idle=(), flags=f"{FLAGS} hypervisor")  # fmt: skip
    memory(host, gib=96, huge_1g=(0,))
    busy_kernel(host)
    sysctl(host, "net.core.default_qdisc", "pfifo_fast")
    host.answer("wslinfo --networking-mode", "mirrored")
    host.files["/etc/wsl.conf"] = WSL_CONF
    adapter("eth0", 10_000, number=1, tx_ring=2560).place(host)
    adapter("eth2", 10_000, number=2).place(host)
    netdev(host, "eth0", "192.168.1.20/24")
    netdev(host, "eth2", "10.10.10.1/24")
    gateway(host, "eth0", "192.168.1.1")
    host.data["devlink -j dev info"] = {"info": {}}
    host.data["devlink -j health show"] = {"health": {}}


def external_switch(host: Host) -> None:
    """`New-VMSwitch -Name "ConnectX-External" -NetAdapterName "eth10"`."""
    adapter("eth2", 100_000, number=2).place(host)


def kernel_tuning(host: Host) -> None:
    """/etc/sysctl.d/99-network-tune.conf and `modprobe tcp_bbr`."""
    for name, value in {
        "net.core.wmem_max": 134217728, "net.core.rmem_max": 134217728,
        "net.ipv4.tcp_wmem": "4096\t87380\t134217728",
        "net.ipv4.tcp_rmem": "4096\t87380\t134217728",
        "net.core.netdev_max_backlog": 250000, "net.ipv4.tcp_congestion_control": "bbr",
        "net.ipv4.tcp_available_congestion_control": "reno cubic bbr",
    }.items():  # fmt: skip
        sysctl(host, name, value)


SPREAD = {queue: f"{1 << queue:06x}" for queue in range(8)}


def spread_xps(host: Host) -> None:
    """`echo $(printf '%x' $((1 << $i))) | tee …/tx-$i/xps_cpus` for 8 queues."""
    adapter("eth2", 100_000, number=2, xps=SPREAD).place(host)


def full_rings(host: Host) -> None:
    """`ethtool -G eth2 tx 2560 rx 3502`."""
    adapter("eth2", 100_000, number=2, xps=SPREAD, tx_ring=2560, rx_ring=3502).place(host)


def jumbo(host: Host) -> None:
    """`ip link set eth2 mtu 9000`."""
    adapter(
        "eth2", 100_000, number=2, xps=SPREAD, tx_ring=2560, rx_ring=3502, mtu=9000
    ).place(host)  # fmt: skip


def bridged(host: Host) -> None:
    """`networkingMode=bridged`: one adapter, and it is the card's."""
    host.answer("wslinfo --networking-mode", "bridged")


WSL2 = (
    Stage(
        "as_found",
        "WSL2 traffic was routing through a software-only path with a 10 Gbps ceiling, never "
        "touching the ConnectX-5",
        workstation,
        "vswitch.internal",
        question(),
    ),
    Stage(
        "external_switch",
        "Several WSL2-side tuning steps were needed to reduce retransmits and improve throughput",
        external_switch,
        "tcp.buffer_below_bdp",
        question(),
    ),
    Stage(
        "kernel_tuning",
        "All TX queues were steering to CPU 0 (XPS value 000000). TX ring was at 170 (maximum: "
        "2560), filling in microseconds under load",
        kernel_tuning,
        "queues.rings_fill_fast",
        question(),
        notes=("steering.xps_uses_one_core",),
    ),
    Stage(
        "xps",
        "TX ring was at 170 (maximum: 2560), filling in microseconds under load",
        spread_xps,
        "queues.rings_fill_fast",
        question(),
    ),
    Stage(
        "rings",
        "MTU / Jumbo Frames",
        full_rings,
        None,
        question(Purpose.STORAGE),
        notes=("mtu.jumbo_unused",),
    ),
    Stage(
        "jumbo",
        "a DAC point-to-point link … 40 Gbps with full networking",
        jumbo,
        None,
        question(Purpose.STORAGE),
    ),
    Stage("bridged", "Bridged mode is faster", bridged, None, question()),
)


def slot_of_x4(host: Host) -> None:
    """The card in the workstation, had it booted Linux: the slot is what bounds it."""
    server(host, card_slot_lanes=4)


def server(host: Host, card_slot_lanes: int = 16) -> None:
    """The bare-metal Linux server at the other end of the cable."""
    release = "6.8.0-45-generic"
    kernel(host, release=release, distribution="Ubuntu 24.04.1 LTS",
           command_line="BOOT_IMAGE=/boot/vmlinuz root=UUID=0 ro", vendor="ASUS",
           product="Pro WS WRX90E-SAGE SE")  # fmt: skip
    cpus(host, model="AMD Ryzen Threadripper PRO 7965WX 24-Cores", cores=24, threads=2,
         max_khz=5_362_000, driver="amd-pstate-epp", boost="cpufreq/boost",
         idle_driver="acpi_idle")  # fmt: skip
    memory(host, gib=256)
    busy_kernel(host)
    (address,) = card(host, card="0000:21:00", slot="0000:20:01.1", functions=1,
                      lanes=card_slot_lanes, slot_lanes=card_slot_lanes,
                      local_cpus="0-47")  # fmt: skip
    Port("enp33s0np0", address, channels=24, xps=None).place(host)
    interrupts(host, address, mlx5_names(address, 24), range(24), allowed="0-47")
    netdev(host, "enp33s0np0", "10.10.10.2/24")
    firmware(host, [address], settings={})
    mlx5_eswitch(host, [address])
    module_of_kernel(host, release)


SLOT = (
    Stage(
        "slot_of_x4",
        "The ConnectX-5 Ex is installed in a PCIe 4.0 x4 slot … roughly 50 Gbps real-world "
        "throughput. This is a hardware limit",
        slot_of_x4,
        None,
        Question(),
        ceilings=("pcie.width_below_capability",),
    ),
)
CLAIMED_BPS = 110e9
"""`the reverse direction (Linux Server -> Windows server) calls were exceeding 100Gbps`."""
