"""Synonymy in causal language models: does a model prefer a word's synonym in context, and can it produce one?

Ivan, Ramisch & Nasr 2025. The study runs on the released collection with its recorded outcomes, on the embedded
``mini_synonymy``, or on a collection of the user's own; recorded and live subjects are in the same tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import comb
from pathlib import Path

from lexiscope.analysis.choices.design import CORRECT, INCORRECT, RANDOM, Cell, cell_named
from lexiscope.analysis.choices.design_answers import versus
from lexiscope.analysis.families import TestFamily
from lexiscope.core.result import Record
from lexiscope.core.showing import counted
from lexiscope.core.spec import plain_name
from lexiscope.report.plots.style import short_names
from lexiscope.report.tables import Column, Format, Table
from lexiscope.studies.kit.study import Study, read_texts
from lexiscope.studies.synonymy import accuracy, data, further, gaps
from lexiscope.studies.synonymy.data import SynonymyData
from lexiscope.studies.synonymy.design import RunDesign, is_papers, label_of, ordered_cells
from lexiscope.studies.synonymy.settings import SynonymySettings

TEXTS = read_texts(Path(__file__).with_name("texts.md"))
"""The prose of the report."""


def _methods(run: SynonymyData) -> Sequence[str]:
    settings = run.settings
    chosen = (
        f"Texts are in mode {settings.mode}; log-probabilities are divided by {settings.per} where they decide; gap "
        f"filling: {settings.gap_filling}; templates: {Path(settings.templates).name or 'those of Ivan et al. (2025)'}."
    )
    conditions = _papers_conditions(run) if run.design.is_papers else TEXTS["conditions of other items"][0]
    return f"{TEXTS['decisions'][0]} {conditions}", *TEXTS["tests"], chosen


def _papers_conditions(run: SynonymyData) -> str:
    """The conditions of the paper's templates, with the chance that the random nouns of these items leave."""
    (text,) = TEXTS["conditions of the paper"]
    sizes = {run.sets.n_options(cell) for cell in run.cells if cell.condition in (RANDOM, CORRECT, INCORRECT)}
    if not sizes:
        return text.partition(" Random: ")[0]
    if len(sizes) > 1:
        return text.format(nouns="the", one="", of="", both="")
    n = sizes.pop()
    both = f" (1/{comb(n + 1, 2)})"
    return text.format(nouns=n - 1, one=f" (1/{n})", of=f" of {n + 1}", both=both)


def _limits(run: SynonymyData) -> Sequence[str]:
    recorded = TEXTS["recorded outcomes"] if run.of_kind("recorded") else ()
    return (*(() if run.own else TEXTS["items of the paper"]), *TEXTS["limits"], *recorded)


study = Study(
    "synonymy",
    title=lambda run: ("Synonymy: " if run.design.is_papers else "") + run.card.title,
    subtitle=lambda run: "A study of one's own items" if run.own else "Recorded and live models side by side",
    citation="Ivan, I., Ramisch, C., & Nasr, A. (2025). Evaluating Pretrained Causal Language Models for Synonymy. "
    "Findings of the Association for Computational Linguistics: ACL 2025, 12533-12551. "
    "doi:10.18653/v1/2025.findings-acl.649.",
    task=data.TASK,
    printed="printed.csv",
    claims="claims.csv",
    methods=_methods,
    limits=_limits,
    mini=SynonymySettings(dataset="mini_synonymy", subjects=("baseline:random",)),
    complete=lambda settings: replace(settings, dataset=settings.dataset or ("" if settings.items else settings.study)),
)
study.run_data(data.load_run)
study.compared(data.compared_answers)
study.section("The choice sets")(data.collection)
study.section("Who answered, and how")(data.subjects)


def _contrast_families(name: str) -> tuple[TestFamily, ...]:
    """The two tests of every contrast, each test a family."""
    return (
        TestFamily(name, ("paired_t",), repeats=("paired_t_p",), columns=("p",)),
        TestFamily(f"{name}_exact", ("mcnemar_p",), columns=("p, exact",)),
    )


# -- the questions, each with its result in one line ------------------------------------------------------------------


def _accuracy_words(run: SynonymyData, cells: Sequence[Cell]) -> str:
    texts = []
    for answers in run.models:
        scores = {cell: accuracy.score(run, answers, cell) for cell in cells if cell in answers.outcomes}
        shares = {cell: f"{100 * score.n_correct / score.n:.1f}" for cell, score in scores.items()}
        values = [shares.get(cell, "—") for cell in cells]
        if shares:
            texts.append(f"{answers.title} {' / '.join(values)}")
    return f"{' / '.join(label_of(cell) for cell in cells)}, %: {'; '.join(texts)}" if texts else ""


def _token_words(run: SynonymyData, records: Sequence[Record]) -> str:
    own = [record for record in records if record.statistic == "follows_delta"]
    following = [record for record in own if record.note.startswith("right more often")]
    if not own:
        return ""
    return f"decisions follow the token delta in {len(following)} of {counted(len(own), 'cell')} of live subjects"


