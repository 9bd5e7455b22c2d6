"""Arms of one study (mission B17) and the three stages of AmbiStory, over the real server; every text is made here."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from lexiscope.annotation.export.package import write_export
from lexiscope.annotation.store.answers import planned_trials
from lexiscope.annotation.store.overview import stored_reviews, written_counts
from lexiscope.annotation.store.record import Phase, State, StateError
from lexiscope.annotation.store.store import Store
from lexiscope.annotation.study_file.definition import (
    CatchSection,
    Confusion,
    DesignSection,
    PoolSection,
    RatingsSection,
    StudyDefinition,
)
from lexiscope.annotation.study_file.freeze import freeze
from lexiscope.annotation.study_file.items import study_items
from lexiscope.annotation.study_file.template import draft_definition
from lexiscope.annotation.web.admin.summary import read_collected
from lexiscope.annotation.web.app import App
from lexiscope.annotation.web.security import RateLimit, ServerSettings
from lexiscope.annotation.writing.review import AcceptedText, accepted_texts, latest_reviews, make_review, texts_in_rows
from lexiscope.annotation.writing.stages import ending_items, item_file, rating_items, setups
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage

from .made_web import JSON, ORIGIN, Person, client, form_of, made_definition

FORMS = ("bank", "pitch", "season", "mole", "crane", "jam", "ring", "bark")
ENDING = "Nobody in the room had expected that."


def definition(**changed: object) -> StudyDefinition:
    """One list, one person an item, nothing but trials; what is given replaces a setting."""
    short: dict[str, object] = {"practice": (), "about_you": (), "qualification": (), "attention": (), "exclusions": ()}
    fixed = {"design": DesignSection(lists=1), "ratings": RatingsSection(per_item=1), "catch": CatchSection(per_list=0)}
    return made_definition(**(short | fixed | changed))


@contextmanager
def served(folder: Path, study_definition: StudyDefinition, items: Sequence[Item]) -> Iterator[App]:
    """The app of a study, without a limit on speed."""
    study = freeze(study_definition, items)
    with Store.open(folder, study.record, has_place=study.has_place, unsafe_fast=True) as store:
        app = App.of(study, store, ServerSettings(ORIGIN))
        app.saves = app.arrivals = RateLimit(burst=10**9, per_second=1e9)
        yield app


Decide = Callable[[Phase, Item, str], "dict[str, str] | None"]
"""Answers an item of a phase in a view, as form fields; ``None`` asks for another item."""


@dataclass
class Walk:
    """What somebody met: phases with item ids in their order, and the text of the last page."""

    met: list[tuple[Phase, str]] = field(default_factory=list)
    end: str = ""


async def walk(app: App, who: str, choose: Decide, *, probe: str = "") -> Walk:
    """Go the whole way; an answer of ``None`` asks for another item. No trial lets *probe* be answered early."""
    done = Walk()
    async with client(app) as browser:
        person = Person(browser, app.study)
        page = await person.arrive(who)
        if 'name="consent"' in page.text:
            page = await person.go_on(await person.go_on(page, consent="yes"))
        me = app.store.find(who) or ""
        path = page.url.path
        fields = {"csrf": form_of(page.text)[1]["csrf"]} if path.startswith("/trial/") else {}
        lease = app.store.progress(me).lease
        view, plan = app.study.view_of(lease.list_id if lease is not None else None), app.store.read(planned_trials, me)
        while path.startswith("/trial/"):
            _, _, name, position = path.split("/")
            phase, number = Phase(name), int(position)
            if number >= len(plan) or number == 0:
                plan = app.store.read(planned_trials, me, phase)
            item = app.study.items[plan[number].item_id]
            done.met.append((phase, item.item_id))
            if number in (0, 4, len(plan) - 1):
                with pytest.raises(StateError):
                    app.store.issue_code(me)
            answer = choose(phase, item, view)
            address = path if answer is not None else f"/another/{position}"
            sent = fields | (answer or {}) | {"client_key": f"{phase}-{number:08}"}
            if probe and phase is Phase.TRIALS and number % 10 == 9:
                early = await browser.post(probe, data=sent | {"client_key": "tried-early"}, headers=JSON)
                assert early.status_code == 422, path
            reply = await browser.post(address, data=sent, headers=JSON)
            assert reply.status_code == 200, (path, reply.text)
            path = reply.json()["next"]
            if path == "/now":
                page = await browser.get("/now")
                path = page.url.path
        done.end = (await person.go_on(page)).text if 'action="/debrief"' in page.text else page.text
    await asyncio.gather(*app.tasks)
    return done


# -- arms --------------------------------------------------------------------------------------------------------------


def pairs(n: int) -> tuple[Item, ...]:
    """Pairs of sentences of as many words, made here."""
    made = []
    for number in range(n):
        word = f"word{number}"
        texts = (f"Here lies the {word} of old.", f"They sold a {word} yesterday.")
        usages = tuple(Usage(t, t.index(word), t.index(word) + len(word), lemma=word, language="en") for t in texts)
        made.append(Item(f"i{number:03}", "made", usages, gold="t" if number % 2 else "f"))
    return tuple(made)


def test_arms_with_an_overlap_of_two_annotators(tmp_path: Path) -> None:
    """B17: full, context and word in one study, two annotators in each; 100 items each, 50 of them the same: 150
    distinct items in every arm; nobody meets an item in two arms; after the last context trial the same items come
    again, revealed, and not before; "cannot decide" is stored as t, and as undecided; rows carry their view."""
    views = ("full", "context", "word")
    design = DesignSection(lists=2, per_list=100, shared=50, confusion=(), seed=7)
    arms = definition(task="same_sense", views=views, reveal=True, design=design)

    async def run() -> None:
        with served(tmp_path, arms, pairs(200)) as app:
            view_of: dict[str, str] = {}
            for number in range(6):
                done = await walk(app, f"annotator{number}", _label, probe="/trial/reveal/0" if number == 2 else "")
                me = app.store.find(f"annotator{number}") or ""
                lease = app.store.progress(me).lease
                assert lease is not None
                view_of[me] = app.study.view_of(lease.list_id)
                _check_way(done, view_of[me])
                # who comes again finds the code, and no second arm
                assert "DONE1" in done.end
                assert (await walk(app, f"annotator{number}", _label)).met == []
            async with client(app) as browser:
                assert "No place is free" in (await Person(browser, app.study).arrive("seventh")).text
            assert Counter(view_of.values()) == dict.fromkeys(views, 2)
            _check_rows(app, view_of)

    asyncio.run(run())


# what only one arm may read, by view: in the guidelines as the task has them
ONLY = {
    "full": "The word stands in brackets.",
    "context": "Try to guess the word first",
    "reveal": "After the texts with [X]",
    "word": "You see two words without any text.",
}


def test_an_arm_reads_nothing_of_another(tmp_path: Path) -> None:
    """Nobody reads how another arm is asked: neither in the instructions nor on any page; the guidelines of the own arm
    are open on the first page, closed on the next, and say of the second phase only where it comes."""
    views = ("full", "context", "word")
    made = draft_definition(pairs(3), task="same_sense", items_file="", language="en", name="arms")
    texts = made.texts.model_copy(update={"consent": "I take part."})
    arms = definition(task="same_sense", views=views, reveal=True, texts=texts, design=DesignSection(lists=1))

    async def run() -> None:
        with served(tmp_path, arms, pairs(3)) as app:
            for number in range(len(views)):
                async with client(app) as browser:
                    view, seen = await _pages_of(app, Person(browser, app.study), f"annotator{number}")
                pages, trials = [page.text for page in seen], [page.text for page in seen if "/trial/" in page.url.path]
                own = {view, "reveal"} if view == "context" else {view}
                # the texts come again in full, with the word in brackets
                own |= {"full"} if view == "context" else set()
                read = {name for name, text in ONLY.items() if any(text in page for page in pages)}
                assert read == own, view
                assert not any(text in pages[0] + pages[1] for text in ONLY.values()), "before the place is taken"
                opened = ['<details class="fold" open>' in page for page in trials]
                again = [True, False, False] if view == "context" else []
                assert opened == [True, False, False, *again]

    asyncio.run(run())


async def _pages_of(app: App, person: Person, who: str) -> tuple[str, list[httpx.Response]]:
    """The view of somebody who goes the whole way, and every page from the consent to the end."""
    pages = [await person.arrive(who)]
    answers: dict[str, str] = {"consent": "yes"}
    while 'id="answer"' in pages[-1].text or len(pages) < 3:
        pages.append(await person.go_on(pages[-1], **answers))
        suffix = pages[-1].url.path.removeprefix("/trial/").replace("/", "-")
        answers = {f"option-{suffix}": "t"}
    lease = app.store.progress(app.store.find(who) or "").lease
    assert lease is not None
    return app.study.view_of(lease.list_id), pages


def _label(phase: Phase, item: Item, view: str) -> dict[str, str]:
    """Same or different by the item's number; who does not see the word guesses it, or cannot decide."""
    number = int(item.item_id[1:])
    if phase is Phase.REVEAL:
        return {"option": "f"}
    hidden = view == "context"
    option = "undecided" if hidden and number % 4 == 0 else "t" if number % 3 else "f"
    return {"option": option} | ({"guessed_word": f" guess{number} "} if hidden else {})


