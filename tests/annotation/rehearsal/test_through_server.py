"""Simulated people at the real pages: every task, the same trials and places as in memory, the careless found.

Every answer here is made by the simulation; none is anybody's judgment.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from lexiscope.annotation.rehearsal.answers import Population
from lexiscope.annotation.rehearsal.browser import read_page
from lexiscope.annotation.rehearsal.simulate import simulate_once
from lexiscope.annotation.rehearsal.through_server import rehearse_through_server
from lexiscope.annotation.study_file.definition import (
    Codes,
    KnownQuestion,
    Payment,
    PoolSection,
    RatingsSection,
    StudyDefinition,
)
from lexiscope.annotation.study_file.definition_file import definition_yaml, parse_definition
from lexiscope.annotation.study_file.study_folder import StudyOnDisk
from lexiscope.annotation.study_file.template import draft_definition
from lexiscope.core import catalog
from lexiscope.core.item import Item
from lexiscope.datasets.mini_relatedness import load

ASKED = [name for name in catalog.names("tasks") if getattr(catalog.module("tasks", name), "SCREEN", None)]
FAULTLESS = Population(dropout=0.0, careless=0.0, slow=0.0, non_native=0.0, noise=0.4)


def on_disk(items: tuple[Item, ...], task: str, *, search: Path | None = None, **changes: object) -> StudyOnDisk:
    """A study that lacks nothing but a file."""
    draft = draft_definition(items, task=task, items_file="", language="en", name=task)
    wanted: dict[str, object] = {
        "texts": draft.texts.model_copy(update={"consent": "I agree."}),
        "ethics": "A test: nobody is asked.",
        "codes": Codes(completion="AAA", screen_out="BBB", no_consent="CCC"),
        "payment": Payment(amount=2, minutes=10),
        "search": str(search or ""),
    }
    made: StudyDefinition = draft.model_copy(update=wanted | changes)
    return StudyOnDisk(parse_definition(definition_yaml(made)), items, Path("nowhere"), search)


def examples(task: str) -> tuple[Item, ...]:
    """The worked examples of a task, as items."""
    return tuple(catalog.module("tasks", task).example_items("en"))  # type: ignore[attr-defined]


def pairs(n: int = 24) -> tuple[Item, ...]:
    """Mini items of relatedness."""
    return tuple(load("en").items[:n])


@pytest.mark.parametrize("task", ASKED)
def test_every_task_is_gone_through(task: str, tmp_path: Path) -> None:
    """From the link to the code for every task: every item gets its answers, nobody is stopped by a page."""
    search = tmp_path / "entities.tsv"
    search.write_text("id\ttitle\tdescription\n1\tIceland\ta country\n2\tCambridge\ta city\n", encoding="utf-8")
    items = examples(task)
    searched = search if catalog.screen(task).widget == "search" else None
    study = on_disk(items, task, search=searched, pool=PoolSection(per_person=len(items) - 1), exclusions=())
    study = replace(study, file=parse_definition(definition_yaml(_few(study.definition))))
    run = rehearse_through_server(study, population=FAULTLESS, seed=3)
    assert run.complete
    assert run.paid == run.valid == sum(run.ends[name] for name in ("finished",))
    if not catalog.screen(task).drawn:
        assert run.ratings[0] == 2 * len(study.definition.views)
    assert {row["participant_kind"] for row in run.collected.rows} == {"simulated"}


def test_who_reads_finds_the_right_option() -> None:
    """An option is sent by its key and stored by its value: simulated people who never err find every intruder."""
    (page, *_) = examples("word_intrusion")
    items = tuple(replace(page, item_id=f"i{n}", usages=(replace(page.usages[0], lemma=f"w{n}"),)) for n in range(12))
    study = on_disk(items, "word_intrusion", ratings=RatingsSection(per_item=2), exclusions=())
    run = rehearse_through_server(study, population=replace(FAULTLESS, noise=0.0), seed=1)
    chosen = [row["response"] for row in run.collected.rows if row["kind"] == "item"]
    assert chosen == [page.gold] * 24


def test_who_reads_answers_a_check_rightly() -> None:
    """The right answer to a check is named by its value and sent by its key: nobody who reads is refused or fails."""
    (page, *_) = examples("word_intrusion")
    items = tuple(replace(page, item_id=f"i{n}", usages=(replace(page.usages[0], lemma=f"w{n}"),)) for n in range(12))
    shows = {"target": "bread", "sentence_1": "bread", "options": "flour|oven|yeast|engine", "sense": "1"}
    checks = tuple(KnownQuestion.model_validate({"id": name, "shows": shows, "accept": ["engine"]}) for name in "pa")
    two = RatingsSection(per_item=2)
    study = on_disk(items, "word_intrusion", ratings=two, practice=checks[:1], attention=checks[1:], exclusions=())
    run = rehearse_through_server(study, population=FAULTLESS, seed=1)
    given = {row["response"] for row in run.collected.rows if row["kind"] in ("practice", "attention")}
    assert given == {"engine"}


def _few(definition: StudyDefinition) -> StudyDefinition:
    return definition.model_copy(update={"ratings": RatingsSection(per_item=2)})


def test_the_same_people_do_the_same_in_memory() -> None:
    """Through the server and in memory: the same places, the same trials in the same order, the same ratings."""
    study = on_disk(pairs(), "relatedness", ratings=RatingsSection(per_item=3), exclusions=())
    run = rehearse_through_server(study, population=FAULTLESS, seed=5)
    made = study.freeze()
    alone = simulate_once(made.definition, made.design, population=FAULTLESS, seed=5)
    # who came when the study was full has no place
    people = [one for one in run.collected.people if one.number is not None]
    assert [(p.list_number, p.number) for p in alone.recruited.places] == [
        (int(one.list_id or 0) - 1, one.number) for one in people
    ]
    theirs = {one.participant_id: number for number, one in enumerate(people)}
    ours = {place.participant: number for number, place in enumerate(alone.recruited.places)}
    served = {
        (theirs[row.subject_id], row.item_id): (row.position, row.value)
        for row in run.collected.responses.where(measure="rating").rows()
    }
    rehearsed = {(ours[row.subject_id], row.item_id): row.value for row in alone.kept.where(measure="rating").rows()}
    assert {key: value for key, (_, value) in served.items() if key in rehearsed} == rehearsed
    assert len(served) == 3 * (24 + 1), "three people, 24 pairs and the catch trial"


def test_the_rules_find_the_careless() -> None:
    """Who does not look fails the catch trial or agrees with nobody, is excluded, and the place is filled again."""
    careless = replace(FAULTLESS, careless=0.25, non_native=0.1)
    study = on_disk(pairs(), "relatedness", ratings=RatingsSection(per_item=8))
    run = rehearse_through_server(study, population=careless, seed=2)
    assert run.complete
    assert run.ratings[0] >= 8
    caught = Counter({name: sum(getattr(rule, name) for rule in run.rules) for name in ("careless", "non_native")})
    assert run.excluded == sum(caught.values()) + sum(rule.attentive + rule.slow for rule in run.rules)
    assert caught["careless"] >= 1
    assert dict(run.missed)["non_native"] == 0
    assert run.cost == 2 * run.paid


def test_people_leave_and_come_back() -> None:
    """Who leaves frees the place, who comes back late goes on; in the end every item has its valid ratings."""
    restless = Population(dropout=0.5, announced=0.4, late=0.3, careless=0.0, slow=0.0, non_native=0.0)
    study = on_disk(pairs(12), "relatedness", ratings=RatingsSection(per_item=10), exclusions=())
    run = rehearse_through_server(study, population=restless, seed=1)
    assert run.complete
    assert run.ratings[0] >= 10
    assert sum(run.ends.get(name, 0) for name in ("gone", "returned", "late")) >= 2


def test_who_fails_the_qualification_is_sent_away() -> None:
    """Careless people fail a qualification of three questions, get its code, and take no place."""
    first = {"target": "crane", "sentence_1": "The crane flew."}
    questions = tuple(
        KnownQuestion(id=f"q{n}", shows={**first, "sentence_2": f"A crane stood {n}."}, accept=(5,)) for n in range(3)
    )
    study = on_disk(pairs(12), "relatedness", qualification=questions, ratings=RatingsSection(per_item=3))
    run = rehearse_through_server(study, population=replace(FAULTLESS, careless=0.5), seed=4)
    assert run.ends["screened_out"] >= 1
    assert run.complete


def test_at_most_so_many_come() -> None:
    """A rehearsal of a few people ends when they have ended, complete or not."""
    study = on_disk(pairs(12), "relatedness")
    run = rehearse_through_server(study, population=FAULTLESS, seed=1, people=2)
    assert (run.paid, run.complete) == (2, False)


def test_a_page_is_read_as_a_browser_reads_it() -> None:
    """Forms, hidden fields, options with their labels, text fields and boxes; nested elements do not confuse it."""
    page = read_page(
        '<body data-page="trial"><div class="stimulus"><p>A <strong>bat</strong></p><div>x</div></div>'
        '<form action="/trial/trials/0"><input type="hidden" name="csrf" value="t">'
        '<label><input type="radio" name="option-t-0" value="k"><span class="lines"><span>one</span> two</span></label>'
        '<input type="checkbox" name="flag_weird-t-0" value="1"><textarea name="comment-t-0"></textarea></form>'
    )
    form = page.answer
    assert (page.name, page.stimulus, form.action, form.hidden) == ("trial", "A batx", "/trial/trials/0", {"csrf": "t"})
    assert (form.choices, form.labels) == ({"option-t-0": ["k"]}, {"option-t-0": ["one two"]})
    assert (form.boxes, form.texts, form.field_of("comment")) == (["flag_weird-t-0"], ["comment-t-0"], "comment-t-0")
