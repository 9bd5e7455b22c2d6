"""Shares of error tags and the agreement of two coders on them. All tags are made up."""

from __future__ import annotations

import pytest

from lexiscope.analysis.choices.error_tags import tag_agreement, tag_shares
from lexiscope.build.stories.stories import ERROR_SHEET
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.result import Estimate, Undefined

TAGS = ("red_herring", "open_ended")
MARKS = {
    ("ana", "red_herring"): [1, 1, 0, 0, 1],
    ("eva", "red_herring"): [1, 0, 0, 0],
    ("ana", "open_ended"): [0, 0, 0, 0, 0],
    ("eva", "open_ended"): [0, 0, 0, 0],
}
TABLE = ResponseTable.from_rows(
    Response(coder, "participant", f"c{k}", "plausibility", ERROR_SHEET.measure_of(tag), float(value))
    for (coder, tag), values in MARKS.items()
    for k, value in enumerate(values)
)


def test_shares_of_tags() -> None:
    """Three of ana's five errors have the first tag, none the second; words are resampled whole."""
    words = {"c0": "bank", "c1": "bank", "c2": "note", "c3": "note", "c4": "bat"}
    first, second = tag_shares(TABLE, "ana", TAGS, groups=words, resamples=100)
    assert [(share.name, share.value, share.n, share.unit) for share in (first, second)] == [
        (f"error_tag_share(tag={TAGS[0]})", 60, 5, "percent"),
        (f"error_tag_share(tag={TAGS[1]})", 0, 5, "percent"),
    ]
    assert first.interval.low < 60 < first.interval.high
    with pytest.raises(InputError, match="no cluster"):
        tag_shares(TABLE, "ana", TAGS, groups={})


def test_agreement_on_tags() -> None:
    """Of four errors in common they agree on three: kappa (3/4 - 1/2) / (1 - 1/2); without any tag there is none."""
    same, kappa, all_same, none = tag_agreement(TABLE, "ana", "eva", TAGS, resamples=100)
    assert [one.name for one in (same, kappa)] == [f"error_tag_{what}(tag={TAGS[0]})" for what in ("same", "kappa")]
    assert isinstance(same, Estimate)
    assert (same.value, same.unit) == (75, "percent")
    assert isinstance(kappa, Estimate)
    # by chance: both tag 2/4 * 1/4, neither 2/4 * 3/4
    chance = 2 / 4 * 1 / 4 + 2 / 4 * 3 / 4
    assert kappa.value == pytest.approx((3 / 4 - chance) / (1 - chance))
    assert all_same.records()[0].value == 100
    assert isinstance(none, Undefined)
    assert none.name == f"error_tag_kappa(tag={TAGS[1]})"
    assert "both raters chose 'no' throughout" in none.reason


def test_too_few_errors_in_common() -> None:
    """Two coders need two errors that both coded; a coder without codes is named."""
    one = ResponseTable.concat([TABLE.where(subject_id="ana"), TABLE.where(subject_id="eva", item_id="c0")])
    with pytest.raises(StatisticError, match="coded 1 answers in common"):
        tag_agreement(one, "ana", "eva", TAGS)
    with pytest.raises(InputError, match="bob has no row"):
        tag_shares(TABLE, "bob", TAGS)