def _check_way(done: Walk, view: str) -> None:
    phases = [phase for phase, _ in done.met]
    trials = [item_id for phase, item_id in done.met if phase is Phase.TRIALS]
    again = [item_id for phase, item_id in done.met if phase is Phase.REVEAL]
    assert len(trials) == len(set(trials)) == 100
    assert phases == sorted(phases, key=[Phase.TRIALS, Phase.REVEAL].index)
    assert again == (trials if view == "context" else [])


def _check_rows(app: App, view_of: dict[str, str]) -> None:
    by_arm: dict[str, Counter[str]] = defaultdict(Counter)
    for row in app.store.responses().rows():
        if row.measure == "choice":
            assert row.view == view_of[row.subject_id]
            by_arm[str(row.view)][row.item_id] += 1
    # 100 + 100 answers to 150 items: 50 of them by both
    assert {view: Counter(counts.values()) for view, counts in by_arm.items()} == {
        view: {1: 100, 2: 50} for view in ("full", "context", "word")
    }
    rows = app.store.responses_and_judgments()[1].to_pylist()
    for row in rows:
        if row["phase"] == "debrief":
            continue
        number, hidden = int(row["item_id"][1:]), view_of[row["participant_id"]] == "context"
        first = row["phase"] == "trials"
        undecided = first and hidden and number % 4 == 0
        assert row["response"] == ("f" if not first else "t" if undecided or number % 3 else "f")
        assert row["label_undecided"] is undecided
        assert row["guessed_word"] == (f"guess{number}" if first and hidden else None)
    assert Counter(row["phase"] for row in rows) == {"trials": 600, "reveal": 200}


