"""What a PCI Express link can carry of frames.

The model is that of Neugebauer et al., "Understanding PCIe performance for end host networking",
SIGCOMM 2018 (https://doi.org/10.1145/3230543.3230560), section 3: raw bits, less what the data link
layer takes, over the bytes that one frame moves in each direction. PCI Express is full duplex, but
each direction of traffic loads both of the link: what the card reads comes down and is asked for
upwards. So a port that sends and receives at once has less for each than a port that does one.
The paper ends at 8 GT/s; what flits change is that of the PCIe Base Specification 6.0.
"""

import math
from dataclasses import dataclass

from wirespeed.ceilings.devices import MLX5_KERNEL, DeviceModel, device_for
from wirespeed.model.ceiling import Band, Ceiling, Direction, Input
from wirespeed.model.finding import Change
from wirespeed.model.pcie_link import PcieLink
from wirespeed.model.question import Question
from wirespeed.model.units import FCS_BYTES

FRAMING_BYTES = 8
"""Sequence number 2, LCRC 4, and start and end symbols 1 + 1 (8b/10b), or a start token of 4 that
has the sequence number in it (128b/130b): 8 either way. PCIe Base 5.0 sections 3.6.2, 4.2.2.3."""
DATA_LINK_SHARE_OF_FLITS = 20 / 256
"""What a flit of 256 bytes has beside 236 of packets: 6 of the data link layer, 8 of CRC, 6 of FEC
(PCIe Base 6.0 section 4.2.3). Packets there have no framing of their own."""
DATA_LINK_SHARE = 2 * 8 / 203 + 4 / 1538
"""Of the bytes, what acknowledgements, credit updates (8 bytes for every 203 each) and clock
compensation take at 8 GT/s x8 with payloads of 256: the paper's case, 62.96 to 57.88 Gb/s. Other
widths and speeds lie between 6 and 11 %; this one share stands for all."""

DEFAULT_PAYLOAD_BYTES = 128
"""What a function has after a reset (PCIe Base 5.0 section 7.5.3.4): the low end of a band whose
payload size nobody could read. 4096 is the largest that there is."""
DEFAULT_READ_REQUEST_BYTES = 512
LARGEST_BYTES = 4096


@dataclass(frozen=True, slots=True)
class _Headers:
    """Bytes of a packet of each kind without its data: PCIe Base 5.0 section 2.2."""

    framing: int

    @property
    def write(self) -> int:
        """Memory write, and read request, with a 64-bit address: section 2.2.4.1."""
        return self.framing + 16

    @property
    def short(self) -> int:
        """The same with a 32-bit address: what buffers below 4 GiB need."""
        return self.framing + 12

    @property
    def completion(self) -> int:
        """Completion with data: section 2.2.9."""
        return self.framing + 12

    @classmethod
    def of(cls, link: PcieLink) -> "_Headers":
        """Give those of a link."""
        return cls(0 if link.has_flits else FRAMING_BYTES)


@dataclass(frozen=True, slots=True)
class _Load:
    """Bytes on the link for one frame: towards the host, and towards the card."""

    up: float
    down: float

    def __add__(self, other: "_Load") -> "_Load":
        return _Load(self.up + other.up, self.down + other.down)


def pcie_ceiling(
    link: PcieLink,
    frame_bytes: int,
    direction: Direction,
    element: str,
    source: str,
    *,
    device: DeviceModel = MLX5_KERNEL,
    bidirectional: bool = False,
) -> Ceiling:
    """Frames per second through one hop; with `bidirectional` the other direction has as many.

    `low` counts headers, requests, descriptors, completions and the data link layer; `high` the
    headers of the frames' own data and nothing else, each as short as it can be.
    """
    whole = _whole(link, frame_bytes, device)
    headers = _headers_only(link, frame_bytes, device)
    # Flits have their share whatever they carry: it bounds both ends.
    low_share, high_share = (
        (DATA_LINK_SHARE_OF_FLITS,) * 2 if link.has_flits else (DATA_LINK_SHARE, 0)
    )
    low, high = (
        link.raw_bps * share / (8 * max(load.up, load.down))
        for share, load in (
            (1 - low_share, _chosen(whole, direction, bidirectional=bidirectional)),
            (1 - high_share, _chosen(headers, direction, bidirectional=bidirectional)),
        )
    )
    return Ceiling(
        element=element,
        direction=direction,
        frame_bytes=frame_bytes,
        load_pps=Band(low=low, high=high),
        formula=f"GT/s x {'236/256' if link.has_flits else 'encoding'} x lanes / "
        "(8 x bytes on the link for one frame)",
        inputs=_inputs(link, source, device, bidirectional=bidirectional),
    )


