"""Tagged words: from a corpus, and from a user's own table."""

from __future__ import annotations

from pathlib import Path

import pytest

from lexiscope.build.minimal_pairs.occurrences import corpus_occurrences, read_occurrences
from lexiscope.core.errors import InputError
from lexiscope.items.check.rows import FLAGGED_WORDS, flagged_words, read_words
from lexiscope.resources.corpora.unified_wsd import UnifiedCorpus

XML = """<?xml version="1.0" encoding="UTF-8"?>
<corpus lang="en" source="made_up"><text id="d0" source="x"><sentence id="d0.s0">
<wf lemma="the" pos="DET">The</wf><instance id="d0.s0.t0" lemma="bench" pos="NOUN">bench</instance>
<instance id="d0.s0.t1" lemma="be" pos="VERB">was</instance>
<instance id="d0.s0.t2" lemma="group" pos="NOUN">Mill Lane Club</instance><wf lemma="'s" pos="PRT">'s</wf>
</sentence></text></corpus>
"""
KEYS = "d0.s0.t0 bench%1:06:00:: bench%1:14:00::\nd0.s0.t1 be%2:42:00::\nd0.s0.t2 group%1:03:00::\n"


def test_of_a_corpus(tmp_path: Path) -> None:
    """Every tagged word with its span, all its keys, and whether it is a name; a tagged expression is one token."""
    (tmp_path / "c.data.xml").write_text(XML, encoding="utf-8")
    (tmp_path / "c.gold.key.txt").write_text(KEYS, encoding="utf-8")
    corpus = UnifiedCorpus(tmp_path / "c.data.xml", tmp_path / "c.gold.key.txt")
    bench, was, club = corpus_occurrences(corpus)
    assert (bench.form, bench.pos, bench.senses) == ("bench", "n", ("bench%1:06:00::", "bench%1:14:00::"))
    assert (bench.text, bench.n_tokens, bench.tokenised) == ("The bench was Mill Lane Club 's", 5, True)
    assert (was.pos, club.is_name, bench.is_name) == ("v", True, False)
    assert [one.occurrence_id for one in corpus_occurrences(corpus, "n")] == ["d0.s0.t0", "d0.s0.t2"]


def test_of_a_table(tmp_path: Path) -> None:
    """The target is found where it stands once, or by its span; a sentence has one id however often it comes."""
    file = tmp_path / "mine.csv"
    rows = [
        "sentence,lemma,sense,start,end,pos",
        '"La banca vecchia, sotto la quercia.",banca,banca.1,3,8,NOUN',
        '"La banca vecchia, sotto la quercia.",quercia,quercia.1 quercia.2,,,',
        "'- la banca della piazza,banca,banca.2,,,n",
    ]
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    first, second, third = read_occurrences(file)
    assert (first.form, first.start, first.tokenised, first.n_tokens) == ("banca", 3, False, 6)
    assert (second.form, second.senses) == ("quercia", ("quercia.1", "quercia.2"))
    assert first.sentence_id == second.sentence_id != third.sentence_id
    # a user's text stands as it is, whatever a spreadsheet would think of it
    assert third.text == "'- la banca della piazza"


@pytest.mark.parametrize(
    ("row", "code"),
    [
        ("A bench by a bench.,bench,b.1,,,", "E102"),
        ("A stool.,bench,b.1,,,", "E101"),
        ("A bench.,bench,,,,", "E105"),
        ("A bench.,bench,b.1,2,,", "E106"),
        ("A bench.,bench,b.1,2,99,", "E103"),
        ("A bench.,bench,b.1,,,X", "E461"),
    ],
)
def test_faults_of_a_table(tmp_path: Path, row: str, code: str) -> None:
    """Code, file and line."""
    file = tmp_path / "mine.csv"
    file.write_text(f"sentence,lemma,sense,start,end,pos\nThe bench.,bench,b.1,,,\n{row}\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_occurrences(file)
    assert caught.value.code == code
    assert f"{file}:3" in str(caught.value)


def test_flagged_words(tmp_path: Path) -> None:
    """Whole words in any case and their plurals in -s; a list of one's own, in any Unicode form."""
    assert flagged_words("The Bastards sat in the bastardised scrapbook", FLAGGED_WORDS) == ("bastards",)
    file = tmp_path / "words.txt"
    file.write_text("# mine\n\nCafe\u0301\n", encoding="utf-8")
    assert read_words(file) == {"caf\u00e9"}
    assert flagged_words("Un CAFE\u0301 .", read_words(file)) == ("caf\u00e9",)
    file.write_text("# nothing\n", encoding="utf-8")
    with pytest.raises(InputError, match="E002"):
        read_words(file)
    with pytest.raises(InputError, match="E001"):
        read_words(tmp_path / "absent.txt")
    file.write_bytes(b"caf\xe9\n")
    with pytest.raises(InputError, match="E003"):
        read_words(file)
