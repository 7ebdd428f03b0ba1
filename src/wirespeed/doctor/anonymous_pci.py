"""The serial number in a PCI function's configuration space, which is often its port's EUI-64."""

from wirespeed.doctor.anonymous_address import Addresses

EXTENDED_START = 0x100
SERIAL_CAPABILITY = 0x0003
"""PCI Express Base Specification: Device Serial Number Extended Capability, 8 bytes at +4."""
MAX_CAPABILITIES = 64
BYTES_A_LINE = 16


def without_serial(body: str, addresses: Addresses) -> str:
    """Give the bytes that `od -An -v -tx1` printed with another serial number, if they have one.

    Text that is no bytes is left out: nobody knows what stands there.
    """
    dump, newline, rest = body.partition("\n\n")
    try:
        data = bytearray(bytes.fromhex(dump.replace("\n", " ")))
    except ValueError:
        return "\n"
    at, seen = EXTENDED_START, 0
    while EXTENDED_START <= at <= len(data) - 4 and seen < MAX_CAPABILITIES:
        header = int.from_bytes(data[at : at + 4], "little")
        if header & 0xFFFF == SERIAL_CAPABILITY:
            serial = bytes(data[at + 4 : at + 12])
            data[at + 4 : at + 12] = bytes.fromhex(addresses.hexadecimal(serial.hex()))
        at, seen = header >> 20 & ~3, seen + 1
    lines = [data[n : n + BYTES_A_LINE].hex(" ") for n in range(0, len(data), BYTES_A_LINE)]
    return "".join(f" {line}\n" for line in lines).rstrip("\n") + newline + rest
