"""Every number of GASI's Tables 1 to 3 and Figure 7 counted once more from lists of votes, without the library's code.

Simulated people of different skill and trust, one to five judgments a page, ties, missing choices, dummies chosen: all
of a study that was broken off. The counting below is written from the definitions alone.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from itertools import combinations
from statistics import mean

import pytest

from lexiscope.analysis.agreement.alpha import krippendorff_alpha
from lexiscope.analysis.agreement.choices import agreement_by_word, choices_from_arrays
from lexiscope.analysis.senses.duplicates import SenseQuestion, duplicate_analysis
from lexiscope.analysis.senses.sense_tests import ModelAnswers, sense_selection, word_intrusion
from lexiscope.core.result import Estimate

Votes = dict[str, list[tuple[str, str]]]
SENSES = ("1", "2", "3")


def simulated(seed: int) -> tuple[list[tuple[str, str, str | None]], dict[str, str], dict[str, float]]:
    """Votes (rater, page, choice) of people whose skill differs, what is right of each page, and each rater's trust."""
    rng = random.Random(seed)
    trust = {f"r{n}": rng.choice([0.25, 0.5, 1.0]) for n in range(6)}
    skill = {rater: rng.random() for rater in trust}
    right = {f"i{n}": rng.choice(SENSES) for n in range(30)}
    rows: list[tuple[str, str, str | None]] = []
    for page, answer in right.items():
        for rater in rng.sample(sorted(trust), rng.choice([1, 2, 3, 3, 3, 4, 5])):
            chosen = answer if rng.random() < skill[rater] else rng.choice(SENSES)
            rows.append((rater, page, None if rng.random() < 0.05 else chosen))
    return rows, right, trust


def majority(votes: list[tuple[str, str]]) -> str | None:
    """What more than half chose, else nothing."""
    chosen, n = Counter(choice for _, choice in votes).most_common(1)[0]
    return chosen if 2 * n > len(votes) else None


def alpha(pages: list[list[str]]) -> float:
    """Krippendorff's nominal alpha from the coincidences of all ordered pairs."""
    coincide: Counter[tuple[str, str]] = Counter()
    for values in (page for page in pages if len(page) > 1):
        for one, other in ((a, b) for a in range(len(values)) for b in range(len(values)) if a != b):
            coincide[values[one], values[other]] += 1 / (len(values) - 1)  # type: ignore[assignment]
    total = sum(coincide.values())
    margins = {value: sum(n for (a, _), n in coincide.items() if a == value) for value in SENSES}
    observed = sum(n for (a, b), n in coincide.items() if a != b) / total
    expected = sum(margins[a] * margins[b] for a in SENSES for b in SENSES if a != b) / (total * (total - 1))
    return 1 - observed / expected


