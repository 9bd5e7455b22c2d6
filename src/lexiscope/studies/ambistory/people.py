"""The stories and the people: lengths, inventory, agreement, and the human ceilings, each under its own name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from lexiscope.analysis.alpha import krippendorff_alpha
from lexiscope.analysis.ceilings import Ceiling, reliability_of_means
from lexiscope.analysis.group_raters import best_raters, shuffled_best_raters, single_rater
from lexiscope.analysis.norms import item_sd, mean_sd_by_group
from lexiscope.analysis.ratings import Ratings
from lexiscope.analysis.variance_components import variance_components
from lexiscope.core.errors import DataError, StatisticError
from lexiscope.core.result import Record, statistic_name
from lexiscope.items.story_inventory import guessed_lemmas, story_inventory, story_lengths
from lexiscope.report.figures import apa
from lexiscope.report.part import Part, joined, pick, shown, with_interval
from lexiscope.report.sections import CeilingValue, ceilings_table
from lexiscope.report.tables import INTEGER, Column, Table
from lexiscope.report.tables import Cell as TableCell
from lexiscope.resources import wordnet
from lexiscope.studies.ambistory.data import ALL, AmbistoryData
from lexiscope.studies.ambistory.numbers import THREE, TWO, drawn, record

LEVELS = ("nominal", "ordinal", "interval", "ratio")
TOP_FORMS = 10
MOST_FORMS = 4
SHUFFLES = 100


# -- the stories ----------------------------------------------------------------------------------------------


def stories(run: AmbistoryData) -> Part:
    """Return counts and lengths of the stories (Table 2, §4.1)."""
    return joined([_counts(run), _lengths(run), _inventory(run)])


def _counts(run: AmbistoryData) -> Part:
    columns = (Column("Split"), *(Column(name, INTEGER) for name in ("Samples", "Stories", "Setups", "Forms")))
    columns = (*columns, Column("Ratings", INTEGER), Column("Nonsensical", INTEGER, note="Ticks; nothing is filtered."))
    records: list[Record] = []
    rows: list[tuple[TableCell, ...]] = []
    for split in (*run.splits(), ALL):
        ids = run.in_split(split)
        items = [run.by_id[item] for item in ids]
        counts = {
            "n_samples": len(items),
            "n_stories": len({item.condition("story") for item in items}),
            "n_setups": len({item.condition("setup") for item in items}),
            "n_forms": len({item.word for item in items}),
            **_rating_counts(run, ids),
        }
        records += [record(run, name, float(value), condition=split) for name, value in counts.items()]
        rows.append((split, *counts.values()))
    return Part(tuple(records), (Table("counts", "", "What the dataset holds", columns, tuple(rows)),))


def _rating_counts(run: AmbistoryData, ids: Sequence[str]) -> dict[str, int]:
    rated = run.rated(ids)
    ticks = run.responses.where(measure="nonsensical", item_id=tuple(ids)) if rated is not None else None
    ticked = 0 if ticks is None else int(np.nansum(ticks.column("value").astype(np.float64)))
    return {"n_ratings": 0 if rated is None else len(rated), "n_nonsensical": ticked}


def _lengths(run: AmbistoryData) -> Part:
    found = story_lengths(run.items)
    parts = (
        ("precontext", found.precontext, found.n_setups),
        ("sentence", found.sentence, found.n_setups),
        ("ending", found.ending, found.n_ended),
        ("story", found.story, found.n_stories),
    )
    records = tuple(record(run, statistic_name("mean_words", of=part), mean, n=n) for part, mean, n in parts)
    columns = (Column("Part"), Column("Words, mean", TWO), Column("n", INTEGER))
    note = "Words are what white space separates. Endings without the open stories; stories with them."
    return Part(records, (Table("table_2_lengths", "2", "Length of the stories", columns, parts, (note,)),))


def _inventory(run: AmbistoryData) -> Part:
    found = story_inventory(run.items)
    most = found.setups_per_form[:MOST_FORMS]
    records = [
        record(run, "n_sense_pairs", float(found.sense_pairs), note="a form with its two meanings, once a split"),
        record(run, "sentences_per_form", found.sentences_per_form, n=found.forms),
        *(record(run, "setups_of_form", float(count), condition=form) for form, count in most),
    ]
    text = (
        f"{found.sense_pairs} pairs of meanings of {found.forms} word forms (a pair counted once in each split; "
        f"{found.unordered_pairs} in all, whichever meaning is called the first); {found.sentences_per_form:.2f} "
        f"ambiguous sentences for each form, the most for {', '.join(f'{form} ({count})' for form, count in most)}."
    )
    return Part((*records, *_lemmas(run)), paragraphs=(text,))


def _lemmas(run: AmbistoryData) -> tuple[Record, ...]:
    """The number of lemmas, where WordNet is at hand to guess them."""
    try:
        lexicon = wordnet.load()
    except DataError:
        return ()
    guessed = guessed_lemmas([item.word for item in run.items], lexicon)
    note = "guessed: the shortest WordNet base form; other rules give 299 to 334"
    return (record(run, "n_lemmas", float(len(set(guessed.values()))), note=note),)


# -- agreement ------------------------------------------------------------------------------------------------


def agreement(run: AmbistoryData) -> Part:
    """Return how much people agree: alpha, standard deviations, single raters, and the ceilings (§4.1, §5.1)."""
    if run.people is None:
        return Part(paragraphs=("Nobody has rated these stories: there is no agreement to report.",))
    return joined([_alphas(run), _spreads(run), _ceilings(run), _components(run)])


def _conditions(run: AmbistoryData) -> dict[str, tuple[str, ...]]:
    found = {split: run.in_split(split) for split in run.splits()}
    found |= {
        kind: run.ids(lambda item, kind=kind: item.condition("story_kind") == kind)  # type: ignore[misc]
        for kind in ("open", "ended")
    }
    return {ALL: run.ids(), **found}


def _alphas(run: AmbistoryData) -> Part:
    records, rows = [], []
    for condition, ids in _conditions(run).items():
        ratings = run.rated(ids)
        if ratings is None:
            continue
        spread = item_sd(ratings)
        cells = []
        for level in LEVELS:
            groups = {item: run.setups[item] for item in ratings.item_ids}
            few = drawn(run, len(set(groups.values())))
            found = krippendorff_alpha(ratings, level=level, groups=groups, **few)  # type: ignore[arg-type]
            base = record(run, found.name, found.value, condition=condition, n=found.n_items)
            records.append(with_interval(base, found.interval))
            cells.append(shown(records[-1]))
        mean_sd = float(np.nanmean(spread))
        records.append(record(run, "mean_sd(ddof=1)", mean_sd, condition=condition, n=ratings.n_items))
        rows.append((condition, ratings.n_items, len(ratings), *cells, mean_sd))
    columns = (
        Column("Samples of"),
        Column("n", INTEGER),
        Column("Ratings", INTEGER),
        *(Column(f"α, {level}", THREE) for level in LEVELS),
        Column("Mean SD", TWO, note="Of the ratings of a sample, n − 1."),
    )
    note = (
        "Krippendorff's α; 95 % interval, setups resampled. It needs no rater ids. The ratio level takes 1 to 5 as "
        "counts from a true zero, which a rating scale does not have."
    )
    return Part(tuple(records), (Table("agreement", "", "Agreement of people", columns, tuple(rows), (note,)),))


def _spreads(run: AmbistoryData) -> Part:
    """The word forms on whose samples people disagree most."""
    assert run.people is not None
    top = mean_sd_by_group(run.people, run.words)[:TOP_FORMS]
    records = [record(run, "form_mean_sd(ddof=1)", one.mean_sd, condition=one.group, n=one.n_items) for one in top]
    columns = (Column("Form"), Column("Samples", INTEGER), Column("Mean SD", TWO))
    rows = tuple((one.group, one.n_items, one.mean_sd) for one in top)
    return Part(tuple(records), (Table("form_sds", "", "The forms that people disagree most about", columns, rows),))


# -- ceilings -------------------------------------------------------------------------------------------------


def _ceilings(run: AmbistoryData) -> Part:
    """The best-rater recipe of the paper, and beside it what it must be read with."""
    assert run.people is not None
    ratings = run.judged
    if ratings is None or not run.groups:
        return Part()
    condition = run.split
    try:
        best = best_raters(ratings, run.groups, **drawn(run, 2))
        shuffled = shuffled_best_raters(ratings, run.groups, shuffles=SHUFFLES, seed=run.settings.seed)
    except StatisticError as error:
        return Part(remarks=(f"The ceilings could not be computed: {error.what}.",))
    alpha = krippendorff_alpha(
        run.people, level="interval", groups=run.setups, **drawn(run, len(set(run.setups.values())))
    )
    reliability = reliability_of_means(alpha, _ratings_of_a_sample(run.people))
    records = [_ceiling_record(run, one, condition) for one in (best.spearman, best.accuracy)]
    records.append(_ceiling_record(run, reliability, ALL))
    for metric, mean, spread in (
        ("spearman", shuffled.spearman, shuffled.spearman_sd),
        ("accuracy_within_sd", shuffled.accuracy, shuffled.accuracy_sd),
    ):
        name = statistic_name("shuffled_best_rater", metric=metric, shuffles=SHUFFLES)
        note = f"raters shuffled within samples; SD over shuffles {spread:.4f}"
        records.append(record(run, name, mean, condition=condition, n=best.spearman.n, note=note))
    singles, single_records = _single_table(run)
    table = ceilings_table([_row(records, one) for one in _named(records, best.spearman, best.accuracy, reliability)])
    recovered = f" {_RECOVERED}" if run.name == "ambistory" else ""
    return Part((*records, *single_records), (table, singles), paragraphs=(_READ_WITH + recovered,))


def _ratings_of_a_sample(ratings: Ratings) -> int:
    """How many ratings a mean has: the most frequent number of ratings of a sample, of several the smallest."""
    counts = Counter(np.bincount(ratings.item, minlength=ratings.n_items).tolist())
    return int(min(counts, key=lambda n: (-counts[n], n)))


_READ_WITH = (
    "The human upper bound of Gehring & Roth (2025) takes the best rater on the few samples of a group: most of it is "
    "selection, as the same recipe on ratings that were shuffled among raters shows. It is no ceiling for a model. "
    "The single rater against the others is what a model can fairly be set beside; the reliability of the mean says "
    "how far a perfect predictor could get (its square root is the highest correlation)."
)
_RECOVERED = "Rater ids were never published; they are recovered from the sample numbers, as the dataset's card says."


def _named(records: Sequence[Record], *ceilings: Ceiling) -> list[tuple[Record, str]]:
    definitions = {one.name: one.definition for one in ceilings}
    control = "the same recipe where ratings are shuffled among the raters of each sample: what selection alone gives"
    return [(one, definitions.get(one.statistic, f"{control} ({one.note.partition('; ')[2]})")) for one in records]


def _row(records: Sequence[Record], named: tuple[Record, str]) -> CeilingValue:
    one, definition = named
    return CeilingValue(
        f"{one.statistic}, {one.condition}", definition, one.value or 0.0, one.low, one.high, one.n or 0
    )


def _ceiling_record(run: AmbistoryData, found: Ceiling, condition: str) -> Record:
    base = record(run, found.name, found.value, condition=condition, n=found.n, note=f"n counts {found.unit}")
    return with_interval(base, found.interval)


def _single_table(run: AmbistoryData) -> tuple[Table, tuple[Record, ...]]:
    records: list[Record] = []
    rows = []
    for condition, ids in _single_conditions(run).items():
        ratings = run.rated(ids)
        if ratings is None:
            continue
        try:
            found = single_rater(ratings, **drawn(run, 2))
        except StatisticError:
            continue
        own = [
            record(run, "single_rater_rho(over=ratings)", found.rho_pooled, condition=condition, n=found.n_ratings),
            with_interval(
                record(run, "single_rater_rho(over=raters)", found.mean_rho, condition=condition, n=found.n_raters),
                found.interval,
            ),
            record(run, "single_rater_accuracy_within_sd", found.accuracy, condition=condition, n=found.n_ratings),
        ]
        records += own
        rows.append((condition, *map(shown, own), found.sd, found.n_raters))
    columns = (
        Column("Samples of"),
        Column("ρ, all ratings", THREE),
        Column("ρ, mean over raters", THREE, note="95 % interval, raters resampled."),
        Column("Accuracy within SD", THREE, note="Of the others' ratings, n − 1."),
        Column("SD of ρ", TWO),
        Column("Raters", INTEGER),
    )
    return Table("single_raters", "", "One rater against the others", columns, tuple(rows)), tuple(records)


def _single_conditions(run: AmbistoryData) -> dict[str, tuple[str, ...]]:
    asked = set(run.asked)
    found = {ALL: run.ids(), run.split: run.asked}
    for kind in ("open", "ended"):
        found[f"{run.split}, {kind}"] = run.ids(
            lambda item, kind=kind: item.item_id in asked and item.condition("story_kind") == kind  # type: ignore[misc]
        )
    return found


def _components(run: AmbistoryData) -> Part:
    """Variance of samples, raters and the rest: how much of a rating is the rater's own leniency."""
    assert run.people is not None
    try:
        found = variance_components(run.people, run.groups)
    except StatisticError as error:
        return Part(remarks=(f"Variance components could not be computed: {error.what}.",))
    parts = {"sample": found.item, "rater": found.rater, "residual": found.residual}
    several = _ratings_of_a_sample(run.people)
    records = [
        *(record(run, statistic_name("variance", of=name), value) for name, value in parts.items()),
        record(run, "icc(model=2,ratings=1)", found.icc_single, n=found.n_items),
        record(run, f"icc(model=2,ratings={several})", found.icc_mean(several), n=found.n_items),
        record(run, "rater_effect_f", found.f, p=found.p, n=found.n_raters),
    ]
    columns = (Column("Source"), Column("Variance", THREE))
    note = (
        f"Two-way within groups of raters, pooled over {found.n_groups} groups. Do raters differ in leniency? "
        f"F({found.df[0]}, {found.df[1]}) = {found.f:.2f}, p = {found.p:.2g}. ICC(2,1) {apa(found.icc_single, 3)}, "
        f"ICC(2,{several}) {apa(found.icc_mean(several), 3)}."
    )
    title = "Where ratings differ"
    return Part(tuple(records), (Table("variance", "", title, columns, tuple(parts.items()), (note,)),))


def agreement_words(records: Sequence[Record]) -> str:
    """Return what came out, in one line."""
    alpha = pick(records, "krippendorff_alpha(level=interval)", condition=ALL)
    single = next((each for each in records if each.statistic == "single_rater_rho(over=ratings)"), None)
    if alpha is None or alpha.value is None:
        return ""
    text = f"α (interval) {apa(alpha.value, 3)}"
    if single is not None and single.value is not None:
        text += f"; one rater against the others ρ {apa(single.value)}"
    return text
