"""What proves a set-up between guests: one line of `network.jsonl` each.

idle        a host while no guest sends
iperf3      one run of one pair: both directions at once, or one
ping        one flood ping
failover    a paced flow while one port is lost and comes back
isolation   forged frames of one kind from one guest to another that must not receive them
offload     where the packets of a paced flow went on one host: its card, or its cores
"""

import re
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from wirespeed.model.frozen import Frozen

THREADS_FROM = (3, 16)
"""Since this version of iperf3 each stream has a thread, and so a core, of its own."""


def streams_share_a_thread(version: str) -> bool:
    """Tell whether an iperf3 has one thread for all streams; of an unknown version: no."""
    number = re.search(r"(\d{1,4})\.(\d{1,4})", version)
    return number is not None and (int(number[1]), int(number[2])) < THREADS_FROM


class Pair(Frozen):
    """Two guests, and the network that both are in."""

    client: str
    server: str
    network: str


class HostCpu(Frozen):
    """What a host spent while a run went on: all of it, its guests and the kernel included."""

    host: str
    """Its name in the spec."""
    busy_cores: float
    """Mean of cores that were not idle, from /proc/stat; time stolen from it is not counted."""
    cores: int
    window_s: float | None = None
    """Between the two readings: a run is shorter, by the start of iperf3 and the readings' own
    time. None: an older release."""


class IdleTrial(Frozen):
    """What a host spends while its guests are silent: a core that polls is busy then too."""

    kind: Literal["idle"] = "idle"
    number: int
    """1, 2, …: readings of one host."""
    cpu: HostCpu


class Iperf3Trial(Frozen):
    """One run of iperf3: TCP, for `seconds`."""

    kind: Literal["iperf3"] = "iperf3"
    pair: Pair
    mtu: int
    streams: int
    number: int
    """1, 2, …: the runs of one cell."""
    bidirectional: bool
    seconds: float
    sent_bps: float
    """Client to server, as the server received it: payload bits a second."""
    returned_bps: float | None
    """Server to client at the same time, as the client received it; None: one direction only."""
    retransmits: int | None
    """Segments that the client sent again; None: its system does not tell."""
    client_cpu_percent: float
    """Of one core: what iperf3 itself used."""
    server_cpu_percent: float
    returned_retransmits: int | None = None
    """Segments that the server sent again, where it sent."""
    host_cpu: tuple[HostCpu, ...] = ()
    """Of the client's host and of the server's, one after the other, or one where it is the same;
    none where it could not be read. Never to be added to the two above: these are part of it."""
    version: str = ""
    """Of iperf3, as it says: from 3.16 each stream has a thread, and so a core, of its own."""
    failed: str = ""
    """Why there are no figures (they are 0 then); empty for a run that counts."""


class PingTrial(Frozen):
    """One flood ping: a packet as soon as the last one is answered, or each 10 ms."""

    kind: Literal["ping"] = "ping"
    pair: Pair
    number: int
    """0 is the warm-up, which counts nowhere."""
    is_warmup: bool
    sent: int
    received: int
    rtt_us_mean: float | None
    rtt_us_mdev: float | None
    rtt_us_min: float | None
    rtt_us_max: float | None
    duplicates: int = 0
    """Answers that came again; not among `received`."""
    errors: int = 0
    """Answers that say that a packet could not be delivered; not among `received`."""
    failed: str = ""
    """Why there are no figures (0 and None then); a run that only lost packets did not fail."""


class FailoverVerdict(StrEnum):
    """What became of the flow."""

    SURVIVED = "survived"
    """It went on over another port, and goes on after the port is back."""
    NOT_TOUCHED = "not touched"
    """The lost port did not carry it: nothing is shown."""
    LOST = "lost"
    """It did not come back while the port was away."""
    NOT_RETURNED = "not returned"
    """It did not go on after the port was back."""
    INVALID = "invalid"
    """The sender did not keep its pace, or the port could not be taken away."""


class FailoverTrial(Frozen):
    """A paced flow of numbered packets while one port is away.

    What is measured is None where nothing was: `verdict` is `invalid` then.
    """

    kind: Literal["failover"] = "failover"
    pair: Pair
    host: str
    port: str
    """PCI address of the port that was lost."""
    how: str
    """`set down on its host`, `cable pulled`, `switch port silent`."""
    guest: str = ""
    """The guest of that host: whose bond is told below."""
    load_pps: int
    offered_packets: int | None = None
    received_packets: int | None = None
    lost_packets: int | None = None
    outage_ms: float | None = None
    """Longest time without a packet while the port was away; resolution is 1000 / load_pps."""
    return_outage_ms: float | None = None
    """Longest time without a packet after it was back."""
    carried_before: str | None = None
    """The bond's active member, as the guest says: before, while it was away, after; `none` where
    it has none at that moment, the netdev itself where there is no bond."""
    carried_during: str | None = None
    carried_after: str | None = None
    longest_pause_ms: float | None = None
    """Of the sender itself: a longer outage than that is the network's."""
    longest_loss_packets: int | None = None
    """Most packets lost in a row while the port was away: so many intervals of 1000 / load_pps ms
    are the outage by the sender's schedule, whatever pauses it made."""
    steady_silence_ms: float | None = None
    """Longest time without a packet before the port was lost: what is usual here."""
    duplicate_packets: int | None = None
    reordered_packets: int | None = None
    refused_packets: int | None = None
    """Of the lost ones, those that the sender's own kernel took at no time."""
    verdict: FailoverVerdict
    said: str = ""

    @property
    def is_measured(self) -> bool:
        """Whether a flow was counted at all; older records have 0 where none was."""
        return bool(self.offered_packets)

    @property
    def longest_outage_ms(self) -> float | None:
        """Longest time without a packet, while the port was away or after it was back."""
        both = [ms for ms in (self.outage_ms, self.return_outage_ms) if ms is not None]
        return max(both) if both and self.is_measured else None


