"""Part of scripts sent to a guest: they go on there when the command that sent them has ended."""

import os


def go_on_alone() -> bool:
    """Fork; True in the parent, once the child is in a session of its own and holds nothing."""
    reading, writing = os.pipe()
    if os.fork():
        os.close(writing)
        os.read(reading, 1)
        return True
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in range(3):
        os.dup2(nothing, fd)
    os.close(writing)
    return False
