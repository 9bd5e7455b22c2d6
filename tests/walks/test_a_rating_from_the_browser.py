"""First walk, from the page to the report (docs/walks.md): four made participants rate the same pairs over HTTP.

Nobody's judgments: three agree, the fourth turns the scale around and is excluded by the study's rule.
"""

from __future__ import annotations

import asyncio

import pytest

from lexiscope.analysis.agreement.raters import leave_one_out
from lexiscope.analysis.exclusion import apply, parse_rule
from lexiscope.analysis.ratings import Ratings
from lexiscope.annotation.study_file.definition import CatchSection, DesignSection, RatingsSection
from lexiscope.core.response import ResponseTable
from lexiscope.report.tables import BOUNDED, Column, Table, to_text

from ..annotation.web.made_web import Person, client, made_definition, running

ANSWERS = {"ann": "124524", "bob": "114524", "cy": "214534", "dee": "552141"}


@pytest.fixture(scope="module")
def responses(tmp_path_factory: pytest.TempPathFactory) -> ResponseTable:
    """What the study's store gives to the statistics after four visits."""
    definition = made_definition(
        qualification=(),
        practice=(),
        attention=(),
        about_you=(),
        exclusions=(),
        design=DesignSection(lists=1),
        ratings=RatingsSection(per_item=4),
        catch=CatchSection(per_list=0),
    )

    async def visit() -> ResponseTable:
        with running(tmp_path_factory.mktemp("study"), definition) as app:
            for name, answers in ANSWERS.items():
                async with client(app) as browser:
                    # the page names the item's number in its sentences: "number 3."
                    def decide(_where: str, page: str, answers: str = answers) -> str:
                        return answers[int(page.partition(" number ")[2][0])]

                    person = Person(browser, app.study, decide)
                    assert "DONE1" in (await person.whole_way(await person.arrive(name))).text
            return app.store.responses()

    return asyncio.run(visit())


def test_a_press_becomes_a_row(responses: ResponseTable) -> None:
    """Hops 1 to 5: every press is one row of a participant under a random id, on the scale, with item and position."""
    ratings = responses.where(measure="rating")
    assert len(ratings) == 4 * 6
    assert ratings.unique("subject_kind") == ("participant",)
    assert not set(ratings.unique("subject_id")) & set(ANSWERS)
    by_item = {item: sorted(ratings.where(item_id=item).column("value").tolist()) for item in ratings.unique("item_id")}
    assert by_item == {f"i{n}": sorted(float(answers[n]) for answers in ANSWERS.values()) for n in range(6)}
    assert len(responses.where(measure="completion_time")) == 4


def test_the_rows_go_through_the_statistics_unchanged(responses: ResponseTable) -> None:
    """Hops 6 to 8: the rule excludes who turned the scale around; the others' agreement is printed."""
    kept = apply([parse_rule("low_agreement(r_squared=0.1)")], responses)
    assert (kept.n_before, kept.n_after) == (4, 3)
    agreement = leave_one_out(Ratings.from_table(kept.kept), resamples=100, seed=1)
    assert agreement.n_raters == 3
    assert agreement.mean > 0.8
    table = Table(
        "t", "1", "Agreement", (Column("Statistic"), Column("Value", BOUNDED)), ((agreement.name, agreement.mean),)
    )
    assert f"{agreement.mean:.2f}".lstrip("0") in to_text(table)
