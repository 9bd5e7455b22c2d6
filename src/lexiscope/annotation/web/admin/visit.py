"""One request of a researcher for its handler: account, language, form, and long lists in pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from lexiscope.annotation.phrases import Phrase
from lexiscope.annotation.store.overview import study_status
from lexiscope.annotation.web.admin.dashboard import Dashboard
from lexiscope.annotation.web.admin.sessions import Session
from lexiscope.annotation.web.admin.texts import MESSAGES, NOTICE_SIMULATED, STATUSES, TITLES, reason_phrase
from lexiscope.annotation.web.replies import MESSAGES as PARTICIPANTS_MESSAGES
from lexiscope.annotation.web.security import Refused
from lexiscope.annotation.web.views import AdminFrame, NavView

ROOT = "/researcher"
LANGUAGES = ("en", "es")
"""The languages in which the researchers' pages are complete."""
LOGIN_FORM = "researcher-login"
PER_PAGE = 50


@dataclass(frozen=True, slots=True)
class Visit:
    """A request, the study's dashboard, the session (``None`` before the login) and the form that was sent."""

    dashboard: Dashboard
    request: Request
    session: Session | None = None
    form: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The account's name; it is the actor of everything that this request does."""
        return self.session.name if self.session is not None else ""

    @property
    def language(self) -> str:
        """The first language of the browser that the pages have; otherwise that of the study, otherwise English."""
        return language_of(self.request.headers.get("accept-language", ""), self.dashboard.app.definition.language)

    @property
    def csrf(self) -> str:
        """The token of the forms of this page."""
        return self.session.csrf if self.session is not None else self.dashboard.app.keys.form_token(LOGIN_FORM)

    def translate(self, text: str, **values: object) -> str:
        """Return a text of the program in the researcher's language."""
        return self.dashboard.app.pages.translate(text, self.language, **values)

    def say(self, phrase: Phrase) -> str:
        """Return a phrase in the researcher's language."""
        return self.dashboard.app.pages.phrase(phrase, self.language)

    def reason(self, reason: str) -> str:
        """Return the stored reason of a change of state in the researcher's language."""
        return self.say(reason_phrase(reason, self.dashboard.rules)) if reason else ""

    def message(self, key: str) -> str:
        """Return the message of a key; empty for none or an unknown one."""
        text = MESSAGES.get(key) or PARTICIPANTS_MESSAGES.get(key)
        return self.translate(text) if text else ""

    def page(self, template: str, *, here: str, title: str = "", status: int = 200, **values: Any) -> HTMLResponse:
        """Return a page. *here* is the entry of the navigation; *title* replaces its text."""
        said, kind = values.pop("said", self.request.query_params.get("said", "")), values.pop("said_kind", "done")
        study = self.dashboard.app.definition
        colour, word = STATUSES[self.dashboard.app.store.read(study_status)] if self.session is not None else ("", "")
        frame = AdminFrame(
            title=title or self.translate(TITLES[here]),
            language=self.language,
            csrf=self.csrf,
            study_title=(study.texts.title or study.name) if self.session is not None else "",
            nav=self._nav_views(here) if self.session is not None else (),
            status=colour,
            status_text=self.translate(word) if word else "",
            notice=self._simulated_notice(),
            flash=self.message(said),
            flash_kind=kind if said not in FAILED else "failed",
            user=self.name,
            logout_url=f"{ROOT}/logout" if self.session is not None else "",
        )
        html = self.dashboard.app.pages.render(template, self.language, frame=frame, root=ROOT, **values)
        return HTMLResponse(html, status_code=status)

    def _simulated_notice(self) -> str:
        """Return the notice on all pages of a study with simulated participants; empty before the login."""
        simulated = self.session is not None and self.dashboard.app.store.holds_simulated()
        return self.translate(NOTICE_SIMULATED) if simulated else ""

    def counting_page(self, here: str) -> HTMLResponse:
        """Return the page that is shown while the answers are counted for the first time; it reloads itself."""
        response = self.page("admin_counting.html", here=here)
        response.headers["refresh"] = "2"
        return response

    def redirect(self, where: str, *, said: str = "", **query: str) -> Response:
        """Redirect to a page after a form; *said* is the key of the message shown there."""
        known = {**({"said": said} if said else {}), **query}
        return RedirectResponse(f"{ROOT}{where}{'?' + urlencode(known) if known else ''}", status_code=303)

    def number(self, name: str, *, least: int = 1, most: int = 10**9, default: int = 1) -> int:
        """Return a whole number of the address's query, within its limits."""
        text = self.request.query_params.get(name, "")
        if not (text.isascii() and text.isdecimal() and len(text) <= 9):
            return default
        return min(max(int(text), least), most)

    def _nav_views(self, here: str) -> tuple[NavView, ...]:
        hidden = () if self.dashboard.collects_texts else ("review",)
        return tuple(
            NavView(f"{ROOT}/{'' if name == 'overview' else name}".rstrip("/"), self.translate(text), name == here)
            for name, text in TITLES.items()
            if name not in hidden
        )


