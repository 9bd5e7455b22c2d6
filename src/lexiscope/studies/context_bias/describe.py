"""What was asked and who answered: datasets and their splits, examples by view (Table 6), models (Table 9)."""

from __future__ import annotations

from lexiscope.core.item import Item
from lexiscope.core.result import Record
from lexiscope.items.views import shown_texts
from lexiscope.report.bias_tables import ExampleRow, examples_table
from lexiscope.report.part import Part
from lexiscope.report.sections import drop_empty
from lexiscope.report.tables import INTEGER, Column, Table
from lexiscope.report.tables import Cell as TableCell
from lexiscope.studies.context_bias.material import NOT_ASKED, VIEWS, AuditSet, Material, NotUsed

_TASKS = {
    "same_sense": "same meaning in two texts",
    "sense_verification": "meaning of a definition",
    "sense_disambiguation": "choice among senses",
    "sense_retrieval": "search among all senses",
    "entity_link": "search among entries",
}


FOLDED = "folds"
"""The condition of the number of items that were tested in folds."""


def sets_part(material: Material) -> Part:
    """Return the datasets with their splits, what was done to them, and those that are not in the run, with why."""
    columns = (
        Column("Dataset"),
        Column("Task"),
        *(Column(name, INTEGER) for name in ("Train", "Dev", "Test")),
        Column("Words tested", INTEGER, note="What is resampled."),
        Column("Searched", INTEGER, note="Entries of the search space."),
        Column("Tested split"),
    )
    rows: list[tuple[TableCell, ...]] = []
    records: list[Record] = []
    for audit in material.sets:
        sizes = {"train": len(audit.train), "dev": len(audit.dev), "test": len(audit.test)}
        words = len(set(audit.words.values()))
        searched = len(audit.space) if audit.space is not None else None
        if audit.folds:
            sizes = {FOLDED: len(audit.test)}
        counts = (sizes.get("train"), sizes.get("dev"), len(audit.test))
        rows.append((audit.name, _TASKS[audit.task], *counts, words, searched, audit.tested))
        records += [Record("n_items", float(n), dataset=audit.name, condition=split) for split, n in sizes.items()]
        records.append(Record("n_words", float(words), dataset=audit.name))
        records.append(Record("n_word_shown", float(audit.n_shown), dataset=audit.name, n=len(audit.test)))
    shown = drop_empty(Table("sets", "", "Datasets of this run", columns, tuple(rows)))
    about = [(audit.name, " ".join((*audit.arranged, *_shown_again(audit)))) for audit in material.sets]
    told = tuple(f"{name}: {text}" for name, text in about if text)
    caught = tuple(text for audit in material.sets for text in audit.caught)
    tables = (shown, *_not_used(material), _examples(material))
    return Part(tuple(records), tables, paragraphs=(*told, *caught), remarks=caught)


def _shown_again(audit: AuditSet) -> tuple[str, ...]:
    """How many items show the word outside the target's span, and what was done there."""
    if not audit.n_shown:
        return ()
    share = f"{audit.n_shown:,} of {len(audit.test):,} tested items ({100 * audit.n_shown / len(audit.test):.1f} %)"
    return (
        f"In {share} the texts show the word outside the target's span too. CONTEXT hides it there as well; "
        "CONTEXT SPAN is the published view, which hides the span alone.",
    )


def models_part(material: Material) -> Part:
    """Return the models: what was trained of each on what, and what the paper has more (Table 9)."""
    columns = (Column("Dataset"), Column("Model"), Column("Method"), Column("Learnt from", INTEGER),
               Column("Tested on", INTEGER), Column("How"), Column("Left out"))  # fmt: skip
    rows: list[tuple[TableCell, ...]] = []
    for answers in material.answers:
        full = next((each for each in answers.trained if each.view == "full"), None)
        method = full.method.replace("_", " ") if full is not None else "counting"
        learnt = full.n_train if full is not None else len(_set(material, answers.dataset).train)
        left_out = "; ".join(answers.left_out) or None
        rows.append((answers.dataset, answers.subject, method, learnt, len(answers.asked), answers.plan, left_out))
    table = drop_empty(Table("models", "9", "Models: how they learnt and what was left out", columns, tuple(rows)))
    remarks = tuple(
        f"{answers.dataset}, {answers.subject}: left out: {'; '.join(answers.left_out)}."
        for answers in material.answers
        if answers.left_out
    )
    missing = tuple(f"{each.name} is not in this run. {each.reason}" for each in material.not_used if _asked(each))
    records, cut = _cut(material)
    return Part(records, (table,), paragraphs=(*material.not_run, *cut), remarks=(*missing, *remarks, *cut))


def _cut(material: Material) -> tuple[tuple[Record, ...], tuple[str, ...]]:
    """The items of which a model read a part only, by split and view: figures, and a sentence for each model."""
    records: list[Record] = []
    told: list[str] = []
    for answers in material.answers:
        found = [(each.view, part, n) for each in answers.trained for part, n in each.cut.items() if n]
        records += [
            Record("n_cut", float(n), dataset=answers.dataset, subject=answers.subject, view=view, condition=part)
            for view, part, n in found
        ]
        if found:
            counts = ", ".join(f"{n} of {part} in {view.upper()}" for view, part, n in found)
            what = "of some items it read a part only, being cut far from the target where they are too long"
            told.append(f"{answers.dataset}, {answers.subject}: {what}: {counts}.")
    return tuple(records), tuple(told)


def _asked(dataset: NotUsed) -> bool:
    return not dataset.reason.startswith(NOT_ASKED)


def _set(material: Material, name: str) -> AuditSet:
    return next(audit for audit in material.sets if audit.name == name)


def _not_used(material: Material) -> tuple[Table, ...]:
    if not material.not_used:
        return ()
    columns = (Column("Dataset"), Column("Title"), Column("Why it is not in this run"))
    rows = tuple((each.name, each.title, each.reason) for each in material.not_used)
    return (Table("not_used", "", "Datasets of the paper that are not in this run", columns, rows),)


def _examples(material: Material) -> Table:
    """The first tested item of each dataset as every view shows it to people."""
    rows = []
    for audit in material.sets:
        item = audit.test[0]
        shown = tuple((view, _text(item, view, audit.task)) for view in VIEWS)
        rows.append(ExampleRow(audit.name, _TASKS[audit.task], shown, str(item.gold)))
    return examples_table(rows, number="6")


def _text(item: Item, view: str, task: str) -> str:
    """What a view shows; a model puts its own mask token in the place of ``[X]``, and masks candidates in label."""
    texts = list(shown_texts(item, view))
    if task == "sense_verification":
        texts.append("[X]" if view == "label" else str(item.conditions["definition"]))
    return " ‖ ".join(texts)
