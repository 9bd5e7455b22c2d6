"""Lexical resources that are fetched like datasets: what they are, whose, under which licence, and where from."""

from __future__ import annotations

from dataclasses import dataclass

from lexiscope.core.dataset import Availability, DataFile
from lexiscope.core.errors import SpecError


@dataclass(frozen=True, slots=True)
class ResourceCard:
    """What one must know of a resource before using it.

    ``files`` are what is read and what is downloaded; if one of the ``packed`` files is in a data folder, it replaces
    all of them. ``counts`` are those of the whole resource.
    """

    name: str
    title: str
    language: str
    licence: str
    citation: str
    source: str
    version: str
    availability: Availability
    summary: str
    files: tuple[DataFile, ...]
    packed: tuple[DataFile, ...] = ()
    counts: tuple[tuple[str, int], ...] = ()
    how_to_obtain: str = ""
    remarks: tuple[str, ...] = ()

    def count(self, name: str) -> int:
        """Return one of the card's counts (``synsets``, ``sentences`` …)."""
        return dict(self.counts)[name]


_PRINCETON = "Princeton licence: use, copy, modify and distribute for any purpose and without fee, with the notice"

_WORDNET_VERSION = "9815d4460cee1da4635e95a20c53c5485f57ec4e"
_WORDNET_AT = (
    f"https://raw.githubusercontent.com/getalp/UFSAC/{_WORDNET_VERSION}/java/src/main/resources/data/wordnet/30/dict"
)
_WORDNET_SHA256 = {
    "data.noun": "489f145e0f68877c0be5bd0eb4117adaaac52f38f6204eb8d85dbe2158b614cc",
    "data.verb": "7fff397e93b4fb152fdaee116747cf1c40d7badedccb4b63f5503e8e962d9102",
    "data.adj": "f24b635368be441501c9b8001e9271fd3b30b203f00d91e332979e6f8fe35646",
    "data.adv": "e66dbbda0e0359e41b7f225bff71dd0c263dc7c66c1b61abc9ba334973d92979",
    "index.noun": "a490d99d93d017bf4822fe2f0ffa51fd73911ce271dc7535fade21f8814b5a04",
    "index.verb": "c7c79b558d787f1e31c6f8b3eeadb8fcbb26a64545ecc1241e21d9b61f95ee8e",
    "index.adj": "42f58dda2c7cff66eb8fa55ba62e0a873a9b3f43c878e8201108f5dab6dcff28",
    "index.adv": "6f5465ed5758fe9c8a2f7ec17b1300f3aa875756c70ff7cba162f7e71bcf88ea",
    "noun.exc": "2b5d675c380b39ecf595af9fa9d4e7feb1d58c643b0bff08c40ed5bfe41fab7a",
    "verb.exc": "dbbcf9a601b2d77e934e413b91d90e88ec7f933a8b77cfc00602a923b891b42c",
    "adj.exc": "8824cc24bbedd797b9702316b27f07cd4c2b76b629539f0a1276f03926758016",
    "adv.exc": "e7291461b629abfe63301bbe1998cee09fd575ed7107abd7ea9763adb05bf0a8",
    "index.sense": "68b3a468cddfd8e92134b9b0624339a02a1b837159243c297c5f138a3d618392",
    "lexnames": "4767e2a1c6e68c1a93aa6b7c4ef7ebe9a815b50d7d5aac2788696f2cf3633bf1",
}

WORDNET = ResourceCard(
    name="wordnet",
    title="Princeton WordNet 3.0",
    language="en",
    licence=f"{_PRINCETON} (WordNet 3.0 Copyright 2006 by Princeton University. All rights reserved.)",
    citation=(
        "G. A. Miller (1995). WordNet: A Lexical Database for English. Communications of the ACM 38(11), 39-41, "
        "doi:10.1145/219717.219748; C. Fellbaum, ed. (1998). WordNet: An Electronic Lexical Database. MIT Press."
    ),
    source="https://wordnet.princeton.edu",
    version="3.0",
    availability="download",
    summary="Senses of English nouns, verbs, adjectives and adverbs: synsets, glosses, relations, tag counts.",
    files=tuple(
        DataFile(f"wordnet30/dict/{name}", f"{_WORDNET_AT}/{name}", sha) for name, sha in _WORDNET_SHA256.items()
    ),
    packed=(
        DataFile(
            "wordnet30/WordNet-3.0.tar.xz",
            sha256="c2459f9414ebcefb1a82b8d56371b73004133a41c710a39637abb1e60e481d7f",
        ),
    ),
    counts=(("sense_keys", 206_941), ("synsets", 117_659), ("lemmas", 155_287), ("polysemous", 26_896)),
    remarks=(
        "The files come from a public copy (getalp/UFSAC) at a pinned version; they are those of Princeton's release.",
        "Debian's packages wordnet-base and wordnet-sense-index hold the same senses at other byte offsets, without "
        "lexnames: they are another edition.",
        "lemmas counts (lemma, part of speech) pairs, polysemous those with more than one sense.",
    ),
)

SEMCOR = ResourceCard(
    name="semcor",
    title="SemCor 3.0 in the unified WSD layout",
    language="en",
    licence=f"{_PRINCETON} (WordNet 1.6 Copyright 1997 by Princeton University. All rights reserved.)",
    citation=(
        "G. A. Miller, C. Leacock, R. Tengi, R. T. Bunker (1993). A Semantic Concordance. Human Language Technology: "
        "Proceedings of a Workshop, 303-308; A. Raganato, J. Camacho-Collados, R. Navigli (2017). Word Sense "
        "Disambiguation: A Unified Evaluation Framework and Empirical Comparison. EACL 2017, 99-110."
    ),
    source="https://github.com/marcverhagen/semcor",
    version="3.0 (d2ff7867880029800c1524444533843510cd78a6)",
    availability="obtain",
    summary="352 texts of the Brown corpus with WordNet 3.0 senses on open-class words (verbs only in 166 of them).",
    files=(
        DataFile(
            "semcor/semcor.data.xml.gz", sha256="c9005ae5d370a4a105601eeff4d98198fbd47fa7e8171d98f0095b23a80cf697"
        ),
        DataFile(
            "semcor/semcor.gold.key.txt.gz", sha256="cba07b619c0a3d4ac17b7a0dc75a78a398f27ad7bcec5a7b69faf820d6d250e6"
        ),
    ),
    counts=(
        ("documents", 352),
        ("sentences", 37_176),
        ("tokens", 802_443),
        ("instances", 226_036),
        ("sense_keys", 33_362),
        ("word_types", 22_436),
    ),
    how_to_obtain=(
        "these files are a conversion that is not published itself. Make it: take data/semcor3.0 of "
        "https://github.com/marcverhagen/semcor at the version of this card and run lexiscope data convert; or unpack "
        "http://lcl.uniroma1.it/wsdeval/data/WSD_Training_Corpora.zip, whose folder SemCor holds the same texts and "
        "senses. Then name the folder where SemCor is asked for"
    ),
    remarks=(
        "Names of persons, groups and locations are tagged with these words as lemma (8,741 instances): their form has "
        "nothing to do with it.",
        "878 sentences hold no tagged word; 656 instances have several sense keys.",
    ),
)

CARDS: dict[str, ResourceCard] = {card.name: card for card in (WORDNET, SEMCOR)}
"""All resources by name."""


def resource(name: str) -> ResourceCard:
    """Return the card of a resource.

    Errors: :class:`SpecError` with the names that there are.
    """
    if name not in CARDS:
        raise SpecError(f"there is no resource {name!r}", hint=f"known resources: {', '.join(CARDS)}")
    return CARDS[name]
