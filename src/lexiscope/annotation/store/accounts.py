"""Access to a study: researchers' accounts, sessions and attempts, the set-up secret, tokens of lab participants.

Secrets are stored as hashes only. The server chooses how a password is hashed; sessions, the set-up secret and tokens
have 128 bits or more, for which SHA-256 is enough.
"""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta

from lexiscope.annotation.store.checks import check_text
from lexiscope.annotation.store.engine import sa
from lexiscope.annotation.store.places import stamp
from lexiscope.annotation.store.record import AnswerRefused
from lexiscope.annotation.store.schema import ACCOUNTS, ATTEMPTS, SESSIONS, SETUP_SECRETS, TOKENS

_TOKEN_BYTES = 20
_HEX = frozenset("0123456789abcdef")


def sha256(secret: str) -> str:
    """Return the hash under which a random secret is stored.

    >>> sha256("abc")[:16]
    'ba7816bf8f01cfea'
    """
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def set_password(connection: sa.Connection, name: str, password_hash: str, *, at: str) -> None:
    """Make an account or change its password, which ends its sessions."""
    check_text("name", name, longest=200)
    row = {"password_hash": check_text("password_hash", password_hash, longest=1000), "at": at}
    connection.execute(SESSIONS.delete().where(SESSIONS.c.name == name))
    changed = connection.execute(ACCOUNTS.update().where(ACCOUNTS.c.name == name).values(**row))
    if not changed.rowcount:
        connection.execute(ACCOUNTS.insert(), {"name": name, **row})


def password_hash(connection: sa.Connection, name: str) -> str | None:
    """Return the hash of an account's password, ``None`` if there is no such account."""
    if "\x00" in name:
        return None
    return connection.execute(sa.select(ACCOUNTS.c.password_hash).where(ACCOUNTS.c.name == name)).scalar()


def account_names(connection: sa.Connection) -> tuple[str, ...]:
    """Return the names of all accounts, sorted."""
    return tuple(connection.execute(sa.select(ACCOUNTS.c.name).order_by(ACCOUNTS.c.name)).scalars())


def open_session(connection: sa.Connection, token_sha256: str, name: str, *, expires_at: str, now: str) -> None:
    """Record a session of an account, and remove the sessions that have expired.

    Errors: :class:`AnswerRefused` for an unknown account, or a text that is not a hash.
    """
    _check_hash("token_sha256", token_sha256)
    if password_hash(connection, name) is None:
        raise AnswerRefused("name", f"there is no account {name!r}")
    connection.execute(SESSIONS.delete().where(SESSIONS.c.expires_at <= now))
    connection.execute(SESSIONS.insert(), {"token_sha256": token_sha256, "name": name, "expires_at": expires_at})


def session_account(connection: sa.Connection, token_sha256: str, *, now: str) -> str | None:
    """Return the account's name while its session lasts."""
    is_valid = (SESSIONS.c.token_sha256 == token_sha256) & (SESSIONS.c.expires_at > now)
    return connection.execute(sa.select(SESSIONS.c.name).where(is_valid)).scalar()


def close_session(connection: sa.Connection, token_sha256: str) -> None:
    """End a session; one that is over or unknown stays so."""
    connection.execute(SESSIONS.delete().where(SESSIONS.c.token_sha256 == token_sha256))


def set_setup_secret(connection: sa.Connection, digest: str, *, expires_at: str) -> None:
    """Record the hash of a one-time set-up secret; an earlier secret is void."""
    _check_hash("sha256", digest)
    connection.execute(SETUP_SECRETS.delete())
    connection.execute(SETUP_SECRETS.insert(), {"sha256": digest, "expires_at": expires_at})


def use_setup_secret(connection: sa.Connection, digest: str, *, now: str) -> bool:
    """Return whether this is the set-up secret; the first request that names it in time uses it up."""
    is_valid = (SETUP_SECRETS.c.sha256 == digest) & (SETUP_SECRETS.c.expires_at > now)
    return connection.execute(SETUP_SECRETS.delete().where(is_valid)).rowcount == 1


def attempts_since(connection: sa.Connection, key_sha256: str, since: datetime) -> list[datetime]:
    """Return the times of the attempts under a key, the earliest first."""
    is_recent = (ATTEMPTS.c.key_sha256 == key_sha256) & (ATTEMPTS.c.at > stamp(since))
    times = connection.execute(sa.select(ATTEMPTS.c.at).where(is_recent).order_by(ATTEMPTS.c.at)).scalars()
    return [datetime.fromisoformat(at) for at in times]


def begin_attempt(
    connection: sa.Connection, key_sha256: str, *, now: datetime, most: int, lasts: timedelta
) -> int | None:
    """Record an attempt and return its number; ``None`` if *most* were recorded in the time that an attempt *lasts*.

    Attempts that are over are removed, under whichever key.
    """
    _check_hash("key_sha256", key_sha256)
    connection.execute(ATTEMPTS.delete().where(ATTEMPTS.c.at <= stamp(now - lasts)))
    if len(attempts_since(connection, key_sha256, now - lasts)) >= most:
        return None
    made = ATTEMPTS.insert().values(key_sha256=key_sha256, at=stamp(now)).returning(ATTEMPTS.c.id)
    return int(connection.execute(made).scalar_one())


def forget_attempt(connection: sa.Connection, number: int) -> None:
    """Remove an attempt: it was right, or it was never checked."""
    connection.execute(ATTEMPTS.delete().where(ATTEMPTS.c.id == number))


def make_token(connection: sa.Connection, participant_id: str) -> str:
    """Make the token of an invited participant; only its hash is kept."""
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    connection.execute(TOKENS.insert(), {"token_sha256": sha256(token), "participant_id": participant_id})
    return token


def participant_of_token(connection: sa.Connection, token: str) -> str | None:
    """Return the participant whose token this is."""
    has_token = TOKENS.c.token_sha256 == sha256(token)
    return connection.execute(sa.select(TOKENS.c.participant_id).where(has_token)).scalar()


def _check_hash(field: str, text: str) -> None:
    # a secret that was handed over unhashed must not be written down
    if len(text) != 64 or not set(text) <= _HEX:
        raise AnswerRefused(field, "a SHA-256 in 64 hexadecimal digits is expected")
