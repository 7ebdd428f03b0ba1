"""Linux: this machine, and hosts that SSH goes to."""

from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial

from wirespeed.host.batch import Batch, OneByOne
from wirespeed.host.capture_request import Captured, CaptureRequest, cut_warning
from wirespeed.host.local import LocalRunner
from wirespeed.host.reach_destination import Here, Remote
from wirespeed.host.runner import Runner
from wirespeed.platforms.access import Access, Turn, Way

ROOT = "/"
"""Where commands of this machine run: QEMU, for one, takes firmware out of the working directory
before its own."""


def _here(places: Sequence[Here], request: CaptureRequest, _limit: int) -> Batch:
    return OneByOne(places, partial(_read, request), "reading")


def _read(request: CaptureRequest, place: Here) -> Captured:
    done = LocalRunner(ROOT).run(
        request.argv, stdin=request.script, timeout_s=request.timeout_s, max_bytes=request.max_bytes
    )
    text = request.judge(place, done.output, done.errors, done.returncode)
    return Captured(place, text, done.duration_s, cut_warning(done.cut, request))


def _local(_place: Here, _stack: ExitStack) -> Runner:
    return LocalRunner(ROOT)


# What stays on this machine loads no asyncio.
def _remote(places: Sequence[Remote], request: CaptureRequest, limit: int) -> Batch:
    from wirespeed.host.ssh_batch import SshBatch

    return SshBatch(places, request, limit)


def _over_ssh(place: Remote, stack: ExitStack) -> Runner:
    from wirespeed.host.ssh_session import SshSession

    return stack.enter_context(SshSession(place))


ACCESS = Access(
    "Linux", (Way(Here, _here, Turn.HERE, _local), Way(Remote, _remote, Turn.AT_ONCE, _over_ssh))
)
