"""Every field of a fact is asked by a rule, read by a plan or a report, or has a reason here."""

import ast
from collections.abc import Iterator
from pathlib import Path

SRC = Path(__file__).parents[2] / "src/wirespeed"
FACTS = [*SRC.glob("facts/*.py"), *SRC.glob("platforms/*/facts/*.py")]
MAY_NAME = "it tells apart or names a thing: no value of it is a fault"
DRIVER_CHOOSES = "the driver or the kernel chooses it well, and no document names a fault of it"
BY_ANOTHER = "the condition is found by another field that says it more surely"
UNASKED = {
    **dict.fromkeys(("core_id", "base_hz", "board_id", "bus_info", "port_type", "vni", "dst_port",
                     "is_hidden", "slot", "component_class", "local_cpus", "host_vfs"), MAY_NAME),
    **dict.fromkeys(("cqe_mode_rx", "cqe_mode_tx", "idle_governor", "inline_mode", "has_hash_key",
                     "hash_function", "rps_flow_count", "extended_tags", "max_processors",
                     "profile", "rx_channels_max", "tx_channels_max"), DRIVER_CHOOSES),
    **dict.fromkeys(("active_member", "active_port", "operstate", "link_state", "modes",
                     "available_bytes", "swap_free_bytes", "lag_type", "lag_port_selection",
                     "allowed_cpus", "runts", "stat", "passthrough", "has_mac", "max_mtu",
                     "lso_rows", "rsc_rows", "vmq_rows", "is_embedded_team"), BY_ANOTHER),
}  # fmt: skip
"""Field to the reason why no rule asks about it."""


def fields() -> Iterator[str]:
    for path in FACTS:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and "dataclass" in map(_name, node.decorator_list):
                yield from (
                    one.target.id
                    for one in node.body
                    if isinstance(one, ast.AnnAssign)
                    and isinstance(one.target, ast.Name)
                    and "ClassVar" not in ast.dump(one.annotation)
                )


def _name(decorator: ast.expr) -> str:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return called.id if isinstance(called, ast.Name) else ""


def asked() -> set[str]:
    """Attributes that any code but a fact's own constructor names."""
    trees = (ast.parse(path.read_text()) for path in SRC.rglob("*.py"))
    return {n.attr for tree in trees for n in ast.walk(tree) if isinstance(n, ast.Attribute)}


def test_a_field_that_nothing_asks_about_has_a_reason():
    read, used = set(fields()), asked()
    assert {name for name in read - used if name not in UNASKED} == set()


def test_a_reason_is_about_a_field_that_is_read():
    assert set(UNASKED) <= set(fields())
