"""Rehearsals: the figures of allocation, the finding of planted faults, the recovery of planted effects.

Every answer here is made by the simulation; none is anybody's judgment.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean, median

import numpy as np
import pytest

from lexiscope.annotation.rehearsal.answers import Population, SimulatedPerson, draw_person
from lexiscope.annotation.rehearsal.simulate import HeldPlace, Recruited, Recruitment, simulate, simulate_once
from lexiscope.annotation.study_file.assignment import Quota
from lexiscope.annotation.study_file.definition import (
    AboutYou,
    AboutYouOption,
    CatchSection,
    DesignSection,
    KnownQuestion,
    Payment,
    Planned,
    RatingsSection,
    ScaleSection,
    StudyDefinition,
)
from lexiscope.annotation.study_file.design import DividedLists, build_design
from lexiscope.annotation.study_file.template import draft_definition
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.items.read.importer import import_items

RULES = (
    "failed_catch(items=catch,expected=5)",
    "too_slow(sd=3)",
    "low_agreement(r_squared=0.1,ignore_items=catch,missing=exclude)",
    "self_report(measure=native_speaker,value=no)",
)
FAULTLESS = Population(dropout=0.0, careless=0.0, slow=0.0, non_native=0.0)


def items(n: int) -> tuple[Item, ...]:
    """Pairs of six words, every second of one sense."""
    return tuple(
        Item(
            f"i{k:03d}",
            "d",
            (Usage(f"w{k % 6} a{k}", 0, 2), Usage(f"w{k % 6} b{k}", 0, 2)),
            conditions={"same_sense": (k // 6) % 2 == 0},
        )
        for k in range(n)
    )


def study(**changes: object) -> StudyDefinition:
    """A small study with SAW-C's four rules."""
    options = (AboutYouOption(value="yes", text="sí"), AboutYouOption(value="no", text="no"))
    wanted = {
        "design": DesignSection(lists=3, balance=("same_sense",)),
        "ratings": RatingsSection(per_item=6),
        "about_you": (AboutYou(measure="native_speaker", text="¿?", options=options),),
        "exclusions": RULES,
        "planned": Planned(model="rating ~ same_sense + (1 | participant) + (1 | item)", effect="same_sense", size=1.0),
        "payment": Payment(amount=2.0),
    }
    return StudyDefinition(name="s", task="relatedness", language="es").model_copy(update=wanted | changes)


def design_of(definition: StudyDefinition, n: int = 60) -> DividedLists:
    """The design of a study of *n* items."""
    return build_design(items(n), definition.design, definition.catch)


def exclude_by_character(finished: Sequence[tuple[SimulatedPerson, HeldPlace]]) -> dict[str, str]:
    """Exclude all who are not attentive, without any mistake: for studies of the allocation alone."""
    return {person.person_id: person.character for person, _ in finished if person.character != "attentive"}


def recruit(n_lists: int, quota: Quota, population: Population, **settings: float) -> Recruited:
    """A recruitment whose exclusions make no mistake."""
    return Recruitment(n_lists, quota, population, exclude_by_character, **settings).run()  # type: ignore[arg-type]


def test_allocation_reaches_its_figures() -> None:
    """S17: 10 lists × ≥ 10 valid, 12 % drop-out, returns, time-outs, 6 % excluded, 200 seeds: paid ≤ 110 / ≤ 116.

    Every list has its need; a list exceeds it by no more than the people who came back late.
    """
    runs = [recruit(10, Quota(10), Population(), minutes=15, lease_minutes=60, seed=seed) for seed in range(200)]
    paid = sorted(run.paid for run in runs)
    assert median(paid) <= 110
    assert paid[math.ceil(0.95 * 200) - 1] <= 116
    assert all(run.complete and min(run.valid_per_list) >= 10 for run in runs)
    for run in runs:
        late = Counter(place.list_number for place in run.places if place.surplus)
        assert all(n <= 10 + late[number] for number, n in enumerate(run.valid_per_list))
        assert run.paid == sum(run.valid_per_list) + run.excluded
    # the population is what it was set to be: 12 % of those who got a place left, and nobody twice
    assert mean((run.left + run.returned) / len(run.places) for run in runs) == pytest.approx(0.115, abs=0.015)
    assert all(len({place.participant for place in run.places}) == len(run.places) for run in runs)


def test_without_faults_nobody_is_paid_in_vain() -> None:
    """Where nobody leaves and nobody is excluded, exactly lists × need people are paid."""
    run = recruit(4, Quota(5), FAULTLESS, minutes=10, lease_minutes=60, seed=3)
    assert (run.paid, run.excluded, run.surplus, run.valid_per_list) == (20, 0, 0, (5, 5, 5, 5))


