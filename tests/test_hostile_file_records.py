"""Records that are read as JSON, each in its worst shapes: 512 MB and 5 s, and one error of ours.

Memory follows the values in a text and the faults in them, and not its bytes.
"""

import ast
import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import asyncssh
import pytest
from pydantic import TypeAdapter

import wirespeed
from hostile_reader import MOST_MB, is_in_time, seconds_of
from wirespeed.apply.run import JOURNAL, open_run, read_journal
from wirespeed.host import ssh_trust
from wirespeed.model.error import InputError
from wirespeed.model.journal import Begun
from wirespeed.model.journal_lines import read_journal_text
from wirespeed.model.json_value import MOST_FIELDS, MOST_VALUES, read_json, read_record
from wirespeed.model.trial import Trial

KEPT = read_journal_text(
    (Path(__file__).parent / "kept/legacy-vlan/journal.jsonl").read_bytes()
).entries
SOURCE = Path(wirespeed.__file__).parent
KINDS = {
    "ENTRY": ["wirespeed.model.journal:ENTRY"],
    "LabState": ["wirespeed.lab.machines:LabState"],
    "Verdict": ["wirespeed.lab.machine_accel:Verdict"],
    "LabSpec": ["wirespeed.lab.machine_spec:LabSpec"],
    "RunFile": ["wirespeed.apply.run_file:RunFile"],
    "About": ["wirespeed.apply.found_copy:About"],
    "adapter": [
        "wirespeed.runs.prove_folder:PROOF_LINE",
        "wirespeed.runs.prove_folder:NETWORK_TRIAL",
        "wirespeed.measure.workload.folder:WORKLOAD_RECORD",
        "wirespeed.measure.bench.run_folder:record_adapter",
    ],
    "model": ["wirespeed.model.plan:Plan", "wirespeed.runs.prove_folder:Compared"],
    "ComparisonRecord": ["wirespeed.runs.compare_report:ComparisonRecord"],
    "FleetChange": ["wirespeed.runs.fleet_record:FleetChange"],
    "WaveEvent": ["wirespeed.runs.fleet_record:WaveEvent"],
    "ANSWER": ["wirespeed.runs.run_pages:ANSWER"],
    "Greeting": ["wirespeed.measure.bench.telemetry:Greeting"],
    "_replies": ["wirespeed.measure.bench.tester:_replies"],
}
"""What stands as the kind in each call of `read_record`, and the kinds that it may be."""
MOST_WAYS = 12
"""Of one kind: they are taken evenly from all."""
ASKED = """
import importlib, json, sys
from time import process_time
from wirespeed.model.journal import Begun
from wirespeed.model.journal_lines import read_journal_text
from wirespeed.model.json_value import read_record

def peak():
    return int(open("/proc/self/status").read().partition("VmHWM:")[2].split()[0]) >> 10

module, _, name = sys.argv[1].partition(":")
kind = getattr(importlib.import_module(module), name)
for text in sys.stdin:
    before, text = process_time(), text.encode()
    try:
        read_record(kind, text)
        found = "read"
    except ValueError as error:
        found = error.errors()[0]["msg"] + str(error)[:100]
    print(json.dumps([process_time() - before, peak(), found]))
"""


def calls(name: str) -> list[tuple[str, ast.Call]]:
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == name:
                found.append((str(path.relative_to(SOURCE)), node))
    return found


def test_every_record_is_read_by_the_reader_that_bounds_it_and_is_in_this_table():
    assert {ast.unparse(call.args[0]) for _, call in calls("read_record")} == set(KINDS)
    adapters = {ast.unparse(call.args[1]) for _, call in calls("read_record_lines")}
    assert {name.partition(":")[2] for name in KINDS["adapter"]} | {"ANSWER"} == adapters
    for other in ("model_validate_json", "validate_json"):
        found = {path for path, _ in calls(other)}
        assert found <= {"model/json_value.py"}


def schema_of(kind: str) -> dict[str, Any]:
    module, _, name = kind.partition(":")
    value = getattr(importlib.import_module(module), name)
    return (value if isinstance(value, TypeAdapter) else TypeAdapter(value)).json_schema()


def ways_in(part: dict[str, Any], parts: dict[str, Any], depth: int = 3) -> Iterator[str]:
    """Give texts with `%s` for a value, for every field of a record and of the parts in it."""
    if ref := part.get("$ref"):
        yield from ways_in(parts[ref.rpartition("/")[2]], parts, depth)
    for one in (*part.get("anyOf", ()), *part.get("oneOf", ())):
        yield from ways_in(one, parts, depth)
    if isinstance(part.get("items"), dict):
        yield from (f"[{way}]" for way in ways_in(part["items"], parts, depth))
    said = "".join(
        f"{json.dumps(name)}:{json.dumps(value['const'])},"
        for name, value in part.get("properties", {}).items()
        if "const" in value
    )
    for name, value in part.get("properties", {}).items():
        if "const" in value:
            continue
        yield "{" + said + json.dumps(name) + ":%s}"
        for way in ways_in(value, parts, depth - 1) if depth else ():
            yield "{" + said + f"{json.dumps(name)}:{way}" + "}"


