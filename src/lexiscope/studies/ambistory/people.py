"""The stories and their people (§4, §5.1): counts, agreement, human ceilings, effects of endings, use of the scale."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexiscope.analysis.agreement.alpha import LEVELS, krippendorff_alpha
from lexiscope.analysis.agreement.ceilings import (
    best_raters,
    rater_groups,
    reliability_of_means,
    shuffled_best_raters,
    single_rater,
)
from lexiscope.analysis.agreement.summary import variance_components
from lexiscope.analysis.bootstrap import GroupOf
from lexiscope.analysis.mixed.models import NestedModels, likelihood_ratio
from lexiscope.analysis.mixed.ordinal import ordinal_likelihood_ratios
from lexiscope.analysis.mixed.r_script import ModelPair
from lexiscope.analysis.norms.label_distribution import label_differences, label_table, mean_label_table, rating_shares
from lexiscope.analysis.norms.norms import correlations_with_counts, mean_item_sd, mean_sd_by_group
from lexiscope.analysis.norms.predictions import Predictions, rounded
from lexiscope.analysis.norms.story_effects import KINDS, ending_effects
from lexiscope.build.stories import inventory
from lexiscope.core.errors import DataError
from lexiscope.core.response import holds_simulated
from lexiscope.core.result import Estimate, Record, Result, Undefined
from lexiscope.report.figures import Heading
from lexiscope.report.page.exports import export_r
from lexiscope.report.part import Part, Remark, part_of
from lexiscope.report.parts import mixed_tables, people_tables, predictor_tables, story_tables
from lexiscope.report.pivot import Col, pivot, rows_of
from lexiscope.report.tables import INTEGER
from lexiscope.resources.lexicons import wordnet
from lexiscope.studies.ambistory.data import ALL, TEXTS, TWO, AmbistoryData
from lexiscope.studies.kit.answers import PEOPLE

TOP_FORMS = 10
SHUFFLES = 100
COUNTED = ("n_samples", "n_stories", "n_setups", "n_forms", "n_ratings", "n_nonsensical")
ALPHA, SENSE_RHO = "krippendorff_alpha(level=interval)", "sense_count_rho(with=mean)"
SHUFFLED_RATER = f"shuffled_best_rater(metric=spearman,shuffles={SHUFFLES})"
BEST_RATER = "best_rater_correlation(variant=leave_one_out,method=spearman)"
SINGLE_RHO, SPREAD = "single_rater_rho(over=ratings)", "mean_sd(ddof=1)"
ENDED_LABELS = "label_share_difference(of=ended_minus_open,point=1)"


# -- the stories ------------------------------------------------------------------------------------------------------


def stories(run: AmbistoryData) -> Part:
    """Return counts and lengths of the stories, and the inventory of forms and meanings (Table 2, §4.1)."""
    counts = [record for condition in (*list(run.parts)[1:], ALL) for record in _counts(run, condition)]
    heads = [Col(name.removeprefix("n_").capitalize(), name, INTEGER, "value") for name in COUNTED[:-1]]
    ticks = Col("Nonsensical", COUNTED[-1], INTEGER, "value", note="Ticks; nothing is filtered.")
    splits = rows_of(counts, "condition")
    table = pivot("counts", "What the dataset holds", counts, (*heads, ticks), splits, labels=("Split",))
    lengths = run.about_all(inventory.story_lengths(run.items).results())
    parts = story_tables.lengths_table(lengths, name="table_2_lengths", number="2")
    refused = f"--ordinal: no mixed model was fitted, because {run.name} has no ratings of people."
    asked_in_vain = bool(run.settings.ordinal) and not run.has("ratings")
    return part_of(counts, table, lengths, parts, _inventory(run), Remark(refused) if asked_in_vain else None)


def _counts(run: AmbistoryData, condition: str) -> list[Record]:
    ids = run.parts[condition]
    items = [run.by_id[item] for item in ids]
    n_ratings = sum(len(ratings) for _, ratings in run.ratings_of_parts({condition: ids}))
    ticks = run.responses.where(measure="nonsensical", item_id=ids).column("value").astype(np.float64)
    forms = {item.word for item in items}
    groups = [{item.condition(name) for item in items} for name in ("story", "setup")]
    sizes = (*map(len, (items, *groups, forms)), n_ratings, np.nansum(ticks))
    return [run.number(name, size, condition=condition) for name, size in zip(COUNTED, sizes, strict=True)]


def _inventory(run: AmbistoryData) -> Part:
    forms = inventory.story_inventory(run.items)
    results = run.about_all(forms.results())
    try:
        guessed = inventory.guessed_lemmas([item.word for item in run.items], run.once(_lexicon))
    except DataError:
        return part_of(results, forms.sentence())
    note = "guessed: the shortest WordNet base form"
    return part_of(results, run.number("n_lemmas", len(set(guessed.values())), note=note), forms.sentence())


def _lexicon(run: AmbistoryData) -> wordnet.WordNet:
    """WordNet, read once for a run: its archive takes long to open."""
    return inventory.lexicon_of(run.items)


# -- agreement --------------------------------------------------------------------------------------------------------


def agreement(run: AmbistoryData) -> tuple[Part | None, ...]:
    """Return how much people agree: alpha, standard deviations, single raters, and the ceilings (§4.1, §5.1)."""
    return _alphas(run), _rater_groups(run), _form_sds(run), _ceilings(run), _components(run)


def _alphas(run: AmbistoryData) -> Part:
    kinds = {str(kind): run.of_kind(kind, run.parts[ALL]) for kind in KINDS}
    rated = dict(run.ratings_of_parts({**run.parts, **kinds}))
    results: list[Result] = []
    for condition, ratings in rated.items():
        setups = run.resampling_of(run.setups, ratings.item_ids)
        for level in LEVELS:
            alpha = partial(krippendorff_alpha, ratings, level=level, **setups)
            results += run.attempt_all(f"krippendorff_alpha(level={level})", alpha, condition=condition)
        results += run.attempt_all(SPREAD, partial(mean_item_sd, ratings), name=SPREAD, condition=condition)
    return part_of(results, people_tables.alphas_table(results, rated))


def _rater_groups(run: AmbistoryData) -> Part | None:
    """How the samples were shared out among raters (§3.4): groups, samples of a group, ratings of a sample."""
    # ids of a user's raters say nothing of groups
    if run.own or not all(run.groups.values()):
        return None
    results = run.about_all(rater_groups(run.people, run.groups))
    return part_of(results, people_tables.rater_groups_table(results))


def _form_sds(run: AmbistoryData) -> Part:
    name, top = "form_mean_sd(ddof=1)", mean_sd_by_group(run.people, run.words)[:TOP_FORMS]
    records = run.about_all(top, name=name)
    title = "The forms that people disagree most about"
    columns = (Col("Samples", name, show="n"), Col("Mean SD", name, TWO))
    return part_of(records, pivot("form_sds", title, records, columns, rows_of(records, "condition"), labels=("Form",)))


def _ceilings(run: AmbistoryData) -> Part | None:
    """Return the best-rater ceiling of the paper, with the control and the reliability needed to interpret it."""
    ratings, seed = run.asked_ratings, run.settings.seed
    if ratings is None or not run.groups:
        return None

    def reliability() -> Estimate:
        alpha = krippendorff_alpha(run.people, level="interval", **run.resampling_of(run.setups))
        return reliability_of_means(alpha, run.people.usual_count())

    best = partial(best_raters, ratings, run.groups, **run.resampling)
    shuffled = partial(shuffled_best_raters, ratings, run.groups, shuffles=SHUFFLES, seed=seed)
    results = run.attempt_all(BEST_RATER, best, condition=run.split)
    results += run.attempt_all("reliability_of_means", reliability, condition=ALL)
    results += run.attempt_all(SHUFFLED_RATER, shuffled, condition=run.split)
    caution = " ".join(TEXTS["ceilings"] + (TEXTS["rater ids"] if run.name == "ambistory" else ()))
    return part_of(results, people_tables.ceilings_table(results), _single_raters(run), caution)


def _single_raters(run: AmbistoryData) -> Part:
    """One rater against the others, on all samples and on those that live subjects were asked."""
    kinds = {f"{run.split}, {kind}": run.of_kind(kind, run.asked_ids) for kind in KINDS}
    results: list[Result] = []
    for condition, ratings in run.ratings_of_parts({ALL: run.parts[ALL], run.split: run.asked_ids, **kinds}):
        of_raters = partial(single_rater, ratings, **run.resampling)
        results += run.attempt_all(SINGLE_RHO, of_raters, condition=condition)
    return part_of(results, people_tables.single_raters_table(results))


def _components(run: AmbistoryData) -> Part:
    """Variance of samples, raters and the rest: how much of a rating is the rater's own leniency."""
    components = run.attempt("variance(of=rater)", partial(variance_components, run.people, run.groups))
    if isinstance(components, Undefined):
        return part_of(components)
    several = run.people.usual_count()
    results = run.about_all(components.results(several))
    return part_of(results, people_tables.variance_table(components, results, several))


