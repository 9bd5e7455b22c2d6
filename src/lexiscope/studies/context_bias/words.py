"""The words of a dataset: how ambiguous they are (§3.1, §3.2), errors that they explain, and guesses of them (§3.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from lexiscope.analysis.entropy import MeanEntropy, label_entropy, sense_entropy
from lexiscope.analysis.guess_answers import guess_answers
from lexiscope.analysis.guess_flips import count_flips
from lexiscope.analysis.view_answers import answers_by_view
from lexiscope.analysis.view_errors import ViewErrors, distractor_by_overlap, view_errors
from lexiscope.analysis.view_gaps import ambiguity_and_word_bias
from lexiscope.core.item import Item
from lexiscope.core.result import Estimate, Record, Undefined, statistic_name
from lexiscope.items.sense_options import glosses_of
from lexiscope.items.word_of import words_of
from lexiscope.report.bias_sections import errors_section
from lexiscope.report.bias_tables import AmbiguityRow, ambiguity_table, flips_table
from lexiscope.report.sections import drop_empty
from lexiscope.report.tables import BOUNDED, INTEGER, Cell, Column, Format, Interval, Missing, Noted, Table
from lexiscope.studies.context_bias.biases import PRINTED_VALUES, measured
from lexiscope.studies.context_bias.data import BiasData
from lexiscope.studies.context_bias.material import PAIR_TASKS, RETRIEVAL_TASKS, Answers, AuditSet

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

_FOUR = Format("number", 4, leading_zero=False)
_CAPTION = (
    "Natural logarithm; means over the words of the training items (of all items, where a dataset has no training "
    "items), with intervals that resample words."
)
_RULE = (
    "A distracting word is one of the context that stands in the wrongly chosen entry too, and not in the right one; "
    "it need not be what misled the model."
)
_NO_GUESS = (
    "No guessed words of people were given in this run. People who see the context alone may guess the word (the "
    "column word of a sheet, or the page of the app); the model of the whole input is then asked the item with the "
    "guess in its place."
)
_READING = (
    "A person's answer with the guess is the one given to the context alone; that with the original word was given "
    "when the word was shown. Flips are counted where a person judged that the guess is another word that fits."
)
_OF_PAPER = (
    "The paper examined 20 guesses: 11 were valid other words, and its model kept its answer in 7 of these (§3.2, "
    "Table 8); the answers of the paper's annotators were never released."
)
_Rule = tuple[str, str]


# -- entropy --------------------------------------------------------------------------------------------------


def label_entropies(run: BiasData) -> object:
    """Return the mean label entropy of the words of every dataset of pairs, with the rule of its words (Table 4)."""

    def rule(audit: AuditSet) -> _Rule:
        # a file of the user's own may be called wic.csv; it has no card
        return (ENTROPY_RULES if audit.card else {}).get(audit.name.partition("?")[0], ("lemma", "all"))

    pairs = [audit for audit in run.sets if audit.task in PAIR_TASKS]
    table = Table("label_entropy", "4", "Label entropy: does the word tell the label?", (), ())
    return _entropies(run, pairs, rule, label_entropy, 2, table)


def ambiguity(run: BiasData) -> Iterator[object]:
    """Yield the mean sense entropy (Table 2), and its rank correlation with the word bias over datasets."""

    def rule(audit: AuditSet) -> _Rule:
        tagged = all(item.usages[0].pos or item.conditions.get("pos") for item in audit.labelled)
        return ("surface" if audit.task == "entity_link" else "lemma_pos" if tagged else "lemma", "all")

    senses = [audit for audit in run.sets if audit.task not in PAIR_TASKS]
    table = Table("sense_entropy", "2", "Sense entropy: how ambiguous are the words?", (), ())
    records, tables = _entropies(run, senses, rule, sense_entropy, 1, table)
    yield records, tables
    of_words = [one for one in records if one.statistic.startswith("sense_entropy")]
    entropy = {one.dataset: one.value for one in of_words if one.value is not None}
    if not entropy:
        yield "No dataset of this run gives the senses of its words."
        return
    models = [each for each in run.once(measured) if not each.human]
    for number, subject in enumerate(dict.fromkeys(each.subject for each in models), start=1):
        bias = {each.dataset: each.biases.word.value for each in models if each.subject == subject}
        own = {dataset: value for dataset, value in entropy.items() if dataset in bias}
        found = ambiguity_and_word_bias(own, bias, resamples=run.settings.n_bootstrap, seed=run.settings.seed)
        rows = [AmbiguityRow(dataset, value, bias[dataset]) for dataset, value in own.items()]
        yield found.about(subject=subject).records(), ambiguity_table(rows, found, name=f"ambiguity_{number}")


def _entropies(
    run: BiasData,
    sets: Sequence[AuditSet],
    rule: Callable[[AuditSet], _Rule],
    entropy: Callable[..., MeanEntropy],
    min_count: int,
    table: Table,
) -> tuple[list[Record], tuple[Table, ...]]:
    """The records of a mean entropy for each of the datasets, and *table* with its rows, if there are any."""
    columns = (
        Column("Dataset"),
        Column("A word is"),
        Column("Rows"),
        Column("Entropy, nats", _FOUR),
        Column("In the paper", _FOUR),
        Column("Words", INTEGER),
        Column("Rows used", INTEGER),
        Column("One class only", BOUNDED, note="Share of words all of whose rows have the same class."),
        Column("Majority", BOUNDED, note="Mean over words of the share of their most frequent class."),
    )
    records: list[Record] = []
    rows: list[tuple[Cell, ...]] = []
    for audit in sets:
        word, counted = rule(audit)
        name = statistic_name(table.name, word=word, rows=counted, base="e", min_count=min_count)

        def computed(audit: AuditSet = audit, word: str = word, counted: str = counted) -> MeanEntropy:
            used = words_of(_training(audit), word=word, rows=counted)
            drawn = {"resamples": run.settings.n_bootstrap, "seed": run.settings.seed}
            return entropy(used.words, used.labels, word=used.word, rows=used.rows, **drawn)

        found = run.attempt(name, computed)
        named = (audit.name, word.replace("_", " "), counted.replace("_", " "))
        if isinstance(found, Undefined):
            results: tuple[Estimate | Undefined, ...] = (found,)
            rows.append((*named, Missing(f"{found.reason}."), _in_paper(audit, name), None, None, None, None))
        else:
            results, ends = found.results(), found.interval
            value = Interval(ends.low, ends.high, found.value) if ends.is_defined else found.value
            numbers = (found.n_words, found.n_rows, found.same_share, found.majority_share)
            rows.append((*named, value, _in_paper(audit, name), *numbers))
        records += [record for one in results for record in one.about(dataset=audit.name).records()]
    filled = drop_empty(replace(table, columns=columns, rows=tuple(rows), notes=(_CAPTION,)))
    return records, (filled,) if rows else ()


def _training(audit: AuditSet) -> tuple[Item, ...]:
    """What is published as training items, whatever of it is used as dev in this run; else all labelled items."""
    published = tuple(item for item in audit.labelled if item.conditions.get("split") == "train")
    return published if published and audit.card is not None else audit.labelled


def _in_paper(audit: AuditSet, name: str) -> Cell:
    printed = PRINTED_VALUES.get(audit.name, ()) if audit.card is not None else ()
    value = next((each for each in printed if each.statistic == name), None)
    if value is None or not value.remark:
        return None if value is None else float(value.printed)
    return Noted(value.printed, f"{value.remark[:1].upper()}{value.remark[1:]}.")


# -- errors ---------------------------------------------------------------------------------------------------


def misled(run: BiasData) -> Iterator[object]:
    """Yield what the whole input gets wrong and the word alone right, and the reverse, of each model (Table 3)."""
    for number, (audit, answers) in enumerate(run.answered(), start=1):
        by_view = answers_by_view(answers.responses, subject=answers.subject, measure=audit.measure)
        entries, found = _entries(audit), []
        for wrong, right in (("full", "word"), ("word", "full")):
            errors = _errors(audit, answers, by_view, wrong, right, entries)
            found.append(errors)
            name = statistic_name("n_errors", wrong=wrong, right=right)
            yield Record(name, len(errors.errors), answers.subject, audit.name, n=errors.n)
        texts = {item.item_id: _shown(item) for item in audit.test}
        shown = {key: name for key, (name, _) in entries.items()}
        section = errors_section(found, texts=texts, entries=shown, section_id=f"errors_{number}", most=MOST_ERRORS)
        model = f"{audit.name}, {answers.subject}"
        yield [f"{model}. {text}" for text in section.paragraphs]
        yield [replace(table, number="3", title=f"{model}: {table.title}") for table in section.tables]
        if any(error.distractor for errors in found for error in errors.errors):
            yield _RULE


def _errors(
    audit: AuditSet,
    answers: Answers,
    by_view: Mapping[str, Mapping[str, str | None]],
    wrong: str,
    right: str,
    entries: Mapping[str, tuple[str, str]],
) -> ViewErrors:
    gold, items = audit.gold_of(answers.asked), {item.item_id: item for item in audit.test}
    distracting = {item: _distractor(items[item], by_view[wrong].get(item), entries) for item in gold}
    return view_errors(gold, by_view, wrong=wrong, right=right, words=audit.words, distractors=distracting)


def _entries(audit: AuditSet) -> dict[str, tuple[str, str]]:
    """Name and description of what can be chosen, if answers are more than t and f."""
    if audit.space is not None and audit.task in RETRIEVAL_TASKS:
        return {each.entry_id: (each.name, each.description) for each in audit.space.entries}
    if audit.task != "sense_disambiguation":
        return {}
    return {key: (f"{gloss} ({key})", gloss) for item in audit.test for key, gloss in glosses_of(item).items()}


def _distractor(item: Item, answer: str | None, entries: Mapping[str, tuple[str, str]]) -> str:
    golds = str(item.gold).split("|")
    if answer is None or answer not in entries or answer in golds:
        return ""
    right = next((entries[key][1] for key in golds if key in entries), "")
    usage = item.usages[0]
    return distractor_by_overlap(usage.text, entries[answer][1], right=right, target=usage.target)


def _shown(item: Item) -> str:
    texts = [usage.bracketed for usage in item.usages]
    definition = item.conditions.get("definition")
    return " ‖ ".join([*texts, str(definition)] if definition else texts)


# -- guessed words --------------------------------------------------------------------------------------------


def guessed(run: BiasData) -> Iterator[object]:
    """Yield whether answers change with a guessed word, of each model compared with people (Tables 1 and 8)."""
    any_guess = False
    for number, (audit, answers) in enumerate(run.answered(), start=1):
        items, told = run.guesses.get(audit.name, ((), ""))
        any_guess = any_guess or bool(items or told)
        if not items:
            yield f"{audit.name}: {told}" if told else None
            continue
        flips = guess_answers(items, run.people[audit.name], answers.responses, model_id=answers.subject)
        counts = count_flips(flips)
        kept = counts.insensitive if counts.sensitive_items else None
        why = "" if kept is not None else "no valid guess changes a person's answer and was answered by the model"
        yield Record("n_guesses", counts.n, answers.subject, audit.name, n=counts.n)
        yield Record("n_valid_guesses", counts.n_valid, answers.subject, audit.name, n=counts.n)
        yield Record("n_insensitive", kept, answers.subject, audit.name, n=counts.sensitive_items, note=why)
        yield flips_table(flips, name=f"guess_flips_{number}", number="8")
        yield f"{audit.name}, {answers.subject}: {told}"
    yield _READING if any_guess else _NO_GUESS
    if not run.own and any(audit.name in PRINTED_VALUES for audit in run.sets):
        yield _OF_PAPER
