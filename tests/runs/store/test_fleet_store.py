"""What is kept of a fleet comes back the same, from SQLite and from PostgreSQL."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from click.testing import CliRunner
from fleets import TITLES, finding, host, rack_of
from postgresql import Postgresql

from wirespeed.commands.fleet import fleet as fleet_group
from wirespeed.fleet.causes import find_causes
from wirespeed.fleet.records import Fleet, FleetHost, HostState
from wirespeed.model.error import InputError
from wirespeed.model.question import Question
from wirespeed.runs.store.database import opened
from wirespeed.runs.store.keep import keep_fleet, kept_runs, then
from wirespeed.runs.store.tables import metadata

SERVERS = ("sqlite", "postgresql")


@pytest.fixture(name="url", params=SERVERS)
def _url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'fleet.sqlite'}"
        return
    server = Postgresql()
    try:
        yield server.url
    finally:
        server.close()


def fleet(broken: str, kernel: str = "6.1") -> Fleet:
    hosts = [
        host(
            f"n{i:02}",
            [finding(cost_pps=7.5)] if rack_of(i) == broken else [],
            {"rack": rack_of(i), "kernel": kernel},
            kernel,
        )
        for i in range(60)
    ]
    gone = FleetHost(name="gone", reach="ssh://gone", state=HostState.NOT_REACHED, what="ssh.x")
    return Fleet(
        at="2026-01-01T00:00:00.000+00:00",
        source="hosts.ini",
        question=Question(),
        hosts=(*hosts, gone),
        profiles={kernel: {"kernel": kernel, "a": "≠ 'quoted'"}},
        causes=find_causes(hosts, TITLES),
    )


def ran(url: str, *words: str) -> tuple[int, str]:
    result = CliRunner().invoke(
        fleet_group, [*words, "--database", url], catch_exceptions=False, standalone_mode=False
    )
    return int(result.return_value), result.output


def test_fleet_history_diff_gate_and_parquet(url: str, tmp_path: Path):
    with opened(url) as connection:
        assert keep_fleet(connection, fleet("r01")) == 1
        assert keep_fleet(connection, fleet("r02", "6.12")) == 2
    with opened(url) as connection:
        first = kept_runs(connection)[0]
        assert (first.hosts, first.well, first.causes) == (61, 40, 1)
        kept = then(connection, 2)
        assert kept.hosts["n45"].rules == {"link.fec_off"}
        assert kept.settings["6.12"]["a"] == "≠ 'quoted'"
        # The schema that the migrations make is the one that the code has.
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, metadata) == []

    code, output = ran(url, "diff")
    assert code == 1
    assert " ".join(output.split()).count("finding link.fec_off: new") == 1
    assert "kernel: 6.1 -> 6.12" in output
    assert "well -> with findings" in output
    assert ran(url, "diff", "1", "1")[0] == 0

    code, output = ran(url, "history", "n25")
    assert [line.split()[2] for line in output.splitlines()] == ["with", "well"]
    assert ran(url, "history")[1].count("61 hosts") == 2

    ran(url, "record", "rx", "98", "98.2", "97.9", "98.1", "98.3", "97.8", "--unit", "Gb/s")
    assert ran(url, "gate", "rx")[0] == 2
    ran(url, "record", "rx", "96", "96.1", "95.9", "96.2", "--unit", "Gb/s")
    code, output = ran(url, "gate", "rx")
    assert code == 1
    assert "before  n=6, median 98.05 Gb/s" in output
    assert "new     n=4, median 96.05 Gb/s" in output
    with pytest.raises(InputError):
        ran(url, "record", "rx", "1", "--unit", "us")

    ran(url, "parquet", str(tmp_path / "out"))
    table = pyarrow.parquet.read_table(tmp_path / "out/findings.parquet").to_pylist()
    assert len(table) == 40
    assert {(row["rule"], row["cost_pps"]) for row in table} == {("link.fec_off", 7.5)}
    assert pyarrow.parquet.read_table(tmp_path / "out/hosts.parquet").num_rows == 122


def test_what_a_host_prints_keeps_no_other_hosts_answer_from_being_kept(url: str):
    """PostgreSQL: a text holds no NUL, and varchar(255) no more; a key stands once."""
    long = "kernel parameter " + "x" * 300
    odd = host(
        "h" * 300,
        [finding().model_copy(update={"so": "a\0b"})],
        {"cable": "c\0", long: "v" * 300},
        "odd",
    )
    one = fleet("r01")
    settings = {f"{long}1": "a\0b", f"{long}2": "1"}
    whole = one.model_copy(
        update={"hosts": (odd, *one.hosts), "profiles": {**one.profiles, "odd": settings}}
    )
    with opened(url) as connection:
        keep_fleet(connection, whole)
    with opened(url) as connection:
        kept = then(connection, 1)
        assert len(kept.hosts) == 62
        assert sorted(kept.settings["odd"].values()) == ["1", "a\\x00b"]
    output = ran(url, "history", odd.name)[1]
    assert len(output.splitlines()) == 1


def test_a_run_that_fails_halfway_leaves_nothing(tmp_path: Path):
    url = f"sqlite:///{tmp_path / 'fleet.sqlite'}"
    twice = fleet("r01").model_copy(update={"hosts": (host("a"), host("a"))})
    with pytest.raises(InputError) as caught, opened(url) as connection:
        keep_fleet(connection, twice)
    assert caught.value.what == "database.failed"
    with opened(url) as connection:
        assert kept_runs(connection) == []


@pytest.mark.parametrize(
    ("url", "what"),
    [
        ("nothing", "database.url"),
        ("sqlite:////nowhere/at/all", "database.failed"),
        ("postgresql://u:secret@localhost:1/x?connect_timeout=2", "database.failed"),
        ("postgresql://u@localhost:1/x?password=secret&connect_timeout=2", "database.failed"),
        ("postgresql://u:secret@localhost:port/x", "database.url"),
        ("secret:postgresql//u:secret@localhost", "database.url"),
    ],
)
def test_a_database_that_cannot_be_opened_is_named_without_its_password(url: str, what: str):
    with pytest.raises(InputError) as caught, opened(url):
        pass
    assert caught.value.what == what
    assert "secret" not in str(caught.value)


def test_a_hostile_file_is_a_database_of_a_newer_release(tmp_path: Path):
    url = f"sqlite:///{tmp_path / 'fleet.sqlite'}"
    with opened(url) as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = 'r9999'")
    with pytest.raises(InputError) as caught, opened(url):
        pass
    assert caught.value.what == "database.newer" and "r9999" in caught.value.found