# -- endings ----------------------------------------------------------------------------------------------------------


def endings(run: AmbistoryData) -> Part:
    """Return the effect of endings on mean ratings, and how often it has the direction they were written for (§4.2)."""
    words = run.resampling_of(GroupOf({run.setups[item]: word for item, word in run.words.items()}, "words"))
    effects = partial(ending_effects, run.people, run.places, **words)
    results = run.attempt_all("absolute_difference(between=open_and_ended)", effects)
    shifts = story_tables.shifts_table(results, source="Gehring & Roth (2025) do")
    return part_of(results, shifts, story_tables.directions_table(results), *_ending_models(run))


_NESTED = "(1 | Participant) + (1 | Meaning) + (1 | Item)"
ENDING_MODELS = (f"Response ~ Ending + {_NESTED}", f"Response ~ 1 + {_NESTED}")
"""The test of endings: open, written for this meaning (intended), written for the other one (unintended)."""
_REFERENCES = {"Ending": "open"}


def _ending_models(run: AmbistoryData) -> Iterator[object]:
    """Test endings in mixed models of single ratings, linear and ordinal side by side, if the settings ask for them."""
    if not run.settings.ordinal:
        yield Remark(
            "Mixed models of single ratings, linear and ordinal (cumulative link), with thresholds and the severity of "
            "raters: --ordinal logit (tens of seconds)."
        )
        return
    models, data, seed = ENDING_MODELS, _trials(run), run.settings.seed
    test = partial(likelihood_ratio, *models, data, starts=1, seed=seed, references=_REFERENCES, satterthwaite=False)
    linear = run.attempt("chi2(test=ending)", test)
    yield run.about_all((linear,) if isinstance(linear, Undefined) else linear.results("ending"))
    yield mixed_tables.ratio_tests_table("ending_tests", {"ending": linear})
    links, pairs = run.settings.ordinal, {"ending": NestedModels(*models, data)}
    tests = ordinal_likelihood_ratios(pairs, links, starts=2, seed=seed, references=_REFERENCES)
    yield mixed_tables.ordinal_part("ending", tests, {"ending": {"dataset": run.name}}, severity=["ending"])