def test_the_first_wave_is_recruited_whole() -> None:
    """SAW-C's first goal: 120 people for 10 lists of ≥ 10, 12 a list, then a refill where too many are excluded."""
    wave = Quota(need=10, first_wave=120)
    run = recruit(10, wave, FAULTLESS, minutes=10, lease_minutes=60, seed=1)
    assert run.complete
    assert 100 <= run.paid <= 120
    assert max(run.valid_per_list) <= 12


def test_a_study_that_cannot_be_filled_ends() -> None:
    """Where everybody is careless and excluded, the run ends and says that it is not complete."""
    careless = replace(FAULTLESS, careless=1.0)
    run = recruit(1, Quota(1, people_at_most=3), careless, minutes=1, lease_minutes=5, seed=1)
    assert not run.complete
    assert run.paid == run.excluded == 3


def test_nobody_who_is_slow_loses_a_place_while_answering() -> None:
    """Saved answers renew the lease: with a lease shorter than the whole time nobody becomes surplus."""
    slow = replace(FAULTLESS, slow=1.0)
    run = Recruitment(2, Quota(3), slow, lambda finished: {}, minutes=30, lease_minutes=20, seed=2).run()
    assert (run.paid, run.surplus) == (6, 0)


def test_the_same_seed_gives_the_same_run() -> None:
    """A rehearsal follows from the definition, the design, the population and the seed."""
    definition = study()
    design = design_of(definition)
    first, again, other = (simulate_once(definition, design, population=Population(), seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first.kept != other.kept


def test_declared_rules_find_the_careless() -> None:
    """Who does not look, takes ten times as long, or says that they are not native is caught by the rule for it."""
    definition = study(ratings=RatingsSection(per_item=12))
    population = Population(careless=0.15, slow=0.03, non_native=0.1, level=0.2, noise=0.6)
    found = simulate(definition, design_of(definition), population=population, seeds=range(6))
    assert found.n_complete == 6
    catch, slow, agreement, native = found.rules
    assert [rule.rule for rule in found.rules] == list(RULES)
    careless = catch.careless + slow.careless + agreement.careless + dict(found.missed)["careless"]
    assert careless >= 20
    # a guess hits the catch trial in one of five cases; agreement finds those, but for a few
    assert catch.careless / careless > 0.6
    assert dict(found.missed)["careless"] <= 0.1 * careless
    assert native.non_native >= 10
    assert dict(found.missed)["non_native"] == 0
    assert (catch.attentive, native.attentive, catch.non_native, native.careless) == (0, 0, 0, 0)
    assert slow.slow >= 1
    everybody = sum(run.recruited.paid for run in found.runs)
    assert slow.attentive + agreement.attentive <= 0.02 * everybody


def test_every_item_gets_its_valid_ratings() -> None:
    """After the exclusions every item has its minimum, and cost is what the people paid cost."""
    definition = study()
    found = simulate(definition, design_of(definition), seeds=range(4))
    assert found.fewest_ratings >= 6
    for run in found.runs:
        assert run.cost == 2.0 * run.recruited.paid
        assert run.recruited.paid == sum(run.recruited.valid_per_list) + run.recruited.excluded
        assert run.ratings[0] >= 6


def test_a_planted_effect_is_recovered() -> None:
    """On a continuous, wide scale the model's estimate is the planted effect, within its error over the runs."""
    definition = study(scale=ScaleSection(low=-20, high=20, step=0), catch=CatchSection(per_list=0), exclusions=())
    found = simulate(definition, design_of(definition, 120), population=FAULTLESS, seeds=range(8))
    estimates = [run.recovered.estimate for run in found.runs if run.recovered is not None and run.recovered.estimate]
    assert len(estimates) == 8
    # item SD .6 over 60 + 60 items and words .4 over 6 crossed words: SE per run about .6 * sqrt(4 / 120) = .11
    assert mean(estimates) == pytest.approx(1.0, abs=4 * 0.11 / math.sqrt(8))
    assert found.power == 1.0


def test_without_an_effect_the_test_keeps_its_level() -> None:
    """A planted effect of 0 is significant in about one of twenty runs, not more."""
    planned = Planned(model="rating ~ same_sense + (1 | participant) + (1 | item)", effect="same_sense", size=0.0)
    definition = study(planned=planned, ratings=RatingsSection(per_item=3), exclusions=())
    found = simulate(definition, design_of(definition), population=replace(FAULTLESS, word=0.0), seeds=range(40))
    assert found.power is not None
    # 40 runs at .05: P(more than 7) < .001
    assert found.power <= 7 / 40
    assert found.power_se == pytest.approx(math.sqrt(found.power * (1 - found.power) / 40))
    assert found.estimate == pytest.approx(0.0, abs=0.12)


def test_power_grows_with_the_effect() -> None:
    """A small study finds a large effect and often misses a small one."""
    sizes = []
    for size in (0.1, 1.5):
        planned = Planned(model="rating ~ same_sense + (1 | participant) + (1 | item)", effect="same_sense", size=size)
        definition = study(planned=planned, ratings=RatingsSection(per_item=3), exclusions=())
        found = simulate(definition, design_of(definition, 30), population=FAULTLESS, seeds=range(10))
        sizes.append(found.power)
    assert sizes[0] is not None
    assert sizes[1] is not None
    assert sizes[0] <= 0.5 < 0.9 <= sizes[1]


def test_qualification_and_attention_are_gone_through() -> None:
    """Who does not look fails most qualifications, gets no place, and is not paid; attention checks are answered."""
    shows = {"target": "sol", "sentence_1": "El sol.", "sentence_2": "Un sol."}
    tests = tuple(KnownQuestion(id=f"q{k}", shows=shows, accept=(4, 5)) for k in range(3))
    definition = study(qualification=tests, attention=(replace_id(tests[0], "a"),), exclusions=("attention_check()",))
    run = simulate_once(definition, design_of(definition), population=Population(careless=0.5), seed=1)
    # three guesses of 2/5 each: .4³ = 6 % of the careless pass
    assert run.recruited.screened_out > 5
    shares = Counter(person.character for person in run.recruited.people)
    assert shares["careless"] < 0.3 * shares["attentive"]
    assert run.rules[0].attentive == 0


def replace_id(question: KnownQuestion, name: str) -> KnownQuestion:
    """The same question under another id."""
    return question.model_copy(update={"id": name})


def test_an_overlap_of_two_annotators() -> None:
    """Two lists that share items: shared items get two ratings, the others one."""
    definition = study(
        design=DesignSection(lists=2, per_list=20, shared=10),
        ratings=RatingsSection(per_item=1),
        exclusions=(),
        planned=Planned(),
    )
    run = simulate_once(definition, design_of(definition), population=Population(), seed=1)
    assert run.ratings == (1, pytest.approx(40 / 30), 2)
    assert run.recovered is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"dropout": 1.5},
        {"noise": -1.0},
        {"dropout": 1.0},
        {"announced": 0.8, "late": 0.3},
        {"careless": 0.6, "slow": 0.6},
        {"arrivals_per_hour": 0.0},
        {"skill": float("nan")},
    ],
)
def test_impossible_people_are_refused(wrong: dict[str, float]) -> None:
    """Shares lie between 0 and 1 and add up to at most 1; somebody must come and somebody must stay."""
    with pytest.raises(InputError):
        Population(**wrong)


