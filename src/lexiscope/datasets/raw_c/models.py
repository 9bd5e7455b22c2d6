"""The models that answered RAW-C after its publication: 12 encoders by layer (SAW-C A.3), and two chat models.

Families are those of SAW-C's Figure 11. The distances were released with the Contextualized Sensorimotor Norms, the
ratings of the chat models with Trott (2024).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lexiscope.core.dataset import DataFile, SubjectFacts
from lexiscope.core.item import Item
from lexiscope.core.reply import MEASURE_REPLY, read_rating
from lexiscope.core.response import ResponseTable
from lexiscope.core.scale import Scale
from lexiscope.items.read.layer_distances import ReleasedDistances
from lexiscope.resources.fetch import locate_optional
from lexiscope.resources.tables.delimited import DelimitedTable, read_csv

_DISTANCES = (
    "https://raw.githubusercontent.com/seantrott/cs_norms/713a12f0682b5b237f0a5e590cef501025cff140/data/processed/"
    "models_english"
)
_RATINGS = (
    "https://raw.githubusercontent.com/seantrott/llm_norms/bd244b441e58f9ab3ffd554d9576eda4e10a9b59/data/processed/"
    "raw-c"
)

# name, title, family, layers, width, parameters (the n_params column of the released files), multilingual, sha256
_ENCODERS: tuple[tuple[str, str, str, int, int, int, bool, str], ...] = (
    ("albert-base-v1", "ALBERT base v1", "ALBERT", 12, 768, 11_683_584, False,
     "bffb1725289ae1b76b6ab230daa5a90ec27980790e5e93195cadbfb8685fe578"),
    ("albert-base-v2", "ALBERT base v2", "ALBERT", 12, 768, 11_683_584, False,
     "e5718d28a8d89a4d2322ffbd6913ca8899f91e27776d885f20f758edb93bc5cf"),
    ("albert-large-v2", "ALBERT large v2", "ALBERT", 24, 1024, 17_683_968, False,
     "e1ead38fef7fc13803aea480befb92ceb12d2e8a15cc3c87efa41d20b0594c06"),
    ("albert-xlarge-v2", "ALBERT xlarge v2", "ALBERT", 24, 2048, 58_724_864, False,
     "70ee886e1f2028cbd95e6a21340c70ecebc420b6affd70c1fe05200135e18610"),
    ("albert-xxlarge-v2", "ALBERT xxlarge v2", "ALBERT", 12, 4096, 222_595_584, False,
     "fad12fbfaf2639eed8aa9e07514e9e5dedd2bd512df238777e8e36488fda67e3"),
    ("distilbert-base-uncased", "DistilBERT", "BERT", 6, 768, 66_362_880, False,
     "69ce62ab077e2e8b025d018caa38232bf010b91a52bfa7ec418eef6276fa7cce"),
    ("bert-base-cased", "BERT cased", "BERT", 12, 768, 108_310_272, False,
     "47b30e9cef6f05a80d6d892cead289256eedb5926cb2aa2ee65d98a6a6b79257"),
    ("bert-base-uncased", "BERT uncased", "BERT", 12, 768, 109_482_240, False,
     "286a4924ceb138a6d95de25d0adcd106ca0afba6721b726fafe3f325c44a9f28"),
    ("bert-base-multilingual-cased", "mBERT", "BERT", 12, 768, 177_853_440, True,
     "edd6b437b417d41693d96aac41c961346d1da744447e2e236112913eecb486f0"),
    ("roberta-base", "RoBERTa base", "RoBERTa", 12, 768, 124_645_632, False,
     "d332e7a2fd7b711fb3e68cbb3654d7b192ba68b30fdf63d4582f4e03d0e87534"),
    ("roberta-large", "RoBERTa large", "RoBERTa", 24, 1024, 355_359_744, False,
     "7ac8060816cbc9ad1f8062f2bec7624ceeeb201179b172ba160709a017ef75d4"),
    ("xlm-roberta-base", "XLM-RoBERTa base", "RoBERTa", 12, 768, 278_043_648, True,
     "3dd3faa4b8fdf996d0ba409ccf5efd14e63fd011ca9181c295c33098ca3eb6c5"),
)  # fmt: skip

_BOOKS = "BookCorpus and English Wikipedia, about 3.3 billion words"
_MLM = "masked language model"
# what each was trained on, how it cuts words, its objective; by the beginning of its name, the first that fits
_TRAINING: tuple[tuple[str, str, str, str], ...] = (
    ("albert-base-v1", _BOOKS, "SentencePiece, 30k", f"{_MLM}, sentence-order prediction; first version"),
    ("albert-", _BOOKS, "SentencePiece, 30k", f"{_MLM}, sentence-order prediction; second version"),
    ("distilbert-", _BOOKS, "WordPiece, 30k", f"distillation, {_MLM}"),
    ("bert-base-cased", _BOOKS, "WordPiece, 29k", f"{_MLM}, next-sentence prediction"),
    ("bert-base-uncased", _BOOKS, "WordPiece, 30k", f"{_MLM}, next-sentence prediction"),
    ("bert-base-multi", "Wikipedia, 104 languages", "WordPiece, 120k", f"{_MLM}, next-sentence prediction"),
    ("roberta-", "English texts, 160 GB", "byte-level BPE, 50k", f"{_MLM}, dynamic masking"),
    ("xlm-roberta-", "CommonCrawl, 100 languages", "SentencePiece, 250k", _MLM),
)

ENCODERS: tuple[SubjectFacts, ...] = tuple(
    SubjectFacts(
        name,
        title,
        languages=() if multilingual else ("en",),
        multilingual=multilingual,
        family=family,
        corpus=corpus,
        tokenizer=tokenizer,
        objective=objective,
        n_layers=layers,
        width=width,
        n_parameters=parameters,
        source="SAW-C A.3, released with the Contextualized Sensorimotor Norms",
    )
    for name, title, family, layers, width, parameters, multilingual, _ in _ENCODERS
    for corpus, tokenizer, objective in [next(facts for start, *facts in _TRAINING if name.startswith(start))]
)
ENCODER_FILES: tuple[DataFile, ...] = tuple(
    DataFile(f"rawc/models_english/{file}", f"{_DISTANCES}/{file}", sha256, optional=True)
    for file, sha256 in ((f"rawc-distances_model-{entry[0]}.csv", entry[-1]) for entry in _ENCODERS)
)
_CHATS = (
    ("gpt-4", "GPT-4", "19fdaac98b317c06d0cc2108de588d345cc62652ae75ae6f735d264be37bfa17"),
    ("gpt-3.5-turbo", "GPT-3.5 Turbo", "7be42ae5fc1f39286f46ea61be3fafc27aca9ad9c217a8f35d975b166963d8b3"),
)
CHATS: tuple[SubjectFacts, ...] = tuple(
    SubjectFacts(name, title, kind="chat", source="Trott (2024), Behavior Research Methods")
    for name, title, _ in _CHATS
)
CHAT_FILES: tuple[DataFile, ...] = tuple(
    DataFile(f"llm_norms/processed/raw-c/raw-c_{name}.csv", f"{_RATINGS}/raw-c_{name}.csv", sha256, optional=True)
    for name, _, sha256 in _CHATS
)

RECITED_FILE = DataFile(
    "llm_norms/processed/glasgow/gpt4_data_contamination_test.csv",
    _RATINGS.replace("raw-c", "glasgow") + "/gpt4_data_contamination_test.csv",
    "3189d61b7f8792753e62a77e99446df4922fda12e30c8671290ca3ed32494222",
    optional=True,
)
"""What GPT-4 wrote where it was asked to continue rows of the Glasgow norms, next to the norms and its own ratings."""


def released_distances(items: Sequence[Item]) -> ReleasedDistances:
    """Return how the distances of the encoders are released: of the sentences with their final stop, as people read."""
    return ReleasedDistances(
        items,
        "full",
        {
            "sentence1": [item.usages[0].text for item in items],
            "sentence2": [item.usages[1].text for item in items],
            "word": [item.word for item in items],
            "string": [item.usages[0].target for item in items],
            "Same_sense": [str(item.conditions["same_sense"]) for item in items],
        },
        "relatedness",
    )


def read_replies(path: Path, items: Sequence[Item], chat: SubjectFacts, scale: Scale) -> ResponseTable:
    """Read the replies of a chat model, each strictly: a reply that is not one point of the scale has no rating.

    Each pair has two rows: ``rating``, and ``reply``, whose option is the kind of reply and whose ``raw`` is its text.
    Errors: :class:`InputError` with file and line for a pair that is unknown, missing or there twice.
    """
    table = read_csv(path)
    index = {tuple(usage.text for usage in item.usages): row for row, item in enumerate(items)}
    table.distinct("sentence1", "sentence2")
    table.expect_length(len(items), "one reply a pair")
    rows = table.join(["sentence1", "sentence2"], index)
    replies = table[f"{chat.subject_id}_response"]
    read = [read_rating(reply, scale) for reply in replies]
    columns = {
        "subject_id": chat.subject_id,
        "subject_kind": chat.kind,
        "item_id": [items[row].item_id for row in rows.tolist()],
        "task": "relatedness",
        "view": "full",
        "raw": list(replies),
    }
    ratings = np.array([np.nan if reply.value is None else reply.value for reply in read])
    said = {"value": (~np.isnan(ratings)).astype(float), "option": [reply.kind for reply in read]}
    return ResponseTable.concat(
        [
            ResponseTable.from_columns(columns | {"measure": "rating", "value": ratings}),
            ResponseTable.from_columns(columns | {"measure": MEASURE_REPLY} | said),
        ]
    )


def recited_table() -> DelimitedTable | None:
    """Return :data:`RECITED_FILE`, a word in each row; ``None`` if it is not available.

    Columns: ``Arousal.M`` the published norm, ``num_response`` what the model recited, ``Arousal`` what it rated.
    *Source:* Trott (2024).
    """
    located = locate_optional(RECITED_FILE, dataset="raw_c")
    return None if located is None else read_csv(located.path)