def _consistency_words(run: SynonymyData, records: Sequence[Record]) -> str:
    if not records:
        return ""
    _, first, second = run.design.consistency[0]
    where = ("given(a=1,b=1)", versus(first.name, second.name))
    own = [record for record in records if (record.statistic, record.condition) == where and record.value is not None]
    titles = run.labels_of(record.subject for record in own)
    listed = "; ".join(f"{titles[record.subject]} {record.value:.2f}" for record in own)
    said = f"{label_of(second)} right, given {label_of(first)} right"
    if run.design.is_papers:
        said = "relation right given substitution right"
    return f"{said}: {listed}" if own else ""


def _expression_words(run: SynonymyData, records: Sequence[Record]) -> str:
    named = [record for record in records if record.statistic == "best_expression"]
    wanted = "relation/controlled" if run.design.is_papers else next((record.condition for record in named), "")
    own = [record for record in named if record.condition == wanted]
    titles = run.labels_of(record.subject for record in own)
    listed = "; ".join(f"{titles[record.subject]} {record.note}" for record in own)
    where = "with context, controlled" if run.design.is_papers else label_of(cell_named(wanted))
    return f"{where}: {listed}" if own else ""


study.question(
    "Do models prefer a synonym that fits the context to one that does not, and to random nouns?",
    place="§4.1, Table 5, App. E",
    said=lambda run, records: _accuracy_words(run, run.design.controlled),
    families=(
        *_contrast_families("contrasts"),
        TestFamily("above_baseline", ("above_baseline",), repeats=("above_baseline_exact_p",)),
        TestFamily("above_chance", ("percent_right",), columns=("p, chance",)),
    ),
)(accuracy.preferences)
study.question(
    "Do they know that two words are synonyms without any context?",
    place="§4.1, Table 5",
    needs="choices without context",
    said=lambda run, records: _accuracy_words(run, run.design.alone),
    families=(TestFamily("above_chance_without_context", ("percent_right",)),),
)(accuracy.without_context)
study.question(
    "Do they produce a synonym when they are asked for one?",
    place="§3.2, §4.2",
    needs="completions of gaps",
    said=gaps.gap_words,
    families=_contrast_families("gap_contrasts"),
)(gaps.gap_filling)
study.question(
    "Do decisions depend on how many tokens a word is cut into?",
    place="§4.3, Table 1",
    said=_token_words,
    families=(
        TestFamily("token_deltas", ("independent_t_p(variances=pooled)",), columns=("p",)),
        TestFamily("token_deltas_welch", ("independent_t_p(variances=welch)",), columns=("p, Welch",)),
        TestFamily("follows_delta", ("follows_delta",), columns=("p, Welch",)),
    ),
)(further.tokens)
study.question("Are the same items right in different tests?", place="§4.4, Tables 14-17", said=_consistency_words)(
    further.consistency
)
study.question(
    "Which expression of the relation works best, and does it work in both directions?",
    place="§4.1, §6, App. G",
    said=_expression_words,
)(further.relation)


# -- the overview -----------------------------------------------------------------------------------------------------


@study.overview
def overview(records: tuple[Record, ...], settings: SynonymySettings) -> Table:
    """Return the main accuracies (the paper's eight), a column for each subject: what fits on a screen."""
    right = [record for record in records if record.statistic.startswith("percent_right(")]
    main = RunDesign(ordered_cells(cell_named(record.condition) for record in right)).main
    first: dict[tuple[str, str], float | None] = {}
    for record in right:
        # the deciding denominator comes first in the records of a subject
        first.setdefault((record.subject, record.condition), record.value)
    names = {cell.name for cell in main}
    asked = tuple(dict.fromkeys(subject for subject, condition in first if condition in names))
    headers = short_names([_short(subject) for subject in asked], 18)
    columns = (Column("Percent right"), *(Column(header, Format("number", 1)) for header in headers))
    rows = [(_label(cell), *(first.get((subject, cell.name)) for subject in asked)) for cell in main]
    return Table("overview", "", "Accuracy, percent right", columns, tuple(rows))


def _short(subject: str) -> str:
    """The last part of a model's name; a policy of its own is kept, for it tells subjects apart.

    >>> _short("causal_lm:models/tiny?bos=yes"), _short("baseline:frequency"), _short("allenai/OLMo-1B")
    ('tiny?bos=yes', 'word frequency', 'OLMo-1B')
    """
    if subject.startswith(data.BASELINE):
        return "word frequency"
    name = plain_name(subject)
    return name.rstrip("/").rpartition("/")[2].rpartition(":")[2] + subject.removeprefix(name)


def _label(cell: Cell) -> str:
    # the paper's main accuracies have one expression; of one's own relation all are in the table
    return label_of(cell).replace(f" (“{cell.expression}”)", "") if is_papers(cell) else label_of(cell)
