"""Stimuli and people: sizes, numbers of ratings, norms, means by sense, agreement, ceilings (SAW-C §3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from lexiscope.analysis.agreement.alpha import Level, krippendorff_alpha
from lexiscope.analysis.agreement.ceilings import agreement_ceilings, split_half
from lexiscope.analysis.agreement.consistency import coverage, group_consistency, rating_counts
from lexiscope.analysis.agreement.raters import RaterAgreement, included, leave_one_out, model_place
from lexiscope.analysis.norms.norms import condition_means
from lexiscope.core.item import Condition
from lexiscope.core.result import Estimate, Result, Undefined, statistic_name
from lexiscope.core.showing import counted
from lexiscope.items.arrange.pairs import sizes_of_pairs
from lexiscope.report.figures import Figure, Heading
from lexiscope.report.part import Remark
from lexiscope.report.parts.people_tables import agreement_table, ceilings_table, countries_table, printed_participants
from lexiscope.report.pivot import quantities, records_of
from lexiscope.report.plots.distributions import density_by_condition
from lexiscope.report.sections import FilterStep, filters_table
from lexiscope.report.tables import Format
from lexiscope.studies.kit.participants import about_raters
from lexiscope.studies.kit.study import printed_values
from lexiscope.studies.saw_c.data import DIFFERENT, SAME, SawCData

THREE = Format("number", 3)
LEAST_OF_COUNTRY = 10


# -- the stimuli ----------------------------------------------------------------------------------------------------


FLAGS: tuple[tuple[str, str, Condition, str], ...] = (
    ("Words whose gender changes with the sense", "same_gender", False, "gender_change"),
    ("… counting the published gender column as it is", "same_gender_published", False, "gender_change_as_published"),
    ("Words with adjectives as cues", "cue_1", "adjective", "adjective_cue"),
    ("Words with verb cues", "cue_1", "verb", "verb_cue"),
)
"""Properties of words: label, the items' condition and its value that tells, name."""


def stimuli(run: SawCData) -> object:
    """Describe the items. *Source: SAW-C §3.1.*"""
    sizes = sizes_of_pairs(run.items)
    for label, condition, value, flag in FLAGS:
        if all(condition in item.conditions for item in run.items):
            words = {item.word for item in run.items if item.conditions[condition] == value}
            sizes[label] = Estimate(statistic_name("n_words_with", property=flag), len(words))
    rows = run.labelled(sizes)
    return *rows.values(), quantities("stimuli", "The stimuli", rows), *_omission_remarks(run)


def _omission_remarks(run: SawCData) -> Iterator[Remark]:
    """What the items do not allow, and live subjects that enter no statistic."""
    without = [item.item_id for item in run.items if "same_sense" not in item.conditions]
    if 0 < len(without) < len(run.items):
        yield Remark(
            f"{len(without)} of {len(run.items)} pairs have no sense relation, first {without[0]}: "
            "the analyses of senses are omitted."
        )
    analysed = {distances.subject for distances in run.distances}
    if run.has_norm.any():
        analysed |= set(run.responses.where(measure="rating").unique("subject_id"))
    silent = sorted(run.live - analysed)
    if silent:
        yield Remark(
            f"{', '.join(silent)}: no distances among the answers, and no ratings to compare with people's: "
            "no statistic of this study includes them."
        )
    if len(set(run.words.values())) == 1:
        yield Remark("All pairs have one word: there are no words to resample, so items have no intervals.")


def exclusions(run: SawCData) -> object:
    """Show what each exclusion rule excluded."""
    if run.exclusion is None:
        return ()
    log = run.exclusion.log
    steps = [FilterStep(entry.rule, "participants", entry.n_before, entry.n_after) for entry in log]
    steps += [FilterStep(entry.rule, "ratings", entry.trials_before, entry.trials_after) for entry in log]
    return *(f"{entry.order}. {entry.description}" for entry in log), filters_table(steps, name="exclusions")


# -- ratings and agreement ------------------------------------------------------------------------------------------


def people(run: SawCData) -> object:
    """Describe the ratings: how many, agreement of single raters under both definitions, ceilings by name."""
    if not run.has("ratings"):
        none = "There are no human ratings: no statistic of people is computed."
        remark = Remark("There are no single ratings: agreement is not computed." if run.has_norm.any() else none)
        refused = f"--ordinal: no ordinal model was fitted, because {run.name} has no ratings of single people."
        return (remark, Remark(refused)) if run.settings.ordinal else remark
    rows, agreements = run.labelled(rating_counts(run.people, list(run.words))), run.once(rater_agreements)
    levels: tuple[Level, ...] = ("interval", "ordinal")
    alphas = [_alpha(run, level) for level in levels]
    ceilings = records_of(_ceilings(run))
    return (
        *rows.values(),
        *alphas,
        *(run.about(result) for raters in agreements for result in raters.results()),
        *ceilings,
        quantities("ratings", "The ratings", rows),
        agreement_table(agreements),
        ceilings_table(ceilings),
        _participants(run),
        "The norms of all items are in tables/norms.csv.",
        *_rating_remarks(run),
    )


