"""The researcher's side of a store: the study's status, reviews, accounts, tokens, and what the dashboard shows."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from lexiscope.annotation.store import accounts, overview, participants
from lexiscope.annotation.store.checks import check_text
from lexiscope.annotation.store.engine import sa
from lexiscope.annotation.store.export import effective
from lexiscope.annotation.store.opened import OpenedStudy
from lexiscope.annotation.store.places import stamp
from lexiscope.annotation.store.record import AnswerRefused, Phase, Review, Status
from lexiscope.annotation.store.schema import ANSWERS, PARTICIPANTS
from lexiscope.core.simulated import SIMULATED_ID


class Desk(OpenedStudy):
    """What a researcher does with a running study and sees of it."""

    # -- the study --------------------------------------------------------------------------------------------

    def status(self) -> Status:
        """Return whether the study is running, paused or closed. Paused and closed take in nobody new."""
        with self._read() as connection:
            return overview.status(connection)

    def set_status(self, status: Status, *, actor: str) -> None:
        """Pause, resume or close the study, with an entry in the audit log. Errors: :class:`AnswerRefused`."""
        now = self._now()

        def job(connection: sa.Connection) -> None:
            if overview.set_status(connection, status, actor=actor, at=now):
                self._audit(connection, "set_status", actor=actor, status=status)

        self._write(job)

    def people(self) -> list[overview.ListedParticipant]:
        """Return all participants in the order of their arrival, under their random ids."""
        with self._read() as connection:
            now = self._clock()
            since = stamp(now - timedelta(minutes=self.study.hold_minutes))
            return overview.people(connection, now=stamp(self.held_now()), since=since)

    def codes(self) -> dict[str, dict[str, str]]:
        """Return the codes that were issued: by participant, by kind."""
        with self._read() as connection:
            return overview.codes(connection)

    def item_counts(self) -> dict[str, tuple[int, int, int]]:
        """Return how many people count for each item: valid, active, excluded (:func:`overview.item_counts`)."""
        with self._read() as connection:
            return overview.item_counts(connection, stamp(self.held_now()))

    def written_counts(self) -> Mapping[str, int]:
        """Return how many effective answers that are no skips each item has, those of excluded people left out."""
        with self._read() as connection:
            return overview.written_counts(connection)

    def comments(self) -> list[overview.MarkedAnswer]:
        """Return the effective answers that carry a comment or a flag."""
        with self._read() as connection:
            return overview.remarks(connection)

    def trial_answers(self) -> list[Mapping[str, Any]]:
        """Return the latest answer of everybody to each trial, by participant and position, as rows of the answers."""
        with self._read() as connection:
            return effective(connection, ANSWERS.c.phase == str(Phase.TRIALS))

    def record_review(self, review: Review) -> None:
        """Append a decision about an answer; earlier ones stay. Errors: :class:`AnswerRefused`."""
        self._write(lambda c: overview.record_review(c, review))

    def reviews(self) -> list[Review]:
        """Return all reviews, oldest first; the latest of an answer counts."""
        with self._read() as connection:
            return overview.reviews(connection)

    # -- accounts ---------------------------------------------------------------------------------------------

    def set_password(self, name: str, password_hash: str, *, actor: str) -> None:
        """Make an account or change its password, which ends its sessions; the audit log notes it without the hash."""
        now = self._now()

        def job(connection: sa.Connection) -> None:
            accounts.set_password(connection, name, password_hash, at=now)
            self._audit(connection, "set_password", actor=actor, name=name)

        self._write(job)

    def password_hash(self, name: str) -> str | None:
        """Return the hash of an account's password, ``None`` where there is no such account."""
        with self._read() as connection:
            return accounts.password_hash(connection, name)

    def accounts(self) -> tuple[str, ...]:
        """Return the names of all accounts, sorted."""
        with self._read() as connection:
            return accounts.names(connection)

    def open_session(self, token_sha256: str, name: str, expires_at: datetime) -> None:
        """Note a session by its token's hash. Errors: :class:`AnswerRefused` for an unknown account."""
        now, until = self._now(), stamp(expires_at)
        self._write(lambda c: accounts.open_session(c, token_sha256, name, expires_at=until, now=now))

    def session(self, token_sha256: str) -> str | None:
        """Return the name of the account while its session lasts."""
        with self._read() as connection:
            return accounts.session(connection, token_sha256, now=self._now())

    def close_session(self, token_sha256: str) -> None:
        """End a session."""
        self._write(lambda c: accounts.close_session(c, token_sha256))

    def set_setup_secret(self, sha256: str, expires_at: datetime) -> None:
        """Note the hash of the one-time set-up secret; an earlier one is void."""
        until = stamp(expires_at)
        self._write(lambda c: accounts.set_setup_secret(c, sha256, expires_at=until))

    def use_setup_secret(self, sha256: str) -> bool:
        """Say whether this is the set-up secret: true once, before it expires."""
        now = self._now()
        return self._write(lambda c: accounts.use_setup_secret(c, sha256, now=now))

    # -- simulated participants -------------------------------------------------------------------------------

    def holds_simulated(self) -> bool:
        """Say whether participants of this study are simulated: every page that counts them says so."""
        ids = PARTICIPANTS.c.participant_id
        found = sa.select(ids).where(ids.startswith(SIMULATED_ID)).limit(1)
        with self._read() as connection:
            return self.study.simulated or connection.execute(found).first() is not None

    # -- lab tokens -------------------------------------------------------------------------------------------

    def make_tokens(self, n: int, *, actor: str) -> list[str]:
        """Invite *n* participants and return a token for each, 160 random bits; only their hashes are stored.

        Errors: :class:`AnswerRefused` for a number outside 1 to 10,000.
        """
        if isinstance(n, bool) or not 1 <= n <= 10_000:
            raise AnswerRefused("n", "a number from 1 to 10,000 is expected")
        check_text("actor", actor, longest=200)
        now, simulated = self._now(), self.study.simulated

        def job(connection: sa.Connection) -> list[str]:
            people = [
                participants.invite(connection, self._key, platform_id=None, session=None, at=now, simulated=simulated)
                for _ in range(n)
            ]
            self._audit(connection, "make_tokens", actor=actor, tokens=n)
            return [accounts.make_token(connection, who) for who in people]

        return self._write(job)

    def participant_of_token(self, token: str) -> str | None:
        """Return the participant whose token this is."""
        with self._read() as connection:
            return accounts.participant_of_token(connection, token)
