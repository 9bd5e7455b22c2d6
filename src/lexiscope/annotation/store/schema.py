"""The tables of a study, and the triggers that keep its record append-only.

Times are ISO 8601 text in UTC with microseconds and offset: they sort, read and export the same in both databases.
Only ``identities`` knows who a participant is on the recruiting platform; every other table holds the random id.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lexiscope.annotation.store.engine import sa

SCHEMA_VERSION = 3
METADATA = sa.MetaData()

TIME = sa.String(32)
"""The type of a column of times."""


def _participant(*, primary_key: bool = False) -> sa.Column[str]:
    reference = sa.ForeignKey("participants.participant_id")
    return sa.Column("participant_id", sa.Text, reference, nullable=False, primary_key=primary_key)


def _columns(kind: Any, *names: str, nullable: bool = False) -> Iterator[sa.Column[Any]]:
    """Yield columns of one type."""
    return (sa.Column(name, kind, nullable=nullable) for name in names)


def _ddl(statement: str, dialect: str) -> sa.ExecutableDDLElement:
    return sa.DDL(statement).execute_if(dialect=dialect)  # type: ignore[no-untyped-call]


STUDY = sa.Table(
    "study",
    METADATA,
    sa.Column("study_id", sa.Text, primary_key=True),
    sa.Column("schema_version", sa.Integer, nullable=False),
    sa.Column("definition", sa.Text, nullable=False),
    sa.Column("sha256", sa.String(64), nullable=False),
    sa.Column("created_at", TIME, nullable=False),
)
PARTICIPANTS = sa.Table(
    "participants",
    METADATA,
    sa.Column("participant_id", sa.Text, primary_key=True),
    sa.Column("created_at", TIME, nullable=False),
)
IDENTITIES = sa.Table(
    "identities",
    METADATA,
    _participant(primary_key=True),
    sa.Column("lookup", sa.String(64), nullable=False, unique=True),
    sa.Column("platform_id", sa.Text, nullable=False),
    sa.Column("session", sa.Text),
)
CONSENTS = sa.Table(
    "consents",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    _participant(),
    sa.Column("text_version", sa.Text, nullable=False),
    sa.Column("text_sha256", sa.String(64), nullable=False),
    sa.Column("at", TIME, nullable=False),
)
STATES = sa.Table(
    "states",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    _participant(),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("from_state", sa.Text),
    *_columns(sa.Text, "to_state", "reason"),
    sa.Column("at", TIME, nullable=False),
    sa.UniqueConstraint("participant_id", "number"),
)
LISTS = sa.Table(
    "lists",
    METADATA,
    sa.Column("list_id", sa.Text, primary_key=True),
    sa.Column("ordinal", sa.Integer, nullable=False),
    sa.Column("places", sa.Integer, sa.CheckConstraint("places >= 0"), nullable=False),
)
LEASES = sa.Table(
    "leases",
    METADATA,
    _participant(primary_key=True),
    sa.Column("list_id", sa.Text, sa.ForeignKey("lists.list_id"), nullable=False, index=True),
    sa.Column("ordinal", sa.Integer, nullable=False, unique=True),
    sa.Column("number", sa.Integer),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("surplus", sa.Boolean, nullable=False),
    *_columns(TIME, "taken_at", "expires_at"),
)
TRIALS = sa.Table(
    "trials",
    METADATA,
    _participant(primary_key=True),
    sa.Column("phase", sa.Text, primary_key=True),
    sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
    *_columns(sa.Text, "item_id", "display_order"),
    sa.Column("side", sa.Text),
    sa.UniqueConstraint("participant_id", "phase", "item_id"),
)
ANSWERS = sa.Table(
    "answers",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    _participant(),
    *_columns(sa.Text, "item_id", "phase", "client_key"),
    sa.Column("revision", sa.Integer, nullable=False),
    sa.Column("supersedes", sa.Integer, sa.ForeignKey("answers.id"), index=True),
    *_columns(sa.Integer, "position", "next_position"),
    sa.Column("measure", sa.Text, nullable=False),
    sa.Column("value", sa.Float(53)),
    *_columns(sa.Text, "option", "text", "guessed_word", nullable=True),
    sa.Column("display_order", sa.Text, nullable=False),
    sa.Column("side", sa.Text),
    sa.Column("shown_at", TIME),
    sa.Column("answered_at", TIME, nullable=False),
    *_columns(sa.Float(53), "rt_ms", "rt_server_ms", nullable=True),
    sa.Column("comment", sa.Text),
    *_columns(sa.Text, "flags", "page_version", "guideline_version"),
    sa.Column("item_sha256", sa.String(64), nullable=False),
    sa.UniqueConstraint("participant_id", "item_id", "phase", "client_key"),
    sa.UniqueConstraint("participant_id", "phase", "item_id", "revision"),
)
CODES = sa.Table(
    "codes",
    METADATA,
    _participant(primary_key=True),
    sa.Column("kind", sa.Text, primary_key=True),
    sa.Column("code", sa.Text, nullable=False),
    sa.Column("at", TIME, nullable=False),
)
ERASURES = sa.Table(
    "erasures",
    METADATA,
    _participant(primary_key=True),
    sa.Column("answers", sa.Text, nullable=False),
    sa.Column("at", TIME, nullable=False),
)
AUDIT = sa.Table(
    "audit",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("at", TIME, nullable=False),
    *_columns(sa.Text, "actor", "action", "details"),
    *_columns(sa.String(64), "previous", "hash"),
)
AUDIT_HEAD = sa.Table(
    "audit_head",
    METADATA,
    sa.Column("one", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("entries", sa.Integer, nullable=False),
    sa.Column("hash", sa.String(64), nullable=False),
)
REVIEWS = sa.Table(
    "reviews",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("answer_id", sa.Integer, sa.ForeignKey("answers.id"), nullable=False, index=True),
    *_columns(sa.Text, "verdict", "reason"),
    sa.Column("text", sa.Text),
    sa.Column("actor", sa.Text, nullable=False),
    sa.Column("at", TIME, nullable=False),
)
STATUSES = sa.Table(
    "statuses",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    *_columns(sa.Text, "status", "actor"),
    sa.Column("at", TIME, nullable=False),
)
ACCOUNTS = sa.Table(
    "accounts",
    METADATA,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("password_hash", sa.Text, nullable=False),
    sa.Column("at", TIME, nullable=False),
)
SESSIONS = sa.Table(
    "sessions",
    METADATA,
    sa.Column("token_sha256", sa.String(64), primary_key=True),
    sa.Column("name", sa.Text, sa.ForeignKey("accounts.name"), nullable=False),
    sa.Column("expires_at", TIME, nullable=False),
)
SETUP_SECRETS = sa.Table(
    "setup_secrets",
    METADATA,
    sa.Column("sha256", sa.String(64), primary_key=True),
    sa.Column("expires_at", TIME, nullable=False),
)
ATTEMPTS = sa.Table(
    "attempts",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("key_sha256", sa.String(64), nullable=False),
    sa.Column("at", TIME, nullable=False),
)
TOKENS = sa.Table(
    "tokens",
    METADATA,
    sa.Column("token_sha256", sa.String(64), primary_key=True),
    sa.Column("participant_id", sa.Text, sa.ForeignKey("participants.participant_id"), nullable=False, unique=True),
)
ALEMBIC_VERSION = sa.Table(
    "alembic_version",
    METADATA,
    # as Alembic makes it
    sa.Column("version_num", sa.String(32), nullable=False),
    sa.PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)

APPEND_ONLY = (STUDY, PARTICIPANTS, CONSENTS, STATES, TRIALS, ANSWERS, CODES, ERASURES, AUDIT, REVIEWS, STATUSES)
"""Tables in which a row, once written, is neither changed nor deleted (but for an erasure: answers of one person)."""

_REFUSE = "SELECT RAISE(ABORT, '%(table)s is append-only'); END"
_NO_UPDATE = f"CREATE TRIGGER %(table)s_no_update BEFORE UPDATE ON %(table)s BEGIN {_REFUSE}"
_NO_DELETE = f"CREATE TRIGGER %(table)s_no_delete BEFORE DELETE ON %(table)s BEGIN {_REFUSE}"
_ERASED = "SELECT 1 FROM erasures WHERE participant_id = OLD.participant_id AND answers = 'removed'"
_ERASED_REVIEW = (
    "SELECT 1 FROM erasures e JOIN answers a ON a.participant_id = e.participant_id"
    " WHERE a.id = OLD.answer_id AND e.answers = 'removed'"
)
# INSERT OR REPLACE deletes without firing delete triggers: a row that it would replace is rejected before
_NO_REPLACE = (
    "CREATE TRIGGER %%(table)s_no_replace BEFORE INSERT ON %%(table)s"
    f" WHEN EXISTS (SELECT 1 FROM %%(table)s WHERE %s) BEGIN {_REFUSE.replace('%', '%%')}"
)
_POSTGRES_FUNCTION = f"""
CREATE OR REPLACE FUNCTION lexiscope_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND TG_TABLE_NAME = 'answers' THEN
    IF EXISTS ({_ERASED}) THEN
      RETURN OLD;
    END IF;
  END IF;
  IF TG_OP = 'DELETE' AND TG_TABLE_NAME = 'reviews' THEN
    IF EXISTS ({_ERASED_REVIEW}) THEN
      RETURN OLD;
    END IF;
  END IF;
  RAISE EXCEPTION '%% is append-only', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
