"""The migration of an older study's tables to the present version: all steps in one transaction, after a backup."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lexiscope.annotation.store import audit, seals
from lexiscope.annotation.store.engine import sa
from lexiscope.annotation.store.schema import ALEMBIC_VERSION, SCHEMA_VERSION, STUDY
from lexiscope.core.errors import RunError

if TYPE_CHECKING:
    from alembic.runtime.migration import MigrationContext, RevisionStep

_STEPS = Path(__file__).parent / "migrations"


def stored_version(connection: sa.Connection) -> int:
    """Return the version of the tables of a database, 0 where it has none of a study.

    Errors: :class:`RunError` where they are newer than this program, :class:`ValueError` where the number is damaged.
    """
    tables = set(sa.inspect(connection).get_table_names())
    if STUDY.name not in tables or connection.execute(sa.select(STUDY.c.study_id)).first() is None:
        return 0
    # version 1 wrote its number into the study's row only
    written = ALEMBIC_VERSION.c.version_num if ALEMBIC_VERSION.name in tables else STUDY.c.schema_version
    numbers = [str(number) for number in connection.execute(sa.select(written)).scalars()]
    if len(numbers) != 1 or not re.fullmatch("[1-9][0-9]{0,8}", numbers[0]):
        raise ValueError(f"{written.table.name}.{written.name}: the version of the tables is not there")
    version = int(numbers[0])
    if version > SCHEMA_VERSION:
        raise RunError(
            f"this study has tables of version {version}, this program knows them up to version {SCHEMA_VERSION}",
            hint="open it with the newer Lexiscope that made it, or with a later one",
        )
    return version


def migrate(connection: sa.Connection, key: bytes, *, version: int, at: str) -> None:
    """Run the steps from *version* to the present one in the caller's transaction; the audit log notes it."""
    # 10 MB in every process that opens a study, and hardly any study is of an older version
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.runtime.migration import MigrationStep
    from alembic.script import ScriptDirectory

    steps = ScriptDirectory(str(_STEPS), version_locations=[str(_STEPS)])

    def steps_ahead(revision: Any, _: MigrationContext) -> list[RevisionStep]:
        ahead = list(steps.iterate_revisions("head", revision, implicit_base=True))
        return [MigrationStep.upgrade_from_script(steps.revision_map, step) for step in reversed(ahead)]

    with EnvironmentContext(Config(), steps, fn=steps_ahead) as environment:
        environment.configure(connection=connection)
        environment.run_migrations()
    if version < 2:
        # rows that were written before there were seals are sealed as they are found
        seals.seal(connection, key, seals.seals_of(connection), at=at)
    details = {"from": version, "to": SCHEMA_VERSION}
    audit.append(connection, key, at=at, actor="store", action="migrate", details=details)