@pytest.mark.parametrize("seed", range(5))
def test_tables_1_and_2(seed: int) -> None:
    """Accuracy by majority and by judgment, P of what people chose, agreement plain and by trust, alpha, Figure 7."""
    rows, right, trust = simulated(seed)
    pages: Votes = defaultdict(list)
    for rater, page, choice in rows:
        if choice is not None:
            pages[page].append((rater, choice))
    several = {page: votes for page, votes in pages.items() if len(votes) > 1}
    probable = {page: {sense: (0.6 if sense == right[page] else 0.2) + n / 1000 for n, sense in enumerate(SENSES)}
                for page in right}  # fmt: skip
    words = {page: f"w{int(page[1:]) % 5}" for page in right}
    weights = [Counter({sense: sum(trust[r] for r, c in votes if c == sense) for sense in SENSES})  # type: ignore[misc]
               for votes in several.values()]  # fmt: skip
    chosen = {page: majority(votes) for page, votes in pages.items()}
    every = [(page, choice) for page, votes in pages.items() for _, choice in votes]
    expected = {
        "pages": mean(chosen[page] == right[page] for page in pages),
        "judgments": mean(choice == right[page] for page, choice in every),
        "agreement": mean(max(Counter(c for _, c in votes).values()) / len(votes) for votes in several.values()),
        "by trust": mean(max(each.values()) / sum(each.values()) for each in weights),
        "alpha": alpha([[choice for _, choice in votes] for votes in pages.values()]),
        "P": mean(probable[page][sense] for page, sense in chosen.items() if sense is not None),
        "P of judgments": mean(probable[page][choice] for page, choice in every),
    }
    ratings, options = choices_from_arrays(*(list(column) for column in zip(*rows, strict=True)))  # type: ignore[arg-type]
    intrusion = word_intrusion(ratings, options, intruders=right, trust=trust, n_options=3, resamples=0)
    selection = sense_selection(ratings, options, model=ModelAnswers(right, probable), trust=trust, resamples=0)
    for found in (intrusion.sense_accuracy, selection.accuracy):
        assert found.value == pytest.approx(expected["pages"])
    for found in (intrusion.judgment_accuracy, selection.judgment_accuracy):
        assert found.value == pytest.approx(expected["judgments"])
    for plain, weighted in ((each.agreement, each.trust_weighted_agreement) for each in (intrusion, selection)):
        assert isinstance(plain, Estimate)
        assert isinstance(weighted, Estimate)
        assert (plain.value, weighted.value) == pytest.approx((expected["agreement"], expected["by trust"]))
    assert krippendorff_alpha(ratings, level="nominal", resamples=0).value == pytest.approx(expected["alpha"])
    assert isinstance(selection.probability, Estimate)
    assert selection.judgment_probability is not None
    assert selection.probability.value == pytest.approx(expected["P"])
    assert selection.judgment_probability.value == pytest.approx(expected["P of judgments"])
    assert dict(selection.human_choice) == chosen
    assert intrusion.n_missing == sum(choice is None for *_, choice in rows)
    by_word, _ = agreement_by_word(ratings, options, right=right, words=words, resamples=0)
    for word, shares in by_word.items():
        own = {page: votes for page, votes in several.items() if words[page] == word}
        agreed = mean(max(Counter(c for _, c in votes).values()) / len(votes) for votes in own.values())
        consistent = mean(c == right[page] for page, votes in own.items() for _, c in votes)
        assert shares == pytest.approx((agreed, consistent))


def test_table_3() -> None:
    """Shared neighbours of the senses compared, where people and model agree and where not; the rest is counted."""
    rng = random.Random(3)
    vocabulary = [f"v{n}" for n in range(25)]
    asked = []
    for n in range(60):
        groups = {sense: rng.sample(vocabulary, 10) for sense in SENSES[: rng.choice([1, 2, 3, 3])]}
        asked.append(SenseQuestion(f"q{n}", f"w{n % 7}", groups, rng.choice([None, "1", "1", "2", "3"]), "1"))
    compared = [q for q in asked if q.human in q.groups and len(q.groups) > 1]
    for pairs in ("rivals", "all"):
        sides: dict[bool, list[float]] = {True: [], False: []}
        for q in compared:
            others = [sense for sense in q.groups if sense != "1"] if q.human == "1" else [str(q.human)]
            both = list(combinations(q.groups, 2)) if pairs == "all" else [("1", other) for other in others]
            sides[q.human == "1"].append(mean(len(set(q.groups[a]) & set(q.groups[b])) / 10 for a, b in both))
        found = duplicate_analysis(asked, pairs=pairs, resamples=0).overlap  # type: ignore[arg-type]
        for mine, theirs in ((sides[True], found.agree), (sides[False], found.disagree)):
            assert isinstance(theirs, Estimate)
            assert (theirs.value, theirs.n) == (pytest.approx(mean(mine)), len(mine))
    whole = duplicate_analysis(asked, resamples=0)
    left = (whole.n_undecided, whole.n_dummy, whole.n_alone)
    assert left == (
        sum(q.human is None for q in asked),
        sum(q.human is not None and q.human not in q.groups for q in asked),
        sum(q.human in q.groups and len(q.groups) == 1 for q in asked),
    )
