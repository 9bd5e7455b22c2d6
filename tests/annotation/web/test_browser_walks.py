"""Walks through the real server in a real browser, for every task and view: from the link to the completion code.

Each walk holds the stored rows against what the page showed and what was answered. Every page on the way stays free of
errors in the console, of serious findings of axe, and of sideways scrolling at 360 px.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from gettext import GNUTranslations
from pathlib import Path
from typing import Any

import pytest

from lexiscope.annotation.store.record import Phase, State
from lexiscope.annotation.study_file.definition import RatingsSection
from lexiscope.annotation.web.pages import LOCALE
from lexiscope.core import catalog
from lexiscope.core.usage import Usage

from .made_tasks import TEXTS, task_study
from .served import Served, serving
from .walker import NARROW, Decide, Given, Seen, Walker

pytestmark = pytest.mark.browser
DESKTOP = {"width": 1280, "height": 800}
# axe and the narrow window are asked once for each kind of page of a task
JUDGED: set[str] = set()


@contextmanager
def walking(browser: Any, served: Served, *, by: str = "mouse", number: int = 1, name: str = "") -> Iterator[Walker]:
    """A participant with a browser of their own."""
    touch = {"viewport": NARROW, "has_touch": True, "is_mobile": True, "device_scale_factor": 1}
    context = browser.new_context(**(touch if by == "touch" else {"viewport": DESKTOP}))
    context.set_default_timeout(30_000)
    try:
        judged = JUDGED if by != "touch" else set()
        yield Walker(context.new_page(), served, f"{number:024x}", by, judged, name=name or served.definition.task)
    finally:
        context.close()


def right(seen: Seen, served: Served) -> Given | None:
    """The right answer to a question with a known answer; ``None`` for the study's own items."""
    known = served.app.study.known.get(seen.item.item_id)
    if known is None:
        return None
    accepted = str(known.accept[0])
    if seen.screen.widget == "choice":
        keys = {one.value: one.key for one in seen.screen.options_of(seen.item, seen.shown.appears_as)}
        return Given(option=keys[accepted])
    if seen.screen.widget == "text":
        return Given(
            text=f"Somebody asked for the {seen.item.word}." if seen.screen.drawn else "Nothing had leaked out."
        )
    return Given(value=accepted) if seen.screen.widget == "scale" else Given(text=accepted)


def deciding(served: Served, own: dict[str, Given] | Given) -> Decide:
    """Answer what is known rightly, and the study's items as told (by their id, or all alike)."""

    def decide(seen: Seen) -> Given:
        return right(seen, served) or (own if isinstance(own, Given) else own[seen.item.item_id])

    return decide


# -- what must be stored ----------------------------------------------------------------------------------------------


def check_stored(walker: Walker) -> list[dict[str, Any]]:
    """Hold the rows of a participant against what was seen and given, page by page; return them."""
    store = walker.served.app.store
    asked = {str(phase) for phase in (Phase.QUALIFICATION, Phase.PRACTICE, Phase.TRIALS, Phase.REVEAL)}
    rows = [row for row in store.answers_of(walker.participant) if row["phase"] in asked]
    assert len(rows) == len(walker.seen)
    for row, seen in zip(rows, walker.seen, strict=True):
        assert shown_rightly(seen), (seen.item.item_id, seen.stimulus, seen.sentences)
        assert (row["item_id"], row["phase"], row["position"]) == (seen.item.item_id, str(seen.phase), seen.position)
        assert (row["side"], tuple(json.loads(str(row["display_order"])))) == (seen.shown.side, seen.shown.order)
        assert seen.given is not None
        stored = {name: row[name] for name in ("value", "option", "text", "guessed_word", "comment", "flags")}
        assert stored == expected(seen, seen.given), row["item_id"]
        if "skipped" not in seen.given.flags:
            assert 0 < float(str(row["rt_ms"])) < 60_000
            assert float(str(row["rt_server_ms"])) > 0
    assert store.find(walker.who) == walker.participant
    return rows


def expected(seen: Seen, given: Given) -> dict[str, object]:
    """The content of the row that an answer must become."""
    choices = {one.key: one for one in seen.screen.options_of(seen.item, seen.shown.appears_as)}
    chosen = choices[given.option] if given.option else None
    return {
        "value": float(given.value) if given.value else None,
        "option": chosen.value if chosen else None,
        "text": given.text or None,
        "guessed_word": given.guess or None,
        "comment": given.comment or None,
        "flags": json.dumps(sorted({*given.flags, *(chosen.flags if chosen else ())})),
    }


