"""What was asked and who answered: datasets and their splits, examples by view (Table 6), models (Table 9)."""

from __future__ import annotations

from collections.abc import Iterator

from lexiscope.core.item import Item
from lexiscope.items.views import shown_texts
from lexiscope.report.bias_tables import ExampleRow, examples_table
from lexiscope.report.part import Remark
from lexiscope.report.sections import drop_empty
from lexiscope.report.tables import INTEGER, Cell, Column, Table
from lexiscope.studies.context_bias.data import BiasData
from lexiscope.studies.context_bias.material import NOT_ASKED, VIEWS, AuditSet

_TASKS = {
    "same_sense": "same meaning in two texts",
    "sense_verification": "meaning of a definition",
    "sense_disambiguation": "choice among senses",
    "sense_retrieval": "search among all senses",
    "entity_link": "search among entries",
}


def sets(run: BiasData) -> Iterator[object]:
    """Yield the datasets with their splits, what was done to them, and those that are not in the run, with why."""
    columns = (
        Column("Dataset"),
        Column("Task"),
        *(Column(name, INTEGER) for name in ("Train", "Dev", "Test")),
        Column("Words tested", INTEGER, note="What is resampled."),
        Column("Searched", INTEGER, note="Entries of the search space."),
        Column("Tested split"),
    )
    rows: list[tuple[Cell, ...]] = []
    for audit in run.sets:
        n_words, n_test = len(set(audit.words.values())), len(audit.test)
        searched = len(audit.space) if audit.space is not None else None
        counts = (audit.sizes.get("train"), audit.sizes.get("dev"), n_test)
        rows.append((audit.name, _TASKS[audit.task], *counts, n_words, searched, audit.tested))
        yield [run.number("n_items", n, dataset=audit.name, condition=split) for split, n in audit.sizes.items()]
        yield run.number("n_words", n_words, dataset=audit.name)
        yield run.number("n_word_shown", audit.n_shown, dataset=audit.name, n=n_test)
        if about := (*audit.arranged, *_shown_again(audit)):
            yield f"{audit.name}: {' '.join(about)}"
        yield [Remark(text) for text in audit.caught]
    yield drop_empty(Table("sets", "", "Datasets of this run", columns, tuple(rows)))
    if run.not_used:
        missing = (Column("Dataset"), Column("Title"), Column("Why it is not in this run"))
        reasons = tuple((each.name, each.title, each.reason) for each in run.not_used)
        yield Table("not_used", "", "Datasets of the paper that are not in this run", missing, reasons)
    yield examples_table([_example(audit) for audit in run.sets], number="6")


def models(run: BiasData) -> Iterator[object]:
    """Yield the models: what was trained of each on what, and what the paper has more (Table 9)."""
    columns = (Column("Dataset"), Column("Model"), Column("Method"), Column("Learnt from", INTEGER),
               Column("Tested on", INTEGER), Column("How"), Column("Left out"))  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    yield run.not_run
    yield [Remark(f"{one.name} is not in this run. {one.reason}") for one in run.not_used if not _unasked(one.reason)]
    for audit, answers in run.answered():
        full = next((each for each in answers.trained if each.view == "full"), None)
        method = full.method.replace("_", " ") if full is not None else "counting"
        learnt = full.n_train if full is not None else len(audit.train)
        left_out = "; ".join(answers.left_out)
        rows.append((audit.name, answers.subject, method, learnt, len(answers.asked), answers.plan, left_out or None))
        if left_out:
            yield Remark(f"{audit.name}, {answers.subject}: left out: {left_out}.")
        cut = [(each.view, part, n) for each in answers.trained for part, n in each.cut.items() if n]
        for view, part, n in cut:
            about = {"subject": answers.subject, "view": view, "condition": part}
            yield run.number("n_cut", n, dataset=audit.name, **about)
        if cut:
            counts = ", ".join(f"{n} of {part} in {view.upper()}" for view, part, n in cut)
            what = "of some items it read a part only, being cut far from the target where they are too long"
            yield Remark(f"{audit.name}, {answers.subject}: {what}: {counts}.")
    yield drop_empty(Table("models", "9", "Models: how they learnt and what was left out", columns, tuple(rows)))


def _shown_again(audit: AuditSet) -> tuple[str, ...]:
    """How many items show the word outside the target's span, and what was done there."""
    if not audit.n_shown:
        return ()
    share = f"{audit.n_shown:,} of {len(audit.test):,} tested items ({100 * audit.n_shown / len(audit.test):.1f} %)"
    return (
        f"In {share} the texts show the word outside the target's span too. CONTEXT hides it there as well; "
        "CONTEXT SPAN is the published view, which hides the span alone.",
    )


def _unasked(reason: str) -> bool:
    return reason.startswith(NOT_ASKED)


def _example(audit: AuditSet) -> ExampleRow:
    """The first tested item of a dataset as every view shows it to people."""
    item = audit.test[0]
    shown = tuple((view, _text(item, view, audit.task)) for view in VIEWS)
    return ExampleRow(audit.name, _TASKS[audit.task], shown, str(item.gold))


def _text(item: Item, view: str, task: str) -> str:
    """What a view shows; a model puts its own mask token in the place of ``[X]``, and masks candidates in label."""
    texts = list(shown_texts(item, view))
    if task == "sense_verification":
        texts.append("[X]" if view == "label" else str(item.conditions["definition"]))
    return " ‖ ".join(texts)