def worst_shapes(kind: str) -> list[str]:
    """Give texts that are as full as is still read."""
    half = MOST_VALUES // 2 - 40
    values = "[" + ",".join(["{}"] * half) + "]"
    keys = "{" + ",".join(f'"{n}":1' for n in range(2 * half)) + "}"
    nested = "{" + ",".join(f'"{n}":{{}}' for n in range(half)) + "}"
    wide = "{" + ",".join(f'"{n}":{{}}' for n in range(MOST_FIELDS)) + "}"
    schema = schema_of(kind)
    ways = ["%s", *dict.fromkeys(ways_in(schema, schema.get("$defs", {})))]
    ways = ways[:: -(-len(ways) // MOST_WAYS)]
    return [way.replace("%s", full) for way in ways for full in (values, keys, nested, wide)]


@pytest.mark.rare
@pytest.mark.parametrize("kind", [one for kinds in KINDS.values() for one in kinds])
def test_a_hostile_file_is_a_record_as_full_as_is_read(kind: str):
    texts = worst_shapes(kind)
    done = subprocess.run(
        [sys.executable, "-c", ASKED, kind],
        input="".join(f"{text}\n" for text in texts),
        capture_output=True,
        text=True,
        timeout=300,
    )
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(told) == len(texts), done.stderr[-1000:]
    for text, (seconds, peak_mb, found) in zip(texts, told, strict=True):
        assert peak_mb <= MOST_MB, text[:60]
        assert is_in_time(seconds), text[:60]
        assert found != "read", text[:60]


def test_a_hostile_file_has_20_mb_of_values():
    for text in ('{"run":[' + "{}," * 6_600_000 + "1]}", "[" + "1," * 10_000_000 + "1]"):
        with pytest.raises(ValueError, match="values; at most 1000000 are read"):
            read_record(Trial, text)
        with pytest.raises(ValueError, match="values; at most 1000000 are read"):
            read_json(text)


def test_a_list_has_its_first_fault_alone_and_what_is_right_is_read_as_ever():
    class_says = TypeAdapter(dict[str, list[int]])
    with pytest.raises(ValueError) as refused:
        read_record(class_says, '{"a":["x","y"],"b":["z"]}')
    assert refused.value.error_count() == 1
    assert read_record(class_says, '{"a":[1,2]}') == {"a": [1, 2]}


def test_a_plan_whose_journal_could_not_be_read_again_is_not_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (begun,) = (one for one in KEPT if isinstance(one, Begun))
    monkeypatch.setattr("wirespeed.model.json_value.MOST_VALUES", 3000)
    with open_run(tmp_path / "run") as run:
        with pytest.raises(InputError) as refused:
            run.write(begun)
        assert refused.value.what == "plan.too_large"
        assert run.entries == []
    assert (tmp_path / "run" / JOURNAL).read_bytes() == b""
    monkeypatch.setattr("wirespeed.model.json_value.MOST_VALUES", 4000)
    with open_run(tmp_path / "run") as run:
        run.write(begun)
    assert read_journal(tmp_path / "run") == [begun.model_copy(update={"run": run.id})]


@pytest.mark.parametrize(
    ("shape", "count", "what"),
    [
        ("h {key}\n", 90_000, None),
        ("a\n", 100_001, "more than 100000 lines"),
        ("h {key} {more}\n", 90_000, "more than 8 MiB"),
        ("a b c\n", 99_000, None),
    ],
)
def test_a_hostile_file_is_of_known_hosts(shape: str, count: int, what: str | None, tmp_path: Path):
    key = asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode().strip()
    path = tmp_path / "known_hosts"
    path.write_text(shape.format(key=key, more="c" * 40) * count)
    state = (str(path), path.stat().st_size, 0)
    refused: list[InputError] = []

    def read() -> None:
        try:
            ssh_trust._known((state,))
        except InputError as error:
            refused.append(error)

    assert is_in_time(seconds_of(read))
    assert [one.what for one in refused] == (["file.too_large"] if what else [])
    assert not what or what in (refused[0].found or "")


def test_as_many_values_as_are_allowed_are_read():
    full = "[" + ",".join(["1"] * MOST_VALUES) + "]"
    assert len(read_json(full)) == len(read_record(TypeAdapter(list[int]), full)) == MOST_VALUES
    with pytest.raises(ValueError, match=f"about {MOST_VALUES + 1} values"):
        read_json(f"{full[:-1]},1]")
