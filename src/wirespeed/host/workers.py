"""Pure work on many items, spread over this machine's CPUs; results keep the items' order."""

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
WORTH_IT = 100
"""Of fewer items, starting processes takes longer than the work."""
AT_ONCE = 16
"""Items that a process is given in one piece."""


def each_of_many(work: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
    """Do `work` on each. Both have to be picklable where there are many items."""
    workers = min(os.cpu_count() or 1, 16)
    if len(items) < WORTH_IT or workers == 1:
        yield from map(work, items)
        return
    # Started afresh, not forked: threads that read hosts would be in an unknown state.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        yield from pool.map(work, items, chunksize=AT_ONCE)
