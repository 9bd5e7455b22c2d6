"""AmbiStory: made-up files for the rules of reading; the published ones for counts, spans, raters, the round trip."""

from __future__ import annotations

import json
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lexiscope.core.dataset import Dataset
from lexiscope.core.errors import DataError, InputError, SpanError
from lexiscope.core.item import Item
from lexiscope.core.prompt import GUIDELINES
from lexiscope.core.screen import Shown
from lexiscope.datasets import ambistory
from lexiscope.datasets.ambistory import REDACTED, file_content, find_homonym, rating_rows, read_samples, setup_items
from lexiscope.resources import fetch
from lexiscope.tasks import plausibility

Rows = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def loaded(published: Path) -> Dataset:
    return ambistory.load()


@pytest.fixture
def rows() -> Rows:
    """One made-up setup in the published form; the ratings are arbitrary numbers."""
    endings = ["It dripped.", "It dripped.", "It hooted.", "It hooted.", "", ""]
    choices = [[5, 4, 5, 5, 4], [1, 2, 1, 1, 3], [1, 1, 1, 2, 1], [4, 5, 5, 5, 5], [3, 3, 3, 3, 3], [3, 4, 2, 3, 3, 1]]
    found = {}
    for row in range(6):
        found[str(row)] = {
            "homonym": "horn",
            "judged_meaning": ("a bony outgrowth", "a warning device")[row % 2],
            "precontext": "\nOne. Two. Three. ",
            "sentence": "The horn was loud.",
            "ending": endings[row],
            "choices": choices[row],
            "average": sum(choices[row]) / len(choices[row]),
            "stdev": statistics.stdev(choices[row]),
            "nonsensical": [False] * (len(choices[row]) - 1) + [True],
            "sample_id": str(260 + row),
            "example_sentence": ("The goat has a horn.", "The car has a horn.")[row % 2],
        }
    return found


@pytest.fixture
def written(rows: Rows, tmp_path: Path) -> Callable[..., Path]:
    """Write the made-up rows, some fields of one row replaced."""

    def write(row: str = "0", **changed: object) -> Path:
        rows[row] |= changed
        path = tmp_path / "made_up.json"
        path.write_text(json.dumps(rows), encoding="utf-8")
        return path

    return write


# -- rules of reading, on a made-up file ----------------------------------------------------------------------


def test_six_rows_make_a_setup(written: Callable[..., Path]) -> None:
    """Rows are A/1, A/2, B/1, B/2, open/1, open/2; white space around the precontext goes, but is kept for export."""
    items = setup_items("train", read_samples(written()), "f.json")
    said = [(i.conditions["ending_of"], i.conditions["meaning"], i.conditions["intention"]) for i in items]
    assert said == [
        ("A", "1", "intended"),
        ("A", "2", "unintended"),
        ("B", "1", "unintended"),
        ("B", "2", "intended"),
        ("open", "1", "open"),
        ("open", "2", "open"),
    ]
    assert [i.item_id for i in items] == [f"ambistory/{number}" for number in range(260, 266)]
    # 260 is twice 130
    assert [i.conditions["group"] for i in items] == [0, 1, 2, 3, 4, 5]
    first = items[0]
    assert (first.conditions["precontext"], first.conditions["published_precontext"]) == (
        "One. Two. Three.",
        "\nOne. Two. Three. ",
    )
    assert (first.usages[0].target, first.word, first.conditions["setup"]) == ("horn", "horn", "train-001")
    assert plausibility.story(first) == "One. Two. Three. The horn was loud. It dripped."
    assert {i.conditions["story_kind"] for i in items[4:]} == {"open"}
    assert {i.conditions["ending"] for i in items[4:]} == {""}


def test_every_rating_is_a_row(written: Callable[..., Path]) -> None:
    """5 × 5 + 6 ratings and as many ticks; the rater is the group and the position; a tick is 1."""
    table = rating_rows(read_samples(written()))
    ratings, ticks = table.where(measure="rating"), table.where(measure="nonsensical")
    assert (len(ratings), len(ticks)) == (31, 31)
    assert ratings.column("subject_id").tolist()[:5] == [f"rater/0-{n}" for n in range(5)]
    assert ratings.where(item_id="ambistory/265").column("value").tolist() == [3, 4, 2, 3, 3, 1]
    assert ticks.where(item_id="ambistory/265").column("value").tolist() == [0, 0, 0, 0, 0, 1]
    assert set(table.unique("subject_kind")) == {"participant"}