def write_r_script(run: AmbistoryData, folder: Path, _records: tuple[Record, ...]) -> tuple[str, ...]:
    """Write the linear mixed models of endings, the ordinal ones that are asked for, and their trials for R."""
    settings = run.settings
    if "r_script" not in settings.outputs or not run.has("ratings"):
        return ()
    pair = ModelPair("ending", *ENDING_MODELS, links=settings.ordinal)
    return export_r(folder, [pair], _trials(run), references=_REFERENCES, simulated=holds_simulated(run.responses))


def _trials(run: AmbistoryData) -> dict[str, NDArray[Any]]:
    """One row per rating: the rater, the sample, the meaning it is about, and how its story ends for that meaning."""
    conditions = [item.conditions for item in run.items]
    endings = [
        "open" if place["story_kind"] == "open" else str(place.get("intention", place["ending_of"]))
        for place in conditions
    ]
    meanings = [f"{place['setup']}/{place['meaning']}" for place in conditions]
    return run.trials_of({"Meaning": np.array(meanings, dtype=object), "Ending": np.array(endings, dtype=object)})


# -- the scale --------------------------------------------------------------------------------------------------------


def scale(run: AmbistoryData) -> tuple[Part, Part]:
    """Return how often each point is used, and how frequent senses are rated (§4.2)."""
    return _points(run), _frequency(run)


