"""Every document that hosts are described from, stage by stage."""

from described.doc_10g import FORCING
from described.doc_dpdk import TEST_2, TEST_3, TEST_6, TEST_6_GUEST
from described.doc_sriov import LEGACY, OFFLOADED, OVS_DPDK
from described.doc_wsl2 import SLOT, WSL2
from described.host import Host
from described.stage import Stage, staged

DOCUMENTS: dict[str, tuple[Stage, ...]] = {
    "wsl2": WSL2,
    "wsl2_slot": SLOT,
    "sriov_legacy": LEGACY,
    "sriov_offloaded": OFFLOADED,
    "sriov_ovs_dpdk": OVS_DPDK,
    "10g_switch": FORCING,
    "dpdk_test_2": TEST_2,
    "dpdk_test_3": TEST_3,
    "dpdk_test_6": TEST_6,
    "dpdk_test_6_guest": TEST_6_GUEST,
}


def done(document: str) -> Host:
    """Give the host at the end of a document."""
    *_, last = staged(document, DOCUMENTS[document])
    return last.host
