"""S07: the pre-registration text has every number of the definition, and the sampling plan follows from them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from lexiscope.annotation.export.preregistration import preregistration, preregistration_template
from lexiscope.annotation.study_file.definition import (
    DesignSection,
    KnownQuestion,
    Payment,
    Planned,
    RatingsSection,
    StudyDefinition,
    StudyTexts,
)
from lexiscope.annotation.study_file.design import build_design

from .made_export import pair

RULES = (
    "failed_catch(items=catch,expected=5,tolerance=0.25)",
    "too_slow(sd=3)",
    "low_agreement(r_squared=0.1)",
    "self_report(measure=native_speaker,value=no)",
)


def definition() -> StudyDefinition:
    """SAW-C's plan (§3): ten lists, ten ratings a pair, 120 people at first, 2.40 for 12 min 23 s."""
    return StudyDefinition(
        name="plan",
        task="relatedness",
        language="es",
        design=DesignSection(lists=10, seed=4711),
        ratings=RatingsSection(per_item=10, first_wave=120, people_at_most=163),
        exclusions=RULES,
        payment=Payment(amount=2.4, currency="USD", minutes=743 / 60, hourly_least=11.25),
        planned=Planned(model="rating ~ same_sense + (1 | participant) + (1 | item)", effect="same_sense", size=0.35),
        attention=(KnownQuestion(id="a1", shows={"sentence": "word", "target": "word"}, accept=(1, 2)),),
        texts=StudyTexts(consent="I agree to 17 things."),
    )


def numbers(value: Any) -> Iterator[str]:
    """Every number of a definition, also those inside the rules."""
    if isinstance(value, dict):
        for each in value.values():
            yield from numbers(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from numbers(each)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield f"{value:g}" if float(value).is_integer() else repr(value)
    elif isinstance(value, str) and "(" in value:
        yield from re.findall(r"\d+(?:\.\d+)?", value)


def text() -> str:
    """The text for 40 pairs."""
    study = definition()
    items = [pair(f"i{k}", f"w{k}", same_sense=k % 2 == 0) for k in range(40)]
    return preregistration(study, build_design(items, study.design, study.catch))


def test_every_number_of_the_definition_is_in_the_text() -> None:
    """No number is missing, whole words compared; what participants read is there by its version."""
    words = set(re.findall(r"[0-9]+(?:\.[0-9]+)?", text()))
    content = definition().model_dump(exclude={"texts", "codes"})
    missing = [number for number in numbers(content) if number.removeprefix("-") not in words]
    assert missing == []


def test_the_sampling_plan_follows() -> None:
    """10 lists × 10 ratings = 100 people at least; the first wave and the limit as declared; the hourly pay."""
    said = text()
    assert "at least 100 participants (10 lists × 10)" in said
    assert "We first recruit 120 participants." in said
    assert "We pay at most 163 participants." in said
    # 2.40 / (743 s / 3600 s)
    assert f"{2.4 * 3600 / 743:.2f} USD per hour" in said


def test_rules_stand_in_order_with_their_sentence() -> None:
    """Each rule as declared and as a sentence, numbered."""
    lines = [line for line in text().splitlines() if re.match(r"\d+\. Excluded", line)]
    assert [line.partition("`")[2].removesuffix("`)") for line in lines] == list(RULES)


def test_the_model_and_what_it_is_compared_with() -> None:
    """The confirmatory test: the planned model against the one without the effect."""
    assert (
        "`rating ~ same_sense + (1 | participant) + (1 | item)` against `rating ~ 1 + (1 | participant) + (1 | item)`"
        in text()
    )


def test_a_completion_code_is_not_published() -> None:
    """Whoever reads a code could be paid: codes are not in the text."""
    study = definition()
    coded = study.model_copy(update={"codes": study.codes.model_copy(update={"completion": "C0DE77"})})
    items = [pair(f"i{k}", f"w{k}", same_sense=True) for k in range(40)]
    assert "C0DE77" not in preregistration(coded, build_design(items, coded.design, coded.catch))


def test_a_study_without_a_model_says_so() -> None:
    """Nothing is made up where nothing is planned."""
    study = StudyDefinition(name="s", task="relatedness", language="en")
    said = preregistration(study, build_design([pair(f"i{k}", f"w{k}") for k in range(5)], study.design, study.catch))
    assert "## Confirmatory model\n\nNone." in said
    assert "None." in said


def test_the_text_says_what_it_is() -> None:
    """A plan that is exported after the answers must not pass for a registration."""
    assert text().startswith("# Plan: ")
    assert "It is a pre-registration only if it was registered before the first answer." in text()


def test_a_template_says_so_and_has_blanks_only() -> None:
    """Pay, exclusions and sample are blanks: no digit but the numbers of a list stands in it."""
    said = preregistration_template([("Q1", "Do people agree?")])
    assert said.startswith("# TEMPLATE: pre-registration\n\n**TEMPLATE.")
    assert "- Q1: Do people agree? Predicted: ____. Confirmatory: ____" in said
    for blank in ("Amount and currency per participant", "Valid answers per item", "Participants asked first"):
        assert any(line.startswith(f"- {blank}") and line.endswith(": ____") for line in said.splitlines())
    exclusions = said.partition("## Exclusions")[2].partition("##")[0]
    assert exclusions.split("\n")[2:4] == ["1. ____", "2. ____"]
    assert not re.search(r"\d", re.sub(r"(?m)^\d\. |Q1", "", said))


def test_the_plan_of_a_rehearsal_is_marked() -> None:
    """Simulated participants keep their mark in every file of an export, in its plan too."""
    study = definition()
    design = build_design([pair(f"i{k}", f"w{k}", same_sense=k % 2 == 0) for k in range(40)], study.design, study.catch)
    assert "**Simulated participants:**" in preregistration(study, design, simulated=True)
    assert "imulated" not in preregistration(study, design)
