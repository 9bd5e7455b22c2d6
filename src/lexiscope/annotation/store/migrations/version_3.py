"""Version 3: attempts to log in, which all workers count together.

What this step does is fixed for good: it says in its own words what ``schema.py`` said of version 3.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "3"
down_revision = "2"


def upgrade() -> None:
    """Make the table of attempts."""
    op.create_table(
        "attempts",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("key_sha256", sa.String(64), nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
    )