class ForgedKind(StrEnum):
    """How a frame tries to get to a guest of another network."""

    UNTAGGED = "untagged, to its MAC"
    BROADCAST = "untagged, broadcast"
    TAGGED = "802.1Q tag of its network"
    PRIORITY_TAGGED = "802.1Q tag 0"
    DOUBLE_TAGGED = "802.1Q tag of its own network, then of the other"
    SERVICE_TAGGED = "802.1ad tag of the other network"
    FORGED_SOURCE_MAC = "with the MAC of a third guest as source"
    ARP = "ARP request for its address"
    IPV4 = "IPv4 to its address, with a source of its subnet"
    IPV6_MULTICAST = "IPv6 to all nodes"
    VXLAN = "in VXLAN of its network, to its host"
    VXLAN_BROADCAST = "in VXLAN of its network, to its host by broadcast"
    GENEVE = "in Geneve of its network, to its host"
    GENEVE_BROADCAST = "in Geneve of its network, to its host by broadcast"


class IsolationVerdict(StrEnum):
    """What it shows."""

    APART = "apart"
    LEAKED = "leaked"
    NOT_ENFORCED = "not enforced by this card"
    """The card took the setting and does not do it: a forged source inside one's own network."""
    NOT_SHOWN = "not shown"
    """The positive control failed: what the receiver must receive did not arrive; or not all
    frames left the sender."""


class IsolationTrial(Frozen):
    """Frames of one kind from one guest, in one of its networks, to another in another network.

    Where both networks are the same one, they may talk, and only the source is forged: that shows
    whether the card's spoof check is one.
    """

    kind: Literal["isolation"] = "isolation"
    forged: ForgedKind
    sender: str
    sender_network: str
    receiver: str
    receiver_network: str
    sent: int
    """Frames that left the sender: through its bond, and through each member by itself."""
    arrived: int
    """Of these, how many came in at a netdev of the receiver that the sender must not reach."""
    answered: int = 0
    """Answers of the receiver to them: ARP, echo."""
    heard_control: int
    """Frames of the control, honest ones of somebody who may talk to it, that it heard."""
    control: str = ""
    """Who sent these: a guest, or the ports of a host, with the network's tag."""
    verdict: IsolationVerdict
    said: str = ""
    """What leaked, by its header; or why it is not shown."""


class OffloadVerdict(StrEnum):
    """Where a flow's packets went, as the host counts them."""

    HIT = "offloaded and hit"
    PARTLY = "partly offloaded"
    NOT_HIT = "offloaded but not hit"
    """The switch says that the card has the flow, and no counter of the card bears it out."""
    IN_SOFTWARE = "in software"
    CANNOT_TELL = "cannot tell"


class FlowCounts(Frozen):
    """Flows of the datapath that were hit since they are there, and their packets."""

    offloaded: int = 0
    offloaded_packets: int = 0
    others: int = 0
    other_packets: int = 0
    layers: tuple[str, ...] = ()
    """Where they are: `tc`, `ovs` (the kernel's module, or userspace), `dpdk`."""


class OffloadTrial(Frozen):
    """Where the packets of a paced flow went on one host, read while it was on.

    Counters are of the time between two readings, both directions; None: there is none to read.
    """

    kind: Literal["offload"] = "offload"
    pair: Pair
    host: str
    is_expected: bool
    """Its card has an embedded switch that the approach uses."""
    load_pps: int
    seconds: float
    """Between the two readings."""
    flows: FlowCounts
    tc_hardware_packets: int | None = None
    """Of filters of tc, since they are there; None: the datapath does not go through tc."""
    vf_packets: int | None = None
    """By the card, of the guest's VF (`vport_rx_packets`, `vport_tx_packets` of its representor).
    """
    software_packets: int | None = None
    """Through the host's cores: of the representor (`rx_packets`, `tx_packets`), or of all polling
    threads."""
    port_packets: int | None = None
    """On the wire, of all ports (`rx_packets_phy`, `tx_packets_phy`), of everybody."""
    verdict: OffloadVerdict
    said: str


NetworkTrial = Annotated[
    IdleTrial | Iperf3Trial | PingTrial | FailoverTrial | IsolationTrial | OffloadTrial,
    Field(discriminator="kind"),
]
NETWORK_TRIAL: TypeAdapter[NetworkTrial] = TypeAdapter(NetworkTrial)