def shown_rightly(seen: Seen) -> bool:
    """Say whether the page showed the item of the trial: its texts in the view and on the sides of the plan, its
    options in the order of the plan, and no word that the view hides."""
    usages = seen.item.usages[::-1] if seen.shown.side == "swapped" else seen.item.usages
    # tokenised text is joined on the page
    wanted = [re.sub(r" ([,.])", r"\1", shown_text(usage, seen.shown.appears_as)) for usage in usages]
    found = [re.sub(r"[\[\]]", "", text) for text in seen.sentences]
    if seen.screen.folder.name == "relatedness":
        found = found[-2:]
    if found and seen.screen.widget != "text" and "precontext" not in seen.item.conditions and found != wanted:
        return False
    # in GASI's tasks a sense is an id, which the page does not tell
    parts = ("precontext", "sense", "sense_1", "sense_2") if seen.sentences == () and seen.stimulus else ()
    if any(str(seen.item.conditions.get(name, "")).strip() not in seen.stimulus for name in parts):
        return False
    options = seen.screen.options_of(seen.item, seen.shown.appears_as)
    order = seen.shown.order or tuple(range(len(options)))
    return seen.options == tuple(options[place].key for place in order)


def shown_text(usage: Usage, view: str) -> str:
    """What a view shows of a usage, the brackets of the page left out."""
    if view == "word":
        return usage.target
    hidden = f"{usage.text[: usage.start]}X{usage.text[usage.end :]}"
    return hidden if view == "context" else usage.text


def check_finished(walker: Walker, code: str) -> None:
    """The code on the last page is the store's, and the participant has finished."""
    assert code.startswith("DONE1")
    person = {one.participant_id: one for one in walker.served.app.store.people()}[walker.participant]
    assert person.state in (State.FINISHED, State.ACCEPTED), person
    assert walker.served.app.store.issue_code(walker.participant, "completed") == code
    assert walker.faults == []


# -- the walks --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["mouse", "keyboard", "touch"])
def test_relatedness(chromium: Any, tmp_path: Path, by: str) -> None:
    """SAW-C's page: one press answers, sides are drawn, the catch trial shows one sentence twice; with the mouse, by
    number keys alone, and by touch at 360 px."""
    with serving(tmp_path, *task_study("relatedness", tmp_path)) as served:
        catch = served.app.study.design.catch_ids
        with walking(chromium, served, by=by) as walker:
            own = {"i1": Given(value="4"), "i2": Given(value="2"), **{name: Given(value="5") for name in catch}}
            check_finished(walker, walker.whole_way(deciding(served, own)))
            rows = check_stored(walker)
    trials = [row for row in rows if row["phase"] == "trials"]
    assert len(trials) == 3
    assert trials[1]["item_id"] in catch, "never first or last"
    (shown,) = [seen for seen in walker.seen if seen.item.item_id in catch]
    assert shown.sentences[-1] == shown.sentences[-2]


def test_plausibility_with_nonsense_comment_and_back(chromium: Any, tmp_path: Path) -> None:
    """AmbiStory's rating page: a rating, a tick and a comment are stored; Back shows them, and the change is a new row
    that names the first."""
    study = task_study("plausibility", tmp_path, back=True)
    with serving(tmp_path, *study) as served, walking(chromium, served) as walker:
        first = Given(value="3", flags=("nonsensical",), comment="The machine is odd here.")
        walker.page.goto(served.link(walker.who))
        walker.on(lambda seen: right(seen, served) or first, until="trial")
        while "/trials/" not in walker.page.url:
            walker._step(walker.kind, lambda seen: right(seen, served))
        walker._step("trial", lambda seen: first)
        walker.leave("a.back")
        page = walker.page
        assert page.locator('input[value="3"]').is_checked()
        assert page.locator('[name^="flag_nonsensical"]').is_checked()
        assert page.locator('[name^="comment-"]').input_value() == first.comment
        page.locator("details.fold:not(.again) summary").click()
        assert "can be broken with a blade" in page.locator("details.fold:not(.again)").inner_text()
        changed = Given(value="2", flags=("nonsensical",), comment="A machine cannot fly.")
        walker._step("trial", lambda seen: changed)
        assert page.url.endswith("/trial/trials/1"), "who went back goes on from there"
        check_finished(walker, walker.on(deciding(served, Given(value="5"))))
        rows = [row for row in check_stored(walker) if row["phase"] == "trials"]
        assert [row["revision"] for row in rows] == [0, 1, 0, 0, 0]
        assert rows[1]["supersedes"] == rows[0]["id"]
        assert [row["item_id"] for row in rows[:2]] == [rows[0]["item_id"]] * 2
    other = {"crane": "long-legged", "jam": "traffic"}
    assert not any(word in seen.stimulus for seen in walker.seen for word in other.values()), "one meaning only"


