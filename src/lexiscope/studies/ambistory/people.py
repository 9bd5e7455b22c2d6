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
from lexiscope.studies.ambistory.material import ALL, Material
from lexiscope.studies.ambistory.numbers import THREE, TWO, drawn, record
from lexiscope.studies.ambistory.settings import AmbistorySettings

LEVELS = ("nominal", "ordinal", "interval", "ratio")
TOP_FORMS = 10
MOST_FORMS = 4
SHUFFLES = 100


# -- the stories ----------------------------------------------------------------------------------------------


def stories(material: Material) -> Part:
    """Return counts and lengths of the stories (Table 2, §4.1)."""
    return joined([_counts(material), _lengths(material), _inventory(material)])


def _counts(material: Material) -> Part:
    columns = (Column("Split"), *(Column(name, INTEGER) for name in ("Samples", "Stories", "Setups", "Forms")))
    columns = (*columns, Column("Ratings", INTEGER), Column("Nonsensical", INTEGER, note="Ticks; nothing is filtered."))
    records: list[Record] = []
    rows: list[tuple[TableCell, ...]] = []
    for split in (*material.splits(), ALL):
        ids = material.in_split(split)
        items = [material.by_id[item] for item in ids]
        counts = {
            "n_samples": len(items),
            "n_stories": len({item.condition("story") for item in items}),
            "n_setups": len({item.condition("setup") for item in items}),
            "n_forms": len({item.word for item in items}),
            **_rating_counts(material, ids),
        }
        records += [record(material, name, float(value), condition=split) for name, value in counts.items()]
        rows.append((split, *counts.values()))
    return Part(tuple(records), (Table("counts", "", "What the dataset holds", columns, tuple(rows)),))


def _rating_counts(material: Material, ids: Sequence[str]) -> dict[str, int]:
    rated = material.rated(ids)
    ticks = material.responses.where(measure="nonsensical", item_id=tuple(ids)) if rated is not None else None
    ticked = 0 if ticks is None else int(np.nansum(ticks.column("value").astype(np.float64)))
    return {"n_ratings": 0 if rated is None else len(rated), "n_nonsensical": ticked}


def _lengths(material: Material) -> Part:
    found = story_lengths(material.items)
    parts = (
        ("precontext", found.precontext, found.n_setups),
        ("sentence", found.sentence, found.n_setups),
        ("ending", found.ending, found.n_ended),
        ("story", found.story, found.n_stories),
    )
    records = tuple(record(material, statistic_name("mean_words", of=part), mean, n=n) for part, mean, n in parts)
    columns = (Column("Part"), Column("Words, mean", TWO), Column("n", INTEGER))
    note = "Words are what white space separates. Endings without the open stories; stories with them."
    return Part(records, (Table("table_2_lengths", "2", "Length of the stories", columns, parts, (note,)),))


def _inventory(material: Material) -> Part:
    found = story_inventory(material.items)
    most = found.setups_per_form[:MOST_FORMS]
    records = [
        record(material, "n_sense_pairs", float(found.sense_pairs), note="a form with its two meanings, once a split"),
        record(material, "sentences_per_form", found.sentences_per_form, n=found.forms),
        *(record(material, "setups_of_form", float(count), condition=form) for form, count in most),
    ]
    text = (
        f"{found.sense_pairs} pairs of meanings of {found.forms} word forms (a pair counted once in each split; "
        f"{found.unordered_pairs} in all, whichever meaning is called the first); {found.sentences_per_form:.2f} "
        f"ambiguous sentences for each form, the most for {', '.join(f'{form} ({count})' for form, count in most)}."
    )
    return Part((*records, *_lemmas(material)), paragraphs=(text,))


def _lemmas(material: Material) -> tuple[Record, ...]:
    """The number of lemmas, where WordNet is at hand to guess them."""
    try:
        lexicon = wordnet.load()
    except DataError:
        return ()
    guessed = guessed_lemmas([item.word for item in material.items], lexicon)
    note = "guessed: the shortest WordNet base form; other rules give 299 to 334"
    return (record(material, "n_lemmas", float(len(set(guessed.values()))), note=note),)


# -- agreement ------------------------------------------------------------------------------------------------


def agreement(material: Material, settings: AmbistorySettings) -> Part:
    """Return how much people agree: alpha, standard deviations, single raters, and the ceilings (§4.1, §5.1)."""
    if material.people is None:
        return Part(paragraphs=("Nobody has rated these stories: there is no agreement to report.",))
    return joined(
        [_alphas(material, settings), _spreads(material), _ceilings(material, settings), _components(material)]
    )


def _conditions(material: Material) -> dict[str, tuple[str, ...]]:
    found = {split: material.in_split(split) for split in material.splits()}
    found |= {
        kind: material.ids(lambda item, kind=kind: item.condition("story_kind") == kind)  # type: ignore[misc]
        for kind in ("open", "ended")
    }
    return {ALL: material.ids(), **found}


def _alphas(material: Material, settings: AmbistorySettings) -> Part:
    records, rows = [], []
    for condition, ids in _conditions(material).items():
        ratings = material.rated(ids)
        if ratings is None:
            continue
        spread = item_sd(ratings)
        cells = []
        for level in LEVELS:
            groups = {item: material.setups[item] for item in ratings.item_ids}
            few = drawn(settings, len(set(groups.values())))
            found = krippendorff_alpha(ratings, level=level, groups=groups, **few)  # type: ignore[arg-type]
            base = record(material, found.name, found.value, condition=condition, n=found.n_items)
            records.append(with_interval(base, found.interval))
            cells.append(shown(records[-1]))
        mean_sd = float(np.nanmean(spread))
        records.append(record(material, "mean_sd(ddof=1)", mean_sd, condition=condition, n=ratings.n_items))
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


