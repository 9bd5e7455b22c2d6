"""First walk, from the page to the report (docs/extend/code-tour.md): four made participants rate over HTTP.

Nobody's judgments: three agree, the fourth turns the scale around and is excluded by the study's rule.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path

import pytest

import lexiscope
from lexiscope.annotation.export.package import write_export
from lexiscope.annotation.study_file.definition import CatchSection, DesignSection, RatingsSection
from lexiscope.annotation.web.admin.summary import read_collected_for_export
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Estimate

from ..annotation.web.made_web import Person, client, made_definition, running
from .steps import calls, not_reached, resolve, steps

ANSWERS = {"ann": "124524", "bob": "114524", "cy": "214534", "dee": "552141"}
WALK = "A rating, from the browser to the report"


@dataclass(frozen=True)
class Walk:
    """What it leaves: the stored answers, the exported folder, the result, its sentence, and the calls made."""

    stored: ResponseTable
    folder: Path
    agreement: Estimate
    sentence: str
    calls: list[str]


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Walk:
    """Four visits, the export, and the analysis of the exported file, as a user makes them."""
    folder = tmp_path_factory.mktemp("walk")
    definition = made_definition(
        qualification=(),
        practice=(),
        attention=(),
        about_you=(),
        exclusions=("low_agreement(r_squared=0.1)",),
        design=DesignSection(lists=1),
        ratings=RatingsSection(per_item=4),
        catch=CatchSection(per_list=0),
    )

    async def visit() -> ResponseTable:
        with running(folder / "study", definition) as app:
            for name, answers in ANSWERS.items():
                async with client(app) as browser:
                    # the page names the item's number in its sentences: "number 3."
                    def decide(_where: str, page: str, answers: str = answers) -> str:
                        return answers[int(page.partition(" number ")[2][0])]

                    person = Person(browser, app.study, decide)
                    assert "DONE1" in (await person.whole_way(await person.arrive(name))).text
            write_export(read_collected_for_export(app.study, app.store), folder / "export")
            return app.store.responses()

    with calls() as made:
        stored = asyncio.run(visit())
        agreement = lexiscope.analyse(folder / "export" / "ratings.csv").agreement()
        sentence = agreement.sentence()
    return Walk(stored, folder / "export", agreement, sentence, made)


def test_the_steps_are_those_of_the_page(walk: Walk) -> None:
    """Every step of the code tour is a function of the package; a rating passes at most eight, in this order."""
    named = steps(WALK)
    assert 5 <= len(named) <= 8
    assert all(callable(resolve(step)) for step in named)
    assert not_reached(walk.calls, named) == []


def test_a_press_becomes_a_row(walk: Walk) -> None:
    """Steps 1 to 3: every press is one row of a participant under a random id, on the scale, with item and position."""
    ratings = walk.stored.where(measure="rating")
    assert len(ratings) == 4 * 6
    assert ratings.unique("subject_kind") == ("participant",)
    assert not set(ratings.unique("subject_id")) & set(ANSWERS)
    by_item = {item: sorted(ratings.where(item_id=item).column("value").tolist()) for item in ratings.unique("item_id")}
    assert by_item == {f"i{n}": sorted(float(answers[n]) for answers in ANSWERS.values()) for n in range(6)}
    assert len(walk.stored.where(measure="completion_time")) == 4


def test_the_rule_excludes_and_the_export_counts(walk: Walk) -> None:
    """Steps 4 to 6: who turned the scale around is excluded by the study's rule; the manifest counts all four."""
    manifest = json.loads((walk.folder / "export.json").read_text(encoding="utf-8"))
    assert (manifest["participants"], manifest["valid_participants"]) == (4, 3)
    kept = ResponseTable.read_parquet(walk.folder / "ratings.parquet")
    assert len(kept.unique("subject_id")) == 3
    assert sorted(kept.column("value").tolist()) == sorted(
        float(v) for who in ("ann", "bob", "cy") for v in ANSWERS[who]
    )


def test_the_sentence_says_the_number(walk: Walk) -> None:
    """Steps 7 and 8: the mean over the three who are left of the correlation of one with the mean of the two others."""
    assert walk.agreement.n == 3
    assert walk.agreement.value > 0.8
    assert f"{walk.agreement.value:.2f}".lstrip("0") in walk.sentence
