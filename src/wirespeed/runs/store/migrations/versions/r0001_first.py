"""The first schema: runs, hosts, traits, findings, settings, causes, figures."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

KEY = 255


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "runs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", sa.String(40), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("hosts", sa.Integer(), nullable=False),
        sa.Column("well", sa.Integer(), nullable=False),
        sa.Column("causes", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
    )
    op.create_table(
        "hosts",
        sa.Column("run", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(KEY), nullable=False),
        sa.Column("reach", sa.Text(), nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("what", sa.Text(), nullable=False),
        sa.Column("found", sa.Text(), nullable=False),
        sa.Column("profile", sa.String(32), nullable=False),
        sa.ForeignKeyConstraint(["run"], ["runs.id"], name="fk_hosts_run", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run", "name", name="pk_hosts"),
    )
    op.create_index("ix_hosts_name", "hosts", ["name"])
    op.create_table(
        "traits",
        sa.Column("run", sa.Integer(), nullable=False),
        sa.Column("host", sa.String(KEY), nullable=False),
        sa.Column("trait", sa.String(KEY), nullable=False),
        sa.Column("value", sa.String(KEY), nullable=False),
        _of_host("traits"),
        sa.PrimaryKeyConstraint("run", "host", "trait", "value", name="pk_traits"),
    )
    op.create_table(
        "findings",
        sa.Column("run", sa.Integer(), nullable=False),
        sa.Column("host", sa.String(KEY), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("rule", sa.String(KEY), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("severity", sa.String(20), nullable=False),
        sa.Column("cost_pps", sa.Float(), nullable=False),
        sa.Column("evidence", sa.Text(), nullable=False),
        sa.Column("so", sa.Text(), nullable=False),
        _of_host("findings"),
        sa.PrimaryKeyConstraint("run", "host", "number", name="pk_findings"),
    )
    op.create_index("ix_findings_rule", "findings", ["rule"])
    op.create_table(
        "settings",
        sa.Column("profile", sa.String(32), nullable=False),
        sa.Column("name", sa.String(KEY), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("profile", "name", name="pk_settings"),
    )
    op.create_table(
        "causes",
        sa.Column("run", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("rule", sa.String(KEY), nullable=False),
        sa.Column("severity", sa.String(20), nullable=False),
        sa.Column("hosts", sa.Integer(), nullable=False),
        sa.Column("cost_pps", sa.Float(), nullable=False),
        sa.Column("common", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["run"], ["runs.id"], name="fk_causes_run", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run", "number", name="pk_causes"),
    )
    op.create_table(
        "figures",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", sa.String(40), nullable=False),
        sa.Column("name", sa.String(KEY), nullable=False),
        sa.Column("host", sa.String(KEY), nullable=False),
        sa.Column("unit", sa.String(40), nullable=False),
        sa.Column("value", sa.Float(), nullable=False),
        sa.Column("batch", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_figures"),
    )
    op.create_index("ix_figures_name_host", "figures", ["name", "host"])


def downgrade() -> None:
    """Remove them."""
    for table in ("figures", "causes", "settings", "findings", "traits", "hosts", "runs"):
        op.drop_table(table)


def _of_host(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["run", "host"],
        ["hosts.run", "hosts.name"],
        name=f"fk_{table}_run_host",
        ondelete="CASCADE",
    )
