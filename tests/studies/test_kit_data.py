"""An item file of the user's own as a dataset: the same items for every study and for the front door."""

from __future__ import annotations

from pathlib import Path

import pytest

import lexiscope
from lexiscope.core.errors import InputError, SpecError
from lexiscope.core.scale import Scale
from lexiscope.core.settings import RatedItemSettings
from lexiscope.studies.kit.data import own_dataset, rated_source

HEAD = "item_id,word,sentence_1,sentence_2,catch,participant,rating\n"
ROWS = "".join(
    f"{word}-{n},{word},The old {word} was {n}.,A new {word} was there.,,p{rater},{1 + (n + rater) % 4}\n"
    for word in ("bank", "bat")
    for n in range(3)
    for rater in range(3)
)
CATCH = "".join(f"c,bank,The old bank was here.,The old bank was here.,true,p{rater},5\n" for rater in range(3))


def test_catch_trials_are_neither_items_nor_ratings(tmp_path: Path) -> None:
    """They check participants: the card counts them, no statistic does; a file of nothing else is refused."""
    file = tmp_path / "mine.csv"
    file.write_text(HEAD + ROWS + CATCH, encoding="utf-8")
    found = own_dataset(file, task="relatedness", language="en", scale=Scale.between(1, 5))
    assert (len(found.items), len(found.responses)) == (6, 18)
    assert (found.card.language, found.card.scale, found.items[0].scale) == (
        "en",
        found.items[0].scale,
        found.card.scale,
    )
    assert found.card.remarks == ("1 item of the file is a catch trial (column catch): no analysis uses it.",)
    run = lexiscope.analyse(file, n_bootstrap=0)
    assert (len(run.items), len(run.people)) == (6, 18)
    file.write_text(HEAD + CATCH, encoding="utf-8")
    with pytest.raises(InputError, match="every row of the file is a catch trial"):
        own_dataset(file, task="relatedness")


def test_a_file_may_have_the_name_of_a_dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file without a suffix is read as a file; a name that is neither is refused; "und" names no language."""
    monkeypatch.chdir(tmp_path)
    Path("saw_c").write_text(HEAD + ROWS, encoding="utf-8")
    assert len(own_dataset("saw_c", task="relatedness", language="und").items) == 6
    with pytest.raises((InputError, SpecError), match="nothing"):
        own_dataset("nothing", task="relatedness")


def test_rated_items_come_from_a_dataset_or_a_file(tmp_path: Path) -> None:
    """Settings name one source: a dataset of the catalog, or an item file, whose scale and language they say too."""
    file = tmp_path / "mine.csv"
    file.write_text(HEAD + ROWS, encoding="utf-8")
    settings = RatedItemSettings(items=str(file), language="en")
    source = rated_source(settings, task="relatedness", scale=Scale.between(1, 5))
    assert (len(source.items), len(source.responses), source.card.language) == (6, 18, "en")
    assert source.card.scale == Scale.between(1, 5)
    assert rated_source(RatedItemSettings(dataset="mini_relatedness"), task="relatedness").card.name == (
        "mini_relatedness"
    )