# -- writing -----------------------------------------------------------------------------------------------------------


def pool(forms: Sequence[str] = FORMS) -> tuple[Item, ...]:
    """Two pairs of senses for each form; the senses are placeholders, for nobody reads them here."""
    made = []
    for form in forms:
        for pair in (1, 2):
            conditions = {f"sense_{n}": f"sense {pair}.{n} of {form}" for n in (1, 2)}
            conditions |= {f"example_{n}": f"Example {pair}.{n}." for n in (1, 2)}
            usage = Usage(form, 0, len(form), lemma=form, language="en")
            made.append(Item(f"{form}-{pair}", "pool", (usage,), conditions=conditions))
    return tuple(made)


def writing(**changed: object) -> StudyDefinition:
    """A study of ambiguous sentences: five from each of two people, at most three for a form."""
    fixed = {
        "task": "ambiguous_sentence",
        "design": DesignSection(lists=1, confusion=()),
        "ratings": RatingsSection(per_item=2),
        "pool": PoolSection(per_person=5, at_most=3),
    }
    return definition(**(fixed | changed))


def _sentence(_phase: Phase, item: Item, _view: str) -> dict[str, str]:
    return {"text": f"Everybody talked about the {item.word} for days."}


def test_sentences_are_drawn_and_paid_when_there_are_five(tmp_path: Path) -> None:
    """B11: every second word is passed over; nobody sees a word's pair twice, no form gets more than its cap, and the
    code comes after the fifth sentence, however many were skipped."""

    async def run() -> None:
        with served(tmp_path, writing(ratings=RatingsSection(per_item=3)), pool()) as app:
            for number in range(3):
                seen = 0

                def choose(phase: Phase, item: Item, view: str) -> dict[str, str] | None:
                    nonlocal seen
                    seen += 1
                    return _sentence(phase, item, view) if seen % 2 else None

                done = await walk(app, f"writer{number}", choose)
                items = [item_id for _, item_id in done.met]
                assert len(items) == len(set(items)) == 9
                assert "DONE1" in done.end
                me = app.store.find(f"writer{number}") or ""
                texts = [row["text"] for row in app.store.answers_of(me) if row["phase"] == "trials"]
                assert [text is None for text in texts] == [False, True] * 4 + [False]
            counts: Counter[str] = Counter()
            for item_id, n in app.store.read(written_counts).items():
                counts[item_id.partition("-")[0]] += n
            assert sum(counts.values()) == 15
            assert max(counts.values()) <= 3

    asyncio.run(run())


