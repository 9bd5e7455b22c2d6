"""Synonymy in causal language models: does a model prefer a word's synonym in context, and can it produce one?

Ivan, Ramisch & Nasr 2025. The study runs on the released collection with its recorded outcomes, on the embedded
``mini_synonymy``, or on a collection of the user's own; recorded and live subjects are in the same tables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import comb
from pathlib import Path

from lexiscope.analysis.choices.design import CORRECT, INCORRECT, RANDOM, Cell, cell_named
from lexiscope.analysis.families import TestFamily
from lexiscope.core.result import Record
from lexiscope.core.spec import plain_name
from lexiscope.report.answers.answer import Answer
from lexiscope.report.answers.effects import best_expression, by_token_difference
from lexiscope.report.answers.numbers import PERCENT, Numbers, Quantity, pick
from lexiscope.report.answers.subjects import Against, SubjectEstimates
from lexiscope.report.parts.accuracy_tables import accuracy_overview
from lexiscope.report.tables import Table
from lexiscope.studies.kit.answered_pages import beside_people_answer
from lexiscope.studies.kit.study import Study
from lexiscope.studies.synonymy import accuracy, data, further, gaps
from lexiscope.studies.synonymy.data import TEXTS, SynonymyData
from lexiscope.studies.synonymy.design import RunDesign, is_papers, label_of, ordered_cells
from lexiscope.studies.synonymy.settings import SynonymySettings


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


# -- which results decide the answers of the Results page -----------------------------------------------------------


PREFERENCE = SubjectEstimates(
    "Accuracy with a distractor from another sense, by test",
    pick("percent_right(", condition=lambda name: str(name).endswith("/controlled")),
    PERCENT,
    claim="are above chance",
    claim_one="is correct more often than chance",
    against=(Against("chance", value=50.0, kind="chance"),),
    group=("condition",),
    paired=(("the word-frequency baseline", pick("above_baseline")),),
    name="accuracy",
    axis="Percent correct",
)
WITHOUT_CONTEXT = SubjectEstimates(
    "Accuracy without context, the synonym among random words",
    pick("percent_right(", condition=lambda name: str(name).endswith("/correct_vs_random")),
    PERCENT,
    claim="are above chance without context",
    claim_one="is correct more often than chance without context",
    against=(Against("chance (1 of 11)", value=100 / 11, kind="chance"),),
    group=("condition",),
    paired=(("the word-frequency baseline", pick("above_baseline")),),
    name="without_context",
    axis="Percent correct",
)
CONSISTENCY = SubjectEstimates(
    "Share of the items correct in one test that are correct in the other",
    pick("given(a=1,b=1)"),
    Quantity("", "Percent", bounds=(0.0, 100.0), digits=0, times=100.0, unit="%"),
    claim="",
    rows_are=("comparison", "comparisons"),
    group=("condition",),
    name="consistency",
    axis="Percent of the items correct in the first test",
)


def _as_decided(rule: SubjectEstimates) -> Callable[[Numbers, SynonymyData], Answer | None]:
    """Return a rule for the accuracies that decide: each subject once, by one denominator."""

    def answer(numbers: Numbers, run: SynonymyData) -> Answer | None:
        others = {r for r in numbers.all(pick("percent_right(")) if (r.subject, r.statistic) not in run.deciding}
        return rule.answer(replace(numbers, records=tuple(r for r in numbers.records if r not in others)))

    return answer


study = Study(
    "synonymy",
    headline="Do causal language models know which word is a synonym in context?",
    title=lambda run: ("Synonymy: " if run.design.is_papers else "") + run.card.title,
    subtitle=lambda run: "A study of your items" if run.own else "Recorded and live models side by side",
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
study.section("Subjects and how they answered")(data.subjects)


def _contrast_families(name: str) -> tuple[TestFamily, ...]:
    """The two tests of every contrast, each test a family."""
    return (
        TestFamily(name, ("paired_t",), repeats=("paired_t_p",), columns=("p",)),
        TestFamily(f"{name}_exact", ("mcnemar_p",), columns=("p, exact",)),
    )


# -- the questions, each with its result in one line ------------------------------------------------------------------


study.question(
    "Do models prefer a synonym that fits the context to one that does not, and to random nouns?",
    place="§4.1, Table 5, App. E",
    answer=_as_decided(PREFERENCE),
    short="Preference",
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
    answer=_as_decided(WITHOUT_CONTEXT),
    short="No context",
    families=(TestFamily("above_chance_without_context", ("percent_right",)),),
)(accuracy.without_context)
study.question(
    "Do they produce a synonym when they are asked for one?",
    place="§3.2, §4.2",
    needs="completions of gaps",
    short="Production",
    families=_contrast_families("gap_contrasts"),
)(gaps.gap_filling)
study.question(
    "Do decisions depend on how many tokens a word is cut into?",
    place="§4.3, Table 1",
    answer=by_token_difference,
    short="Tokens",
    families=(
        TestFamily("token_deltas", ("independent_t_p(variances=pooled)",), columns=("p",)),
        TestFamily("token_deltas_welch", ("independent_t_p(variances=welch)",), columns=("p, Welch",)),
        TestFamily("follows_delta", ("follows_delta",), columns=("p, Welch",)),
        TestFamily("pairwise_token_effect", ("pairwise_token_effect",), columns=("p, bootstrap",)),
    ),
)(further.tokens)
study.question(
    "Are the same items correct in two tests?", place="§4.4, Tables 14-17", answer=CONSISTENCY, short="Consistency"
)(further.consistency)
study.question(
    "Which expression of the relation works best, and does it work in both directions?",
    place="§4.1, §6, App. G",
    answer=best_expression,
    short="Wording",
)(further.relation)
study.question(
    "Does it hold for other parts of speech, and for words with one sense?",
    place="§3.3, §6",
    needs="groups of items",
    short="Groups",
    families=(TestFamily("group_differences", ("group_difference",), columns=("p", "p, against one")),),
)(further.groups)

study.question(
    "Are models right less often than people on the same items?",
    place="not in the paper",
    needs="answers to the questions that people are asked",
    answer=beside_people_answer,
    short="People",
)(gaps.beside_people)
study.writes(gaps.write_sheet)


# -- the overview -----------------------------------------------------------------------------------------------------


@study.overview
def overview(records: tuple[Record, ...], settings: SynonymySettings) -> Table:
    """Return the main accuracies (the paper's eight), with a column for each subject and for people: one screen."""
    right = [record.condition for record in records if record.statistic.startswith("percent_right(")]
    main = RunDesign(ordered_cells(map(cell_named, right))).main
    return accuracy_overview(records, {cell.name: _label(cell) for cell in main}, _short)


def _short(subject: str) -> str:
    """The last part of a model's name; a policy in it is kept, for it distinguishes subjects.

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
