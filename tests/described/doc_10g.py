"""`Force Mellanox ConnectX-4 Lx 25Gbps to 10Gbps speed`, had its servers run Linux.

Of the rest of the document, what teams and SMB carried was read of Windows: nothing that a Linux
host could show tells it.
"""

from described.firmware import firmware, mlx5_eswitch, module_of_kernel
from described.host import Host
from described.machine import busy_kernel, cpus, irqbalance, kernel, memory
from described.pcie import card
from described.port import OPTIC_SFP, SFP28_MODES, Ethernet, Port, interrupts, mlx5_names, netdev
from described.stage import Stage

PFS = ("0000:5e:00.0", "0000:5e:00.1")
NETDEVS = ("ens1f0np0", "ens1f1np1")
OF_SWITCH = ("1000baseKX/Full", "10000baseKR/Full")


def links(host: Host, ethernet: Ethernet) -> None:
    """Both ports with the same link."""
    for name, address in zip(NETDEVS, PFS, strict=True):
        Port(name, address, ethernet=ethernet, channels=20, module=OPTIC_SFP,
             firmware="14.32.1010 (MT_2420110034)").place(host)  # fmt: skip


def as_found(host: Host) -> None:
    """A server with a ConnectX-4 Lx; the switch port is forced to 10 Gb/s, the card negotiates."""
    release = "6.1.0-25-amd64"
    kernel(host, release=release, distribution="Debian GNU/Linux 12 (bookworm)",
           command_line="BOOT_IMAGE=/vmlinuz root=/dev/sda1 ro quiet", vendor="Dell Inc.",
           product="PowerEdge R740")  # fmt: skip
    cpus(host, model="Intel(R) Xeon(R) Gold 6138 CPU @ 2.00GHz", cores=20, nodes=2, threads=1,
         max_khz=3_700_000)  # fmt: skip
    memory(host, gib=192, nodes=2)
    busy_kernel(host)
    irqbalance(host)
    card(host, card="0000:5e:00", slot="0000:5d:00.0", ids=("0x15b3", "0x1015"), numa_node=0,
         local_cpus="0-19", lanes=8, max_lanes=8, slot_lanes=8, gt_per_s=8.0, max_gt_per_s=8.0,
         slot_gt_per_s=8.0, payload_bytes=256)  # fmt: skip
    links(host, Ethernet(None, SFP28_MODES, fec="None", port="FIBRE",
                         down_reason="Autoneg, No partner detected"))  # fmt: skip
    for number, address in enumerate(PFS):
        interrupts(host, address, mlx5_names(address, 20), range(20), first=100 + 30 * number)
        netdev(host, NETDEVS[number], f"192.0.{2 + number}.60/24")
    firmware(host, PFS, settings={}, version="14.32.1010", board_id="MT_2420110034")
    mlx5_eswitch(host, PFS)
    module_of_kernel(host, release)


def switch_negotiates(host: Host) -> None:
    """The switch port is set to negotiate."""
    links(host, Ethernet(1000, SFP28_MODES, partner=OF_SWITCH, fec="None", port="FIBRE"))


FORCED = ("10000baseKR/Full",)


def card_forced(host: Host) -> None:
    """`mlx5cmd -LinkSpeed -Set 10`, which Linux has as `ethtool -s … speed 10000 autoneg off`."""
    links(host, Ethernet(None, SFP28_MODES, FORCED, fec="None", autonegotiation=False, port="FIBRE",
                         down_reason="Autoneg, No partner detected during force mode"))  # fmt: skip


def both_forced(host: Host) -> None:
    """The switch port is put back to 10 Gb/s, fixed."""
    links(host, Ethernet(10_000, SFP28_MODES, FORCED, fec="None", autonegotiation=False,
                         partner_autonegotiation="No", port="FIBRE"))  # fmt: skip


FORCING = (
    Stage(
        "as_found",
        "The links did not come up. The switch ports are normally forced 10 Gbps",
        as_found,
        "link.down",
    ),
    Stage(
        "switch_negotiates",
        "When changing that to auto-negotiate the link would come up at 1Gbps",
        switch_negotiates,
        "link.slower_than_both_ends",
    ),
    Stage(
        "card_forced",
        "The change was done but still no uplink when the switch port isn't fixed to 10Gbps",
        card_forced,
        "link.down",
    ),
    Stage("both_forced", "The link comes up at 10Gbps", both_forced, None),
)
