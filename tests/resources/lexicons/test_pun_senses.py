"""Puns with both their meanings, in the layout of SemEval-2017 task 7; the stand-in file is our own."""

from __future__ import annotations

from pathlib import Path

import pytest

from lexiscope.core.errors import InputError
from lexiscope.resources.lexicons.pun_senses import PunSenses, read_pun_senses

GOLD = Path(__file__).parents[2] / "data" / "puns_stand_in.gold"
TEXTS = Path(__file__).parents[2] / "data" / "puns_stand_in.xml"


def test_the_words_come_from_the_texts() -> None:
    """Id, word as it stands, and the keys of both meanings, alternatives in their order."""
    first, *rest = read_pun_senses(GOLD, TEXTS)
    assert first == PunSenses("hom_1_2", "Benches", (("bench%1:06:00::",), ("bench%1:14:00::", "bench%1:14:01::")))
    assert len(rest) == 6


def test_without_texts_the_form_is_the_lemma() -> None:
    """Without the XML file the lemma of the first key stands for the form."""
    assert read_pun_senses(GOLD)[0].form == "bench"


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("hom_1_1\ta%1:00:00::", "three cells"),
        ("hom_1_1\ta%1:00:00::\tb", "not a sense key"),
        ("hom_1_1\ta%1:00:00::\t;", "only one meaning"),
        ("h\ta%1:00:00::\ta%1:00:01::\nh\ta%1:00:00::\ta%1:00:01::", "occurs twice"),
    ],
)
def test_a_damaged_line_is_named(tmp_path: Path, line: str, what: str) -> None:
    """File and line are named, and nothing is passed over."""
    file = tmp_path / "bad.gold"
    file.write_text(line, encoding="utf-8")
    with pytest.raises(InputError, match=what) as error:
        read_pun_senses(file)
    assert error.value.place is not None
    assert error.value.place.path == str(file)


def test_texts_of_another_set_and_broken_xml_are_refused(tmp_path: Path) -> None:
    """A word that the XML file lacks, an XML file cut off, and one that declares entities."""
    other = tmp_path / "other.xml"
    cases = {
        "<corpus><text id='t'><word id='x'>a</word></text></corpus>": "no word 'hom_1_2'",
        "<corpus><text>": "not XML",
        "<!DOCTYPE corpus [<!ENTITY a 'b'>]><corpus/>": "entity",
    }
    for content, what in cases.items():
        other.write_text(content, encoding="utf-8")
        with pytest.raises(InputError, match=what):
            read_pun_senses(GOLD, other)