@pytest.mark.parametrize("task", ["same_sense", "entity_link"])
def test_arms_of_a_study(chromium: Any, tmp_path: Path, task: str) -> None:
    """Three people in one study, an arm each: full, context (target hidden), word (target alone). After the context
    arm of *same sense* the same items come again, revealed, in a second phase."""
    screen = catalog.screen(task)
    changed = {"views": ("full", "context", "word"), "reveal": screen.reveal_view is not None, "qualification": ()}
    changed |= {"practice": (), "about_you": ()}
    views = {}
    with serving(tmp_path, *task_study(task, tmp_path, **changed)) as served:
        for number in range(3):
            with walking(chromium, served, number=number) as walker:
                decide = in_arm(served)
                walker.page.goto(served.link(walker.who))
                walker.on(decide, until="trial")
                walker.name = f"{task}-{walker.read().shown.view}"
                check_finished(walker, walker.on(decide))
                check_stored(walker)
                views[next(seen.shown.view for seen in walker.seen if seen.phase is Phase.TRIALS)] = walker
        listed = served.app.store.responses_and_judgments()[1].to_pylist()
    assert set(views) == {"full", "context", "word"}
    revealed = [seen for seen in views["context"].seen if seen.phase is Phase.REVEAL]
    assert len(revealed) == (2 if screen.reveal_view else 0)
    assert all(seen.shown.appears_as == "full" for seen in revealed)
    hidden = [seen for seen in views["context"].seen if seen.phase is Phase.TRIALS]
    assert all(seen.item.usages[0].target not in " ".join(seen.sentences) for seen in hidden)
    guessed = {row["guessed_word"] for row in listed if row["phase"] == "trials"} - {None}
    assert guessed == ({"bark"} if screen.guess_views else set())
    undecided = [row for row in listed if row["label_undecided"]]
    assert len(undecided) == (2 if screen.guess_views else 0), "stored as t, and as undecided"
    assert all(row["response"] == "t" for row in undecided)


def in_arm(served: Served) -> Decide:
    """Answer in the arm that the page shows: undecided and with a guess where the word is hidden."""

    def decide(seen: Seen) -> Given:
        known = right(seen, served)
        if known is not None:
            return known
        if seen.screen.widget == "search":
            return Given(flags=("not_found",)) if seen.position else Given(text="Iceland", comment="the island")
        if seen.shown.appears_as == "context":
            return Given(option="undecided", guess="bark")
        return Given(option="f" if seen.phase is Phase.REVEAL else "t")

    return decide


def test_ambiguous_sentences_drawn_and_skipped(chromium: Any, tmp_path: Path) -> None:
    """AmbiStory's writing page: a refused sentence is named and kept; "A different word, please!" draws another word
    and stores the skip; nobody sees a word twice."""
    with serving(tmp_path, *task_study("ambiguous_sentence", tmp_path)) as served, walking(chromium, served) as walker:
        page = walker.page
        page.goto(served.link(walker.who))
        written = deciding(served, Given(text="x"))
        while "/trials/" not in page.url:
            walker.judge(walker.kind)
            walker._step(walker.kind, written)
        walker.judge("trial")
        skipped = walker.read()
        walker.leave("form.another button")
        assert page.locator(".counter").inner_text() == "Completed 0 out of 2 sentences"
        assert page.locator(".progress bdi").inner_text() == "0 / 2", "a skipped word is not done"
        walker.seen.append(Seen(**{**skipped.__dict__, "given": Given(flags=("skipped",))}))
        seen = walker.read()
        word = seen.item.usages[0].target
        twice = f"The {word} is a {word}."
        walker.write("form#answer textarea", twice)
        page.locator("form#answer button.primary").click()
        fault = page.locator('[data-fault="text"]')
        fault.wait_for(state="visible")
        assert fault.inner_text() == served.app.study.screen.words("en")["word_not_once"]
        assert page.locator("form#answer textarea").input_value() == twice, "a refused text is not lost"
        assert page.locator("form#answer textarea").evaluate("one => one === document.activeElement")
        walker.name += "-refused"
        walker.judge("trial")
        check_finished(walker, walker.on(lambda seen: Given(text=f"They all looked at the {seen.item.word}.")))
        rows = [row for row in check_stored(walker) if row["phase"] == "trials"]
    assert [row["text"] is None for row in rows] == [True, False, False]
    assert len({row["item_id"] for row in rows}) == 3