@pytest.mark.parametrize("text", ["The bank.", "No such word.", "", "Two of them. Really two of them."])
def test_a_sentence_that_breaks_a_rule_is_not_written(tmp_path: Path, text: str) -> None:
    """The word exactly once, one sentence: what breaks a rule is refused with 422 and counts for nothing."""

    async def run() -> None:
        with served(tmp_path, writing(), pool(("mole",))) as app:
            async with client(app) as browser:
                person = Person(browser, app.study)
                page = await person.go_on(await person.go_on(await person.arrive("ana"), consent="yes"))
                _, fields = form_of(page.text)
                sent = {"csrf": fields["csrf"], "client_key": "k" * 8, "text": text}
                assert (await browser.post("/trial/trials/0", data=sent, headers=JSON)).status_code == 422
            assert app.store.people()[0].n_answered == 0

    asyncio.run(run())


# -- the three stages --------------------------------------------------------------------------------------------------


def review_all(app: App, *, reject: Sequence[str] = ()) -> tuple[AcceptedText, ...]:
    """Accept what was written, the first text with an edit; the texts for the items in *reject* are rejected."""
    rows = [row for one in app.store.people() for row in app.store.answers_of(one.participant_id)]
    texts = texts_in_rows(rows, app.study.items)
    for number, one in enumerate(texts):
        item, rejected = app.study.items[one.item_id], one.item_id in reject
        review = make_review(
            one,
            item,
            verdict="rejected" if rejected else "accepted",
            actor="editor",
            at="2026-03-01T12:00:00.000000+00:00",
            faults=app.study.screen.faults,
            reason="not usable" if rejected else "",
            text=None if rejected or number else one.text.replace("Everybody", "All of them"),
        )
        app.store.record_review(review)
    assert set(latest_reviews(app.store.read(stored_reviews))) == {text.answer_id for text in texts}
    return accepted_texts(texts, app.store.read(stored_reviews))


def test_sentences_become_stories_and_stories_are_rated(tmp_path: Path) -> None:
    """AmbiStory §3.2 to §3.4, three served studies: ten sentences, two rejected, make eight setups; each gets two
    endings by two writers; they make 48 samples, six for each setup; no rater meets two samples of one setup, and the
    averages of the export are those of the ratings that were given."""

    async def run() -> None:
        with served(tmp_path / "sentences", writing(pool=PoolSection(per_person=5, at_most=2)), pool()) as app:
            for number in range(2):
                assert "DONE1" in (await walk(app, f"writer{number}", _sentence)).end
            rows = [row for one in app.store.people() for row in app.store.answers_of(one.participant_id)]
            last = [row["item_id"] for row in rows if row["phase"] == "trials" and row["position"] == 4]
            sentences = review_all(app, reject=[str(item_id) for item_id in last])
            assert len(sentences) == 8
            made = setups(sentences, app.study.items)
        before = {one.setup_id: "It was Monday. Ana was late. Ben was waiting." for one in made}
        asked = _handed_on(ending_items(made, before, dataset="endings"), tmp_path / "endings.csv", "story_ending")
        endings = await _collect_endings(tmp_path / "endings", asked)
        samples = _handed_on(
            rating_items(endings, {item.item_id: item for item in asked}, dataset="stories"),
            tmp_path / "stories.csv",
            "plausibility",
        )
        assert Counter(item.conditions["setup"] for item in samples) == dict.fromkeys(before, 6)
        await _collect_ratings(tmp_path / "stories", samples)

    asyncio.run(run())


