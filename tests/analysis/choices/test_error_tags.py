"""Shares of error tags and the agreement of two coders on them. All tags are made up."""

from __future__ import annotations

import pytest

from lexiscope.analysis.agreement.choices import Kappa
from lexiscope.analysis.choices.error_tags import tag_agreement, tag_shares
from lexiscope.build.stories.error_tags import tag_measure
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.result import Undefined

TAGS = ("red_herring", "open_ended")
MARKS = {
    ("ana", "red_herring"): [1, 1, 0, 0, 1],
    ("eva", "red_herring"): [1, 0, 0, 0],
    ("ana", "open_ended"): [0, 0, 0, 0, 0],
    ("eva", "open_ended"): [0, 0, 0, 0],
}
TABLE = ResponseTable.from_rows(
    Response(coder, "participant", f"c{k}", "plausibility", tag_measure(tag), float(value))
    for (coder, tag), values in MARKS.items()
    for k, value in enumerate(values)
)


def test_shares_of_tags() -> None:
    """Three of ana's five errors have the first tag, none the second; words are resampled whole."""
    words = {"c0": "bank", "c1": "bank", "c2": "note", "c3": "note", "c4": "bat"}
    first, second = tag_shares(TABLE, "ana", TAGS, groups=words, resamples=100)
    assert (first.n_tagged, first.share.value, first.share.n_clusters) == (3, 3 / 5, 3)
    assert (second.n_tagged, second.share.value) == (0, 0.0)
    assert (first.result().value, first.result().n, first.result().unit) == (60, 5, "percent")
    assert first.result().interval.low == 100 * first.share.clustered.low
    with pytest.raises(InputError, match="no cluster"):
        tag_shares(TABLE, "ana", TAGS, groups={})


def test_agreement_on_tags() -> None:
    """Of four errors in common they agree on three: kappa (3/4 - 1/2) / (1 - 1/2); without any tag there is none."""
    first, second = tag_agreement(TABLE, "ana", "eva", TAGS, resamples=100)
    # rows are those of ana, columns those of eva: with the tag, without it
    assert first.codes.table.tolist() == [[1, 1], [0, 2]]
    assert first.codes.percent.value == 3 / 4
    assert isinstance(first.codes.kappa, Kappa)
    # by chance: both tag 2/4 * 1/4, neither 2/4 * 3/4
    chance = 2 / 4 * 1 / 4 + 2 / 4 * 3 / 4
    assert first.codes.kappa.value == pytest.approx((3 / 4 - chance) / (1 - chance))
    assert second.codes.percent.value == 1.0
    assert isinstance(second.codes.kappa, Undefined)
    same, kappa = first.results()
    assert (same.name, kappa.name) == (f"error_tag_same(tag={first.tag})", f"error_tag_kappa(tag={first.tag})")
    assert (same.records()[0].value, kappa.records()[0].value) == (75, first.codes.kappa.value)
    assert second.results()[1].records()[0].note == f"undefined: {second.codes.kappa.reason}"


def test_too_few_errors_in_common() -> None:
    """Two coders need two errors that both coded; a coder without codes is named."""
    one = ResponseTable.concat([TABLE.where(subject_id="ana"), TABLE.where(subject_id="eva", item_id="c0")])
    with pytest.raises(StatisticError, match="coded 1 answers in common"):
        tag_agreement(one, "ana", "eva", TAGS)
    with pytest.raises(InputError, match="bob has no row"):
        tag_shares(TABLE, "bob", TAGS)
