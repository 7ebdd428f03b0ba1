"""Scripts for guests: what is sent is whole, and runs where no package of ours is."""

import ast

import pytest

from wirespeed.host.guest_script import run_script
from wirespeed.host.runner import MAX_OUTPUT_BYTES, Completed


class Recording:
    """Keeps what it was to run."""

    def __init__(self) -> None:
        self.stdin = ""
        self.argv: tuple[str, ...] = ()

    def run(
        self,
        argv: tuple[str, ...],
        *,
        timeout_s: float = 60.0,
        stdin: str | None = None,
        max_bytes: int = MAX_OUTPUT_BYTES,
    ) -> Completed:
        assert (timeout_s, max_bytes) == (60.0, MAX_OUTPUT_BYTES)
        self.argv, self.stdin = argv, stdin or ""
        return Completed(argv=argv, output="", errors="", returncode=0, duration_s=0)


@pytest.mark.parametrize(
    "name", ["guest_flow_receiver.py", "guest_flow_sender.py", "guest_listener.py"]
)
def test_a_part_of_ours_is_sent_along(name: str):
    guest = Recording()
    run_script(guest, name, ("a b",))
    assert guest.argv == ("python3", "-I", "-S", "-", "a b")
    tree = ast.parse(guest.stdin)
    wanted = {n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    assert not [module for module in wanted if module.startswith("wirespeed")]
    functions = [n.name for n in tree.body if isinstance(n, ast.FunctionDef)]
    assert functions.count("go_on_alone") == functions.count("main") == 1
