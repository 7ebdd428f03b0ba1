"""What holds for every step there is: it has its proof, and no output of a host makes it raise."""

import importlib
from itertools import product
from pathlib import Path

import pytest
from samples import HOSTILE, SAMPLES

from wirespeed.catalog import read_step, step_types
from wirespeed.model.capture import Section
from wirespeed.model.finding import Danger
from wirespeed.model.observed import Known, Unreadable
from wirespeed.model.step import Scope, Step

KINDS = sorted(step_types())
HERE = Path(__file__).parent
REAL = [path.read_text(encoding="utf-8") for path in sorted(SAMPLES.glob("*/*.txt"))]
EXAMPLES: dict[str, dict[str, object]] = {
    "address": {"netdev": "bond0", "address": "192.168.10.1/24"},
    "hugepages": {"page_kib": 1048576, "numa_node": 1, "count": 16},
    "kernel_switch": {
        "paths": ("/sys/kernel/mm/transparent_hugepage/enabled",),
        "value": "never",
        "reason": "x",
    },
    "offloads": {"netdev": "eth0", "features": {"tcp-segmentation-offload": True}},
    "read_request": {"pci_address": "0000:3b:00.0", "max_read_request_bytes": 4096},
    "sysctl": {"name": "vm.swappiness", "value": "0", "reason": "no swapping"},
    "vf_count": {"pci_address": "0000:3b:00.0", "num_vfs": 4},
    "vf_settings": {"netdev": "eth0", "vf": 1, "vlan": 42, "trust": True},
}
"""Of steps whose test has none outside of its functions."""
NO_WAY_BACK = {
    "firmware_reset": "what was in force before the reset is nowhere any more, and its test says so"
}
"""Steps that no undo leads back from, with the reason: `prove` is about those that have one."""
RETURNCODES = (0, 1, 2, 123, 124, 126, 127, 255, None)


def steps_of(kind: str) -> list[Step]:
    """Give the steps of this kind that stand in its test, or the example."""
    module = importlib.import_module(f"test_{kind}")
    found = [item for item in vars(module).values() if isinstance(item, step_types()[kind])]
    if kind in EXAMPLES:
        found.append(read_step({"step": kind, **EXAMPLES[kind]}))
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_it_has_a_proof_of_its_own(kind: str):
    text = (HERE / f"test_{kind}.py").read_text(encoding="utf-8")
    assert "prove(" in text or (kind in NO_WAY_BACK and "LeftChangedError" in text)
    assert steps_of(kind), f"test_{kind}.py has no step outside of its functions, nor EXAMPLES"


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_that_a_host_prints_makes_it_raise(kind: str):
    for step, code in product(steps_of(kind), RETURNCODES):
        for output, errors in product((*HOSTILE, *REAL), ("", "x: Permission denied\n")):
            found = step.parse(Section("step", step.subject, output, errors, code))
            assert isinstance(found, Known | Unreadable), found
            if code is None:
                assert isinstance(found, Unreadable), f"cut off, and known: {found}"


@pytest.mark.parametrize("kind", KINDS)
def test_it_says_what_it_is_and_can_be_written_down(kind: str):
    for step in steps_of(kind):
        assert read_step(step.model_dump(mode="json")) == step
        assert step.subject and step.why.strip() == step.why
        assert isinstance(step.scope, Scope) and isinstance(step.danger, Danger)
        assert step.read().argv[0] not in ("tee", "sh", "bash"), "reading changes nothing"


def test_a_step_names_itself_as_its_file_does():
    for kind, step in step_types().items():
        package, _, name = step.__module__.rpartition(".")
        assert name == kind and package.rpartition(".")[2] == "steps"
