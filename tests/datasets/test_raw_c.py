"""RAW-C as published: counts, joins, round trip, and rows that contradict another."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lexiscope.core.dataset import DataFile, Dataset
from lexiscope.core.errors import DataError, InputError, SpanError
from lexiscope.datasets import raw_c
from lexiscope.datasets import raw_c as card
from lexiscope.datasets.raw_c import norm_cells
from lexiscope.resources import fetch
from lexiscope.resources.tables.delimited import read_csv


@pytest.fixture(scope="module")
def loaded(published: Path) -> Dataset:
    return raw_c.load()


def test_norms_of_a_pair() -> None:
    """Ratings 0, 4, 4: mean 8/3, median 4, SD with n-1 from 32 - 64/3, SE that over the root of 3, nine decimals."""
    sd = math.sqrt((32 - 64 / 3) / 2)
    assert norm_cells([0, 4, 4]) == {
        "mean_relatedness": repr(round(8 / 3, 9)),
        "median_relatedness": "4.0",
        "diff": repr(round(4 - 8 / 3, 9)),
        "sd_relatedness": repr(round(sd, 9)),
        "se_relatedness": repr(round(sd / math.sqrt(3), 9)),
        "count": "3",
    }


@pytest.mark.published
def test_counts(loaded: Dataset) -> None:
    """672 pairs of 112 words, 224 of one sense; 8,624 trials of 77 people on 0 to 4; 4 to 23 ratings per pair."""
    trials = loaded.responses.where(measure="rating", subject_kind="participant")
    per_pair = Counter(trials.column("item_id").tolist())
    assert (len(loaded.items), len({item.word for item in loaded.items}), len(per_pair)) == (672, 112, 672)
    assert sum(item.conditions["same_sense"] is True for item in loaded.items) == 224
    assert (len(trials), len(trials.unique("subject_id"))) == (8_624, 77)
    assert Counter(trials.column("value").tolist()) == {0: 2606, 1: 1110, 2: 1068, 3: 957, 4: 2883}
    assert (min(per_pair.values()), max(per_pair.values())) == (4, 23)
    assert Counter(item.conditions["ambiguity_type"] for item in loaded.items) == {"Polysemy": 444, "Homonymy": 228}


@pytest.mark.published
def test_items(loaded: Dataset) -> None:
    """The target is the wordform of the sentence, the lemma the word; sentences keep their final stop."""
    item = next(item for item in loaded.items if item.item_id == "raw_c/break/M1_a_M2_b")
    assert [usage.target for usage in item.usages] == ["broke", "broke"]
    assert [usage.sense for usage in item.usages] == ["break.M1", "break.M2"]
    assert (item.word, item.usages[0].pos, item.usages[0].language) == ("break", "VERB", "en")
    assert all(usage.text.endswith(".") for item in loaded.items for usage in item.usages)
    # dominance compares two senses: pairs of one sense have none
    assert {"dominance_sentence2" in i.conditions for i in loaded.items if i.conditions["same_sense"]} == {False}
    assert {"dominance_sentence2" in i.conditions for i in loaded.items if not i.conditions["same_sense"]} == {True}


@pytest.mark.published
@pytest.mark.parametrize(("model", "r", "r_squared"), [("bert", -0.5376, 0.2890), ("elmo", -0.4934, 0.2435)])
def test_correlation_of_the_released_distances(loaded: Dataset, model: str, r: float, r_squared: float) -> None:
    """BERT and ELMo against the norms: r and R² as two independent computations found them."""
    trials = loaded.responses.where(measure="rating", subject_kind="participant")
    codes, ids = trials.codes("item_id")
    means = dict(zip(ids, np.bincount(codes, trials.column("value")) / np.bincount(codes), strict=True))
    table = loaded.responses.where(subject_id=model, measure="cosine_distance")
    assert (len(table), table.unique("layer"), table.unique("view")) == (672, (None,), ("full",))
    found = np.corrcoef(table.column("value"), [means[i] for i in table.column("item_id").tolist()])[0, 1]
    assert (round(found, 4), round(found**2, 4)) == (r, r_squared)


@pytest.mark.published
def test_rows_set_aside(loaded: Dataset) -> None:
    """The 18 rows without ratings are no items, but are kept with their line, their cells and the reason."""
    assert {dict(row.cells)["word"] for row in loaded.set_aside} == {"magazine", "novel", "oil"}
    assert {(row.path, row.reason) for row in loaded.set_aside} == {
        ("rawc/stims_with_nlm_distances.csv", "ambiguity type 'Unsure': no ratings")
    }
    assert len({row.line for row in loaded.set_aside}) == 18


@pytest.mark.published
def test_export_equals_the_published_files(loaded: Dataset, published: Path, tmp_path: Path) -> None:
    """Four files come out byte for byte; the fifth repeats numbers of another, with rounding noise of at most 1e-15."""
    raw_c.export(loaded, tmp_path)
    states = {row.file.path: row.status for row in fetch.file_states(raw_c.CARD, folder=tmp_path)}
    noisy = "rawc/raw-c_with_dominance.csv"
    assert {path for path, status in states.items() if status != "ok"} == {
        noisy,
        raw_c.SENSORIMOTOR.path,
        raw_c.RECITED_FILE.path,
    }
    ours, theirs = read_csv(tmp_path / noisy), read_csv(published / noisy)
    assert list(ours.columns) == list(theirs.columns)
    numbers = {"mean_relatedness", "diff", "sd_relatedness", "distance_bert", "distance_elmo", "se_relatedness"}
    for name in ours.columns:
        if name in numbers:
            np.testing.assert_allclose(ours.floats(name), theirs.floats(name), rtol=0, atol=1e-15)
        else:
            assert ours[name] == theirs[name]


@pytest.fixture
def changed(linked: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> Callable[[DataFile, str, str], Path]:
    """Replace a text in one file of a data folder; the pins are lifted, so that only the rows themselves are judged."""

    def change(file: DataFile, old: str, new: str) -> Path:
        folder = linked("rawc")
        path = folder / file.path
        text = path.read_bytes().decode("utf-8")
        assert old in text
        path.unlink()
        path.write_bytes(text.replace(old, new, 1).encode("utf-8"))
        for name in ("TRIALS", "NORMS", "DOMINANCE", "STIMULI"):
            monkeypatch.setattr(raw_c, name, replace(getattr(card, name), sha256=None))
        return folder

    return change


@pytest.mark.published
@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        (
            card.TRIALS,
            ",4,M1_a_M2_a\n",
            ",5,M1_a_M2_a\n",
            r"normed_critical\.csv:2:\d+: column 'relatedness': a rating",
        ),
        (
            card.TRIALS,
            ",4,M1_a_M2_a\n",
            ",nan,M1_a_M2_a\n",
            r"normed_critical\.csv:2:\d+: column 'relatedness': a finite",
        ),
        (card.TRIALS, ",4,M1_a_M2_a\n", ",3,M1_a_M2_a\n", r"normed_critical\.csv:2:\d+: column 'responses'"),
        (card.TRIALS, ",4,M1_a_M2_a\n", ",4,M1_a_M2_b\n", r"normed_critical\.csv:2:\d+: column 'version': 'M1_a_M2_a'"),
        (card.TRIALS, "breakfast,False", "breakfast,True", r"normed_critical\.csv:2:\d+: column 'same'"),
        (card.TRIALS, "subject,", "person,", r"normed_critical\.csv:1: .*missing 'subject'; unknown 'person'"),
        (
            card.NORMS,
            "2.181818182,2.0",
            "2.281818182,2.0",
            r"raw-c_with_dominance\.csv:2:\d+: column 'mean_relatedness'",
        ),
        (card.NORMS, "act,It was a desperate act.", "act,It was a desperate.", r"target 'act' does not occur"),
        (
            card.DOMINANCE,
            "-0.5333333333333329",
            "much",
            r"raw-c_with_dominance\.csv:2:\d+: column 'dominance_sentence2'",
        ),
        (card.STIMULI, "0.041544676", "0.05", r"stims_with_nlm_distances\.csv:2:\d+: column 'distance_bert'"),
        (card.STIMULI, "Unsure,Unsure,Unsure", "Polysemy,Unsure,Unsure", r"stims_with_nlm_distances\.csv:\d+:\d+"),
    ],
)
def test_a_bad_row_is_named(
    changed: Callable[[DataFile, str, str], Path], file: DataFile, old: str, new: str, said: str
) -> None:
    """A cell that is off the scale, or contradicts another file, is named with file and line."""
    with pytest.raises((InputError, SpanError), match=said):
        raw_c.load(changed(file, old, new))


@pytest.mark.published
def test_a_file_cut_off_between_rows_is_noticed(changed: Callable[[DataFile, str, str], Path]) -> None:
    """Without the last trial the norms no longer follow from the trials, even where no checksum is asked for."""
    folder = changed(card.TRIALS, "subject", "subject")
    path = folder / card.TRIALS.path
    path.write_bytes(path.read_bytes()[: path.read_bytes()[:-1].rindex(b"\n") + 1])
    with pytest.raises(InputError, match=r"raw-c\.csv:\d+:\d+: column '(mean_relatedness|count)'"):
        raw_c.load(folder)


@pytest.mark.published
def test_a_changed_file_is_refused(linked: Callable[[str], Path]) -> None:
    """A file with other bytes is not the published one."""
    folder = linked("rawc")
    path = folder / card.NORMS.path
    content = path.read_bytes() + b"\n"
    path.unlink()
    path.write_bytes(content)
    with pytest.raises(DataError, match="sha256 expected 73bdbe7b"):
        raw_c.load(folder)
