"""Write the plan of a study as text (sampling, exclusions, confirmatory model, every setting), and a template for one.

The plan follows from the definition alone: the same definition gives the same text, and no number of the definition is
missing from it. The template has no numbers at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from lexiscope.analysis.exclusion import parse_rule
from lexiscope.annotation.export.r_script import analysis_formulas
from lexiscope.annotation.export.study_data import EXCLUDED_WHILE_RUNNING, StudyData
from lexiscope.annotation.study_file.definition import StudyDefinition, text_versions
from lexiscope.annotation.study_file.design import DividedLists
from lexiscope.annotation.study_file.exclusions import ids_included_by_hand
from lexiscope.core.showing import counted
from lexiscope.core.simulated import TOLD_SIMULATED
from lexiscope.core.study import CollectionPlan, Deviation
from lexiscope.tasks.kit.published_sheets import answers_by_item


def preregistration(definition: StudyDefinition, design: DividedLists, *, simulated: bool = False) -> str:
    """Return the text as Markdown; *simulated*: of a rehearsal, which is marked.

    Errors: those of :func:`lexiscope.analysis.exclusion.parse_rule` and of the planned model.
    """
    values = ((name, " ".join(value.replace("|", "\\|").split())) for name, value in _settings(definition))
    settings = (f"| `{name}` | {value or '–'} |" for name, value in values)
    rules = [
        f"{number}. {parse_rule(text).describe()} (`{text}`)" for number, text in enumerate(definition.exclusions, 1)
    ]
    exclusion_lines = [
        "## Exclusions, in this order; each participant is attributed to the first",
        "",
        *(rules or ["None."]),
        "",
    ]
    lines = (
        f"# Plan: {definition.texts.title or definition.name}",
        "",
        *(_REHEARSED if simulated else ()),
        _WHAT_IT_IS,
        "",
        *_design_lines(definition, design),
        *_sampling_lines(definition, design),
        *_session_lines(definition),
        *exclusion_lines,
        *_model_lines(definition),
        *_pay_lines(definition),
        "## Every setting, but for the completion codes",
        "",
        "| setting | value |",
        "|---|---|",
        *settings,
    )
    return "\n".join(lines) + "\n"


def collection_plan(collected: StudyData) -> CollectionPlan | None:
    """Return the plan of a collection with its deviations: sample, exclusions; ``None`` where none was written."""
    definition, signature = collected.definition, collected.signature
    planned = definition.planned
    if not planned.questions:
        return None
    texts = signature.questions if signature is not None else dict.fromkeys(planned.questions, "")
    plan = CollectionPlan(
        signature.study if signature is not None else planned.study,
        tuple(texts.items()),
        planned.models,
        definition.ratings.per_item,
        definition.exclusions,
        signature.sha256 if signature is not None else "",
        signature.by if signature is not None else "",
        signature.at if signature is not None else "",
        collected.first_answer_at,
        tuple(_deviations(collected)),
    )
    return plan.checked(simulated=collected.simulated)


def _deviations(collected: StudyData) -> Iterator[Deviation]:
    least, given = collected.definition.ratings.per_item, answers_by_item(collected)
    views = dict.fromkeys(collected.definition.views)
    n = [len(given.get((item.item_id, view), ())) for view in views for item in collected.design.items]
    short = sum(number < least for number in n)
    if short:
        done = f"{min(n)} to {max(n)}; {short} of {len(n)} have fewer than {least}"
        yield Deviation("valid answers per item", f"at least {least}", done)
    for rule in collected.participant_counts.rules:
        if rule.waiting:
            yield Deviation("exclusion rule", rule.rule, f"not applied: {rule.waiting}")
        elif rule.rule == EXCLUDED_WHILE_RUNNING and rule.n_removed:
            done = f"{counted(rule.n_removed, 'participant')} more: {rule.description}"
            yield Deviation("exclusions", "by the rules only", done)
    included = len(ids_included_by_hand(collected.people))
    if included:
        yield Deviation("exclusions", "by the rules only", f"{counted(included, 'participant')} included again by hand")


_WHAT_IT_IS = (
    "This text was written from the study's definition, which cannot change after the launch. It is a pre-registration "
    "only if it was registered before the first answer."
)
_REHEARSED = (
    f"**Simulated participants:** {TOLD_SIMULATED}. This text is not a pre-registration of these answers.",
    "",
)
_TEMPLATE = """\
# TEMPLATE: pre-registration

