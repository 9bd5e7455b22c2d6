"""Folders of other programs, both ways: what is read, written and read again has equal items and responses."""

from __future__ import annotations

from pathlib import Path

import pytest

from lexiscope.core import catalog
from lexiscope.core.errors import InputError
from lexiscope.studies.kit.portable import read_source, write_folder
from lexiscope.studies.kit.rated_file import read_rated_file

USES = (
    "lemma\tpos\tdate\tgrouping\tidentifier\tdescription\tcontext\tindexes_target_token\tindexes_target_sentence\n"
    '{word}\tnn\t1850\t1\t{word}-1\tfrom a book\t"The {word}" she said. So.\t5:9\t0:21\n'
    "{word}\tnn\t1990\t2\t{word}-2\t \tThe {word} was closed.\t4:8\t0:20\n"
    "{word}\tnn\t1991\t2\t{word}-3\t \tA steep {word}\t8:12\t0:12\n"
)
JUDGMENTS = (
    "identifier1\tidentifier2\tannotator\tjudgment\tcomment\tlemma\n"
    "{word}-1\t{word}-2\tann1\t1\t \t{word}\n"
    "{word}-2\t{word}-1\tann2\t2\tdifficult\t{word}\n"
    "{word}-1\t{word}-3\tann1\t0\t \t{word}\n"
    "{word}-1\t{word}-3\tann2\t4\t \t{word}\n"
)


def wug(folder: Path) -> Path:
    """A WUG of two words as it is published: a folder for each word, in ``data``."""
    for word in ("bank", "seal"):
        place = folder / "data" / word
        place.mkdir(parents=True)
        (place / "uses.csv").write_text(USES.format(word=word), encoding="utf-8")
        (place / "judgments.csv").write_text(JUDGMENTS.format(word=word), encoding="utf-8")
    return folder


def test_a_wug_is_read_written_and_read_again(tmp_path: Path) -> None:
    """All words are one dataset on the scale 1 to 4; the written folder gives the same items and responses."""
    data = read_source(str(wug(tmp_path / "wug")), task="relatedness", language="en")
    assert [item.word for item in data.items] == ["bank", "bank", "seal", "seal"]
    assert {usage.target for item in data.items for usage in item.usages} == {"bank", "seal"}
    assert str(data.card.scale) == "1 to 4"
    ratings, comments = (data.responses.where(measure=measure) for measure in ("rating", "comment"))
    assert ratings.column("subject_id").tolist() == ["ann1", "ann2"] * 4
    assert [row.value for row in ratings.rows()] == [1, 2, None, 4] * 2
    assert [(row.subject_id, row.raw) for row in comments.rows()] == [("ann2", "difficult")] * 2
    files = write_folder(data, tmp_path / "wug_again" / "wug", "durel")
    assert [file.name for file in files] == ["uses.csv", "instances.csv", "judgments.csv"]
    again = read_source(str(tmp_path / "wug_again" / "wug"), task="relatedness", language="en")
    assert again.items == data.items
    assert again.responses == data.responses
    # descriptions and sentences of the targets are those of the source
    assert files[0].read_text(encoding="utf-8") == USES.format(word="bank") + "".join(
        USES.format(word="seal").splitlines(keepends=True)[1:]
    )


def test_repeats_comments_and_letters_come_back(tmp_path: Path) -> None:
    """Judged twice, three times, not decided; comments with quotation marks; letters of any script: equal files.

    A pair that raters judged in both orders is one item, and each row keeps the order of its judgment.
    """
    place = tmp_path / "bank"
    place.mkdir()
    uses = USES.format(word="bank").replace("So.", 'Ñandú "так" 🙂')
    rows = [
        ("bank-1", "bank-2", "ann1", "1", 'not "sure", ñ'),
        ("bank-2", "bank-1", "ann1", "3", "second thought: 50 % 🙂"),
        ("bank-1", "bank-2", "ann2", "2", " "),
        ("bank-1", "bank-3", "ann1", "0", "cannot say"),
        ("bank-1", "bank-3", "ann1", "4", " "),
        ("bank-1", "bank-3", "ann1", "4", "same again"),
        ("bank-2", "bank-3", "ann2", "0", " "),
        ("bank-3", "bank-2", "ann1", "2", "the other way round"),
    ]
    judgments = JUDGMENTS.splitlines()[0] + "\n" + "".join("\t".join((*row, "bank")) + "\n" for row in rows)
    (place / "uses.csv").write_text(uses, encoding="utf-8")
    (place / "judgments.csv").write_text(judgments, encoding="utf-8")
    data = read_source(str(place), task="relatedness", language="en")
    ratings = data.responses.where(measure="rating")
    assert ratings.column("repeat").tolist() == [0, 1, 0, 0, 1, 2, 0, 0]
    swapped = [(row.subject_id, row.repeat, row.raw) for row in data.responses.where(measure="side").rows()]
    assert swapped == [("ann1", 1, "swapped"), ("ann1", 0, "swapped")]
    assert len(data.items) == 3
    comments = [(row.subject_id, row.repeat, row.raw) for row in data.responses.where(measure="comment").rows()]
    assert comments[0] == ("ann1", 0, 'not "sure", ñ')
    assert len(comments) == 5
    assert not {"comment", "judgment"} & set(data.items[0].conditions)
    write_folder(data, tmp_path / "again", "durel")
    assert (tmp_path / "again" / "uses.csv").read_bytes() == uses.encode()
    assert (tmp_path / "again" / "judgments.csv").read_bytes() == judgments.encode()