def _spreads(material: Material) -> Part:
    """The word forms on whose samples people disagree most."""
    assert material.people is not None
    top = mean_sd_by_group(material.people, material.words)[:TOP_FORMS]
    records = [record(material, "form_mean_sd(ddof=1)", one.mean_sd, condition=one.group, n=one.n_items) for one in top]
    columns = (Column("Form"), Column("Samples", INTEGER), Column("Mean SD", TWO))
    rows = tuple((one.group, one.n_items, one.mean_sd) for one in top)
    return Part(tuple(records), (Table("form_sds", "", "The forms that people disagree most about", columns, rows),))


# -- ceilings -------------------------------------------------------------------------------------------------


def _ceilings(material: Material, settings: AmbistorySettings) -> Part:
    """The best-rater recipe of the paper, and beside it what it must be read with."""
    assert material.people is not None
    ratings = material.judged
    if ratings is None or not material.groups:
        return Part()
    condition = material.split
    try:
        best = best_raters(ratings, material.groups, **drawn(settings, 2))
        shuffled = shuffled_best_raters(ratings, material.groups, shuffles=SHUFFLES, seed=settings.seed)
    except StatisticError as error:
        return Part(remarks=(f"The ceilings could not be computed: {error.what}.",))
    alpha = krippendorff_alpha(
        material.people, level="interval", groups=material.setups, **drawn(settings, len(set(material.setups.values())))
    )
    reliability = reliability_of_means(alpha, _ratings_of_a_sample(material.people))
    records = [_ceiling_record(material, one, condition) for one in (best.spearman, best.accuracy)]
    records.append(_ceiling_record(material, reliability, ALL))
    for metric, mean, spread in (
        ("spearman", shuffled.spearman, shuffled.spearman_sd),
        ("accuracy_within_sd", shuffled.accuracy, shuffled.accuracy_sd),
    ):
        name = statistic_name("shuffled_best_rater", metric=metric, shuffles=SHUFFLES)
        note = f"raters shuffled within samples; SD over shuffles {spread:.4f}"
        records.append(record(material, name, mean, condition=condition, n=best.spearman.n, note=note))
    singles, single_records = _single_table(material, settings)
    table = ceilings_table([_row(records, one) for one in _named(records, best.spearman, best.accuracy, reliability)])
    recovered = f" {_RECOVERED}" if material.name == "ambistory" else ""
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


def _ceiling_record(material: Material, found: Ceiling, condition: str) -> Record:
    base = record(material, found.name, found.value, condition=condition, n=found.n, note=f"n counts {found.unit}")
    return with_interval(base, found.interval)


def _single_table(material: Material, settings: AmbistorySettings) -> tuple[Table, tuple[Record, ...]]:
    records: list[Record] = []
    rows = []
    for condition, ids in _single_conditions(material).items():
        ratings = material.rated(ids)
        if ratings is None:
            continue
        try:
            found = single_rater(ratings, **drawn(settings, 2))
        except StatisticError:
            continue
        own = [
            record(
                material, "single_rater_rho(over=ratings)", found.rho_pooled, condition=condition, n=found.n_ratings
            ),
            with_interval(
                record(
                    material, "single_rater_rho(over=raters)", found.mean_rho, condition=condition, n=found.n_raters
                ),
                found.interval,
            ),
            record(material, "single_rater_accuracy_within_sd", found.accuracy, condition=condition, n=found.n_ratings),
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


def _single_conditions(material: Material) -> dict[str, tuple[str, ...]]:
    asked = set(material.asked)
    found = {ALL: material.ids(), material.split: material.asked}
    for kind in ("open", "ended"):
        found[f"{material.split}, {kind}"] = material.ids(
            lambda item, kind=kind: item.item_id in asked and item.condition("story_kind") == kind  # type: ignore[misc]
        )
    return found


def _components(material: Material) -> Part:
    """Variance of samples, raters and the rest: how much of a rating is the rater's own leniency."""
    assert material.people is not None
    try:
        found = variance_components(material.people, material.groups)
    except StatisticError as error:
        return Part(remarks=(f"Variance components could not be computed: {error.what}.",))
    parts = {"sample": found.item, "rater": found.rater, "residual": found.residual}
    several = _ratings_of_a_sample(material.people)
    records = [
        *(record(material, statistic_name("variance", of=name), value) for name, value in parts.items()),
        record(material, "icc(model=2,ratings=1)", found.icc_single, n=found.n_items),
        record(material, f"icc(model=2,ratings={several})", found.icc_mean(several), n=found.n_items),
        record(material, "rater_effect_f", found.f, p=found.p, n=found.n_raters),
    ]
    columns = (Column("Source"), Column("Variance", THREE))
    note = (
        f"Two-way within groups of raters, pooled over {found.n_groups} groups. Do raters differ in leniency? "
        f"F({found.df[0]}, {found.df[1]}) = {found.f:.2f}, p = {found.p:.2g}. ICC(2,1) {apa(found.icc_single, 3)}, "
        f"ICC(2,{several}) {apa(found.icc_mean(several), 3)}."
    )
    title = "Where ratings differ"
    return Part(tuple(records), (Table("variance", "", title, columns, tuple(parts.items()), (note,)),))


def result_words(records: Sequence[Record]) -> str:
    """Return what came out, in one line."""
    alpha = pick(records, "krippendorff_alpha(level=interval)", condition=ALL)
    single = next((each for each in records if each.statistic == "single_rater_rho(over=ratings)"), None)
    if alpha is None or alpha.value is None:
        return ""
    text = f"α (interval) {apa(alpha.value, 3)}"
    if single is not None and single.value is not None:
        text += f"; one rater against the others ρ {apa(single.value)}"
    return text
