"""The words of a dataset: how ambiguous they are (§3.1, §3.2), errors that they explain, guesses of them (§3.2), and
those that carry an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from lexiscope.analysis.bias.entropy import MeanEntropy, label_entropy, sense_entropy
from lexiscope.analysis.bias.guess_flips import guess_answers
from lexiscope.analysis.bias.view_scores import ambiguity_and_word_bias, answers_by_view
from lexiscope.core.result import Record, Undefined, statistic_name
from lexiscope.core.spec import plain_name
from lexiscope.items.arrange.word_rules import word_rows
from lexiscope.report.part import join_parts
from lexiscope.report.parts import bias_parts
from lexiscope.report.parts.bias_tables import EntropyRow, ambiguity_table, entropy_table
from lexiscope.studies.context_bias.biases import dataset_biases
from lexiscope.studies.context_bias.data import PRINTED_VALUES, TEXTS, BiasData, audit_removals
from lexiscope.studies.context_bias.sets import PAIR_TASKS, AuditSet

ENTROPY_RULES: Mapping[str, tuple[str, str]] = {
    "wic": ("surface_lower", "all"),
    "mcl_wic": ("lemma", "all"),
    "wic_tsv": ("lemma", "first_of_context"),
    "xl_wic": ("lemma", "all"),
    "am2ico": ("last_surface", "all"),
}
"""What a word is, and which rows count, in the label entropy of a dataset, if the paper's rule is known."""
MOST_ERRORS = 30
"""The number of errors of each kind that is shown of a dataset; all of them follow from the answers in the run."""


# -- entropy --------------------------------------------------------------------------------------------------


def label_entropies(run: BiasData) -> object:
    """Return the mean label entropy of the words of every dataset of pairs, with the rule of its words (Table 4)."""
    pairs = [audit for audit in run.sets if audit.task in PAIR_TASKS]
    # a file of the user's own may be called wic.csv
    known = {} if run.own else ENTROPY_RULES
    rules = [known.get(plain_name(audit.name), ("lemma", "all")) for audit in pairs]
    rows = _entropies(run, pairs, rules, label_entropy, 2)
    title = "Label entropy: does the word tell the label?"
    table = entropy_table(rows, name="label_entropy", title=title, number="4") if rows else None
    return [_records(run, row) for row in rows], table


def ambiguity(run: BiasData) -> Iterator[object]:
    """Yield the mean sense entropy (Table 2), and its rank correlation with the word bias over datasets."""
    senses = [audit for audit in run.sets if audit.task not in PAIR_TASKS]
    rules = [(_word_rule(audit), "all") for audit in senses]
    rows = _entropies(run, senses, rules, sense_entropy, 1)
    title = "Sense entropy: how ambiguous are the words?"
    yield [_records(run, row) for row in rows]
    yield entropy_table(rows, name="sense_entropy", title=title, number="2") if rows else None
    entropy = {row.dataset: row.entropy.value for row in rows if not isinstance(row.entropy, Undefined)}
    if not entropy:
        return
    models = [model for model in run.once(dataset_biases) if not model.human]
    for number, subject in enumerate(dict.fromkeys(model.subject for model in models), start=1):
        bias = {model.dataset: model.biases.word.value for model in models if model.subject == subject}
        own = {dataset: value for dataset, value in entropy.items() if dataset in bias}
        correlation = ambiguity_and_word_bias(own, bias, **run.resampling)
        yield correlation.about(subject=subject).records()
        yield ambiguity_table(own, bias, correlation, name=f"ambiguity_{number}")


def _word_rule(audit: AuditSet) -> str:
    if audit.task == "entity_link":
        return "surface"
    tagged = all(item.usages[0].pos or item.conditions.get("pos") for item in audit.parts.all_items)
    return "lemma_pos" if tagged else "lemma"


def _entropies(
    run: BiasData,
    sets: Sequence[AuditSet],
    rules: Sequence[tuple[str, str]],
    entropy: Callable[..., MeanEntropy],
    min_count: int,
) -> list[EntropyRow]:
    """A mean entropy of each dataset; *rules* say what a word is and which rows count."""
    rows = []
    for audit, (word, counted) in zip(sets, rules, strict=True):
        # the published training items, including those used as dev in this run; otherwise all labelled items
        published = tuple(item for item in audit.parts.all_items if item.conditions.get("split") == "train")
        used = word_rows(published if published and not run.own else audit.parts.all_items, word=word, rows=counted)
        name = statistic_name(entropy.__name__, word=word, rows=counted, base="e", min_count=min_count)
        options = {"word": word, "rows": counted, "min_count": min_count, **run.resampling}
        mean_entropy = run.attempt(name, partial(entropy, used.words, used.labels, **options))
        printed = () if run.own else PRINTED_VALUES.get(audit.name, ())
        in_paper = next((value for value in printed if value.statistic == name), None)
        rows.append(EntropyRow(audit.name, word, counted, mean_entropy, in_paper))
    return rows


def _records(run: BiasData, row: EntropyRow) -> list[Record]:
    results = (row.entropy,) if isinstance(row.entropy, Undefined) else row.entropy.results()
    return [record for result in results for record in run.about(result, dataset=row.dataset).records()]


# -- errors ---------------------------------------------------------------------------------------------------


def misleading_parts(run: BiasData) -> Iterator[object]:
    """Yield what the whole input gets wrong and the word alone right, and the reverse, of each model (Table 3)."""
    for number, (audit, answers) in enumerate(run.answers_by_set(), start=1):
        by_view = answers_by_view(answers.responses, subject=answers.subject, measure=audit.measure)
        about = {"dataset": audit.name, "subject": answers.subject, "name": f"errors_{number}", "number": "3"}
        named = audit.test if audit.task == "sense_disambiguation" else ()
        choices = bias_parts.label_choices(named, audit.space)
        yield bias_parts.error_browser(answers.asked, by_view, choices, most=MOST_ERRORS, **about)


# -- words that carry the answer --------------------------------------------------------------------------------------


def carrying_words(run: BiasData) -> Iterator[object]:
    """Yield what each model loses with each word of the context and of the whole input (the paper's limitations)."""
    how = run.settings.attribution
    parts = []
    for number, (audit, answers) in enumerate(run.answers_by_set(), start=1):
        about = {"how": how, "dataset": audit.name, "subject": answers.subject}
        for plan in audit_removals(audit, run.settings):
            lost = list(plan.lost_evidence(answers.without_words[plan.view]))
            parts.append(bias_parts.attribution_part(lost, name=f"{plan.view}_{number}", **about, **run.resampling))
    yield parts
    yield bias_parts.attribution_tables(join_parts(parts).records, how=how), TEXTS["attribution"]


# -- guessed words --------------------------------------------------------------------------------------------


def guessed_words(run: BiasData) -> Iterator[object]:
    """Yield whether answers change with a guessed word, of each model compared with people (Tables 1 and 8)."""
    for number, (audit, answers) in enumerate(run.answers_by_set(), start=1):
        items, how = run.guesses.get(audit.name, ((), ""))
        if not items:
            yield f"{audit.name}: {how}" if how else None
            continue
        flips = guess_answers(items, run.people[audit.name], answers.responses, model_id=answers.subject)
        about = {"dataset": audit.name, "subject": answers.subject, "name": f"guess_flips_{number}", "number": "8"}
        yield bias_parts.flips_part(flips, **about)
        yield f"{audit.name}, {answers.subject}: {how}"
    yield TEXTS["reading of guesses"]
    if not run.own and any(audit.name in PRINTED_VALUES for audit in run.sets):
        yield TEXTS["guesses of the paper"]