def test_usages_without_a_judgment_come_back(tmp_path: Path) -> None:
    """They are rows that are no items: kept with their line, and written behind the usages of pairs, by the Hub too."""
    place = tmp_path / "bank"
    place.mkdir()
    (place / "uses.csv").write_text(USES.format(word="bank"), encoding="utf-8")
    judgments = "".join(JUDGMENTS.format(word="bank").splitlines(keepends=True)[:3])
    (place / "judgments.csv").write_text(judgments, encoding="utf-8")
    data = read_source(str(place), task="relatedness", language="en")
    (row,) = data.set_aside
    assert (row.line, dict(row.cells)["identifier"], row.reason) == (4, "bank-3", "no judgment has this usage")
    write_folder(data, tmp_path / "hub", "hub")
    for source, out in ((data, "again"), (read_source(str(tmp_path / "hub"), task="relatedness"), "from_hub")):
        write_folder(source, tmp_path / out, "durel")
        for name in ("uses.csv", "judgments.csv"):
            assert (tmp_path / out / name).read_bytes() == (place / name).read_bytes()


def test_tabs_in_a_text_become_spaces_and_stay_so(tmp_path: Path) -> None:
    """DURel has no tabs in a text; the second folder has the bytes of the first, targets at the same characters."""
    text = "item_id,sentence_1,sentence_2,target,rater,rating\n" + 'i,"The\tbank, ""so"".",On a bank,bank,p1,2\n'
    (tmp_path / "items.csv").write_text(text, encoding="utf-8")
    data = read_source(str(tmp_path / "items.csv"), task="relatedness", language="en")
    write_folder(data, tmp_path / "first", "durel")
    again = read_source(str(tmp_path / "first"), task="relatedness", language="en")
    assert again.items[0].usages[0].text == 'The bank, "so".'
    assert again.items[0].usages[0].target == "bank"
    write_folder(again, tmp_path / "second", "durel")
    for name in ("uses.csv", "judgments.csv"):
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes()


def test_judgments_are_a_file_like_any_other(tmp_path: Path) -> None:
    """What ``analyse`` and ``study`` read: items, one row for each rater, and what was understood."""
    folder = wug(tmp_path / "wug") / "data" / "bank"
    rated = read_rated_file(folder / "judgments.csv")
    assert rated.understood.program == "DURel"
    assert len(rated.data.items) == 2
    assert len(rated.data.responses.where(measure="rating")) == 4


def test_a_dataset_goes_to_the_hub_and_back(tmp_path: Path) -> None:
    """A dataset of the package as a folder of the Hub; read, it has the same items."""
    data = catalog.dataset("mini_relatedness")
    assert write_folder(data, tmp_path / "hub", "hub")[0].name == "README.md"
    again = read_source(str(tmp_path / "hub"), task="relatedness")
    assert again.items == data.items
    assert again.responses == data.responses


def test_a_wug_goes_to_the_hub_and_back(tmp_path: Path) -> None:
    """Identifiers, dates and groupings are columns of the folder; from it the DURel folder is written as before."""
    data = read_source(str(wug(tmp_path / "wug")), task="relatedness", language="en")
    write_folder(data, tmp_path / "hub", "hub")
    again = read_source(str(tmp_path / "hub"), task="relatedness")
    assert (again.items, again.responses) == (data.items, data.responses)
    first, second = (write_folder(each, tmp_path / name, "durel") for name, each in (("a", data), ("b", again)))
    assert [file.read_bytes() for file in first] == [file.read_bytes() for file in second]


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    """A folder with files is left as it is; a folder of no known kind names what is read."""
    (tmp_path / "thesis.txt").write_text("years", encoding="utf-8")
    data = catalog.dataset("mini_relatedness")
    with pytest.raises(InputError, match="this folder is not empty"):
        write_folder(data, tmp_path, "hub")
    with pytest.raises(InputError, match="no data that can be read"):
        read_source(str(tmp_path), task="relatedness")