END $$
"""
_POSTGRES_TRIGGER = (
    "CREATE TRIGGER %(table)s_append_only BEFORE UPDATE OR DELETE ON %(table)s "
    "FOR EACH ROW EXECUTE FUNCTION lexiscope_append_only()"
)
# a truncate fires no row triggers
_POSTGRES_TRUNCATE = (
    "CREATE TRIGGER %(table)s_no_truncate BEFORE TRUNCATE ON %(table)s EXECUTE FUNCTION lexiscope_append_only()"
)


def _keys(table: sa.Table) -> list[list[str]]:
    """The sets of columns in which no two rows of a table may agree."""
    unique = [
        constraint
        for constraint in table.constraints
        if isinstance(constraint, sa.PrimaryKeyConstraint | sa.UniqueConstraint)
    ]
    return [[column.name for column in constraint.columns] for constraint in unique]


def _guard(table: sa.Table) -> None:
    agree = [" AND ".join(f"{name} = NEW.{name}" for name in sorted(names)) for names in _keys(table)]
    clash = " OR ".join(f"({condition})" for condition in sorted(agree))
    erased = {"answers": _ERASED, "reviews": _ERASED_REVIEW}.get(table.name)
    no_delete = (
        _NO_DELETE
        if erased is None
        else f"CREATE TRIGGER %(table)s_no_delete BEFORE DELETE ON %(table)s WHEN NOT EXISTS ({erased}) BEGIN {_REFUSE}"
    )
    statements = [_NO_UPDATE, no_delete, _NO_REPLACE % clash]
    for statement in statements:
        sa.event.listen(table, "after_create", _ddl(statement, "sqlite"))
    for statement in (_POSTGRES_TRIGGER, _POSTGRES_TRUNCATE):
        sa.event.listen(table, "after_create", _ddl(statement, "postgresql"))


sa.event.listen(METADATA, "before_create", _ddl(_POSTGRES_FUNCTION, "postgresql"))
for _table in APPEND_ONLY:
    _guard(_table)
