"""What the handlers of one study share: the frozen study, its store, its keys, and the limits on requests."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from lexiscope.annotation.store.accounts import sha256
from lexiscope.annotation.store.safekeeping import Health
from lexiscope.annotation.store.store import Store
from lexiscope.annotation.study_file.definition import StudyDefinition
from lexiscope.annotation.study_file.freeze import FrozenStudy
from lexiscope.annotation.web.flow import Flow, Step
from lexiscope.annotation.web.pages import Pages
from lexiscope.annotation.web.security import Keys, RateLimit, Refused, ServerSettings, read_form
from lexiscope.annotation.web.showings import ShownTrial
from lexiscope.annotation.web.views import Frame
from lexiscope.core.errors import LexiscopeError
from lexiscope.resources.corpora.entity_list import EntityList

LOG = logging.getLogger("lexiscope.annotation")
COOKIE, SHOWN_COOKIE = "participant", "shown"
HEALTH_SECONDS = 4.0
"""How long /health waits for the database."""
T = TypeVar("T")


def utc_now() -> datetime:
    """Return the time of the clock."""
    return datetime.now(UTC)


@dataclass(slots=True)
class App:
    """What the handlers share.

    ``clock`` gives the times that are stored; a rehearsal brings its own. ``postgres`` is the address of the
    database where the study is not stored in its folder.
    """

    study: FrozenStudy
    store: Store
    settings: ServerSettings
    pages: Pages
    flow: Flow
    keys: Keys
    entities: EntityList | None = None
    saves: RateLimit = field(default_factory=lambda: RateLimit(burst=20, per_second=10))
    arrivals: RateLimit = field(default_factory=lambda: RateLimit(burst=400, per_second=50))
    tasks: set[asyncio.Task[Any]] = field(default_factory=set)
    # one thread: applying the rules again then reuses the memory
    rule_thread: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "lexiscope-exclusion-rules"))
    asked: Future[Health] | None = None
    exclusion_task: asyncio.Task[None] | None = None
    apply_again: bool = False
    clock: Callable[[], datetime] = utc_now
    postgres: str | None = None

    @classmethod
    def of(
        cls, study: FrozenStudy, store: Store, settings: ServerSettings, *, entities: EntityList | None = None
    ) -> App:
        """Put an app together; without *entities* the list that the study names is read.

        Errors: those of the entity list, where the study names one.
        """
        search = study.definition.search
        if entities is None and search:
            entities = EntityList.read(Path(search))
        return cls(
            study, store, settings, Pages(own=study.page_texts), Flow(study, store), Keys(store.folder), entities
        )

    @property
    def definition(self) -> StudyDefinition:
        """The study's definition."""
        return self.study.definition

    def participant_of(self, request: Request) -> str:
        """Return the participant who sent this request.

        Errors: :class:`Refused` 401 if there is no valid session.
        """
        who = self.keys.participant(_cookie(request, self.settings.cookie(COOKIE)))
        if who is None:
            raise Refused(401, "no_session", "no_session")
        return who

    async def form(self, request: Request, who: str) -> dict[str, str]:
        """Read the form of a participant; field names lose the suffix that keeps browsers from mixing up items.

        Errors: :class:`Refused` (429, 413, 415, 400, 403).
        """
        self.saves.take(who)
        form = await read_form(request)
        self.keys.check_form(request, who, form.get("csrf", ""), origin=self.settings.origin)
        return {name.partition("-")[0]: value for name, value in form.items()}

    def frame(self, who: str, *, done: int = 0, total: int = 0) -> Frame:
        """Return what every page of a participant is given."""
        texts = self.definition.texts
        return Frame(
            study_title=texts.title,
            language=self.definition.language,
            csrf=self.keys.form_token(who),
            nonce=new_client_key(),
            contact=self.definition.contact,
            done=done,
            total=total,
            owner=sha256(who)[:16],
        )

    def first_showing(self, request: Request, trial: ShownTrial) -> tuple[str, str]:
        """Return the mark of when a trial's page was first shown in this browser, and the marks for its cookie.

        A page that is loaded again keeps its first mark until it is answered; its cookie stays, and is given as empty.
        """
        kept = _cookie(request, self.settings.cookie(SHOWN_COOKIE))
        return self.keys.showings.first(kept, trial, self.clock())

    def set_cookie(self, response: Response, name: str, value: str) -> None:
        """Give a browser a cookie that lasts as long as its session."""
        response.set_cookie(
            self.settings.cookie(name), value, secure=self.settings.secure, httponly=True, samesite="lax"
        )

    async def read(self, query: Callable[..., T], *args: Any) -> T:
        """Run a short query: at once if the database is a local file, in a thread if it is a server."""
        return await asyncio.to_thread(query, *args) if self.store.is_shared else query(*args)

    async def health(self) -> Health:
        """Return the state of the study's storage; after a failure it is tried first whether answers are saved again.

        Errors: those of the store; ``TimeoutError`` where the database does not answer in time. It is asked once at a
        time, in a thread that no process waits for: a database that hangs may keep it for ever.
        """

        def ask(answer: Future[Health]) -> None:
            try:
                self.store.probe()
                answer.set_result(self.store.health())
            except BaseException as error:  # noqa: BLE001 - handed to the requests that wait
                answer.set_exception(error)

        if self.asked is None or self.asked.done():
            self.asked = Future()
            Thread(target=ask, args=(self.asked,), name="lexiscope-health", daemon=True).start()
        return await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(self.asked)), HEALTH_SECONDS)

    async def advance(self, who: str) -> Step:
        """Do what follows for a participant; if one may have finished since, the exclusion rules are applied soon."""
        step = await asyncio.to_thread(self.flow.advance, who)
        if self.flow.exclusion_rules.pending:
            self.apply_rules_soon()
        return step

    def apply_rules_soon(self) -> None:
        """Apply the exclusion rules after a participant finished, and once more if others finish meanwhile.

        The rules read every answer. So that participants do not wait, the pause is ten times as long as applying them
        took: an instant in a small study, some seconds with tens of thousands of answers.
        """
        if self.exclusion_task is not None and not self.exclusion_task.done():
            self.apply_again = True
            return
        self.exclusion_task = asyncio.create_task(self._apply_rules())
        self.tasks.add(self.exclusion_task)
        self.exclusion_task.add_done_callback(self.tasks.discard)

    async def _apply_rules(self) -> None:
        again = True
        while again:
            self.apply_again = False
            begun = time.monotonic()
            try:
                await asyncio.get_running_loop().run_in_executor(self.rule_thread, self.flow.exclusion_rules.apply)
            except LexiscopeError as error:
                # the audit log has it too; it is tried again when the next participant finishes
                LOG.error("the exclusion rules could not be applied: %s", " ".join(str(error).split()))
            again = self.apply_again
            if again:
                await asyncio.sleep(min(60.0, 10 * (time.monotonic() - begun)))


def _cookie(request: Request, name: str) -> str:
    """Return one cookie of a request, without reading the others."""
    for part in request.headers.get("cookie", "").split(";"):
        key, _, value = part.strip().partition("=")
        if key == name:
            return value.strip('"')
    return ""


def new_client_key() -> str:
    """Return a key that a form sends with its answer: if it is sent again, the first receipt is returned."""
    return secrets.token_hex(16)
