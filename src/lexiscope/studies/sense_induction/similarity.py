"""Ratings of similarity, the same sense or not, and whether similarity and the reading of senses agree (§5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from lexiscope.analysis.agreement import leave_one_out
from lexiscope.analysis.disagreeing_orders import Measured, Orders, compare_every
from lexiscope.analysis.random_answers import ALL, DECIDED, EXPECTED, accuracy_with_random, n_random
from lexiscope.analysis.ratings import Ratings
from lexiscope.analysis.sense_similarity import similarity_correlation
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, Record, Result, statistic_name
from lexiscope.core.simulated import COLLECTED
from lexiscope.items.truth_choice import SAME
from lexiscope.report.figure_accuracy import Dot, accuracy_dots
from lexiscope.report.figures import Figure, Heading
from lexiscope.report.part import ends_of, part_of, pick
from lexiscope.report.pivot import Col, Row, pivot, records_of
from lexiscope.report.sections import drop_empty
from lexiscope.report.sense_test_parts import QUESTIONS, SENSES
from lexiscope.report.tables import BOUNDED, INTEGER, Column, Format, Table
from lexiscope.studies.sense_induction.data import HasSenses, PairSet, SenseData
from lexiscope.studies.sense_induction.people import accuracies
from lexiscope.studies.sense_induction.planted import recovery
from lexiscope.tasks.relatedness.by_sense import AVG_SIM, AVG_SIM_C, AVG_SIM_C_UPPER, MAX_SIM, MAX_SIM_C
from lexiscope.tasks.same_sense import MEASURE_CHOICE
from lexiscope.tasks.same_sense.by_sense import FLAG, REASONS

NAMES = {
    MAX_SIM: "MaxSim",
    AVG_SIM: "AvgSim",
    MAX_SIM_C: "MaxSimC",
    AVG_SIM_C: "AvgSimC",
    AVG_SIM_C_UPPER: "AvgSimC, j ≥ i",
}
OF_WORDS, OF_USAGES = (MAX_SIM, AVG_SIM), (AVG_SIM_C, MAX_SIM_C, AVG_SIM_C_UPPER, MAX_SIM, AVG_SIM)
_ONE = Format("number", 1)
_AGREEMENT = "rater_agreement_x100(variant=leave_one_out)"
_UNCOVERED = (
    "All pairs: a pair with a word that the subject does not know counts with similarity 0, so that knowing few words "
    "is not rewarded. Which rule Guo et al. (2018) use is not known here: both are printed."
)
_WORDS = "Intervals resample first words of pairs: pairs of one word are not independent."


def rho_name(measure: str, *, every: bool = False) -> str:
    """Return the name of the correlation of a similarity, over covered pairs or over *every* one.

    >>> rho_name("max_sim", every=True)
    'spearman_x100(similarity=max_sim,uncovered=0)'
    """
    return f"spearman_x100(similarity={measure}{',uncovered=0' if every else ''})"


# -- similarity -----------------------------------------------------------------------------------------------------


def words(run: SenseData) -> tuple[object, ...]:
    """Return MaxSim and AvgSim on the sets of word pairs (Tables 6 and 7), with coverage."""
    sets, records = run.rated(in_context=False), run.once(word_records)
    notes = [_WORDS]
    if not any(len(each.responses.where(measure="rating")) for each in sets):
        notes += ["The files of these sets hold mean ratings only, so that people's own agreement is not known here."]
    title = "Word similarity: 100 × Spearman's ρ with people's mean ratings"
    columns, rows = _columns(OF_WORDS), _rows(run, sets)
    table = pivot("word_similarity", title, records, columns, rows, labels=("Set", "Vectors"), number="6", notes=notes)
    return records, table, _dots(run, sets, records)


def usages(run: SenseData) -> tuple[object, ...]:
    """Return MaxSimC and AvgSimC on the sets of usages in context (SCWS), beside the agreement of the ratings."""
    sets, records = run.rated(in_context=True), run.once(usage_records)
    columns = _columns(
        OF_USAGES,
        {
            AVG_SIM_C: "The full sum over K × K pairs of senses.",
            AVG_SIM_C_UPPER: "The sum as it is printed: it depends on which usage stands first and on how senses are "
            "numbered.",
            MAX_SIM: "Without the contexts.",
        },
    )
    rows = []
    for each in sets:
        rows += _rows(run, [each])
        if pick(records, _AGREEMENT, dataset=each.name):
            rows.append(Row((each.title, "ratings among each other"), {"dataset": each.name, "subject": ""}))
    unnamed = any(each.name == "scws" for each in sets)
    notes = (
        _WORDS,
        "Ratings among each other: one column of ratings with the mean of the others, mean of columns."
        + (" Who gave a column is not published, so that it is no person's agreement." if unnamed else ""),
    )
    title = "Similarity in context: 100 × Spearman's ρ with people's mean ratings"
    table = pivot("similarity_in_context", title, records, columns, rows, labels=("Set", "Vectors"), notes=notes)
    return records, table


def word_records(run: SenseData) -> list[Record]:
    """Return the correlations on the sets of word pairs."""
    return _correlations(run, run.rated(in_context=False), OF_WORDS)


def usage_records(run: SenseData) -> list[Record]:
    """Return the correlations on the sets of usages, and the agreement of the ratings."""
    sets = run.rated(in_context=True)
    records = _correlations(run, sets, OF_USAGES)
    for each in sets:
        rows = each.responses.where(measure="rating", subject_kind=COLLECTED)
        if len(rows.unique("subject_id")) > 2:
            settings = run.settings
            agreed = leave_one_out(Ratings.from_table(rows), resamples=settings.n_bootstrap, seed=settings.seed)
            found = Estimate(_AGREEMENT, agreed.mean, agreed.interval, len(each.items)).times(100, "100 × rho")
            records += found.about(dataset=each.name).records()
    return records


def highest(run: SenseData, records: Sequence[Record], measure: str) -> str:
    """Say in words which subject has the highest correlation with each set, over covered pairs."""
    found: dict[str, list[Record]] = {}
    for record in records:
        if record.statistic == rho_name(measure) and record.value is not None:
            found.setdefault(record.dataset, []).append(record)
    best = {name: max(rows, key=lambda record: record.value or 0.0) for name, rows in found.items()}
    titles = {each.name: each.title for each in run.sets}
    texts = [f"{titles[name]}: {run.title_of(one.subject)} {one.value:.1f}" for name, one in best.items()]
    return f"Highest {NAMES[measure]} correlation, 100 × ρ. {'; '.join(texts)}" if texts else ""


def _correlations(run: SenseData, sets: Sequence[PairSet], measures: Sequence[str]) -> list[Record]:
    results: list[Result | Record] = []
    for pairs in sets:
        results.append(Record("n_pairs", float(len(pairs.items)), dataset=pairs.name))
        for subject in run.subjects:
            values = [_similarities(run, pairs, subject, measure) for measure in measures]
            n, covered = len(pairs.items), int(np.isfinite(values[0]).sum())
            known = Estimate("coverage", 100 * covered / n, n=n, unit="percent", note=f"{covered} pairs")
            results.append(known.about(subject=subject.subject_id, dataset=pairs.name))
            for measure, own in zip(measures, values, strict=True):
                results += [_correlation(run, pairs, subject, measure, own, every=every) for every in (False, True)]
    return records_of(results)


def _similarities(run: SenseData, pairs: PairSet, subject: HasSenses, measure: str) -> NDArray[np.float64]:
    """The similarities of one subject on one set, in the order of its items; not-a-number if not covered."""
    rows = run.answers.where(subject_id=subject.subject_id, measure=measure)
    value = dict(zip(rows.column("item_id").tolist(), rows.column("value").tolist(), strict=True))
    return np.array([value[item.item_id] for item in pairs.items], dtype=np.float64)


def _correlation(
    run: SenseData, pairs: PairSet, subject: HasSenses, measure: str, values: NDArray[np.float64], *, every: bool
) -> Estimate | Record:
    words = pairs.words
    several = len(set((words if every else words[np.isfinite(values)]).tolist())) > 1
    try:
        found = similarity_correlation(
            values, pairs.ratings, measure=measure, uncovered=0.0 if every else None, groups=words if several else None,
            resamples=run.settings.n_bootstrap if several else 0, seed=run.settings.seed,
        )  # fmt: skip
    except StatisticError as error:
        name = rho_name(measure, every=every)
        return Record(name, None, subject.subject_id, pairs.name, note=f"undefined: {error.what}")
    return found.about(subject=subject.subject_id, dataset=pairs.name)


def _columns(measures: Sequence[str], notes: Mapping[str, str] | None = None) -> list[Col]:
    """The correlations, that of the first measure over all pairs, and the coverage."""
    said, first = notes or {}, measures[0]
    # the row of the ratings' agreement has its number in the first column, and as many pairs
    named = {measure: (rho_name(measure), *((_AGREEMENT,) if measure == first else ())) for measure in measures}
    return [
        *(Col(NAMES[one], named[one], _ONE, note=said.get(one, ""), absent=None) for one in measures),
        Col(f"{NAMES[first]}, all pairs", rho_name(first, every=True), _ONE, note=_UNCOVERED, absent=None),
        Col("Covered", "coverage", INTEGER, cell=_covered, absent=None),
        Col("Pairs", ("coverage", _AGREEMENT), show="n", absent=None),
        Col("%", "coverage", _ONE, show="value", absent=None),
    ]


def _covered(coverage: Record) -> int:
    return round((coverage.value or 0.0) * (coverage.n or 0) / 100)


def _rows(run: SenseData, sets: Sequence[PairSet]) -> list[Row]:
    return [
        Row((pairs.title, run.title_of(one.subject_id)), {"dataset": pairs.name, "subject": one.subject_id})
        for pairs in sets
        for one in run.subjects
    ]


def _dots(run: SenseData, sets: Sequence[PairSet], records: Sequence[Record]) -> Figure | None:
    titles = {each.name: each.title for each in sets}
    dots = [
        Dot(titles[one.dataset], run.title_of(one.subject), one.value, *ends_of(one), np.nan)
        for one in records
        if one.statistic == rho_name(MAX_SIM) and one.value is not None
    ]
    title = "MaxSim beside people's ratings, set by set"
    heading = Heading("word_similarity", "", title, "Over covered pairs. " + _WORDS)
    return accuracy_dots(dots, heading, unit="100 × ρ") if dots else None


# -- the same sense -------------------------------------------------------------------------------------------------


def same_sense(run: SenseData) -> tuple[object, ...]:
    """Return the share of pairs that are right, with what is random in it, for each split of each set (Table 8)."""
    results: list[Result] = []
    rows = []
    for pairs in run.same_sense:
        for split in dict.fromkeys(str(item.conditions.get("split", "")) for item in pairs.items):
            chosen = [place for place, one in enumerate(pairs.items) if str(one.conditions.get("split", "")) == split]
            where = {"dataset": pairs.name, "condition": split}
            same = 100 * float(np.mean([pairs.items[place].gold == SAME for place in chosen]))
            results.append(Estimate("share_same", same, n=len(chosen), unit="percent").about(**where))
            title = ", ".join(filter(None, (pairs.title, split)))
            for subject in run.subjects:
                own = where | {"subject": subject.subject_id}
                results += [one.about(**own) for one in _right(run, pairs, chosen, subject)]
                rows.append(Row((title, run.title_of(subject.subject_id)), own))
    columns = (
        Col("Right, %", ALL, _ONE),
        Col("Expected, %", EXPECTED, _ONE),
        Col("Decided right, %", DECIDED, _ONE, note="Of the pairs that identity decides."),
        Col("Decided", DECIDED, INTEGER, cell=lambda one: one.n or 0),
        *(Col(reason.capitalize(), n_random(reason), INTEGER, show="value") for reason in REASONS),
        Col("n", ALL, show="n"),
        Col("Same, %", "share_same", _ONE, show="value", where={"subject": ""},
            note="What always answering 'the same' reaches."),
    )  # fmt: skip
    notes = (
        "A pair that identity cannot decide (two words, a word out of vocabulary or with one sense, no sense "
        "preferred) is answered at random, drawn by its id and the seed, and counted in the last columns.",
        "Expected: every random answer counted as half right; no seed changes it. Intervals resample words.",
    )
    title = "The same sense, by the identity of the chosen sense"
    table = pivot("same_sense", title, results, columns, rows, labels=("Pairs", "Vectors"), number="8", notes=notes)
    return results, table


def expected(run: SenseData, records: Sequence[Record]) -> str:
    """Say the expected accuracies in words: of each subject on each split."""
    titles = {each.name: each.title for each in run.sets}
    found: dict[str, list[Record]] = {}
    for record in records:
        if record.statistic == EXPECTED:
            found.setdefault(", ".join(filter(None, (titles[record.dataset], record.condition))), []).append(record)
    texts = [f"{name}: {run.listed(own, divide=', ')}" for name, own in found.items()]
    return f"% right, random answers counted as half right. {'; '.join(texts)}" if texts else ""


def _right(run: SenseData, pairs: PairSet, chosen: Sequence[int], subject: HasSenses) -> tuple[Result, ...]:
    """What one subject has right of the pairs of a split."""
    rows = run.answers.where(subject_id=subject.subject_id, task="same_sense")
    choices, flags = rows.where(measure=MEASURE_CHOICE), rows.where(measure=FLAG)
    option = dict(zip(choices.column("item_id").tolist(), choices.column("option").tolist(), strict=True))
    reason = dict(zip(flags.column("item_id").tolist(), flags.column("raw").tolist(), strict=True))
    items = [pairs.items[place] for place in chosen]
    return accuracy_with_random(
        [option[item.item_id] == item.gold for item in items],
        [reason[item.item_id] for item in items],
        words=pairs.words[list(chosen)],
        counted=REASONS,
        resamples=run.settings.n_bootstrap,
        seed=run.settings.seed,
    )


# -- similarity against interpretability ----------------------------------------------------------------------------

_MEAN = statistic_name("spearman_x100", similarity=MAX_SIM, mean="sets")
_SIMILARITY = {"AvgSimC": rho_name(AVG_SIM_C), "MaxSimC": rho_name(MAX_SIM_C), "MaxSim, mean of sets": _MEAN}
_OF_PEOPLE = {"Intruders found": SENSES, "Senses chosen": QUESTIONS}
_PLANTED = {"Planted, by neighbours": "planted_selection", "Planted, by usages": "planted_accuracy"}
Compared = Mapping[tuple[str, str], Orders]


def contrast(run: SenseData) -> tuple[object, ...]:
    """Return both kinds of figures of every subject in one table, and where they order subjects differently (§5.1)."""
    found, records = run.once(orders), run.once(_both)
    if not found:
        why = "It needs two vectors with a similarity and with people's judgments, or with planted senses, each."
        return run.leave_out("Similarity against interpretability", why)
    columns = (
        *(Col(f"{name}, ρ", statistic, _ONE, absent=None) for name, statistic in _SIMILARITY.items()),
        *(Col(f"{name}, %", statistic, _ONE, absent=None) for name, statistic in _OF_PEOPLE.items()),
        *(Col(name, one, BOUNDED, note="No judgment of people.", absent=None) for name, one in _PLANTED.items()),
    )
    judged = [record.subject for record in records if record.statistic in _OF_PEOPLE.values()]
    subjects = dict.fromkeys([*(subject.subject_id for subject in run.subjects), *judged])
    rows = [Row((run.title_of(subject),), {"subject": subject}) for subject in subjects]
    title = "Similarity and interpretability of the same vectors"
    table = drop_empty(pivot("contrast", title, records, columns, rows, labels=("Vectors",)))
    caution = (
        "Orders compare values. A pair that stands in another order is clear where the two intervals overlap by "
        "neither figure; the others may change places in another sample."
    )
    counts = [own.results(similarity=_key(one), reading=_key(other)) for (one, other), own in found.items()]
    return counts, table, _orders_table(run, found), caution


def summary(found: Compared) -> str:
    """Say whether similarity and the reading of senses choose the same vectors; nothing if they are not compared."""
    apart = [f"{one} and {other.lower()}" for (one, other), own in found.items() if not own.same_best]
    if not found:
        return ""
    if not apart:
        return f"All {len(found)} comparisons of a similarity with the reading of senses have the same best vectors"
    clear = sum(bool(own.clear) for own in found.values())
    return (
        f"In {len(apart)} of {len(found)} comparisons the two have other best vectors ({'; '.join(apart)}); in {clear} "
        "a pair stands clearly in another order"
    )


def orders(run: SenseData) -> Compared:
    """Return how each similarity and each figure of the reading of senses order the subjects of a run."""
    return orders_of(run.once(_both))


def orders_of(records: Sequence[Record]) -> Compared:
    """Return how each similarity and each figure of the reading of senses order the subjects that have both."""
    first, second = (
        {name: Measured.of(one for one in records if one.statistic == statistic) for name, statistic in names.items()}
        for names in (_SIMILARITY, _OF_PEOPLE | _PLANTED)
    )
    return compare_every(first, second)


def _both(run: SenseData) -> list[Record]:
    """The records that are compared: those of one set in context, of all sets of words together, and of the reading."""
    context = [each.name for each in run.rated(in_context=True)][:1]
    sets = [each.name for each in run.rated(in_context=False)]
    records = [one for one in run.once(usage_records) if one.dataset in context]
    of_words = [one for one in run.once(word_records) if one.statistic == rho_name(MAX_SIM)]
    for subject in run.subjects:
        own = [one.value for one in of_words if one.subject == subject.subject_id and one.value is not None]
        if sets and len(own) == len(sets):
            records.append(Record(_MEAN, sum(own) / len(own), subject.subject_id, n=len(own)))
    return [*records, *part_of(run.once(recovery), run.once(accuracies)).records]


def _key(name: str) -> str:
    return name.lower().replace(", mean of sets", "").replace(",", "").replace(" ", "_")


def _orders_table(run: SenseData, found: Compared) -> Table:
    columns = map(Column, ("Similarity", "Beside", "Best by similarity", "Best by the other", "Same best",
                           "In another order", "Clearly"))  # fmt: skip
    rows = tuple(
        (one, other, run.title_of(own.best_first), run.title_of(own.best_second), "yes" if own.same_best else "no",
         f"{len(own.disagreeing)} of {own.n_pairs}",
         "; ".join(f"{run.title_of(a)} / {run.title_of(b)}" for a, b in own.clear[:6]) or "none")
        for (one, other), own in found.items()
    )  # fmt: skip
    return Table("orders", "", "Where the two disagree", tuple(columns), rows)
