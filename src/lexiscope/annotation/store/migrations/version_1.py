"""Version 1: where every older study begins. Its tables were made without Alembic, so this step has nothing to do."""

from __future__ import annotations

revision = "1"
down_revision = None


def upgrade() -> None:
    """Do nothing: a study of version 1 has its tables."""
