"""What may stand in .link and .network files, by systemd 252's systemd.link(5), systemd.network(5).

Of sections that say nothing of a port's own settings, the keys are not held against the manual.
What came later, up to 260, is beside it: a file for Debian 13 or Ubuntu 24.04 is no mistake.
"""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


MATCH = _words(
    """
    Architecture Credential Driver Firmware Host KernelCommandLine KernelVersion Kind MACAddress
    Path PermanentMACAddress Property Type Virtualization
    """
)
LINK = _words(
    """
    Advertise Alias AlternativeName AlternativeNamesPolicy AutoNegotiation
    AutoNegotiationFlowControl BitsPerSecond CoalescePacketRateHigh CoalescePacketRateLow
    CoalescePacketRateSampleIntervalSec CombinedChannels Description Duplex
    GenericReceiveOffload GenericReceiveOffloadHardware GenericSegmentOffloadMaxBytes
    GenericSegmentOffloadMaxSegments GenericSegmentationOffload LargeReceiveOffload MACAddress
    MACAddressPolicy MDI MTUBytes NTupleFilter Name NamePolicy OtherChannels Port
    ReceiveChecksumOffload ReceiveQueues ReceiveVLANCTAGFilter
    ReceiveVLANCTAGHardwareAcceleration RxBufferSize RxChannels RxCoalesceHighSec
    RxCoalesceIrqSec RxCoalesceLowSec RxCoalesceSec RxFlowControl RxJumboBufferSize
    RxMaxCoalescedFrames RxMaxCoalescedHighFrames RxMaxCoalescedIrqFrames
    RxMaxCoalescedLowFrames RxMiniBufferSize SR-IOVVirtualFunctions
    StatisticsBlockCoalesceSec TCP6SegmentationOffload TCPSegmentationOffload
    TransmitChecksumOffload TransmitQueueLength TransmitQueues
    TransmitVLANCTAGHardwareAcceleration TransmitVLANSTAGHardwareAcceleration TxBufferSize
    TxChannels TxCoalesceHighSec TxCoalesceIrqSec TxCoalesceLowSec TxCoalesceSec TxFlowControl
    TxMaxCoalescedFrames TxMaxCoalescedHighFrames TxMaxCoalescedIrqFrames
    TxMaxCoalescedLowFrames UseAdaptiveRxCoalesce UseAdaptiveTxCoalesce WakeOnLan
    WakeOnLanPassword
    """
)
LINK |= _words(
    """
    GenericReceiveOffloadList GenericReceiveOffloadUDPForwarding ImportProperty Property
    ScatterGather ScatterGatherFragmentList TCPECNSegmentationOffload
    TCPMangleIdSegmentationOffload UnsetProperty
    """
)
"""Properties came with 256, offloads with 260."""
SRIOV = _words(
    """
    LinkState MACAddress MACSpoofCheck QualityOfService QueryReceiveSideScaling Trust VLANId
    VLANProtocol VirtualFunction
    """
)
NETWORK_LINK = _words(
    """
    ARP ActivationPolicy AllMulticast Group MACAddress MTUBytes Multicast Promiscuous
    RequiredFamilyForOnline RequiredForOnline Unmanaged
    """
)
NETWORK = _words(
    """
    ActiveSlave Address BatmanAdvanced BindCarrier Bond Bridge ConfigureWithoutCarrier DHCP
    DHCPPrefixDelegation DHCPServer DNS DNSDefaultRoute DNSOverTLS DNSSEC
    DNSSECNegativeTrustAnchors DefaultRouteOnDevice Description Domains EmitLLDP Gateway
    IPForward IPMasquerade IPVLAN IPVTAP IPoIB IPv4AcceptLocal IPv4LLRoute IPv4LLStartAddress
    IPv4ProxyARP IPv4RouteLocalnet IPv6AcceptRA IPv6DuplicateAddressDetection IPv6HopLimit
    IPv6LinkLocalAddressGenerationMode IPv6MTUBytes IPv6PrivacyExtensions IPv6ProxyNDP
    IPv6ProxyNDPAddress IPv6SendRA IPv6StableSecretAddress IgnoreCarrierLoss
    KeepConfiguration KeepMaster LLDP LLMNR LinkLocalAddressing MACVLAN MACVTAP MACsec
    MulticastDNS NTP PrimarySlave Tunnel VLAN VRF VXLAN Xfrm
    """
)
NETWORK |= _words(
    """
    IPv4DuplicateAddressDetectionTimeoutSec IPv4Forwarding IPv4ReversePathFilter IPv6Forwarding
    IPv6RetransmissionTimeSec MPLSRouting
    """
)
"""IPv4ReversePathFilter= came with 255, forwarding with 256, MPLSRouting= with 258."""
ADDRESS = _words(
    """
    AddPrefixRoute Address AutoJoin Broadcast DuplicateAddressDetection HomeAddress Label
    ManageTemporaryAddress NFTSet NetLabel Peer PreferredLifetime RouteMetric Scope
    """
)
CONDITIONS = _words(
    "Architecture Credential Firmware Host KernelCommandLine KernelVersion Virtualization"
)
NETDEV = _words("Description Kind MACAddress MTUBytes Name")
VLAN = _words("EgressQOSMaps GVRP Id IngressQOSMaps LooseBinding MVRP Protocol ReorderHeader")
"""systemd.netdev(5); of other kinds than vlan the sections are not known here."""
FILES = {
    ".link": {"Match": MATCH | {"OriginalName"}, "Link": LINK, "SR-IOV": SRIOV},
    ".network": {
        "Match": MATCH | {"Name", "BSSID", "SSID", "WLANInterfaceType"},
        "Link": NETWORK_LINK,
        "SR-IOV": SRIOV,
        "Network": NETWORK,
        "Address": ADDRESS,
    },
    ".netdev": {"Match": CONDITIONS, "NetDev": NETDEV, "VLAN": VLAN},
}
"""By the ending of the file: sections, and their keys."""
WHOLE = _words(
    """
    BFIFO Bridge BridgeFDB BridgeMDB BridgeVLAN CAKE CAN ControlledDelay
    DHCPPrefixDelegation DHCPServer DHCPServerStaticLease DHCPv4 DHCPv6
    DeficitRoundRobinScheduler DeficitRoundRobinSchedulerClass
    EnhancedTransmissionSelection FairQueueing FairQueueingControlledDelay FlowQueuePIE
    GenericRandomEarlyDetection HeavyHitterFilter HierarchyTokenBucket
    HierarchyTokenBucketClass IPoIB IPv6AcceptRA IPv6AddressLabel IPv6Prefix
    IPv6RoutePrefix IPv6SendRA LLDP MobileNetwork Neighbor NetworkEmulator NextHop PFIFO PFIFOFast
    PFIFOHeadDrop PIE QDisc QuickFairQueueing QuickFairQueueingClass Route
    RoutingPolicyRule StochasticFairBlue StochasticFairnessQueueing TokenBucketFilter
    TrivialLinkEqualizer
    """
)
"""Sections of a .network file that are listed as they stand."""
