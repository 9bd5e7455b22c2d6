"""Unified word sense disambiguation: SemCor to train on, SemEval-2007 as dev, five Senseval and SemEval sets as test.

A sense-tagged word in its sentence, the WordNet 3.0 senses of its lemma and part of speech as options, in the lexicon's
order, and one or several right sense keys. There are no recorded answers. :func:`load` returns test and development
items by default: SemCor has 226,036, which take half a minute.
:func:`lexiscope.items.answers.search_space.retrieval_items` makes items of sense retrieval of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Literal

from lexiscope.core.dataset import DataFile, Dataset, DatasetCard
from lexiscope.core.errors import InputError, Place, SpecError
from lexiscope.core.item import Condition, Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.usage import Usage
from lexiscope.items.answers.sense_options import DIVIDER, GLOSSES, join_ids
from lexiscope.resources import fetch
from lexiscope.resources.cards import SEMCOR
from lexiscope.resources.corpora.unified_wsd import POS_OF_TAG, Token, UnifiedCorpus
from lexiscope.resources.lexicons import wordnet
from lexiscope.resources.lexicons.lexicon import Lexicon

Split = Literal["train", "dev", "test"]
OPTIONS = ("split",)
"""What may follow the name: ``wsd?split=train``."""
_SPLITS: dict[str, tuple[Split, ...]] = {
    "test+dev": ("test", "dev"),
    "train": ("train",),
    "dev": ("dev",),
    "test": ("test",),
    "all": ("train", "dev", "test"),
}
SOURCES = ("senseval2", "senseval3", "semeval2007", "semeval2013", "semeval2015")
"""The sets of which the test items are, as the condition ``source`` names them."""

_VERSION = "64d282d5bae75064fc1a0b35fae8b250538411ec"
_AT = f"https://raw.githubusercontent.com/HSLCY/GlossBERT/{_VERSION}/Evaluation_Datasets"
_SHA256 = {
    "ALL/ALL.data.xml": "27a9da01b6d4a1e4dc7c76d15148a38eaa56cc0df371cae4416d04e541b6fe36",
    "ALL/ALL.gold.key.txt": "0bf2ffc38f572587c72b59ea928da676423b99b5a54bd1a83eb4848b517d3170",
    "semeval2007/semeval2007.data.xml": "ff0cb1350acf7d0bf09f05b18c537870c8205f12daa2510099674a227c149f38",
    "semeval2007/semeval2007.gold.key.txt": "06dce0b5892bb5c625ebfd8755d1a31a5a04df6882709aa29c1dcd44befb3b41",
}
_TEST = tuple(DataFile(f"wsd_eval/{name}", f"{_AT}/{name}", sha256) for name, sha256 in _SHA256.items())[:2]
_DEV = tuple(DataFile(f"wsd_eval/{name}", f"{_AT}/{name}", sha256) for name, sha256 in _SHA256.items())[2:]

CARD = DatasetCard(
    name="wsd",
    title="Unified word sense disambiguation (test and development items)",
    task="sense_disambiguation",
    language="en",
    licence="the texts are free for research; their authors and those of the framework ask to be cited",
    citation=(
        "A. Raganato, J. Camacho-Collados, R. Navigli (2017). Word Sense Disambiguation: A Unified Evaluation "
        "Framework and Empirical Comparison. EACL 2017, 99-110. And the papers of its sets: Senseval-2 (Edmonds and "
        "Cotton 2001), Senseval-3 (Snyder and Palmer 2004), SemEval-2007 task 17 (Pradhan et al. 2007), SemEval-2013 "
        "task 12 (Navigli et al. 2013), SemEval-2015 task 13 (Moro and Navigli 2015)"
    ),
    source="http://lcl.uniroma1.it/wsdeval",
    version=f"1.0, as in HSLCY/GlossBERT {_VERSION}",
    availability="download",
    summary="7,253 tagged words of five sets with their WordNet 3.0 senses as options; 455 of them again as dev.",
    files=(*_TEST, *_DEV),
    counts=(("items", 7_708), ("words", 2_659), ("sentences", 1_093)),
    first_item="wsd/test/senseval2.d000.s000.t000",
    last_item="wsd/dev/semeval2007.d002.s057.t003",
    remarks=(
        "Training items (SemCor, 226,036) are those of wsd?split=train and need the resource semcor; all splits need "
        "the resource wordnet.",
        "SemEval-2007 is the development set and a part of the test set too: a model chosen by it is also tested on "
        "it. The condition source distinguishes them.",
        "340 test items have several right senses: any of them is right.",
        "Adjectives have keys of type 3 and 5 (satellites); both are options.",
        "Three targets have other letters than their lemma, as published: '%' for 'percent', 'went on' for 'go_on' and "
        "'went to bed' for 'go_to_bed'.",
        "1,316 test items have one option only; 670 have a lemma that SemCor does not have in that part of speech.",
    ),
)


def load(split: str = "test+dev") -> Dataset:
    """Return the items of a split: ``train``, ``dev``, ``test``, ``test+dev`` or ``all``.

    Errors: :class:`SpecError` for another split; :class:`~lexiscope.core.errors.DataError` where the files, WordNet or
    (for ``train``) SemCor are missing; :class:`InputError` for a right sense that is not among the options.
    """
    if split not in _SPLITS:
        raise SpecError(f"wsd has no split {split!r}", hint=f"use one of {', '.join(_SPLITS)}")
    lexicon = wordnet.load()
    items: list[Item] = []
    checksums: dict[str, str] = {}
    for part in _SPLITS[split]:
        files = {"train": SEMCOR.files, "dev": _DEV, "test": _TEST}[part]
        located = [fetch.locate(file, dataset=SEMCOR.name if part == "train" else CARD.name) for file in files]
        checksums |= {file.path: place.sha256 for file, place in zip(files, located, strict=True)}
        items += _items(UnifiedCorpus(located[0].path, located[1].path), part, lexicon)
    return Dataset(CARD, tuple(items), ResponseTable.empty(), tuple(checksums.items()))


def _items(corpus: UnifiedCorpus, split: Split, lexicon: Lexicon) -> Iterator[Item]:
    @cache
    def senses(lemma: str, tag: str) -> tuple[tuple[str, ...], str]:
        # options and glosses are shared by all items of a word: SemCor has 226,036 items of 22,436 words
        known = lexicon.senses(lemma, POS_OF_TAG[tag])
        glosses = (lexicon.synset(sense.synset_id).gloss for sense in known)
        return tuple(sense.sense_key for sense in known), DIVIDER.join(glosses)

    @cache
    def conditions(source: str, tag: str, glosses: str) -> dict[str, Condition]:
        return {"split": split, "source": source, "pos": POS_OF_TAG[tag], GLOSSES: glosses}

    for token, usage in (tagged for sentence in corpus.sentences() for tagged in sentence.tagged_usages()):
        instance, source = _instance_and_source(token, split)
        options, glosses = senses(token.lemma, token.pos)
        _check_senses(token, usage, options)
        yield Item(
            f"{CARD.name}/{split}/{instance}",
            CARD.name,
            (usage,),
            options,
            join_ids(token.sense_keys),
            conditions=conditions(source, token.pos, glosses),
        )


def _instance_and_source(token: Token, split: Split) -> tuple[str, str]:
    """Return the id of an instance, with the name of its set before it, and that name."""
    instance = token.instance_id or ""
    if split == "test":
        return instance, instance.partition(".")[0]
    source = "semeval2007" if split == "dev" else "semcor"
    return f"{source}.{instance}", source


def _check_senses(token: Token, usage: Usage, options: tuple[str, ...]) -> None:
    missing = [key for key in token.sense_keys if key not in options]
    if missing:
        what = f"{missing[0]} is not a sense of {token.lemma!r} as {token.pos}"
        place = Place(item_id=token.instance_id, text=usage.text)
        raise InputError(what, place=place, hint="use WordNet 3.0, with which the texts were tagged")
