"""The one schema, for SQLite and PostgreSQL. A change here needs a migration beside the others.

Money is never in it, passwords and captures neither: what is kept is what an answer says.
"""

from sqlalchemy import (
    Column,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
)

NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}
"""So that a migration can name what it changes, on every database."""
metadata = MetaData(naming_convention=NAMES)
KEY = 255

runs = Table(
    "runs",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at", String(40), nullable=False),
    Column("source", Text, nullable=False),
    Column("question", Text, nullable=False),
    Column("hosts", Integer, nullable=False),
    Column("well", Integer, nullable=False),
    Column("causes", Integer, nullable=False),
)
hosts = Table(
    "hosts",
    metadata,
    Column("run", Integer, ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("name", String(KEY), primary_key=True),
    Column("reach", Text, nullable=False),
    Column("state", String(20), nullable=False),
    Column("what", Text, nullable=False),
    Column("found", Text, nullable=False),
    Column("profile", String(32), nullable=False),
    Index(None, "name"),
)
_of_host = ("run", "host"), ("hosts.run", "hosts.name")
traits = Table(
    "traits",
    metadata,
    Column("run", Integer, primary_key=True),
    Column("host", String(KEY), primary_key=True),
    Column("trait", String(KEY), primary_key=True),
    Column("value", String(KEY), primary_key=True),
    ForeignKeyConstraint(*_of_host, ondelete="CASCADE"),
)
findings = Table(
    "findings",
    metadata,
    Column("run", Integer, primary_key=True),
    Column("host", String(KEY), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("rule", String(KEY), nullable=False),
    Column("place", Text, nullable=False),
    Column("severity", String(20), nullable=False),
    Column("cost_pps", Float, nullable=False),
    Column("evidence", Text, nullable=False),
    Column("so", Text, nullable=False),
    ForeignKeyConstraint(*_of_host, ondelete="CASCADE"),
    Index(None, "rule"),
)
settings = Table(
    "settings",
    metadata,
    Column("profile", String(32), primary_key=True),
    Column("name", String(KEY), primary_key=True),
    Column("value", Text, nullable=False),
)
causes = Table(
    "causes",
    metadata,
    Column("run", Integer, ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("rule", String(KEY), nullable=False),
    Column("severity", String(20), nullable=False),
    Column("hosts", Integer, nullable=False),
    Column("cost_pps", Float, nullable=False),
    Column("common", Text, nullable=False),
)
figures = Table(
    "figures",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at", String(40), nullable=False),
    Column("name", String(KEY), nullable=False),
    Column("host", String(KEY), nullable=False),
    Column("unit", String(40), nullable=False),
    Column("value", Float, nullable=False),
    Column("batch", Integer, nullable=False),
    Index(None, "name", "host"),
)
