"""One thing asked of many hosts at once: a host that is slow does not hold up the rest."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
AT_ONCE = 32


def on_each(places: Iterable[str], ask: Callable[[str], T]) -> dict[str, T]:
    """Give the answer of each place, in their order. Raises the error of the first that has one.

    What is asked is bounded in time by itself.
    """
    names = list(dict.fromkeys(places))
    if len(names) < 2:
        return {name: ask(name) for name in names}
    with ThreadPoolExecutor(min(AT_ONCE, len(names)), thread_name_prefix="host") as pool:
        futures = {name: pool.submit(ask, name) for name in names}
        try:
            return {name: future.result() for name, future in futures.items()}
        finally:
            for future in futures.values():
                future.cancel()