def _participants(run: SawCData) -> object:
    """Describe the participants by country, gender and age, and compare countries. *Source: SAW-C §3.2, §3.4.*

    Countries with fewer than ``LEAST_OF_COUNTRY`` participants are counted, not compared.
    """
    if not run.participants:
        if run.name != "saw_c" or run.own:
            return ()
        printed = printed_values(Path(__file__).with_name("printed.csv"), dataset=run.name)[run.name]
        return printed_participants([value for value in printed if value.place == "SAW-C §3.2"])
    numbers, known, missing = about_raters(run.people, run.participants)
    rows_of_people = run.labelled(numbers)
    table = quantities("participants", "The participants", rows_of_people) if rows_of_people else None
    return *rows_of_people.values(), table, map(Remark, missing), _countries_compared(run, known["country"])


def _countries_compared(run: SawCData, country_of: Mapping[str, str]) -> object:
    """Correlate the norms of each two countries, with the lowest of these correlations."""
    sizes = Counter(country_of.values())
    name = statistic_name("group_consistency", method="pearson")
    compared = {who: country for who, country in country_of.items() if sizes[country] >= LEAST_OF_COUNTRY}
    if len(set(compared.values())) < 2:
        few = f"fewer than two countries have {LEAST_OF_COUNTRY} participants"
        return Remark(f"Agreement by country is not computed: {few}.") if sizes else ()
    ratings = run.people.of_raters(compared)
    pairs = run.attempt(name, partial(group_consistency, ratings, compared, words=run.words, **run.resampling))
    if isinstance(pairs, Undefined):
        return pairs, Remark(f"Agreement by country: {pairs.reason}.")
    lowest = min(pairs, key=lambda pair: pair.value)
    least = Estimate("group_consistency(method=pearson,summary=min)", lowest.value, note=f"of {lowest.condition}")
    records = records_of(map(run.about, (*pairs, least)))
    return records, countries_table(records, name, least=LEAST_OF_COUNTRY)


def rater_agreements(run: SawCData) -> tuple[RaterAgreement, ...]:
    """Return the agreement of single raters: true leave-one-out, then the paper's variant, each unless undefined."""
    return tuple(made for made in run.once(_agreements) if isinstance(made, RaterAgreement))


def _agreements(run: SawCData) -> list[RaterAgreement | Undefined]:
    variants = (leave_one_out, included) if run.has("ratings") else ()
    return [run.attempt("leave_one_out_agreement", partial(of, run.people, **run.resampling)) for of in variants]


def _rating_remarks(run: SawCData) -> Iterator[Remark]:
    undefined = dict.fromkeys(made.reason for made in run.once(_agreements) if isinstance(made, Undefined))
    yield from (Remark(f"Between people, {reason}.") for reason in undefined)
    lists, least = {item.item_id: item.list_id or "" for item in run.items}, run.settings.min_ratings
    short = coverage(run.people, minimum=least, lists=lists).short
    if short:
        named = ", ".join(entry.item_id for entry in short[:5]) + (" …" if len(short) > 5 else "")
        have = "has" if len(short) == 1 else "have"
        yield Remark(f"{counted(len(short), 'item')} {have} fewer than {least} ratings: {named}")


def _alpha(run: SawCData, level: Level) -> Result:
    def alpha() -> Estimate:
        alpha_result = krippendorff_alpha(run.people, level=level, **run.resampling_of(run.words))
        note = f"n counts the ratings of the {alpha_result.n} items with two or more"
        return run.about(alpha_result, n=run.people.n_pairable, note=note)

    return run.attempt(statistic_name("krippendorff_alpha", level=level), alpha)


def _ceilings(run: SawCData) -> list[Result]:
    ceilings: list[Result] = [
        run.about(ceiling) for raters in run.once(rater_agreements) for ceiling in agreement_ceilings(raters)
    ]
    halves = partial(split_half, run.people, **run.resampling_of(run.words))
    return [*ceilings, run.attempt("split_half_reliability", lambda: run.about(halves()))]


def raters_below(run: SawCData, rho: float, sign: str, *, chosen: bool = False, **about: Any) -> list[Estimate]:
    """Return the share of raters who agree less with the norms than a model, under both definitions. *SAW-C §4.4.*

    *rho* is the model's agreement, higher meaning closer to people; *sign* is how its name is printed. *chosen* says
    that it allows for the choice of the layer.
    """
    shares = [model_place(raters, rho, called=sign, chosen=chosen) for raters in run.once(rater_agreements)]
    return run.about_all(shares, **about)


# -- by sense -------------------------------------------------------------------------------------------------------


def by_sense(run: SawCData) -> object:
    """Describe the ratings of pairs with the same sense and with different senses. *Source: SAW-C §3.5.*"""
    conditions = dict(zip(run.words, run.conditions.tolist(), strict=True))
    means = [mean.about(dataset=run.name, unit="rating") for mean in condition_means(run.people, conditions)]
    rows = {
        f"Rating, {'same' if record.condition == 'same_sense=True' else 'different'} sense, "
        f"{'SD' if 'sd' in record.statistic else 'mean'} over trials": record
        for record in records_of(means)
    }
    return *rows.values(), quantities("ratings_by_sense", "Ratings by sense", rows), _density(run)


def _density(run: SawCData) -> Figure | None:
    if run.card.scale is None:
        return None
    ends = (run.card.scale.low, run.card.scale.high)
    heading = Heading(
        *run.numbered("figure", "relatedness_by_sense", "2"),
        "Relatedness by sense",
        "Density of the mean relatedness of pairs, by whether the two sentences use the same sense.",
    )
    values, senses = run.norm[run.has_norm], run.senses[run.has_norm]
    return density_by_condition(values, senses, heading, scale=ends, order=(SAME, DIFFERENT))