def test_people_are_what_the_population_says() -> None:
    """Shares and median times of 4,000 drawn people are those asked for, within 4 standard errors."""
    population = Population(dropout=0.2, careless=0.1, slow=0.05)
    people = [draw_person(population, number=k, minutes=12, seed=5) for k in range(4000)]
    assert np.mean([p.leaves_at is not None for p in people]) == pytest.approx(0.2, abs=4 * math.sqrt(0.16 / 4000))
    assert np.mean([p.character == "careless" for p in people]) == pytest.approx(0.1, abs=4 * math.sqrt(0.09 / 4000))
    assert median(p.minutes for p in people if p.character != "slow") == pytest.approx(12, rel=0.03)


def test_an_effect_needs_two_levels() -> None:
    """An effect that is no condition with two levels cannot be planted."""
    definition = study(planned=Planned(model="rating ~ word + (1 | item)", effect="word"))
    with pytest.raises(InputError, match="E402"):
        simulate_once(definition, design_of(definition), population=FAULTLESS, seed=1)
    with pytest.raises(InputError, match="at least one seed"):
        simulate(study(), design_of(study()), seeds=())


@pytest.mark.published
def test_a_study_like_sawc(published: Path) -> None:
    """SAW-C's 812 pairs, ten lists, four rules: complete, ≥ 10 valid ratings of every pair, paid ≤ 116 in every run."""
    path = published / "sawc" / "sawc_sentence_pairs.csv"
    found_items = import_items(path, dataset="sawc", language="es").items
    definition = draft_definition(found_items, task="relatedness", items_file=str(path), language="es", name="sawc")
    assert definition.exclusions == RULES
    design = build_design(found_items, definition.design, definition.catch)
    assert len(design.lists) == 10
    found = simulate(definition, design, seeds=range(3))
    assert found.n_complete == 3
    assert found.fewest_ratings >= 10
    assert found.paid[1] <= 116
    # rounding and the ends of the scale take a little of what is planted, never most of it
    assert found.estimate == pytest.approx(definition.planned.size, abs=0.12)
