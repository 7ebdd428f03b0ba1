"""A namespace of a host, as a place where commands run."""

from collections.abc import Sequence

from wirespeed.host.runner import Completed, NamespaceRunner


class Recording:
    """Keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[object, ...]] = []

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 60.0,
        stdin: str | None = None,
        max_bytes: int = 1 << 20,
    ) -> Completed:
        self.asked.append((tuple(argv), timeout_s, stdin, max_bytes))
        return Completed(argv=tuple(argv), output="x", errors="", returncode=3, duration_s=0)


def test_every_command_runs_in_the_namespace_with_all_that_was_asked():
    host = Recording()
    done = NamespaceRunner(host, "ceph-1").run(
        ("tee", "a b"), timeout_s=3.0, stdin="x", max_bytes=7000
    )
    assert host.asked == [(("ip", "netns", "exec", "ceph-1", "tee", "a b"), 3.0, "x", 7000)]
    assert done.returncode == 3
