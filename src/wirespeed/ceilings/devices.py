"""What a card and its driver move over PCI Express beside the frames: assumptions, each sourced."""

from dataclasses import dataclass, replace

from wirespeed.model.question import Purpose

TCP_FRAME_HEADER_BYTES = 66
"""Ethernet 14, IPv4 20, TCP 20 and its time stamps 12."""
SEGMENT_BYTES = 65536
"""What the kernel gives a card to cut at once, at most (GSO_LEGACY_MAX_SIZE)."""


@dataclass(frozen=True, slots=True)
class DeviceModel:
    """Descriptors, completions and doorbells of one driver. Bytes and counts are those of a frame.

    Layouts are in Linux' include/linux/mlx5/qp.h and device.h; the defaults that a driver chooses
    are in drivers/net/ethernet/mellanox/mlx5/core/en.h, and in DPDK's guide to the mlx5 driver.
    """

    name: str
    source: str
    receive_descriptor_bytes: float
    """What the card reads to know where a frame goes (mlx5_wqe_data_seg: 16)."""
    receive_descriptors_per_read: float
    receive_completion_bytes: float
    """What it writes to say that a frame came (mlx5_cqe64: 64; mlx5_mini_cqe8: 8)."""
    receive_completions_per_write: float
    """8 of the small ones go in one write (MLX5_MINI_CQE_ARRAY_SIZE)."""
    transmit_descriptor_bytes: float
    """What it reads to know what to send, without the frame and where that lies."""
    transmit_pointer_bytes: float
    """Where it lies, for a frame that is not within its descriptor (mlx5_wqe_data_seg: 16)."""
    transmit_descriptors_per_read: float
    inline_bytes: int
    """Frames up to this long lie within their descriptors; 0: none."""
    transmit_completion_bytes: float
    descriptors_per_transmit_completion: float
    frames_per_doorbell: float
    doorbell_bytes: float
    segments_tcp: bool
    """The card cuts what it sends, and may join what it receives: of a TCP frame its headers need
    not cross the link, and one descriptor does for many frames."""

    def frames_per_transmit_descriptor(self, data_bytes: int) -> float:
        """How many frames of `data_bytes` without FCS come of one descriptor."""
        if not self.segments_tcp or data_bytes < 2 * TCP_FRAME_HEADER_BYTES:
            return 1
        return max(1, SEGMENT_BYTES // (data_bytes - TCP_FRAME_HEADER_BYTES))

    def least_data_bytes(self, data_bytes: int) -> int:
        """Of a frame of `data_bytes` without FCS, what has to cross the link at the least."""
        if not self.segments_tcp or data_bytes < 2 * TCP_FRAME_HEADER_BYTES:
            return data_bytes
        return data_bytes - TCP_FRAME_HEADER_BYTES


MLX5_KERNEL = DeviceModel(
    name="mlx5 with the kernel: segmentation offload, full completions, a buffer for each frame",
    source="Linux include/linux/mlx5/qp.h, include/linux/mlx5/device.h",
    receive_descriptor_bytes=16,
    receive_descriptors_per_read=4,  # a cache line
    receive_completion_bytes=64,
    receive_completions_per_write=1,
    transmit_descriptor_bytes=48,  # control 16, Ethernet with inline header 32
    transmit_pointer_bytes=16,
    transmit_descriptors_per_read=1,
    inline_bytes=0,
    transmit_completion_bytes=64,
    descriptors_per_transmit_completion=1,
    frames_per_doorbell=1,
    doorbell_bytes=8,
    segments_tcp=True,
)
MLX5_DPDK = DeviceModel(
    name="mlx5 with DPDK as it comes: a buffer for each frame, compressed completions, small "
    "frames inlined",
    source="https://doc.dpdk.org/guides/nics/mlx5.html: mprq_en (off by default), "
    "rxq_cqe_comp_en, txq_inline_mpw",
    receive_descriptor_bytes=16,
    receive_descriptors_per_read=4,  # a cache line
    receive_completion_bytes=8 + 64 / 64,  # and a full one at the head of each 64
    receive_completions_per_write=64 / 9,  # 8 writes of 8 small ones, and the full one
    transmit_descriptor_bytes=32 / 32,  # control and Ethernet segments of 16, for a burst of 32
    transmit_pointer_bytes=16,
    transmit_descriptors_per_read=32,
    inline_bytes=268,  # MLX5_EMPW_DEF_INLINE_LEN, less its own 4 and rounding
    transmit_completion_bytes=64,
    descriptors_per_transmit_completion=32,  # MLX5_TX_COMP_THRESH
    frames_per_doorbell=32,
    doorbell_bytes=8,
    segments_tcp=False,
)
MLX5_DPDK_MPRQ = replace(
    MLX5_DPDK,
    name="mlx5 with DPDK and mprq_en=1: multi-packet receive, compressed completions, small frames "
    "inlined",
    source="https://doc.dpdk.org/guides/nics/mlx5.html: mprq_en, rxq_cqe_comp_en, txq_inline_mpw",
    receive_descriptor_bytes=16 / 64,  # one buffer of 64 strides (mprq_log_stride_num 6)
    receive_descriptors_per_read=64,
)


def device_for(purpose: Purpose | None) -> DeviceModel:
    """Give the driver that a purpose means: DPDK's own as it comes, else the kernel's."""
    return MLX5_DPDK if purpose is Purpose.DPDK else MLX5_KERNEL
