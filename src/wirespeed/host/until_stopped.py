"""The end of what has no end of its own: SIGTERM, as systemd sends it, is no failure there."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn


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
