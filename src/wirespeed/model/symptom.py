"""What goes wrong at a place, in the words in which one rule speaks of it to another."""

from enum import StrEnum


class Symptom(StrEnum):
    """A state that one finding shows, that another explains, or that has to end before a remedy.

    A rule names symptoms and never another rule: `shows`, what its findings are to others;
    `explains`, what its condition brings about at the same place, or at what is made of it;
    `first`, what has to end before its own remedy is safe or has an effect. A new rule that shows
    a symptom is explained by all that explain it. Each is shown by a rule and used by another.
    """

    NO_LINK = "the port has no link"
    LINK_FLAPS = "the link goes down and comes back"
    SLOW_LINK = "the link runs below what both ends support"
    HALF_DUPLEX = "the link carries one direction at a time"
    DAMAGED_FRAMES = "frames arrive damaged"
    THIN_MARGIN = "FEC corrects nearly as much as it can"
    BOND_DEGRADED = "a member of the bond carries nothing, or less than it should"
    UNEVEN_MEMBERS = "a member of a bond carries next to nothing while another carries the load"
    CARD_RESET = "the driver stopped or reset the card"
    CARD_STALLED = "the card waits for the PCIe bus"
    CARD_BUFFER_FULL = "the card's receive buffer overflows"
    NO_DESCRIPTOR = "no receive descriptor is free"
    CPU_BEHIND = "a CPU does not keep up with its receive queue"
    THREAD_FULL = "one thread uses a whole CPU"
    PAUSES_SENT = "the card pauses its peer"
    TRANSMIT_DROPS = "frames are dropped before they are sent"
    SEGMENTS_RESENT = "TCP sends segments again"
    RDMA_LOSS = "RDMA packets are lost"
    LOW_FIGURE = "a measured rate is far below what the path carries"
    CARD_BYPASSED = "traffic that is meant for the card does not use it"
    FOREIGN_FILTER = "a filter driver of another vendor is bound to the card"
    HOST_CRASHES = "the host crashed in network code"
    SETTING_REVERTED = "a setting of the card is not in force"
    NOT_OFFLOADED = "flows of the virtual switch are not offloaded to the card"
    NO_VFS = "the card has no VFs"
    IOMMU_OFF = "devices cannot be passed to guests"
    REBOOT_PENDING = "a setting waits for a reboot or a reset of the card"
    NO_HUGEPAGES = "a program of DPDK finds no hugepages"
    SWITCH_WITHOUT_DPDK = "Open vSwitch runs without DPDK"
