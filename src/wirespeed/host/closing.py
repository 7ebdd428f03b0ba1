"""What a `with` statement ends: what is held is given back, and what has no end is left by SIGTERM.

systemd sends it to a service, where it is no failure.
"""

import signal
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn, Self


class Closing(ABC):
    """Base of what holds a process, a socket or a folder: `with` closes it, whatever happens."""

    @abstractmethod
    def close(self) -> None:
        """Give back what it holds; a second call does nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def until_stopped() -> Iterator[None]:
    """Leave the block at SIGTERM as if it had come to its end. Ctrl-C passes, as elsewhere."""
    is_stopped = False

    def stop(*_: object) -> NoReturn:
        nonlocal is_stopped
        is_stopped = True
        # It passes whatever passes a ^C.
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except BaseException:
        # Not of its kind alone: libraries make other errors of it (`cli._is_of_interrupt`).
        if not is_stopped:
            raise
    finally:
        signal.signal(signal.SIGTERM, before)
