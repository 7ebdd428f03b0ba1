"""Filters of a POSIX shell for `Step.mark`: what tells a state is kept, what varies by itself goes.

`ip -j` prints one line of netdevs, in which the carrier, queues and addresses of IPv6 come and go
with the link. `ethtool` prints what was negotiated beside what is set.
"""

import re
import shlex

LINKS = r"""sed -E 's/,?\{"ifindex"/\n{"ifindex"/g'"""
"""Puts each netdev of `ip -j` on a line of its own, after a line with `[` for each list."""
UP = r'[[,]"UP"'
"""Among the flags of a netdev: its `operstate` is another thing."""


def lines(pattern: str) -> str:
    """Keep the lines that an extended regular expression is found in."""
    return f"grep -E {shlex.quote(pattern)}"


def words(pattern: str) -> str:
    """Keep what an extended regular expression matches, each match on a line."""
    return f"grep -oE {shlex.quote(pattern)}"


def of_links(which: str, keys: str) -> str:
    """Keep words of those netdevs alone whose line has `which`; both are regular expressions."""
    return f"{LINKS} | {lines(which)} | {words(keys)}"


def named(*netdevs: str) -> str:
    """Give the expression for the line of netdevs of these names."""
    return f'"ifname":"({"|".join(map(literal, netdevs))})"'


def key(name: str) -> str:
    """Give the expression for a key of JSON with its value: a text, a number, true or false."""
    return f'"{name}":("[^"]*"|[a-z0-9-]+)'


def literal(text: str) -> str:
    """Give the expression for a text as it is."""
    return re.sub(r"([].[*+?^${}()|\\])", r"\\\1", text)