FAILED = frozenset(
    {
        "too_many_logins",
        "wrong_login",
        "busy",
        "no_setup",
        "judging_failed",
        "not_possible",
        "reason_missing",
        "not_typed",
        "text_missing",
        "bad_number",
        "many_tokens",
        "still_written",
        "not_confirmed",
        "answer_refused",
        "damaged",
        "export_failed",
    }
)
"""The keys of messages about actions that failed."""


def language_of(accepted: str, of_study: str) -> str:
    """Return the language of the pages for what a browser accepts.

    >>> language_of("es-MX,es;q=0.9,en;q=0.8", "en"), language_of("de", "es"), language_of("", "de")
    ('es', 'es', 'en')
    """
    asked = [part.partition(";")[0].strip().partition("-")[0].lower() for part in accepted[:200].split(",")]
    for language in (*asked, of_study.partition("-")[0].lower()):
        if language in LANGUAGES:
            return language
    return LANGUAGES[0]


def form_text(text: str, *, longest: int = 2000) -> str:
    """Return a text of a form without the white space around it.

    Errors: :class:`Refused` 422 for a text that is too long.
    """
    if len(text) > longest:
        raise Refused(422, "too_long", "too_large")
    return text.strip()


# -- A long list in pages -------------------------------------------------------------------------------------------


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ListPage(Generic[T]):
    """One page of a list: its rows, its number from 1, the numbers of pages and rows, and the adjacent pages."""

    rows: tuple[T, ...]
    number: int
    n_pages: int
    n_rows: int
    before: str = ""
    after: str = ""


def list_page(visit: Visit, rows: Sequence[T], *, where: str, per_page: int = PER_PAGE, **query: str) -> ListPage[T]:
    """Return the page of a list that the address names (``page=2``); the last one if there are fewer."""
    number = requested_page(visit, len(rows), per_page=per_page)
    mine = rows[(number - 1) * per_page : number * per_page]
    return page_with_rows(mine, number, n_rows=len(rows), where=where, per_page=per_page, **query)


def requested_page(visit: Visit, n_rows: int, *, per_page: int = PER_PAGE) -> int:
    """Return the number of the page that the address names."""
    return visit.number("page", most=max(1, -(-n_rows // per_page)))


def page_with_rows(
    rows: Sequence[T], number: int, *, n_rows: int, where: str, per_page: int = PER_PAGE, **query: str
) -> ListPage[T]:
    """Return a page with rows that were read before, and with the addresses of the adjacent pages."""
    n_pages = max(1, -(-n_rows // per_page))
    kept = {name: value for name, value in query.items() if value}

    def address(page: int) -> str:
        return f"{ROOT}{where}?{urlencode({**kept, 'page': str(page)})}" if 1 <= page <= n_pages else ""

    return ListPage(tuple(rows), number, n_pages, n_rows, address(number - 1), address(number + 1))
