"""What people's tests of senses say beyond accuracy: how far people agree, whom, and about which senses they do not.

The accuracies of Tables 1 and 2 and Figure 7 stand in ``judged``. Here: trust-weighted agreement, nominal alpha, and
the analysis of duplicates (Table 3, Figure 6).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.alpha import Alpha, krippendorff_alpha
from lexiscope.analysis.intrusion import WordIntrusion
from lexiscope.analysis.ratings import Ratings
from lexiscope.analysis.selection import SenseSelection
from lexiscope.analysis.sense_duplicates import DuplicateAnalysis, Pairs, Question, duplicate_analysis
from lexiscope.analysis.votes import vote_share
from lexiscope.core.errors import StatisticError
from lexiscope.core.item import Item
from lexiscope.core.result import Estimate, Undefined, statistic_name
from lexiscope.report.part import Part, joined
from lexiscope.report.sense_test_parts import AgreementOfTest, agreement_part, duplicates_part
from lexiscope.studies.sense_induction.judged import SenseTest, by_model, intruders_of, tested_word
from lexiscope.studies.sense_induction.material import Material, ShowsSenses
from lexiscope.studies.sense_induction.settings import SenseInductionSettings
from lexiscope.tasks.sense_choice import groups_of
from lexiscope.tasks.sense_choice.by_vectors import is_dummy
from lexiscope.tasks.word_intrusion import NAME as INTRUSION

PAIRS: tuple[Pairs, ...] = ("rivals", "all")


@dataclass(frozen=True, slots=True)
class Beside:
    """What is known beside the answers: how far each person is trusted, and vectors that are not the senses' own.

    ``reference`` says in words what ``vectors`` (word → vector) are; both are empty where there are none.
    """

    trust: Mapping[str, float] = field(default_factory=dict)
    vectors: Mapping[str, ArrayLike] | None = None
    reference: str = ""


def further_people_part(material: Material, settings: SenseInductionSettings, beside: Beside | None = None) -> Part:
    """Return agreement and the analysis of duplicates, for each model whose senses people were asked about."""
    beside = beside or reference_of(material)
    agreed: list[AgreementOfTest] = []
    alike: list[tuple[str, DuplicateAnalysis]] = []
    for test in by_model(material):
        if len(set(test.words.values())) < 2 or not test.choices[0].counts().any():
            # without a second word nothing can be resampled; the tables of accuracies say so
            continue
        if test.task == INTRUSION:
            agreed.append(_of_intrusion(test, settings, beside.trust))
        else:
            found = test.selection(settings)
            agreed.append(_agreement(test, found, settings, beside.trust))
            questions = questions_of(test.items, found.human_choice)
            alike += [(test.model, duplicate_analysis(questions, beside.vectors, pairs=pairs,
                                                 resamples=settings.n_bootstrap, seed=settings.seed))
                      for pairs in PAIRS]  # fmt: skip
    parts = (
        agreement_part(agreed, material.titles),
        duplicates_part(alike, material.titles, reference=beside.reference),
    )
    return joined(parts)


def reference_of(material: Material) -> Beside:
    """Return the vectors of the study's first subject with one sense for every word, as those that senses are not.

    Where there is none nothing is known, and no cosine is computed. Words are those of the groups people saw.
    """
    asked = [item for item in material.people_items.values() if "model_choice" in item.conditions]
    words = {word for item in asked for group in groups_of(item).values() for word in group}
    for subject in material.subjects:
        induced = subject.induced if isinstance(subject, ShowsSenses) else None
        if words and induced is not None and int(induced.n_senses.max(initial=0)) == 1:
            known = {word: induced.vectors(induced.of(word))[0] for word in words if word in induced.index}
            return Beside(vectors=known, reference=material.title_of(subject.subject_id))
    return Beside()


def questions_of(items: Sequence[Item], majorities: Mapping[str, str | None]) -> tuple[Question, ...]:
    """Return the questions of sense selection that somebody answered, their dummies left out."""
    found = []
    for item in items:
        if item.item_id in majorities:
            groups = {sense: words for sense, words in groups_of(item).items() if not is_dummy(item, sense)}
            word, model = tested_word(item), str(item.condition("model_choice"))
            found.append(Question(item.item_id, word, groups, majorities[item.item_id], model))
    return tuple(found)


def _of_intrusion(test: SenseTest, settings: SenseInductionSettings, trust: Mapping[str, float]) -> AgreementOfTest:
    """How far people agree in word intrusion, and on whether the intruder is found."""
    hits = _found(*test.choices, intruders_of(test.items))
    agreed = _agreement(test, test.intrusion(settings), settings, trust)
    return replace(agreed, alpha_found=_alpha(hits, test, settings, of="found"))


def _agreement(
    test: SenseTest, found: WordIntrusion | SenseSelection, settings: SenseInductionSettings, trust: Mapping[str, float]
) -> AgreementOfTest:
    ratings, _ = test.choices
    weighted, alpha = _by_trust(ratings, test, settings, trust), _alpha(ratings, test, settings)
    return AgreementOfTest(test.task, test.model, found.agreement, found.chance_of_agreement, weighted, alpha)


def _by_trust(
    ratings: Ratings, test: SenseTest, settings: SenseInductionSettings, trust: Mapping[str, float]
) -> Estimate | Undefined | None:
    """Agreement weighted by trust; ``None`` where no trust was asked for, and undefined where somebody's is unknown."""
    if not trust:
        return None
    name = statistic_name("vote_share", weights="trust")
    unknown = [rater for rater in ratings.rater_ids if rater not in trust]
    if unknown:
        why = f"no attention check is known of {len(unknown)} of {len(ratings.rater_ids)} people: {unknown[0]}"
        return Undefined(name, f"{why}{' …' if len(unknown) > 1 else ''}", 0)
    try:
        return vote_share(ratings, trust=trust, groups=test.words, resamples=settings.n_bootstrap, seed=settings.seed)
    except StatisticError as error:
        return Undefined(name, error.what, 0)


def _found(ratings: Ratings, options: Sequence[str], right: Mapping[str, str]) -> Ratings:
    """The same judgments as 1 where the intruder was found, else 0."""
    raters = [ratings.rater_ids[code] for code in ratings.rater.tolist()]
    items = [ratings.item_ids[code] for code in ratings.item.tolist()]
    chosen = [options[int(value)] for value in ratings.value]
    hits = [float(option == right[name]) for option, name in zip(chosen, items, strict=True)]
    return Ratings.from_arrays(raters, items, hits)


def _alpha(ratings: Ratings, test: SenseTest, settings: SenseInductionSettings, **named: str) -> Alpha | Undefined:
    how = {"resamples": settings.n_bootstrap, "seed": settings.seed}
    try:
        return krippendorff_alpha(ratings, level="nominal", groups=test.words, **how)
    except StatisticError as error:
        name = statistic_name("krippendorff_alpha", level="nominal", **named)
        return Undefined(name, error.what, len(np.unique(ratings.item)))
