"""SCWS and the word similarity sets: what is read, what is named, and what is refused, with its place."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lexiscope.core import catalog
from lexiscope.core.errors import InputError, LexiscopeError, SpecError
from lexiscope.datasets import scws, wordsim

ROW = (
    *("1", "bank", "n", "Bank", "v"),
    *("we sat on the <b> bank </b> , fishing", "<b> bank </b> there with care"),
    *("5.5", "1.0", "2.0", "3.0", "4.0", "5.0", "6.0", "7.0", "8.0", "9.0", "10.0"),
)


def _scws(folder: Path, **cells: str) -> Path:
    row = list(ROW)
    for place, text in cells.items():
        row[int(place[1:])] = text
    path = folder / "ratings.txt"
    path.write_text("\t".join(row) + "\n", encoding="utf-8")
    return path


def test_a_context_loses_its_marks_and_keeps_its_target(tmp_path: Path) -> None:
    """The text has no marks, the span covers the word, and a mark at the beginning leaves no space behind."""
    (item,), ratings = scws.read_pairs(_scws(tmp_path))
    assert [usage.text for usage in item.usages] == ["we sat on the bank , fishing", "bank there with care"]
    assert [(usage.start, usage.target, usage.pos) for usage in item.usages] == [
        (14, "bank", "NOUN"),
        (0, "bank", "VERB"),
    ]
    assert item.conditions == {"same_word": True}
    assert ratings.column("value").tolist() == [float(n) for n in range(1, 11)]
    assert ratings.unique("subject_id") == tuple(f"rater_{n}" for n in range(1, 11))


@pytest.mark.parametrize(
    ("cell", "text", "says", "column"),
    [
        ("c5", "we sat on the bank", "not 0 times", len("1 bank n Bank v ") + 1),
        ("c5", "<b> bank </b> or <b> bank </b>", "not 2 times", len("1 bank n Bank v ") + 1),
        ("c5", "on the <b> shore </b>", "the marked word is 'shore'", len("1 bank n Bank v ") + 1),
        ("c2", "x", "one of n, v, a is needed", len("1 bank ") + 1),
        ("c7", "9.9", "the mean of the ratings is 5.5, not 9.9", None),
        ("c8", "eleven", "a number is needed here", None),
        ("c8", "11", "11 is not on the scale 0 to 10", None),
    ],
)
def test_a_broken_row_of_scws_is_named(tmp_path: Path, cell: str, text: str, says: str, column: int | None) -> None:
    """File, line, column and rule are named for a row that breaks one."""
    path = _scws(tmp_path, **{cell: text})
    with pytest.raises(InputError) as error:
        scws.read_pairs(path)
    assert says in error.value.what
    assert error.value.place is not None
    assert (error.value.place.path, error.value.place.line) == (str(path), 1)
    assert column is None or error.value.place.column == column


@pytest.mark.published
def test_scws_is_what_its_authors_describe(published: Path) -> None:
    """2,003 pairs of ten ratings; 241 of one word; the mean of means is 3.852, the mean SD (by n) 2.788."""
    dataset = catalog.dataset("scws")
    ratings = dataset.responses.column("value").reshape(2003, 10)
    assert sum(item.conditions["same_word"] is True for item in dataset.items) == 241
    assert round(ratings.mean(), 3) == 3.852
    assert round(ratings.std(axis=1).mean(), 3) == 2.788
    assert round(ratings.std(axis=1, ddof=1).mean(), 3) == 2.939
    assert int((ratings != ratings.round()).sum()) == 432
    pos = [tuple(usage.pos for usage in item.usages) for item in dataset.items]
    same = [pos.count(pair) for pair in (("NOUN", "NOUN"), ("VERB", "VERB"), ("ADJ", "ADJ"))]
    assert same == [1328, 399, 97]
    assert len(pos) - sum(same) == 179


def test_pairs_are_read_with_any_line_end(tmp_path: Path) -> None:
    """CR LF, a missing last end, capitals and a pair given again in the other order are read as what they are."""
    path = tmp_path / "EN-WS-353-ALL.txt"
    path.write_bytes(b"tiger\ttiger\t10.00\r\nJerusalem\tIsrael\t8.46\r\nisrael\tjerusalem\t8")
    items, norms = wordsim.read_pairs(path, name="ws353")
    assert [usage.text for usage in items[1].usages] == ["Jerusalem", "Israel"]
    assert [item.conditions["same_word"] for item in items] == [True, False, False]
    assert [item.conditions["given_before"] for item in items] == [False, False, True]
    assert norms.column("value").tolist() == [10.0, 8.46, 8.0]
    assert norms.unique("measure") == ("norm",)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("tiger\tcat", "this line has 2 cells, not 3"),
        ("tiger\tbig cat\t3", "one word is needed here"),
        ("tiger\t\t3", "one word is needed here"),
        ("tiger\tcat\tmuch", "a number from 0 to 10 is needed here"),
        ("tiger\tcat\t10.5", "a number from 0 to 10 is needed here"),
        ("tiger\tcat\tnan", "a number from 0 to 10 is needed here"),
    ],
)
def test_a_broken_pair_is_named(tmp_path: Path, line: str, says: str) -> None:
    """File and line are named for a pair that breaks a rule."""
    path = tmp_path / "pairs.txt"
    path.write_text(f"gem\tjewel\t9\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError) as error:
        wordsim.read_pairs(path, name="simlex999")
    assert says in error.value.what
    assert error.value.place is not None
    assert (error.value.place.path, error.value.place.line) == (str(path), 2)


def test_an_unknown_set_is_refused() -> None:
    """Another name than the thirteen is refused with their names; the nine are the first of them."""
    with pytest.raises(SpecError) as error:
        catalog.dataset("wordsim?set=simlex")
    assert "simlex999" in error.value.hint
    assert wordsim.NINE == ("simlex999", "ws353", "men3k", "mc30", "rg65", "yp130", "mt287", "mt771", "rw2k")


@pytest.mark.published
@pytest.mark.parametrize("name", wordsim.SETS)
def test_every_set_is_what_its_card_says(published: Path, name: str) -> None:
    """Counts and ends are the card's; the ends of the scale are those of the set; every norm is a number."""
    dataset = catalog.dataset(f"wordsim?set={name}")
    chosen = wordsim.SETS[name]
    assert dict(dataset.card.counts) == {
        "items": len(dataset.items),
        "words": len({item.word for item in dataset.items}),
    }
    ends = (dataset.items[0].item_id, dataset.items[-1].item_id)
    assert ends == (dataset.card.first_item, dataset.card.last_item)
    norms = dataset.responses.column("value")
    assert len(norms) == chosen.pairs
    assert chosen.low <= np.min(norms) <= np.max(norms) <= chosen.high


