"""What both approaches with Open vSwitch have and lack: their tunnels are the same."""

from wirespeed.approaches.traits import Feature
from wirespeed.ceilings.encapsulation import Encapsulation
from wirespeed.model.spec.guest_networks import TUNNEL_BYTES, GuestNetworks
from wirespeed.model.spec.networks import Tunnel

OVERLAY_FEATURES = {
    Feature.SEGMENTS: "VXLAN or Geneve: 16 million",
    Feature.NETWORK_BETWEEN: "IP, and 50 bytes more a frame (70 over IPv6)",
    Feature.FAILOVER: "the host: guests have one port",
}


def tunnel_of(spec: GuestNetworks) -> tuple[Encapsulation, int]:
    """Give what frames are put into, and the version of the outer IP."""
    is_geneve = spec.underlay.tunnel is Tunnel.GENEVE
    kind = Encapsulation.GENEVE if is_geneve else Encapsulation.VXLAN
    return kind, spec.underlay.subnet.version


def too_small_a_network(spec: GuestNetworks) -> str:
    """Say what the network between the hosts may lack."""
    added = TUNNEL_BYTES[spec.underlay.subnet.version]
    largest = max((network.mtu for network in spec.networks.values()), default=0)
    return f"the network between cannot carry IP packets of {largest + added} bytes"