@pytest.mark.parametrize("by", ["mouse", "keyboard"])
def test_story_endings(chromium: Any, tmp_path: Path, by: str) -> None:
    """AmbiStory's ending page: definitions open on demand; an ending with the word in it is refused and stored by
    nobody."""
    with serving(tmp_path, *task_study("story_ending", tmp_path)) as served, walking(chromium, served, by=by) as walker:
        page = walker.page
        page.goto(served.link(walker.who))
        decide = deciding(served, Given(text="Not a drop had run out.", comment="too easy"))
        while "/trials/" not in page.url:
            walker.judge(walker.kind)
            walker._step(walker.kind, decide)
        fold = page.locator("details.fold").first
        assert not fold.locator(".prose").is_visible()
        walker.press("details.fold summary[dir=auto]")
        other = str(walker.read().item.conditions["other_sense"])
        assert other in fold.inner_text()
        word = walker.read().item.usages[0].target
        walker.write("form#answer [name^=text-]", f"The {word} was fine.")
        walker.press("form#answer button.primary")
        page.locator('[data-fault="text"]').wait_for(state="visible")
        assert "ambiguous word again" in page.locator('[data-fault="text"]').inner_text()
        check_finished(walker, walker.on(decide))
        check_stored(walker)


@pytest.mark.parametrize("by", ["mouse", "touch"])
def test_substitution_with_a_weird_item(chromium: Any, tmp_path: Path, by: str) -> None:
    """A weird item may stay unanswered; without the mark it may not. Candidates stand in the order of the plan."""
    with serving(tmp_path, *task_study("substitution", tmp_path)) as served, walking(chromium, served, by=by) as walker:
        page = walker.page

        def decide(seen: Seen) -> Given | None:
            known = right(seen, served)
            if known is None and seen.position == 0:
                walker.press("form#answer button.primary")
                page.locator('[data-fault="option"]').wait_for(state="visible")
            return known or (Given(option="2") if seen.position else Given(flags=("weird",), comment="no such word"))

        check_finished(walker, walker.whole_way(decide))
        rows = [row for row in check_stored(walker) if row["phase"] == "trials"]
    assert [(row["option"] is None, row["flags"]) for row in rows] == [(True, '["weird"]'), (False, "[]")]


@pytest.mark.parametrize("by", ["mouse", "keyboard"])
def test_word_intrusion(chromium: Any, tmp_path: Path, by: str) -> None:
    """Ten words in the order of the plan, one press; the word whose sense it is appears nowhere on the page."""
    study = task_study("word_intrusion", tmp_path)
    with serving(tmp_path, *study) as served, walking(chromium, served, by=by) as walker:

        def decide(seen: Seen) -> Given:
            assert f">{seen.item.usages[0].target}<" not in walker.page.content()
            return right(seen, served) or Given(option=seen.options[-1])

        check_finished(walker, walker.whole_way(decide))
        check_stored(walker)
    assert [len(seen.options) for seen in walker.seen] == [10] * 4
    assert len({seen.options for seen in walker.seen}) > 1, "the order is drawn per trial"


def test_sense_choice(chromium: Any, tmp_path: Path) -> None:
    """Groups of words in the order of the plan; the stored option is the sense's id, which is not on the page."""
    with serving(tmp_path, *task_study("sense_choice", tmp_path)) as served, walking(chromium, served) as walker:
        check_finished(walker, walker.whole_way(deciding(served, Given(option="2"))))
        check_stored(walker)


def test_entity_link_search_by_keyboard(chromium: Any, tmp_path: Path) -> None:
    """What is typed is searched; an arrow and Enter take a result, and only the next Enter sends it."""
    study = task_study("entity_link", tmp_path, qualification=())
    with serving(tmp_path, *study) as served, walking(chromium, served, by="keyboard") as walker:
        page = walker.page

        def decide(seen: Seen) -> Given | None:
            if seen.phase is not Phase.TRIALS or seen.position:
                return right(seen, served) or Given(text="https://example.org/wiki/Iceland")
            walker.reach('[role="combobox"]')
            page.keyboard.type("cambr", delay=10)
            page.locator('[role="option"]').nth(1).wait_for()
            page.keyboard.press("ArrowDown")
            page.keyboard.press("ArrowDown")
            page.keyboard.press("Enter")
            assert "Massachusetts" in page.locator(".found").inner_text()
            walker.name = "entity_link-found"
            walker.judge("trial")
            return Given(text="Cambridge, Massachusetts")

        check_finished(walker, walker.whole_way(decide))
        check_stored(walker)