def _points(run: AmbistoryData) -> Part:
    shares = rating_shares(run.people, **run.resampling_of(run.words, run.people.item_ids))
    name = "rating_share"
    results = run.about_all((*shares.results(name), shares.ends(name)), condition=ALL)
    return part_of(results, predictor_tables.rating_shares_table(results, shares))


def labels(run: AmbistoryData) -> Part | None:
    """Return the labels of people, which are rounded mean ratings, and of subjects (Table 6)."""
    words, kinds = run.resampling_of(run.words, run.asked_ids), {item: place.kind for item, place in run.places.items()}
    tables = {} if run.asked_ratings is None else {PEOPLE: mean_label_table(run.asked_ratings, kinds, **words)}
    readable = (predictor for predictor in run.predictors if predictor.n_read)
    tables |= {predictor.subject: label_table(predictor.whole, kinds, **words) for predictor in readable}
    if not tables:
        return None
    titles = {PEOPLE: PEOPLE} | run.titles
    results = [
        run.about(share, subject=subject, condition=f"{run.split}, {part}")
        for subject, parts in tables.items()
        for part, shares in parts.items()
        for share in shares.results("label_share")
    ]
    note = (
        "Mean ratings of people and predictions that are not whole are rounded to whole numbers by one rule, halves up "
        "(half_up). Replies that could not be read have no label and are not imputed."
    )
    name, title = "table_6_labels", f"Labels of people and models ({run.split})"
    table = predictor_tables.labels_table(name, title, tables, titles, conditions="Stories", number="6", notes=(note,))
    heading = Heading("figure_labels", "", "Labels of people and models", f"Samples of: {run.split}.")
    return part_of(results, table, predictor_tables.labels_figure(heading, tables, titles), _ended_labels(run, titles))


def _ended_labels(run: AmbistoryData, titles: Mapping[str, str]) -> Part:
    """How much more often each label is given to ended stories than to open ones (§5.3.2)."""
    words, kinds = run.resampling_of(run.words, run.asked_ids), {item: place.kind for item, place in run.places.items()}
    labels: dict[str, Predictions] = {p.subject: p.whole for p in run.predictors if p.n_read}
    if run.asked_ratings is not None:
        means = rounded(run.asked_ratings.means()).tolist()
        labels = {PEOPLE: dict(zip(run.asked_ratings.item_ids, means, strict=True))} | labels
    results: list[Result] = []
    for subject, own in labels.items():
        compare = partial(label_differences, own, kinds, first="ended", second="open", **words)
        results += run.attempt_all(ENDED_LABELS, compare, subject=subject, condition=run.split)
    return part_of(results, predictor_tables.label_differences_table(results, titles))


def _frequency(run: AmbistoryData) -> Part:
    """How the frequency of a sense goes with its plausibility, and with disagreement about it."""
    try:
        lexicon = run.once(_lexicon)
        counts = inventory.sense_counts(run.items, lexicon)
    except DataError as error:
        return part_of(Remark(f"The frequency of senses was not looked up: {error.sentences}"))
    counted = {"": counts}
    try:
        counted["semcor"] = inventory.sense_counts(run.items, lexicon, tagged=inventory.semcor_counts())
        in_text = "Counts in the text: tags of the sense in SemCor 3.0 itself."
    except DataError as error:
        in_text = f"SemCor's text is not available ({error.what})."
    results: list[Estimate | Undefined] = []
    for condition, ratings in run.ratings_of_parts(run.parts):
        words = run.resampling_of(run.words, ratings.item_ids)
        own = correlations_with_counts(counted, ratings, name="sense_count_rho", **words)
        results += run.about_all(own, condition=condition)
    unknown = sum(count is None for count in counts.values())
    return part_of(results, people_tables.counts_table(results, unknown=unknown, text=in_text))