@pytest.mark.published
def test_oddities_of_the_sets_are_as_the_card_says(published: Path) -> None:
    """Pairs that stand there twice, words paired with themselves, and capitals, by set."""
    given, same, capitals = {}, {}, {}
    for name in wordsim.SETS:
        items = catalog.dataset(f"wordsim?set={name}").items
        given[name] = sum(item.conditions["given_before"] is True for item in items)
        same[name] = sum(item.conditions["same_word"] is True for item in items)
        words = [usage.text for item in items for usage in item.usages]
        capitals[name] = sum(word != word.lower() for word in words)
    one_each = ("ws353_rel", "simlex999", "mt287", "rw2k", "simverb3500")
    assert {name: n for name, n in given.items() if n} == {"ws353": 2, **dict.fromkeys(one_each, 1)}
    assert {name: n for name, n in same.items() if n} == {"ws353": 1, "ws353_sim": 1}
    assert {name: n for name, n in capitals.items() if n} == {"ws353": 24, "ws353_sim": 11, "ws353_rel": 16}


def test_a_short_file_of_scws_is_refused(tmp_path: Path) -> None:
    """A file that is not the published one is refused before it is read."""
    (tmp_path / "scws").mkdir()
    _scws(tmp_path / "scws")
    with pytest.raises(LexiscopeError, match="scws"):
        scws.load(tmp_path)