def test_the_other_ends(chromium: Any, tmp_path: Path) -> None:
    """No id in the link, no consent, a failed qualification, an unknown address, no place left: each is a page as good
    as the others, with its own code or none."""
    study = task_study("relatedness", tmp_path, ratings=RatingsSection(per_item=1), practice=())
    with serving(tmp_path, *study) as served:
        catch = Given(value="5")

        def visitor(number: int) -> Any:
            return walking(chromium, served, number=number)

        with visitor(1) as walker:
            walker.page.goto(served.url)
            walker.judge("enter")
            walker.write('input[name="participant"]', walker.who)
            walker.leave("button.primary")
            walker.leave('button[value="no"]')
            walker.judge("ended-declined")
            assert walker.page.locator("#code").inner_text() == "NO1"
        with visitor(2) as walker:
            assert walker.whole_way(lambda _seen: Given(value="3")) == "OUT1"
            walker.judge("ended-screened_out")
            assert served.app.store.people()[1].state is State.SCREENED_OUT
        with visitor(3) as walker:
            assert walker.whole_way(lambda seen: right(seen, served) or catch) == "DONE1"
        with visitor(4) as walker:
            walker.page.goto(served.link(walker.who))
            walker.judge("ended-full")
            assert walker.page.locator("#code").count() == 0
            assert TEXTS["en"].full in walker.page.locator("main").inner_text()
            walker.page.goto(f"{served.url}/nothing")
            assert [text for text in walker.faults if "404" not in text] == []
            walker.faults.clear()
            walker.judge("error")


# -- languages --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["plausibility", "entity_link"])
def test_no_english_in_a_spanish_study(chromium: Any, tmp_path: Path, task: str) -> None:
    """A walk in Spanish: no text of the app's or the task's English reaches the page, its labels or its script."""
    changed = {"qualification": ()} if task == "entity_link" else {"back": True}
    own = {"scale": Given(value="4"), "text": Given(text="Nadie dijo nada."), "search": Given(text="Islandia")}
    study = task_study(task, tmp_path, language="es", **changed)
    with serving(tmp_path, *study) as served, walking(chromium, served, name=f"{task}-es") as walker:
        check_finished(walker, walker.whole_way(deciding(served, own[served.app.study.screen.widget])))
        check_stored(walker)
        assert walker.page.locator("html").get_attribute("lang") == "es"
    page_texts = "\n".join(walker.texts)
    assert [text for text in english(task) if re.search(rf"\b{re.escape(text)}(?!\w)", page_texts)] == []


def english(task: str) -> list[str]:
    """The English texts of the app and of a task, cut where something is filled in, long enough to be telling."""
    with (LOCALE / "es" / "LC_MESSAGES" / "messages.mo").open("rb") as file:
        known = GNUTranslations(file)._catalog  # type: ignore[attr-defined]
    texts = [key for key, value in known.items() if key and isinstance(key, str) and key != value]
    texts += list(catalog.screen(task).words("en").values())
    texts += [text for _, text in catalog.screen(task).anchors.get("en", ())]
    pieces = [piece.strip() for text in texts for piece in re.split(r"%\(\w+\)s|\{\w+\}", text)]
    return sorted({piece for piece in pieces if len(piece) > 4 and re.search("[a-z]{3}", piece)})


def test_arabic_from_right_to_left(chromium: Any, tmp_path: Path) -> None:
    """A walk in Arabic: the page runs from right to left, and so do the scale and the stored sides."""
    study = task_study("relatedness", tmp_path, language="ar", catch={"per_list": 0})
    with serving(tmp_path, *study) as served, walking(chromium, served, name="relatedness-ar") as walker:

        def decide(seen: Seen) -> Given:
            boxes = [one.bounding_box()["x"] for one in walker.page.locator("#answer .point").all()]
            assert boxes == sorted(boxes, reverse=True), "1 stands right"
            return right(seen, served) or Given(value="3")

        check_finished(walker, walker.whole_way(decide))
        check_stored(walker)
        assert walker.page.locator("html").get_attribute("dir") == "rtl"