**TEMPLATE. Nothing in this file has been decided.** Replace every ____ before the first participant answers, delete
this paragraph, and register the text (for example at https://osf.io). A plan that was written after the first answer is
not a pre-registration, and its analyses are exploratory.

- Title: ____
- Authors: ____
- Date of registration, and where: ____
- Have any answers been collected, and who has seen them? ____

## Questions

{questions}

Analyses that are not named below are exploratory.

## Material

- Items, and where they come from: ____
- Lists, items per list, how items are divided: ____
- Question, scale, guidelines (attach the text): ____

## Sampling plan

- Who can take part, and how they are recruited: ____
- Valid answers per item after exclusions: ____
- Participants asked first: ____
- What happens if an item has too few valid answers: ____
- Largest number of participants: ____

## Session

- Qualification, practice and catch trials, with their correct answers: ____
- Order of items, sides and options: ____

## Exclusions, in the order in which they are applied

1. ____
2. ____

## Confirmatory analyses

For each: the outcome, the model with its random effects, the effect that is tested, its predicted direction, the test
and its level, the smallest effect that matters, and, if models are compared with people, which model and which layer.

1. ____
2. ____

## Pay and ethics

- Amount and currency per participant: ____
- Expected duration, and the pay per hour that follows: ____
- Ethics approval: ____
"""


def preregistration_template(questions: Sequence[tuple[str, str]] = ()) -> str:
    """Return a template as Markdown: blanks for everything, the numbers of no study.

    *questions* (id, text) are those of a study of the catalog, each to be answered or to be deleted.
    """
    listed = [f"- {name}: {text} Predicted: ____. Confirmatory: ____" for name, text in questions]
    return _TEMPLATE.format(questions="\n".join(listed or ["1. ____ Predicted: ____"]))


def _settings(definition: StudyDefinition) -> Iterator[tuple[str, str]]:
    """Yield every setting by its dotted name with its value as text, or the version of a text for participants.

    What participants read is given by version, because the pre-registration would otherwise repeat it whole.
    """
    versions = text_versions(definition)
    for name, value in _flat_settings("", definition.model_dump(mode="json")):
        section, _, text = name.partition(".")
        if section == "texts":
            yield name, f"version {versions[text]}" if versions[text] else "no text"
        elif section != "codes":
            # a completion code in a public text would let any reader be paid
            yield name, value


def _design_lines(definition: StudyDefinition, design: DividedLists) -> list[str]:
    sizes = sorted({len(items) for items in design.lists})
    per_list = " or ".join([*(str(size) for size in sizes[:-1]), counted(sizes[-1], "item")])
    n_shared = len(design.shared)
    shared = f", with {counted(n_shared, 'item')} in every list" if design.shared else ""
    once = "One participant answers one list" + (" in one view." if len(definition.views) > 1 else ".")
    catch, scale = definition.catch.per_list, definition.scale
    apart = [
        f"{confusion.condition} (at most {confusion.at_most})"
        if confusion.at_most
        else f"{confusion.condition} (as few as the number of lists allows)"
        for confusion in definition.design.confusion
    ]
    return [
        "## Material and design",
        "",
        f"Task: {definition.task}, in {definition.language}. {counted(len(design.items), 'item')} on "
        f"{counted(len(design.lists), 'list')} of {per_list}{shared}; views: {', '.join(definition.views)}. {once}",
        f"Separated within a list: {', '.join(apart) or 'none'}. Balanced over the lists: "
        f"{', '.join(design.balance) or 'none'}. Seed of lists, orders, sides and catch trials: {design.seed}.",
        f"Scale: {scale.low:g} to {scale.high:g} in steps of {scale.step:g}. Each list has "
        f"{counted(catch, 'catch trial')} with the correct answer {definition.catch.answer:g}, and "
        f"{counted(len(definition.attention), 'attention check')}.",
        "",
    ]


def _sampling_lines(definition: StudyDefinition, design: DividedLists) -> list[str]:
    ratings, n_views = definition.ratings, len(definition.views)
    least = len(design.lists) * n_views * ratings.per_item
    factors = counted(len(design.lists), "list") + (f" × {n_views} views" if n_views > 1 else "")
    in_each = " in each view" if n_views > 1 else ""
    people = counted(least, "participant")
    first = f"We first recruit {counted(ratings.first_wave or least, 'participant')}."
    most = f" We pay at most {counted(ratings.people_at_most, 'participant')}." if ratings.people_at_most else ""
    answers = counted(ratings.per_item, "valid answer")
    return [
        "## Sampling plan",
        "",
        f"Every item needs at least {answers}{in_each} after the exclusions, so at least {people} "
        f"({factors} × {ratings.per_item}). {first} If any item then has fewer than {answers}{in_each}, "
        f"we recruit further participants for its list until none has.{most}",
        f"A place without an answer for {definition.lease.minutes:g} minutes is given to another participant.",
        "",
    ]


def _session_lines(definition: StudyDefinition) -> list[str]:
    n = len(definition.qualification)
    measures = ", ".join(question.measure for question in definition.about_you)
    test = f"{counted(n, 'question')}, one attempt, every answer must be correct" if n else "none"
    return [
        "## Session",
        "",
        f"Qualification: {test}. Practice trials: {len(definition.practice)}. Questions about the participant: "
        f"{measures or 'none'}. Side of sentences: {definition.side}; "
        f"order of options: {definition.option_order}. Participants "
        f"{'can' if definition.back else 'cannot'} go back and change an answer.",
        "",
    ]


def _model_lines(definition: StudyDefinition) -> list[str]:
    planned = definition.planned
    lines = []
    if planned.questions:
        models = ", ".join(f"`{name}`" for name in planned.models) or "none"
        lines += [
            "## Confirmatory questions",
            "",
            f"Questions {', '.join(planned.questions)} of the study `{planned.study}`, for participants and these "
            f"models: {models}. All other questions and models are exploratory.",
            "",
        ]
    lines += ["## Confirmatory model", ""]
    if not planned.model:
        return [*lines, "None.", ""]
    full, reduced = analysis_formulas(definition)
    lines += ["Maximum likelihood; likelihood-ratio test, two-tailed, alpha = .05; the exact p is reported.", ""]
    against = f" against `{reduced}`" if reduced else ""
    lines += [f"- {planned.effect or 'the model'}: `{full}`{against}"]
    return [*lines, f"- smallest effect of interest: {planned.size:g} points", ""]


def _pay_lines(definition: StudyDefinition) -> list[str]:
    pay, currency = definition.payment, definition.payment.currency
    least = f" The minimum pay is {pay.hourly_least:.2f} {currency} per hour." if pay.hourly_least else ""
    return [
        "## Pay and ethics",
        "",
        f"{pay.amount:.2f} {currency} per participant; at the expected median of {pay.minutes:g} minutes this is "
        f"{pay.hourly:.2f} {currency} per hour.{least}",
        f"Ethics: {definition.ethics or 'no statement yet'}",
        "",
    ]


def _flat_settings(name: str, value: Any) -> Iterator[tuple[str, str]]:
    inner: list[tuple[str, Any]] = []
    if isinstance(value, dict):
        inner = [(f"{name}.{key}" if name else key, entry) for key, entry in value.items()]
    elif isinstance(value, list):
        inner = [(f"{name}[{number}]", entry) for number, entry in enumerate(value, start=1)]
    else:
        yield name, f"{value:g}" if isinstance(value, float) and value.is_integer() else str(value)
    for key, entry in inner:
        yield from _flat_settings(key, entry)
