"""Opens the database: made, or brought to this schema, before anything is read or written."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from wirespeed.host.extras import how_to_add
from wirespeed.host.files import make_run_folder
from wirespeed.host.inventory_program import missing_library
from wirespeed.host.state import state_folder
from wirespeed.model.error import InputError
from wirespeed.model.shown import shown

try:
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory
    from alembic.util.exc import CommandError
    from sqlalchemy import Connection, Engine, create_engine, event
    from sqlalchemy.engine import URL, make_url
    from sqlalchemy.exc import ArgumentError, SQLAlchemyError
except ImportError as error:
    raise missing_library("SQLAlchemy, Alembic", str(error)) from None


def usual_url() -> str:
    """Give the URL of the file that is used where none is named; makes its folder."""
    folder = state_folder()
    make_run_folder(folder)
    return f"sqlite:///{folder / 'fleet.sqlite'}"


@contextmanager
def opened(url: str | None) -> Iterator[Connection]:
    """Give a connection in one transaction: all changes in it are kept, or none.

    Raises InputError `database.*`.
    """
    engine = _engine(url or usual_url())
    try:
        with engine.begin() as connection:
            _migrate(connection)
        with engine.begin() as connection:
            yield connection
    except CommandError as error:
        raise InputError(
            "database.newer",
            where=_plain(engine.url),
            found=shown(str(error), 200),
            so="a newer release of wirespeed made it; nothing was read or changed",
            next="use that release, or give another database",
        ) from None
    except SQLAlchemyError as error:
        said = str(getattr(error, "orig", error)).split("\n")[0]
        for secret in _secrets(engine.url):
            said = said.replace(secret, "***")
        raise InputError(
            "database.failed",
            where=_plain(engine.url),
            found=shown(said, 300),
            next="give sqlite:///FILE, or postgresql://USER@HOST/NAME of a running server",
        ) from None
    finally:
        engine.dispose()


def _engine(url: str) -> Engine:
    try:
        parsed = make_url(url)
        if parsed.drivername == "postgresql":
            parsed = parsed.set(drivername="postgresql+psycopg")
        engine = create_engine(parsed)
    except (ArgumentError, ValueError):
        # Neither the URL nor a part of it is shown: its password may be anywhere in it.
        raise InputError(
            "database.url", where="--database", found="not the address of a database: scheme, "
            "host, port and name cannot be told apart, or the port is not a number",
            next="give sqlite:///FILE or postgresql://USER@HOST:PORT/NAME",
        ) from None  # fmt: skip
    except SQLAlchemyError as error:
        raise InputError(
            "database.url", where="--database", found=shown(str(error), 200),
            next="give sqlite:///FILE or postgresql://USER@HOST/NAME",
        ) from None  # fmt: skip
    except ImportError as error:
        raise InputError(
            "fleet.library",
            where=parsed.drivername,
            found=shown(str(error), 200),
            next=how_to_add("postgresql"),
        ) from None
    if parsed.get_backend_name() == "sqlite":
        event.listen(engine, "connect", _as_it_should_be)
        event.listen(engine, "begin", _begin)
    return engine


def _plain(url: URL) -> str:
    """Give a URL without a password, which may stand in its query too."""
    return url.set(query={}).render_as_string(hide_password=True)


def _secrets(url: URL) -> list[str]:
    """Give what a driver's error must not show, the longest first."""
    values = (
        value for one in url.query.values() for value in ((one,) if isinstance(one, str) else one)
    )
    return sorted(filter(None, (str(url.password or ""), *values)), key=len, reverse=True)


def _as_it_should_be(connection: Any, _record: object) -> None:
    """SQLite keeps no foreign keys unless it is asked to.

    Python's driver begins a transaction of its own only before some statements, and not before
    CREATE TABLE (SQLAlchemy, dialects/sqlite, "Serializable isolation"): it is told to begin none.
    """
    connection.isolation_level = None
    connection.execute("PRAGMA foreign_keys=ON")


def _begin(connection: Connection) -> None:
    """Begin one that no other writer gets into."""
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _migrate(connection: Connection) -> None:
    """Bring the schema to the newest; does nothing where it is."""
    folder = files("wirespeed.runs.store") / "migrations"
    config = Config()
    config.set_main_option("script_location", str(Path(str(folder))))
    script = ScriptDirectory.from_config(config)

    def upgrade(revision: Any, _context: object) -> Any:
        return script._upgrade_revs("head", revision)

    with EnvironmentContext(config, script, fn=upgrade) as environment:
        environment.configure(connection=connection, transactional_ddl=True)
        environment.run_migrations()
