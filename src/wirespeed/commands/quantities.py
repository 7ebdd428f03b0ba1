"""Quantities as a user writes them in options, each with its unit."""

import ipaddress
import math
import re
from typing import Any

import click

MAX_PORT = 65535
SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6}
LONG_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}


class Seconds(click.ParamType[float]):
    """A time with its unit: `0.2ms`, `80us`, `0.01s`."""

    name = "time"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Give seconds."""
        match = re.fullmatch(r"(\d+(?:\.\d+)?) ?(s|ms|us)", str(value))
        if match is None or not float(match[1]):
            self.fail(f"{value!r} is not a time: write 0.2ms, 80us or 0.01s", param, ctx)
        return float(match[1]) * SECONDS[match[2]]


class Duration(click.ParamType[float]):
    """A longer time with its unit: `30s`, `90m`, `8h`."""

    name = "time"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Give seconds."""
        if isinstance(value, float):
            return value
        match = re.fullmatch(r"(\d{1,6}(?:\.\d{1,3})?) ?(s|m|h)", str(value))
        if match is None or not float(match[1]):
            self.fail(f"{value!r} is not a time: write 8h, 90m or 30s", param, ctx)
        return float(match[1]) * LONG_SECONDS[match[2]]


class Gigabits(click.ParamType[float]):
    """A figure in Gb/s."""

    name = "gb/s"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Give bits per second."""
        try:
            gigabits = float(str(value))
        except ValueError:
            gigabits = math.nan
        if not 0 < gigabits < math.inf:
            self.fail(f"{value!r} is not a figure in Gb/s: write 53.6", param, ctx)
        return gigabits * 1e9


class FiniteRange(click.FloatRange):
    """A figure within a range. `nan`, which no comparison excludes, and `inf` are refused."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Give the figure."""
        found = float(super().convert(value, param, ctx))
        if not math.isfinite(found):
            self.fail(f"{value!r} is not a finite number", param, ctx)
        return found


class AddressPort(click.ParamType[tuple[str, int]]):
    """An IP address and a port of TCP: 127.0.0.1:9477, [::1]:9477."""

    name = "address:port"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, int]:
        """Give both; a port of 0 is any that is free."""
        address, _, port = str(value).rpartition(":")
        try:
            plain = str(ipaddress.ip_address(address.removeprefix("[").removesuffix("]")))
            if not port.isdecimal() or int(port) > MAX_PORT:
                raise ValueError(port)
        except ValueError:
            self.fail(f"{value!r} is not ADDRESS:PORT, as 127.0.0.1:9477", param, ctx)
        return plain, int(port)


class Address(click.ParamType[str]):
    """An IP address."""

    name = "address"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """Give it in its usual form."""
        try:
            return str(ipaddress.ip_address(str(value)))
        except ValueError:
            self.fail(f"{value!r} is not an IP address", param, ctx)