def pcie_changes(after: PcieLink, element: str, question: Question) -> tuple[Change, ...]:
    """Give what a link carries in both directions once a remedy has brought it into a state."""
    return tuple(
        Change(
            after=pcie_ceiling(
                after,
                question.frame_bytes,
                direction,
                element,
                "after the remedy",
                device=device_for(question.purpose),
                bidirectional=question.bidirectional,
            )
        )
        for direction in Direction
    )


def _chosen(loads: dict[Direction, _Load], direction: Direction, *, bidirectional: bool) -> _Load:
    if bidirectional:
        return loads[Direction.RECEIVE] + loads[Direction.TRANSMIT]
    return loads[direction]


def _whole(link: PcieLink, frame_bytes: int, device: DeviceModel) -> dict[Direction, _Load]:
    payload = link.max_payload_bytes or DEFAULT_PAYLOAD_BYTES
    request = link.max_read_request_bytes or DEFAULT_READ_REQUEST_BYTES
    header = _Headers.of(link)
    data = frame_bytes - FCS_BYTES
    doorbell = (device.doorbell_bytes + header.write) / device.frames_per_doorbell
    receive = _Load(
        up=data
        + math.ceil(data / payload) * header.write
        + device.receive_completion_bytes
        + header.write / device.receive_completions_per_write
        + header.write / device.receive_descriptors_per_read,
        down=device.receive_descriptor_bytes
        + header.completion / device.receive_descriptors_per_read
        + doorbell,
    )
    per_descriptor = device.frames_per_transmit_descriptor(data)
    descriptor = device.transmit_descriptor_bytes / per_descriptor
    if data <= device.inline_bytes:
        # Descriptors lie one behind the other, so their reads are as long as they may be.
        read = descriptor + 16 * math.ceil((4 + data) / 16)
        fetched = _Load(
            up=read / request * header.write,
            down=read + read / payload * header.completion,
        )
    else:
        reads = device.transmit_descriptors_per_read * per_descriptor
        fetched = _Load(
            up=(math.ceil(data / request) + 1 / reads) * header.write,
            down=data
            + descriptor
            + device.transmit_pointer_bytes / per_descriptor
            + (math.ceil(data / payload) + 1 / reads) * header.completion,
        )
    completion = device.transmit_completion_bytes + header.write
    answered = completion / (device.descriptors_per_transmit_completion * per_descriptor)
    return {
        Direction.RECEIVE: receive,
        Direction.TRANSMIT: fetched + _Load(up=answered, down=doorbell / per_descriptor),
    }


def _headers_only(link: PcieLink, frame_bytes: int, device: DeviceModel) -> dict[Direction, _Load]:
    payload = link.max_payload_bytes or LARGEST_BYTES
    request = link.max_read_request_bytes or LARGEST_BYTES
    header = _Headers.of(link)
    data = device.least_data_bytes(frame_bytes - FCS_BYTES)
    # Frames that the card joins, and those that are read within descriptors, share their packets.
    writes = data / payload if device.segments_tcp else math.ceil(data / payload)
    return {
        Direction.RECEIVE: _Load(up=data + writes * header.short, down=0),
        Direction.TRANSMIT: _Load(
            up=data / request * header.short,
            down=data + data / payload * header.completion,
        ),
    }


def _inputs(
    link: PcieLink, source: str, device: DeviceModel, *, bidirectional: bool
) -> tuple[Input, ...]:
    return (
        Input(name="link", shown=f"x{link.lanes} at {link.gt_per_s:g} GT/s", source=source),
        _size("payload", link.max_payload_bytes, DEFAULT_PAYLOAD_BYTES, source),
        _size("read request", link.max_read_request_bytes, DEFAULT_READ_REQUEST_BYTES, source),
        Input(name="card and driver", shown=device.name, source=device.source, assumed=True),
        Input(
            name="directions at once",
            shown="both" if bidirectional else "one",
            source="as asked",
        ),
    )


def _size(name: str, size_bytes: int | None, smallest: int, source: str) -> Input:
    if size_bytes is None:
        return Input(
            name=name,
            shown=f"not known: {smallest} for low, {LARGEST_BYTES} for high",
            source="PCI Express Base Specification 5.0, section 7.5.3.4",
            assumed=True,
        )
    return Input(name=name, shown=f"{size_bytes} bytes", source=source)
