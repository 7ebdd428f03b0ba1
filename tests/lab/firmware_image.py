"""An image of firmware that mstflint takes for one of a ConnectX-5: no code is in it.

Layout FS4: mstflint 4.21, mlxfwops/lib/fs4_ops.cpp (FsVerifyAux, verifyTocEntries) and
tools_layouts/image_layout_layouts.c; numbers of sections are in mlxfwops/lib/flint_base.h.
"""

import struct
from pathlib import Path

MAGIC = (0x4D544657, 0xABCDEF00, 0xFADE1234, 0x5678DEAD)
TOC = (0x04081516, 0x2342CAFA, 0xBACAFE00)
ITOC, DTOC = 0x49544F43, 0x44544F43
DEVICE = (0x6D446576, 0x496E666F, 0x2342CAFA, 0xBACAFE00)
POINTERS, TOOLS, BOOT, CONTENTS, SECTIONS = 0x18, 0x100, 0x140, 0x200, 0x400
SIZE, SECTOR = 0x4000, 0x1000
IMAGE_INFO, SIGNATURE, PUBLIC_KEYS, MAKER, DEVICE_INFO = 0x10, 0xA0, 0xA1, 0xE0, 0xE1
CONNECTX_5 = 0x20D
CONTROLLED, SIGNED = 1 << 8, 1 << 14
"""The firmware burns itself (MCC), and the image has a signature: here, one of zeros."""


def crc(data: bytes) -> int:
    """Over words, most significant bit first, with 16 zero bits behind: class Crc16."""
    value = 0xFFFF
    for byte in (*data, 0, 0):
        for bit in range(7, -1, -1):
            top = value >> 15
            value = (value << 1 | byte >> bit & 1) & 0xFFFF
            value ^= 0x100B if top else 0
    return value ^ 0xFFFF


def pointer(at: int) -> bytes:
    """One of those that the hardware reads, with its own checksum: calc_hw_crc.c."""
    data, value = struct.pack(">IH", at, 0), 0xFFFF
    for number, byte in enumerate(data):
        value ^= byte ^ (0xFF if number in (0, 1) else 0)
        for _ in range(8):
            value = value >> 1 ^ (0xD008 if value & 1 else 0)
    return data + bytes([value & 0xFF, value >> 8])


def with_crc(data: bytes) -> bytes:
    """Its last two bytes are the checksum of all words but the last."""
    return data[:-2] + struct.pack(">H", crc(data[:-4]))


def entry(kind: int, at: int, data: bytes) -> bytes:
    words = (kind << 24 | len(data) // 4 << 2, 0, 0, 0, 0, at, crc(data), 0)
    return with_crc(struct.pack(">8I", *words))


def contents(name: int, sections: dict[int, tuple[int, bytes]]) -> bytes:
    header = with_crc(struct.pack(">8I", name, *TOC, 0, len(sections), 0, 0))
    entries = b"".join(entry(kind, at, data) for kind, (at, data) in sections.items())
    return header + entries + b"\xff" * 32


def image_info(version: tuple[int, int, int], psid: str) -> bytes:
    data = bytearray(0x400)
    struct.pack_into(">I", data, 0, 3 << 16 | CONTROLLED | SIGNED)
    struct.pack_into(">HHHH", data, 4, version[0], 0, version[1], version[2])
    struct.pack_into(">H", data, 28, 0x1017)
    data[36 : 36 + len(psid)] = psid.encode()
    struct.pack_into(">I", data, 280, CONNECTX_5)
    text = "{}.{}.{}".format(*version)
    data[448 : 448 + len(text)] = text.encode()
    return bytes(data)


def placed(kinds: dict[int, bytes], at: int) -> dict[int, tuple[int, bytes]]:
    found = {}
    for kind, data in kinds.items():
        found[kind] = (at, data)
        at += len(data)
    return found


def write_image(path: Path, version: tuple[int, int, int], psid: str) -> None:
    image = bytearray(SIZE)

    def put(at: int, data: bytes) -> None:
        image[at : at + len(data)] = data

    put(0, struct.pack(">5I", *MAGIC, 1 << 24))
    places = (0, BOOT, CONTENTS, TOOLS, *(0,) * 12)
    put(POINTERS, b"".join(map(pointer, places)))
    # Of at most 4 MiB.
    put(TOOLS, with_crc(struct.pack(">16I", 0, 22 << 16, *(0,) * 14)))
    put(BOOT, with_crc(struct.pack(">8I", 0, 4, *(0,) * 6)))
    own = placed(
        {IMAGE_INFO: image_info(version, psid), SIGNATURE: bytes(0x140), PUBLIC_KEYS: bytes(0x140)},
        SECTIONS,
    )
    maker = bytearray(0x140)
    maker[: len(psid)], maker[28] = psid.encode(), 1
    device = struct.pack(">5I", *DEVICE, 2 << 8).ljust(0x200, b"\0")
    its = placed({MAKER: bytes(maker), DEVICE_INFO: device}, SIZE - 2 * SECTOR)
    for at, data in (*own.values(), *its.values()):
        put(at, data)
    put(CONTENTS, contents(ITOC, own))
    put(SIZE - SECTOR, contents(DTOC, its))
    path.write_bytes(image)