def test_redacted_samples_are_unlabelled(written: Callable[..., Path], rows: Rows) -> None:
    """The publisher's mark in the four judged fields: items as ever, no rows, nothing averaged; back byte for byte."""
    for row in rows.values():
        row |= dict.fromkeys(("choices", "average", "stdev", "nonsensical"), REDACTED)
    samples = read_samples(written())
    assert {one.choices for one in samples} == {None}
    assert len(setup_items("test", samples, "f.json")) == 6
    assert len(rating_rows(samples)) == 0
    assert file_content(samples) == json.dumps(rows, indent=4).encode()
    with pytest.raises(InputError, match="choices are redacted"):
        read_samples(written(average=3.0, stdev=1.0, nonsensical=[True]))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"choices": [5, 4, 5, 5, 6]}, "item '0': choices must be 5 or 6 ratings from 1 to 5"),
        ({"choices": [5, 4, 5, 5]}, "choices must be 5 or 6"),
        ({"choices": [True, 4, 5, 5, 5]}, "choices must be 5 or 6"),
        ({"choices": "5, 4, 5, 5, 5"}, "choices must be 5 or 6"),
        ({"nonsensical": [False] * 4}, "nonsensical must be one true or false for each rating"),
        ({"nonsensical": [0] * 5}, "nonsensical must be one true or false"),
        ({"average": 4.5}, r"average of these ratings is 4\.6; there is 4\.5"),
        ({"stdev": 0.4898979485566356}, r"stdev of these ratings is 0\.54"),
        ({"homonym": " "}, "homonym must be a text"),
        ({"ending": None}, "ending must be a text"),
        ({"sample_id": "x1"}, "sample_id must be a number"),
        ({"comment": "?"}, "a sample has the fields"),
    ],
)
def test_a_bad_field_is_named(written: Callable[..., Path], changed: dict[str, object], said: str) -> None:
    """A field of another kind, off its scale or not computed from the ratings is refused with file and row."""
    with pytest.raises(InputError, match=said) as caught:
        read_samples(written(**changed))
    assert "made_up.json" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"0": {', "this file is not JSON"),
        ('{"0": 1, "0": 2}', "'0' occurs twice"),
        ('{"0": {"average": NaN}}', "NaN is not a number"),
        ("[]", "no object with one sample a row"),
        ("{}", "no object with one sample a row"),
        ('{"1": {}}', "not numbered 0, 1, 2"),
        ('{"0": 3}', "a sample has the fields"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, text: str, said: str) -> None:
    """What is no JSON, or no numbered samples, is refused whole."""
    (tmp_path / "bad.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        read_samples(tmp_path / "bad.json")


@pytest.mark.parametrize(
    ("row", "changed"),
    [
        ("1", {"ending": "It fell."}),
        ("2", {"precontext": "Another."}),
        ("4", {"ending": "It fell."}),
        ("3", {"judged_meaning": "a third meaning"}),
    ],
)
def test_rows_that_are_no_setup_are_refused(written: Callable[..., Path], row: str, changed: dict[str, str]) -> None:
    """Six rows that do not share story and meanings in the published order are no setup."""
    with pytest.raises(InputError, match=r"f\.json, item '0': six rows from here on are not one setup"):
        setup_items("train", read_samples(written(row, **changed)), "f.json")


def test_a_cut_off_file_is_refused(written: Callable[..., Path]) -> None:
    """Five samples are no setup."""
    with pytest.raises(InputError, match="this file has 5 samples"):
        setup_items("train", read_samples(written())[:5], "f.json")


def test_where_a_homonym_stands() -> None:
    """Exact case first, then any case, then the one word that begins most like it; two candidates are refused."""
    assert find_homonym("Play a play.", "play") == (7, 11, "exact")
    assert find_homonym("The barkeeper has left the bar.", "bar")[:2] == (27, 30)
    assert find_homonym("Light was all.", "light") == (0, 5, "other case")
    with pytest.raises(SpanError, match="occurs 2 times"):
        find_homonym("A bat met a bat.", "bat")
    with pytest.raises(SpanError, match="or begins like it"):
        find_homonym("He likes plays and players.", "playing")
    with pytest.raises(SpanError, match="or begins like it"):
        find_homonym("It ended.", "playing")


# -- the published files --------------------------------------------------------------------------------------


@pytest.mark.published
def test_counts_of_the_splits(loaded: Dataset, published: Path) -> None:
    """2,280, 588, 930 samples; 1,140, 294, 465 stories; 380, 98, 155 setups; 19,049 ratings and 403 ticks in all."""
    for split in ("train", "dev", "test"):
        samples = read_samples(published / "ambistory" / f"{split}.json")
        assert ambistory.split_counts(samples) == ambistory.COUNTS[split]
        assert sum(item.conditions["split"] == split for item in loaded.items) == len(samples)
    for name, total in (("samples", 3_798), ("stories", 1_899), ("setups", 633), ("ratings", 19_049), ("ticks", 403)):
        assert sum(getattr(counts, name) for counts in ambistory.COUNTS.values()) == total
    # the form `base` stands in train and in test
    assert sum(counts.forms for counts in ambistory.COUNTS.values()) == 361 + 1
    ratings = loaded.responses.where(measure="rating")
    per_item = Counter(ratings.column("item_id").tolist())
    assert Counter(per_item.values()) == {5: 3_739, 6: 59}
    assert loaded.responses.where(measure="nonsensical").column("value").sum() == 403
    assert {item.conditions["group"] for item in loaded.items if per_item[item.item_id] == 6} == {16, 109}


@pytest.mark.published
def test_spans(loaded: Dataset) -> None:
    """631 setups by their exact letters, one in another case, one by the nearest word (spec §5); never *goalkeeper*."""
    rules = {item.conditions["setup"]: item.conditions["span_rule"] for item in loaded.items}
    assert Counter(rules.values()) == {"exact": 631, "other case": 1, "nearest word": 1}
    nearest = {i.conditions["homonym"]: i.usages[0].target for i in loaded.items if i.conditions["span_rule"][0] == "n"}
    assert nearest == {"denominations": "denotations"}
    goal = [i.usages[0] for i in loaded.items if "goalkeeper had" in i.usages[0].text]
    assert goal
    assert all(usage.text[usage.start - 1] == " " and usage.target == "goal" for usage in goal)


@pytest.mark.published
def test_recovered_raters(loaded: Dataset) -> None:
    """130 groups, 652 raters, 28 to 30 samples each, never two samples of one setup in a group (spec §2)."""
    ratings = loaded.responses.where(measure="rating")
    per_rater = Counter(ratings.column("subject_id").tolist())
    assert len(per_rater) == 652
    assert (min(per_rater.values()), max(per_rater.values())) == (28, 30)
    groups: dict[object, list[object]] = defaultdict(list)
    for item in loaded.items:
        groups[item.conditions["group"]].append(item.conditions["setup"])
    assert len(groups) == 130
    assert all(len(set(several)) == len(several) for several in groups.values())
    assert Counter(map(len, groups.values())) == {29: 100, 30: 29, 28: 1}


@pytest.mark.published
def test_means_by_place_in_the_setup(loaded: Dataset) -> None:
    """The means of the six places, computed apart from this code: endings raise the meaning they were made for."""
    ratings = loaded.responses.where(measure="rating")
    codes, ids = ratings.codes("item_id")
    means = dict(zip(ids, np.bincount(codes, ratings.column("value")) / np.bincount(codes), strict=True))
    found = [np.mean([means[item.item_id] for item in loaded.items[place::6]]) for place in range(6)]
    # the fifth is 3.1745, which the note that was checked here had rounded up twice
    np.testing.assert_allclose(found, [3.68, 2.61, 2.75, 3.55, 3.18, 3.08], rtol=0, atol=0.006)


@pytest.mark.published
def test_precontexts_without_white_space(loaded: Dataset) -> None:
    """14 of 633 setups had white space around the precontext; it is gone from the condition and kept beside it."""
    changed = {item.conditions["setup"] for item in loaded.items if "published_precontext" in item.conditions}
    assert len(changed) == 14
    assert all(str(i.conditions["precontext"]) == str(i.conditions["precontext"]).strip() for i in loaded.items)


@pytest.mark.published
@pytest.mark.parametrize("variant", [GUIDELINES, *plausibility.VARIANTS])
def test_nothing_of_the_design_is_shown(loaded: Dataset, variant: str) -> None:
    """Page and prompts do not change with id, setup, story, intention, group or split of an item."""
    seen = ("precontext", "ending", "sense", "example", "homonym")
    for item in loaded.items[:60]:
        bare = Item("x", "x", item.usages, conditions={name: item.conditions[name] for name in seen})
        assert plausibility.stimulus(item, Shown()) == plausibility.stimulus(bare, Shown())
        asked, plain = (plausibility.asks(each, variant=variant) for each in (item, bare))
        assert asked == plain
        told = " ".join(message.content for message in asked.messages)
        assert str(item.conditions["sense"]) in told
        assert not re.search(rf"(?<!\d){item.item_id.rpartition('/')[2]}(?!\d)|ambistory", told)


@pytest.mark.published
def test_export_equals_the_published_files(loaded: Dataset, tmp_path: Path) -> None:
    """All four files come out byte for byte."""
    ambistory.export(loaded, tmp_path)
    assert {row.status for row in fetch.file_states(ambistory.CARD, folder=tmp_path)} == {"ok"}


@pytest.mark.published
def test_export_does_not_depend_on_the_order_of_responses(loaded: Dataset, tmp_path: Path) -> None:
    """The place of a rating is read from its rater, not from the order of the rows."""
    order = np.random.default_rng(5).permutation(len(loaded.responses))
    ambistory.export(replace(loaded, responses=loaded.responses.take(order)), tmp_path)
    assert {row.status for row in fetch.file_states(ambistory.CARD, folder=tmp_path)} == {"ok"}


@pytest.mark.published
def test_the_redacted_test_split(loaded: Dataset, tmp_path: Path) -> None:
    """The same items, 4,663 ratings fewer, no test item among the rated; exported without a test file."""
    redacted = ambistory.load(redacted=True)
    assert redacted.items == loaded.items
    ratings = redacted.responses.where(measure="rating")
    assert len(ratings) == 19_049 - 4_663
    test = {item.item_id for item in redacted.items if item.conditions["split"] == "test"}
    assert not test & set(ratings.unique("item_id"))
    ambistory.export(redacted, tmp_path)
    states = {row.file.path: row.status for row in fetch.file_states(ambistory.CARD, folder=tmp_path)}
    assert states.pop("ambistory/test.json") == "missing"
    assert set(states.values()) == {"ok"}


@pytest.mark.published
def test_a_changed_file_is_refused(published: Path, tmp_path: Path) -> None:
    """Other bytes are not the published file; a split with fewer setups fails its counts even without a checksum."""
    folder = tmp_path / "ambistory"
    folder.mkdir()
    for name in ("dev", "test"):
        (folder / f"{name}.json").symlink_to(published / "ambistory" / f"{name}.json")
    samples = read_samples(published / "ambistory" / "train.json")[:-6]
    (folder / "train.json").write_bytes(file_content(samples))
    with pytest.raises(DataError, match="sha256 expected 7b3207fa"):
        ambistory.load(tmp_path)


@pytest.mark.published
def test_too_few_setups_are_noticed(published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its pin, a file that lacks its last setup fails the counts."""
    folder = tmp_path / "ambistory"
    folder.mkdir()
    for name in ("dev", "test"):
        (folder / f"{name}.json").symlink_to(published / "ambistory" / f"{name}.json")
    (folder / "train.json").write_bytes(file_content(read_samples(published / "ambistory" / "train.json")[:-6]))
    monkeypatch.setattr(ambistory, "TRAIN", replace(ambistory.TRAIN, sha256=None))
    with pytest.raises(InputError, match=r"ambistory, train: .*samples=2280.*this file holds .*samples=2274"):
        ambistory.load(tmp_path)
