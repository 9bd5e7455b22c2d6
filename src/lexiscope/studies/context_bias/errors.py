"""Errors to browse (Table 3), and words that people guessed (Tables 1 and 8)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from lexiscope.analysis.guess_answers import guess_answers
from lexiscope.analysis.guess_flips import count_flips
from lexiscope.analysis.view_answers import answers_by_view
from lexiscope.analysis.view_errors import ViewErrors, distractor_by_overlap, view_errors
from lexiscope.core.item import Item
from lexiscope.core.result import Record, statistic_name
from lexiscope.items.sense_options import glosses_of
from lexiscope.report.bias_sections import errors_section
from lexiscope.report.bias_tables import flips_table
from lexiscope.report.part import Part, joined
from lexiscope.studies.context_bias.material import RETRIEVAL_TASKS, Answers, AuditSet, Material
from lexiscope.studies.context_bias.published import GUESSES_REMARK, PUBLISHED

MOST = 30
"""So many errors of each kind are shown of a dataset; all of them follow from the answers in the run folder."""

_KINDS = (("full", "word"), ("word", "full"))
_RULE = (
    "A distracting word is one of the context that stands in the wrongly chosen entry too, and not in the right one; "
    "it need not be what misled the model."
)


def errors_part(material: Material) -> Part:
    """Return what the whole input gets wrong and the word alone right, and the reverse, of each model (Table 3)."""
    return joined(_of_model(audit, answers, n) for n, (audit, answers) in enumerate(_each(material), start=1))


def guesses_part(material: Material) -> Part:
    """Return whether answers change with a guessed word, of each model beside people (Tables 1 and 8)."""
    parts = [_flips(audit, answers, material, n) for n, (audit, answers) in enumerate(_each(material), start=1)]
    if not any(part.tables or part.paragraphs for part in parts):
        return Part(paragraphs=(_NO_GUESS, *_of_paper(material)))
    return joined([*parts, Part(paragraphs=(_READING, *_of_paper(material)))])


def _of_paper(material: Material) -> tuple[str, ...]:
    return (GUESSES_REMARK,) if any(audit.name in PUBLISHED for audit in material.sets) and not material.own else ()


_NO_GUESS = (
    "Nobody's guessed words were given in this run. People who see the context alone may guess the word (the column "
    "word of a sheet, or the page of the app); the model of the whole input is then asked the item with the guess in "
    "its place."
)
_READING = (
    "A person's answer with the guess is the one given to the context alone; that with the original word was given "
    "when the word was shown. Flips are counted where somebody judged that the guess is another word that fits."
)


def _each(material: Material) -> Iterator[tuple[AuditSet, Answers]]:
    for audit in material.sets:
        for answers in material.of(audit.name):
            yield audit, answers


def _of_model(audit: AuditSet, answers: Answers, number: int) -> Part:
    by_view = answers_by_view(answers.responses, subject=answers.subject, measure=audit.measure)
    gold = audit.gold_of(answers.asked)
    items = {item.item_id: item for item in audit.test}
    entries, found, records = _entries(audit), [], []
    for wrong, right in _KINDS:
        chosen = {item: by_view[wrong].get(item) for item in gold}
        misled = {item: _distractor(items[item], chosen[item], entries) for item in gold}
        errors = view_errors(gold, by_view, wrong=wrong, right=right, words=audit.words, distractors=misled)
        found.append(errors)
        name = statistic_name("n_errors", wrong=wrong, right=right)
        records.append(Record(name, float(len(errors.errors)), answers.subject, audit.name, n=errors.n))
    texts = {error.item_id: _shown(items[error.item_id]) for each in found for error in each.errors}
    shown = {key: name for key, (name, _) in entries.items()}
    section = errors_section(found, texts=texts, entries=shown, section_id=f"errors_{number}", most=MOST)
    told = tuple(f"{audit.name}, {answers.subject}. {text}" for text in section.paragraphs if isinstance(text, str))
    named = f"{audit.name}, {answers.subject}"
    tables = tuple(replace(each, number="3", title=f"{named}: {each.title}") for each in section.tables)
    return Part(tuple(records), tables, paragraphs=(*told, *_ruled(entries, found)))


def _ruled(entries: dict[str, tuple[str, str]], found: list[ViewErrors]) -> tuple[str, ...]:
    return (_RULE,) if entries and any(error.distractor for each in found for error in each.errors) else ()


def _entries(audit: AuditSet) -> dict[str, tuple[str, str]]:
    """Name and description of what can be chosen, where answers are more than t and f."""
    if audit.space is not None and audit.task in RETRIEVAL_TASKS:
        return {each.entry_id: (each.name, each.description) for each in audit.space.entries}
    if audit.task != "sense_disambiguation":
        return {}
    return {key: (f"{gloss} ({key})", gloss) for item in audit.test for key, gloss in glosses_of(item).items()}


def _distractor(item: Item, answer: str | None, entries: dict[str, tuple[str, str]]) -> str:
    right = next((entries[key] for key in str(item.gold).split("|") if key in entries), ("", ""))
    if answer is None or answer not in entries or answer in str(item.gold).split("|"):
        return ""
    usage = item.usages[0]
    return distractor_by_overlap(usage.text, entries[answer][1], right=right[1], target=usage.target)


def _shown(item: Item) -> str:
    texts = [usage.bracketed for usage in item.usages]
    definition = item.conditions.get("definition")
    return " ‖ ".join([*texts, str(definition)] if definition else texts)


# -- guessed words --------------------------------------------------------------------------------------------


def _flips(audit: AuditSet, answers: Answers, material: Material, number: int) -> Part:
    guessed, told = material.guesses.get(audit.name, ((), ""))
    if not guessed:
        return Part(paragraphs=(f"{audit.name}: {told}",) if told else ())
    found = guess_answers(guessed, material.people[audit.name], answers.responses, model_id=answers.subject)
    counts = count_flips(found)
    numbers = {"n_guesses": counts.n, "n_valid_guesses": counts.n_valid}
    records = tuple(
        Record(name, float(value), answers.subject, audit.name, n=counts.n) for name, value in numbers.items()
    )
    kept = float(counts.insensitive) if counts.sensitive_items else None
    why = "" if counts.sensitive_items else "no valid guess changes a person's answer and was answered by the model"
    records += (Record("n_insensitive", kept, answers.subject, audit.name, n=counts.sensitive_items, note=why),)
    table = flips_table(found, name=f"guess_flips_{number}", number="8")
    return Part(records, (table,), paragraphs=(f"{audit.name}, {answers.subject}: {told}",))
