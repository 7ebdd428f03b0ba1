"""What another local user does: in a child that has given root up for good."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

UID = 61234
"""Of no account."""

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")


def as_other_user(act: Callable[[], object], uid: int = UID) -> None:
    """Do it in a child as `uid`; fail where it fails there."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
            act()
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(pid, 0)[1] == 0, "the other user could not do it"


def open_to_all(folder: Path) -> Path:
    """Let all users write in a folder and reach it, as /tmp is; give it."""
    folder.chmod(0o1777)
    for above in folder.parents:
        if above.stat().st_uid == os.geteuid() and above != Path("/"):
            above.chmod(above.stat().st_mode | 0o011)
    return folder
