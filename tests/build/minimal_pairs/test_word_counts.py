"""One reader of word counts for the draw of nouns and for the baseline; counts of a lexicon, by lemma."""

from __future__ import annotations

from pathlib import Path

import pytest

from lexiscope.build.minimal_pairs.word_counts import lexicon_frequencies, noun_count, read_frequencies
from lexiscope.core.errors import InputError
from lexiscope.resources.lexicons import wordnet
from lexiscope.resources.lexicons.lexicon import Lexicon


def test_reading_frequencies(tmp_path: Path) -> None:
    """A column of words, one of counts, in any case; each fault at its line."""
    path = tmp_path / "counts.tsv"
    path.write_text("word\tcount\nrole\t90\npart\t9.5\nRole\t10\n", encoding="utf-8")
    assert read_frequencies(path) == {"role": 90.0 + 10, "part": 9.5}
    for rows, code in (("role\tmany", "E446"), ("role\t-1", "E446"), ("part\t1\npart\t2", "E449")):
        path.write_text(f"word\tcount\n{rows}\n", encoding="utf-8")
        with pytest.raises(InputError, match=rf"counts\.tsv:[23]:(?s:.*)\[{code}\]"):
            read_frequencies(path)
    with pytest.raises(InputError, match="no column 'n'"):
        read_frequencies(path, count="n")
    path.write_text("word\tcount\n", encoding="utf-8")
    with pytest.raises(InputError, match="E002"):
        read_frequencies(path)


@pytest.fixture(scope="module")
def lexicon(published: Path) -> Lexicon:
    return wordnet.load(published / "wordnet30/WordNet-3.0.tar.xz")


@pytest.mark.published
def test_a_plural_counts_as_its_lemma(lexicon: Lexicon) -> None:
    """*lands* has the count of *land*; *glasses*, a lemma itself, its own; what is no noun was never tagged."""
    assert (
        noun_count(lexicon, "lands")
        == noun_count(lexicon, "land")
        == sum(sense.count for sense in lexicon.senses("land", "n"))
    )
    assert noun_count(lexicon, "glasses") == sum(sense.count for sense in lexicon.senses("glasses", "n"))
    assert noun_count(lexicon, "xyzzy") == 0
    found = lexicon_frequencies(lexicon, ["Lands", "xyzzy"])
    assert found == {"lands": noun_count(lexicon, "land"), "xyzzy": 0}
    assert found["lands"] > 0
