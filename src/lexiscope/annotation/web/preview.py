"""The preview: every kind of page of a study, made by the same code as for participants, without a store."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles

from lexiscope.annotation.store.answers import Progress
from lexiscope.annotation.store.record import Phase, State, StoredTrial
from lexiscope.annotation.study_file.freeze import FrozenStudy
from lexiscope.annotation.study_file.study_folder import StudyOnDisk
from lexiscope.annotation.web.connections import AnnouncingServer, listening_socket, server_config
from lexiscope.annotation.web.flow import TrialOnPage
from lexiscope.annotation.web.pages import STATIC, Pages, to_html
from lexiscope.annotation.web.replies import log_fault, wants_json
from lexiscope.annotation.web.security import HostGuard, ServerSettings
from lexiscope.annotation.web.trial_page import about_view, answer_texts, example_views, trial_view
from lexiscope.annotation.web.views import Frame
from lexiscope.core.run import write_atomically

TRIALS_SHOWN = 3
"""The first trials of each list that a preview shows."""
_MISSING = "*(this text is missing)*"
_AFTER = ("debrief", "end_")
_ENDS = ("screened_out", "declined", "full", "closed")


@dataclass(frozen=True, slots=True)
class PreviewPage:
    """One page: the name of its file, what the list of pages calls it, and the page."""

    name: str
    title: str
    html: str


def preview_pages(study: FrozenStudy, pages: Pages) -> tuple[PreviewPage, ...]:
    """Return every kind of page of a study, in the order in which a participant would meet them.

    A missing text is shown as missing.
    """
    return tuple(_PreviewPages(study, pages).all())


def write_preview(study: StudyOnDisk, folder: Path) -> tuple[Path, ...]:
    """Write the pages as files that open without a server; return their paths.

    Errors: :class:`RunError` where the folder cannot be written to; those of freezing the study.
    """
    frozen = study.freeze()
    drawing = Pages(static="static/", own=frozen.page_texts)
    pages = preview_pages(frozen, drawing)
    written = [folder / f"{page.name}.html" for page in pages]
    for page, path in zip(pages, written, strict=True):
        write_atomically(path, page.html)
    write_atomically(folder / "index.html", _index(frozen, drawing, pages, address="{}.html"))
    shutil.copytree(STATIC, folder / "static", dirs_exist_ok=True)
    return (folder / "index.html", *written)


def preview_app(study: StudyOnDisk, settings: ServerSettings) -> HostGuard:
    """Return an application that shows the pages; what is sent to it leads back to the list and is stored nowhere.

    Errors: those of freezing the study.
    """
    frozen = study.freeze()
    drawing = Pages(own=frozen.page_texts)
    pages = preview_pages(frozen, drawing)
    by_name = {page.name: page for page in pages}
    index = _index(frozen, drawing, pages, address="/page/{}")

    files = StaticFiles(directory=STATIC)

    async def show_file(request: Request) -> Response:
        return await files.get_response(request.path_params["name"], request.scope)

    async def show(request: Request) -> Response:
        page = by_name.get(request.path_params.get("name", ""))
        if page is None and "name" in request.path_params:
            return HTMLResponse(index, status_code=404)
        return HTMLResponse(page.html if page is not None else index)

    async def lead_to_list(request: Request) -> Response:
        return JSONResponse({"next": "/"}) if wants_json(request) else RedirectResponse("/", status_code=303)

    routes = [
        Route("/static/{name}", show_file, methods=["GET"]),
        Route("/", show, methods=["GET"]),
        Route("/page/{name}", show, methods=["GET"]),
        Route("/{path:path}", lead_to_list, methods=["GET", "POST"]),
    ]
    return HostGuard(Starlette(routes=routes, exception_handlers={Exception: _error_response}), settings=settings)


def serve_preview(study: StudyOnDisk, *, port: int = 0, say: Callable[[str], object]) -> None:
    """Serve the pages on this machine until Ctrl-C; *say* gets the address once it is served.

    Errors: those of :func:`preview_app`; :class:`RunError` for a port that is taken.
    """
    with closing(listening_socket("127.0.0.1", port)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        config = server_config(preview_app(study, ServerSettings(url)))
        AnnouncingServer(config, started=lambda: say(url)).run(sockets=[listening])


async def _error_response(request: Request, error: Exception) -> Response:
    return PlainTextResponse(f"error {log_fault(request, error)}", status_code=500)


def _index(study: FrozenStudy, drawing: Pages, pages: Sequence[PreviewPage], *, address: str) -> str:
    """The list of pages, in parts: before the trials, one part per list, after them."""
    parts: dict[str, list[PreviewPage]] = {}
    for page in pages:
        title, divided, rest = page.title.partition(", ")
        listed = bool(divided) and title.startswith("list ")
        name = (
            title if listed else "After the trials" if parts and page.name.startswith(_AFTER) else "Before the trials"
        )
        parts.setdefault(name, []).append(replace(page, title=rest if listed else page.title))
    definition = study.definition
    frame = Frame(definition.texts.title or definition.name, "en", "preview", "preview0")
    values = {"frame": frame, "parts": tuple(parts.items()), "address": address}
    return drawing.render("preview.html", "en", **values)


@dataclass(frozen=True, slots=True)
class _PreviewPages:
    """The pages of one study."""

    study: FrozenStudy
    pages: Pages

    def all(self) -> Iterator[PreviewPage]:
        """Yield the pages in order."""
        yield from self._pages_before_trials()
        yield from self._question_pages("qualification", Phase.QUALIFICATION)
        yield from self._question_pages("practice", Phase.PRACTICE)
        for list_id in self.study.record.places:
            yield from self._list_pages(list_id)
        yield from self._pages_after_trials()

    def _pages_before_trials(self) -> Iterator[PreviewPage]:
        definition, frame = self.study.definition, self._frame()
        if definition.platform.kind != "lab":
            yield PreviewPage("id", "id, where the link names none", self.pages.enter_id_page(frame, action="/id"))
        text = to_html("\n\n".join(part or _MISSING for part in self.study.consent_parts))
        yield PreviewPage("consent", "consent", self.pages.consent_page(frame, text_html=text, action="/consent"))
        about = tuple(map(about_view, definition.about_you))
        if about:
            shown = self.pages.about_you_page(frame, questions=about, action="/about")
            yield PreviewPage("about", "questions about the participant", shown)
        text = to_html(definition.texts.instructions or _MISSING)
        examples = example_views(self.study, self.pages)
        shown = self.pages.instructions_page(frame, html=text, examples=examples, action="/begin")
        yield PreviewPage("instructions", "instructions", shown)

    def _question_pages(self, part: str, phase: Phase) -> Iterator[PreviewPage]:
        trials = self.study.opening_trials(phase)
        for position, trial in enumerate(trials):
            asked = self._trial_on_page(trial, phase, position, len(trials), list_id=None)
            name, title = f"{part}_{position + 1}", f"{part} {position + 1}: {trial.item_id}"
            yield PreviewPage(name, title, self._trial_html(asked, phase, position))
            if phase is Phase.PRACTICE and self.study.known[trial.item_id].explanation:
                yield PreviewPage(f"{name}_feedback", f"{title}, feedback", self._feedback_html(asked))

    def _list_pages(self, list_id: str) -> Iterator[PreviewPage]:
        """The first trials of a list, and the first of each other kind among the rest: catch trial, attention check."""
        view = self.study.view_of(list_id)
        trials = self._trials_of(list_id)
        kinds = {item.item_id: str(item.kind) for item in self.study.record.items}
        seen: set[str] = set()
        for position, trial in enumerate(trials):
            kind = kinds[trial.item_id]
            if position >= TRIALS_SHOWN and (kind == "item" or kind in seen):
                continue
            seen.add(kind)
            asked = self._trial_on_page(trial, Phase.TRIALS, position, len(trials), list_id=list_id)
            title = f"list {list_id} ({view}), trial {position + 1}: {kind} {trial.item_id}"
            shown = self._trial_html(asked, Phase.TRIALS, position)
            yield PreviewPage(f"list_{list_id}_{position + 1}", title, shown)
        if self.study.definition.reveal and view == self.study.screen.reveal_view and trials:
            asked = self._trial_on_page(trials[0], Phase.REVEAL, 0, len(trials), list_id=list_id)
            title = f"list {list_id} ({view}), revealed: {trials[0].item_id}"
            yield PreviewPage(f"list_{list_id}_reveal", title, self._trial_html(asked, Phase.REVEAL, 0))

    def _trials_of(self, list_id: str) -> tuple[StoredTrial, ...]:
        if not self.study.screen.drawn:
            return self.study.trials(list_id, number=1)
        return tuple(self.study.drawn_trial(item.item_id, number=1) for item in self.study.design.items[:TRIALS_SHOWN])

    def _pages_after_trials(self) -> Iterator[PreviewPage]:
        texts, codes = self.study.definition.texts, self.study.definition.codes
        text = to_html(texts.debrief or _MISSING)
        shown = self.pages.debrief_page(self._frame(), html=text, action="/debrief", comment=True)
        yield PreviewPage("debrief", "debrief", shown)
        given = {"screened_out": codes.screen_out, "declined": codes.no_consent, "full": codes.full}
        ends = {"finished": codes.completion or "CODE"} | {kind: given.get(kind, "") for kind in _ENDS}
        back = self.study.definition.platform.return_url
        for kind, code in ends.items():
            said = "" if kind == "finished" else to_html(str(getattr(texts, kind)))
            url = back.replace("{code}", code) if back and code else ""
            shown = self.pages.end_page(self._frame(), kind=kind, html=said, code=code, return_url=url)
            yield PreviewPage(f"end_{kind}", f"end: {kind.replace('_', ' ')}", shown)

    def _trial_on_page(
        self, trial: StoredTrial, phase: Phase, position: int, total: int, *, list_id: str | None
    ) -> TrialOnPage:
        progress = Progress(State.ACTIVE, None, position, total, trial, n_written=position)
        shown = self.study.display_of(trial, list_id=list_id, phase=phase)
        item_id = trial.item_id
        return TrialOnPage(trial, self.study.items[item_id], self.study.screen_of(item_id), shown, progress)

    def _trial_html(self, asked: TrialOnPage, phase: Phase, position: int) -> str:
        view = trial_view(self.study, self.pages, asked, phase=phase, position=position, client_key="preview0")
        # a page that is looked at has no page before it
        return self.pages.trial_page(self._frame(position, asked.progress.n_trials), replace(view, back_url=""))

    def _feedback_html(self, asked: TrialOnPage) -> str:
        question, language = self.study.known[asked.trial.item_id], self.study.definition.language
        right = answer_texts(self.study, asked.screen, asked.item, question.accept)
        return self.pages.feedback_page(
            self._frame(),
            stimulus=self.pages.stimulus(asked.screen, asked.item, asked.shown, language),
            question=asked.screen.question(asked.item, language, view=asked.shown.appears_as),
            given=right[0] if right else "",
            right=right,
            is_right=True if right else None,
            explanation=question.explanation,
            action="/",
        )

    def _frame(self, done: int = 0, total: int = 0) -> Frame:
        definition = self.study.definition
        title = definition.texts.title or definition.name
        return Frame(title, definition.language, "preview", "preview0", definition.contact, done, total, "preview")