def _handed_on(items: Sequence[Item], path: Path, task: str) -> tuple[Item, ...]:
    """The items as the next study reads them from its file."""
    path.write_text(item_file(items), encoding="utf-8", newline="")
    found = study_items(definition(task=task, items=str(path)))
    assert [item.item_id for item in found] == [item.item_id for item in items]
    return found


async def _collect_endings(folder: Path, asked: Sequence[Item]) -> tuple[AcceptedText, ...]:
    design = DesignSection(lists=2, confusion=(Confusion(condition="setup", at_most=1),))
    with served(folder, definition(task="story_ending", design=design), asked) as app:
        for number in range(2):
            done = await walk(app, f"ender{number}", lambda *_: {"text": ENDING})
            met = [app.study.items[item_id].conditions["setup"] for _, item_id in done.met]
            assert len(met) == len(set(met)) == 8
            assert "DONE1" in done.end
        endings = review_all(app)
        writers: dict[object, set[str]] = defaultdict(set)
        for one in endings:
            writers[app.study.items[one.answer.item_id].conditions["setup"]].add(one.answer.participant_id)
        assert {len(people) for people in writers.values()} == {2}
        return endings


def _rating(item: Item) -> int:
    """A rating by rule: nobody's judgment."""
    return {"yes": 5, "no": 1, "open": 3}[str(item.conditions["intended"])]


async def _collect_ratings(folder: Path, samples: Sequence[Item]) -> None:
    design = DesignSection(lists=6, confusion=(Confusion(condition="setup", at_most=1),), balance=("ending_of",))
    rating = definition(task="plausibility", design=design)
    given: dict[str, list[int]] = defaultdict(list)
    with served(folder / "study", rating, samples) as app:
        for number in range(6):

            def choose(_phase: Phase, item: Item, _view: str) -> dict[str, str]:
                given[item.item_id].append(_rating(item))
                return {"value": str(given[item.item_id][-1])}

            done = await walk(app, f"rater{number}", choose)
            met = [app.study.items[item_id].conditions["setup"] for _, item_id in done.met]
            assert len(met) == len(set(met)) == 8
            assert "DONE1" in done.end
        assert {len(values) for values in given.values()} == {1}
        table = app.store.responses().where(measure="rating")
        means: dict[str, list[float]] = defaultdict(list)
        for row in table.rows():
            assert row.value is not None
            means[row.item_id].append(row.value)
        assert {item_id: sorted(values) for item_id, values in means.items()} == {
            item_id: sorted(map(float, values)) for item_id, values in given.items()
        }
        collected = read_collected(app.study, app.store, tables=app.store.responses_and_judgments())
        write_export(collected, folder / "export")
        states = {one.state for one in app.store.people()}
    assert states <= {State.FINISHED, State.ACCEPTED}
    text = (folder / "export" / "item_statistics.csv").read_text(encoding="utf-8")
    assert text.count("\n") == 1 + 48


def test_an_ending_study_refuses_two_endings_of_one_writer() -> None:
    """A design that gives one writer both endings of a setup is impossible: one list for two items of a setup."""
    usage = Usage("The bank was shut.", 4, 8, lemma="bank", language="en")
    senses = {"precontext": "One. Two.", "sense": "a", "example": "b", "other_sense": "c", "other_example": "d"}
    items = tuple(Item(f"s1_{end}", "e", (usage,), conditions={"setup": "s1", **senses}) for end in "AB")
    design = DesignSection(lists=1, confusion=(Confusion(condition="setup", at_most=1),))
    with pytest.raises(InputError, match="E421"):
        freeze(definition(task="story_ending", design=design), items)
