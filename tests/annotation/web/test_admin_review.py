"""The review queue: a study in which simulated writers write sentences, and a researcher who decides about them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from lexiscope.annotation.store.overview import stored_reviews
from lexiscope.annotation.store.record import BrowserAnswer, Phase, State
from lexiscope.annotation.study_file.definition import Confusion
from lexiscope.annotation.web.app import App

from .made_admin import act, researcher, run, running
from .made_tasks import task_study
from .made_web import form_of

XSS = "<script>alert(1)</script>"


def write(app: App, name: str, texts: list[str]) -> list[int]:
    """Somebody who writes these texts, *WORD* standing for the word; return the ids of the answers."""
    who = app.store.invite(name)
    app.store.record_consent(who, text="yes", version="1")
    app.store.change_state(who, State.QUALIFIED, reason="test")
    lease = app.store.take_place(who, choose=app.study.choose)
    trials = app.study.trials(lease.list_id, number=lease.ordinal)
    drawn = app.study.screen.drawn
    app.store.lay_out(who, Phase.TRIALS, trials[:1] if drawn else trials)
    app.store.change_state(who, State.ACTIVE, reason="begins")
    found = []
    for position, text in enumerate(texts):
        if drawn and position:
            app.store.extend(who, Phase.TRIALS, app.study.drawn_trial(trials[position].item_id, number=lease.ordinal))
        item = app.study.items[trials[position].item_id]
        answer = BrowserAnswer(
            who,
            item.item_id,
            Phase.TRIALS,
            f"key-{name}-{position}",
            position,
            text=text.replace("WORD", item.usages[0].target),
        )
        found.append(app.store.submit(answer).answer_id)
    return found


def test_texts_are_accepted_edited_and_rejected(tmp_path: Path) -> None:
    """A rejection needs a reason; an edit keeps both texts; one that loses the word is refused in the task's words."""
    definition, items = task_study("ambiguous_sentence", tmp_path)

    async def visit() -> None:
        with running(tmp_path / "study", definition, items) as app:
            first, second = write(app, "ana", ["There stood a WORD.", f"A WORD was there {XSS}."])
            async with researcher(app) as browser:
                page = (await browser.get("/researcher/review")).text
                assert "There stood a" in page
                assert XSS not in page
                assert "&lt;script&gt;" in page
                path = f"/researcher/review/{first}"
                shown = (await browser.get(path)).text
                assert 'class="stimulus"' in shown
                lost = await act(browser, path, path, verdict="accepted", text="Nothing stood there.", reason="")
                assert lost.status_code == 422
                assert "Nothing stood there." in lost.text, "what the editor typed is still there"
                empty = await act(browser, path, path, verdict="accepted", text=" ", reason="")
                assert empty.status_code == 422
                without = await act(browser, path, path, verdict="rejected", text="", reason=" ")
                assert without.status_code == 422
                assert app.store.read(stored_reviews) == []
                (row, _) = app.store.answers_of(app.store.people()[0].participant_id)
                edited = f"There stood an old {app.study.items[str(row['item_id'])].usages[0].target}."
                done = await act(browser, path, path, verdict="accepted", text=edited, reason="")
                assert done.url.path == f"/researcher/review/{second}", "the next text that waits"
                path = f"/researcher/review/{second}"
                end = await act(browser, path, path, verdict="rejected", text="", reason=f"a test {XSS}")
                assert end.url.path == "/researcher/review"
                assert [(one.answer_id, one.verdict, one.text) for one in app.store.read(stored_reviews)] == [
                    (first, "accepted", edited),
                    (second, "rejected", None),
                ]
                assert {one.actor for one in app.store.read(stored_reviews)} == {"ana"}
                table = (await browser.get("/researcher/review?verdict=all")).text
                assert edited in table
                assert "There stood a " in table
                assert XSS not in (await browser.get(path)).text
                assert (await browser.get("/researcher/review/99999")).status_code == 404
                _, fields = form_of((await browser.get(path)).text, 1)
                assert (await browser.post(path, data=fields | {"verdict": "perhaps"})).status_code == 422

    run(visit)


def test_only_studies_with_texts_have_a_queue(tmp_path: Path) -> None:
    """The navigation of a rating study names no review."""

    async def visit() -> None:
        with running(tmp_path) as app:
            async with researcher(app) as browser:
                assert re.search(r'href="/researcher/review"', (await browser.get("/researcher")).text) is None

    run(visit)


def test_texts_go_on_from_the_queue(tmp_path: Path) -> None:
    """The table and, of endings, the items are downloads; items that cannot be made yet say which setups lack one."""
    definition, items = task_study("story_ending", tmp_path)
    one = items[0]
    pair = [
        replace(one, item_id=f"s_{end}", conditions={**one.conditions, "setup": "s", "meaning": number, "homonym": "x"})
        for end, number in (("A", "1"), ("B", "2"))
    ]
    lists = definition.design.model_copy(update={"lists": 2, "confusion": (Confusion(condition="setup", at_most=1),)})
    changed = definition.model_copy(update={"design": lists})

    async def visit() -> None:
        with running(tmp_path / "study", changed, tuple(pair)) as app:
            (first,) = write(app, "ana", ["And so they left."])
            async with researcher(app) as browser:
                page = (await browser.get("/researcher/review")).text
                assert "/researcher/review/items?leave_out=1" in page
                table = await browser.get("/researcher/review/table")
                assert table.headers["content-disposition"] == 'attachment; filename="endings.csv"'
                assert 'And so they left.,"",not reviewed,' in table.text
                early = await browser.get("/researcher/review/items")
                assert early.status_code == 409
                assert "Setups without an accepted ending for each meaning are incomplete." in early.text
                (second,) = write(app, "ben", ["They stayed."])
                for number in (first, second):
                    path = f"/researcher/review/{number}"
                    await act(browser, path, path, verdict="accepted", text="And then.", reason="")
                made = await browser.get("/researcher/review/items")
                assert made.headers["content-disposition"] == 'attachment; filename="plausibility_items.csv"'
                assert made.text.count("\n") == 1 + 6
                assert "leave_out" not in (await browser.get("/researcher/review")).text
                assert [one.action for one in app.store.audit_entries()[1]].count("review") == 2

    run(visit)


def test_sentences_go_on_with_their_precontexts(tmp_path: Path) -> None:
    """Of sentences the table is a download; the items need precontexts. A rating study has neither."""
    definition, items = task_study("ambiguous_sentence", tmp_path)

    async def visit() -> None:
        with running(tmp_path / "study", definition, items) as app:
            write(app, "ana", ["There stood a WORD."])
            async with researcher(app) as browser:
                assert "annotate stage --precontexts" in (await browser.get("/researcher/review")).text
                table = await browser.get("/researcher/review/table")
                assert table.headers["content-disposition"] == 'attachment; filename="sentences.csv"'
                assert table.text.startswith("setup_id,")
                assert (await browser.get("/researcher/review/items")).status_code == 404
        with running(tmp_path / "rated") as app:
            async with researcher(app) as browser:
                for name in ("table", "items"):
                    assert (await browser.get(f"/researcher/review/{name}")).status_code == 404

    run(visit)
