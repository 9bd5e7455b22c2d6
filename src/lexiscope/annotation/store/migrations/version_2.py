"""Version 2: reviews, the study's status, accounts, sessions, the set-up secret, tokens of lab participants.

What this step does is fixed for good: it says in its own words what ``schema.py`` said of version 2.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "2"
down_revision = "1"

_TIME = sa.String(32)
_REFUSE = "SELECT RAISE(ABORT, '{table} is append-only'); END"
_ERASED = (
    "SELECT 1 FROM erasures e JOIN answers a ON a.participant_id = e.participant_id"
    " WHERE a.id = OLD.answer_id AND e.answers = 'removed'"
)
_SQLITE = (
    "CREATE TRIGGER {table}_no_update BEFORE UPDATE ON {table} BEGIN " + _REFUSE,
    "CREATE TRIGGER {table}_no_delete BEFORE DELETE ON {table} {unless}BEGIN " + _REFUSE,
    "CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table}"
    " WHEN EXISTS (SELECT 1 FROM {table} WHERE (id = NEW.id)) BEGIN " + _REFUSE,
)
_POSTGRES = (
    "CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table} "
    "FOR EACH ROW EXECUTE FUNCTION lexiscope_append_only()",
    "CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table} EXECUTE FUNCTION lexiscope_append_only()",
)
_POSTGRES_FUNCTION = f"""
CREATE OR REPLACE FUNCTION lexiscope_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND TG_TABLE_NAME = 'answers' THEN
    IF EXISTS (SELECT 1 FROM erasures WHERE participant_id = OLD.participant_id AND answers = 'removed') THEN
      RETURN OLD;
    END IF;
  END IF;
  IF TG_OP = 'DELETE' AND TG_TABLE_NAME = 'reviews' THEN
    IF EXISTS ({_ERASED}) THEN
      RETURN OLD;
    END IF;
  END IF;
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
END $$
"""


def upgrade() -> None:
    """Make the tables of version 2 and guard those that are only appended to."""
    _make_record()
    _make_accounts()
    if op.get_bind().dialect.name == "postgresql":
        op.get_bind().exec_driver_sql(_POSTGRES_FUNCTION.replace("%", "%%"))
    for table, unless in (("reviews", f"WHEN NOT EXISTS ({_ERASED}) "), ("statuses", "")):
        for statement in _SQLITE if op.get_bind().dialect.name == "sqlite" else _POSTGRES:
            op.get_bind().exec_driver_sql(statement.format(table=table, unless=unless))


def _make_record() -> None:
    op.create_table(
        "reviews",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("answer_id", sa.Integer, sa.ForeignKey("answers.id"), nullable=False, index=True),
        sa.Column("verdict", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("text", sa.Text),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("at", _TIME, nullable=False),
    )
    op.create_table(
        "statuses",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("at", _TIME, nullable=False),
    )


def _make_accounts() -> None:
    op.create_table(
        "accounts",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("password_hash", sa.Text, nullable=False),
        sa.Column("at", _TIME, nullable=False),
    )
    op.create_table(
        "sessions",
        sa.Column("token_sha256", sa.String(64), primary_key=True),
        sa.Column("name", sa.Text, sa.ForeignKey("accounts.name"), nullable=False),
        sa.Column("expires_at", _TIME, nullable=False),
    )
    op.create_table(
        "setup_secrets",
        sa.Column("sha256", sa.String(64), primary_key=True),
        sa.Column("expires_at", _TIME, nullable=False),
    )
    op.create_table(
        "tokens",
        sa.Column("token_sha256", sa.String(64), primary_key=True),
        sa.Column("participant_id", sa.Text, sa.ForeignKey("participants.participant_id"), nullable=False, unique=True),
    )
