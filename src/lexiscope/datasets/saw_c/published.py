"""SAW-C's published files: their columns, and the 13 encoders whose distances they hold.

Reading checks every file against these cells and writing prints them, so that import and export cannot differ.

Families of encoders are those of the paper's Figure 8: its BERT curve is reproduced with both BETOs, mBERT and
DistilBETO, its RoBERTa curve with both RoBERTa-BNE and XLM-RoBERTa. Fields that we could not confirm are empty.
"""

from __future__ import annotations

from typing import NamedTuple

from lexiscope.core.dataset import DataFile, SubjectFacts
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage

PAIR_COLUMNS = (
    *("Word", "Sentence_1", "Sense_id_s1", "Gender_s1", "Sentence_2", "Sense_id_s2", "Gender_s2"),
    *("context_cue1", "context_cue2", "Same_sense", "Same_gender", "counts", "Tag"),
)
SENTENCE_COLUMNS = ("Sentence", "Word", "Sense_id", "Gender", "Context_cue")
TRIAL_COLUMNS = (
    *("", "Participant", "Response", "Word", "Tag", "Same_sense", "List", "Sentence_1", "Sense_id_s1", "Gender_s1"),
    *("Sentence_2", "Sense_id_s2", "Gender_s2", "context_cue1", "context_cue2", "Same_gender"),
)
NORM_COLUMNS = (
    *("", "List", "Word", "Same_sense", "Sentence_1", "Sentence_2", "Sense_id_s1", "Sense_id_s2"),
    *("Gender_s1", "Gender_s2", "mean_relatedness", "sd_relatedness", "median_relatedness", "count"),
)
TOKEN_COLUMNS = ("", "Word", "Model", "Target_tokens", "Num_tokens_s1", "Num_tokens_s2")

# the byte-level tokenizers see the space before a word: there the published word carries one
LEADING_SPACE = ("roberta-base-bne", "roberta-large-bne")


def item_cells(item: Item) -> dict[str, str]:
    """Return the cells of a pair that its own columns have in every file, by the names of the item file."""
    first, second = item.usages
    conditions = {name: str(value) for name, value in item.conditions.items()}
    return {
        "Word": item.word,
        "Sentence_1": first.text,
        "Sense_id_s1": sense_number(first),
        "Gender_s1": conditions["gender_1"],
        "Sentence_2": second.text,
        "Sense_id_s2": sense_number(second),
        "Gender_s2": conditions["gender_2"],
        "context_cue1": conditions["cue_1"],
        "context_cue2": conditions["cue_2"],
        "Same_sense": conditions["same_sense"],
        "Same_gender": conditions["same_gender_published"],
        "Tag": "__".join(sorted((first.text, second.text))),
    }


def human_cells(item: Item) -> dict[str, str]:
    """Return the cells of a pair as the files of human answers write them."""
    cells = item_cells(item)
    same = cells["Same_sense"] == "True"
    return cells | {
        "Same_sense": "Same Sense" if same else "Different Sense",
        "Same_gender": cells["Same_gender"].upper(),
        "List": item.list_id or "",
    }


def sentence_cells(item: Item, number: int) -> tuple[str, ...]:
    """Return the row of the first (1) or second (2) sentence of a pair in the list of sentences."""
    cells = item_cells(item)
    names = (f"Sentence_{number}", "Word", f"Sense_id_s{number}", f"Gender_s{number}", f"context_cue{number}")
    return tuple(cells[name] for name in names)


def sense_number(usage: Usage) -> str:
    """Return the number of a usage's sense within its word.

    >>> sense_number(Usage("Fue al banco", 7, 12, sense="banco.2"))
    '2'
    """
    return (usage.sense or "").rpartition(".")[2]


UPSTREAM = "https://raw.githubusercontent.com/seantrott/spanish_norms/2a786ac843faa6494261251bcd511811ee51ab80/data"
WITH_STOP, WITHOUT_STOP = "full+final_stop", "full"
# the folder of each view's files, the same here and upstream
FOLDERS: dict[str, str] = {WITH_STOP: "models_stimpunct", WITHOUT_STOP: "models"}
NOT_IN_PAPER = "patana-chilean-spanish-bert"


class _Training(NamedTuple):
    architecture: str
    corpus: str = ""
    tokenizer: str = ""
    objective: str = ""
    multilingual: bool = False


# objectives and sizes of the training texts: SAW-C Table 2, with what it says is uncertain
_MLM = "masked language model"
_SUC = "Spanish Unannotated Corpora, about 3 billion words"
_BNE_TEXT = "National Library of Spain, about 135 billion words (570 GB)"
_BETO_OBJECTIVE = f"{_MLM}, dynamic masking, whole-word masking"
_MBERT_OBJECTIVE = f"{_MLM}, next-sentence prediction; whole-word masking: uncertain"
_BNE_OBJECTIVE = f"{_MLM}; dynamic masking: uncertain"
_WIKIPEDIA = "Wikipedia, 104 languages; number of words: unknown"
_COMMON_CRAWL = "CommonCrawl, 100 languages; number of words, share of Spanish: unknown"
_ALBETO = _Training("albert", _SUC, "SentencePiece, 31k", _MLM)
_BETO = _Training("bert", _SUC, "WordPiece, 31k", _BETO_OBJECTIVE)
_DISTILBETO = _Training("distilbert", _SUC, "WordPiece, 31k", f"distillation, {_MLM}")
_MBERT = _Training("bert", _WIKIPEDIA, "WordPiece, 120k", _MBERT_OBJECTIVE, True)
_BNE = _Training("roberta", _BNE_TEXT, "byte-level BPE, 50k", _BNE_OBJECTIVE)
_XLMR = _Training("xlm-roberta", _COMMON_CRAWL, "SentencePiece, 250k", _MLM, True)
_PATANA = _Training("bert")

# name, title, family, layers, width, parameters (the n_params column of the released files), training
_MODELS: tuple[tuple[str, str, str, int, int, int, _Training], ...] = (
    ("albert-tiny-spanish", "ALBETO tiny", "ALBERT", 4, 312, 5_344_136, _ALBETO),
    ("albert-base-spanish", "ALBETO base", "ALBERT", 12, 768, 11_811_584, _ALBETO),
    ("albert-large-spanish", "ALBETO large", "ALBERT", 24, 1024, 17_811_968, _ALBETO),
    ("albert-xlarge-spanish", "ALBETO xlarge", "ALBERT", 24, 2048, 58_852_864, _ALBETO),
    ("albert-xxlarge-spanish", "ALBETO xxlarge", "ALBERT", 12, 4096, 222_723_584, _ALBETO),
    ("distilbert-base-spanish-uncased", "DistilBETO", "BERT", 6, 768, 66_338_304, _DISTILBETO),
    ("bert-base-spanish-wwm-cased", "BETO", "BERT", 12, 768, 109_850_880, _BETO),
    ("bert-base-spanish-wwm-uncased", "BETO uncased", "BERT", 12, 768, 109_850_880, _BETO),
    ("bert-base-multilingual-cased", "mBERT", "BERT", 12, 768, 177_853_440, _MBERT),
    ("roberta-base-bne", "RoBERTa-BNE base", "RoBERTa", 12, 768, 124_643_328, _BNE),
    ("roberta-large-bne", "RoBERTa-BNE large", "RoBERTa", 24, 1024, 355_356_672, _BNE),
    ("xlm-roberta-base", "XLM-RoBERTa base", "RoBERTa", 12, 768, 278_043_648, _XLMR),
    ("patana-chilean-spanish-bert", "Patana (Chilean Spanish BERT)", "BERT", 12, 768, 109_850_880, _PATANA),
)

_WITH_STOP_SHA256: dict[str, str] = {
    "albert-tiny-spanish": "b0d0eb35c5055436d6f9b7ad2a47b9758473a270795762ceae56c27557e361e0",
    "albert-base-spanish": "0065e41e7aaff3420f31437f70d4b34defe670bddf21c2b752a89efa26bc2e64",
    "albert-large-spanish": "a6042a3834777bd24b10837d3bed5f51434eca3432abe34d7495b9f20ef5ec00",
    "albert-xlarge-spanish": "7e20f4351e9335b25c7551ca59c444670003af64056f7ccdd7101291e3f09892",
    "albert-xxlarge-spanish": "fb5e0f031bdc6ce3914c6d1a89da7cf4c60c3800d1baa1e168407d5e92630fbe",
    "distilbert-base-spanish-uncased": "1a97b4b2d6382ce28ca9ea0e685e1b977407126c720ec91313e66ee1227b9027",
    "bert-base-spanish-wwm-cased": "3391535eb727d465c0bd02ff8333d07e0db9d955465c4b0130493484ebe64f9b",
    "bert-base-spanish-wwm-uncased": "980c1106775545647636c6f44026d8684caa5b6a74ca4491d6d5c3ac0695a46e",
    "bert-base-multilingual-cased": "385e7d565e5e258fde752ad1121345088741e241f3739a844a913a0da45825b3",
    "roberta-base-bne": "84fd53efb16a9469f7dafe80f30e1e1a7d18944c2e32b4cc1bb3d2f09d1e96d7",
    "roberta-large-bne": "d4ffb66e5268f790393785652d0959927dace020967687e0b82af4e9c057682b",
    "xlm-roberta-base": "c8420705ca8357ec487f22b8d787e617462b823776d3759a026ec3b6e633255a",
    "patana-chilean-spanish-bert": "8ccede8669f2b14c4c89717c33e9e863ba2e68b53aa8f5757ac8a4a06e0bf489",
}

_WITHOUT_STOP_SHA256: dict[str, str] = {
    "albert-tiny-spanish": "9d3db894ddef14d0267d30ddb4c19d9c16a3998ff081958e633f11e58b32f4a3",
    "albert-base-spanish": "99a87fdc821db7c292265659155632a10a133503908f1f292bf131be4b592265",
    "albert-large-spanish": "fe56ac23e3a2b6ff141512240b28473a42641a18ee2d613213f5f7c0ad3c035c",
    "albert-xlarge-spanish": "38b6e89e943d2bbb7de224417c8d7b06f8ab2ade50b7aaf52c4d2befbe09772e",
    "albert-xxlarge-spanish": "2396a140f2da42ff0f7129440a74464184cefb6fc96e2ff106dd0b6e0e1d4b82",
    "distilbert-base-spanish-uncased": "d710754bb08c19298f938b915c5da03d0adc477c41784edca068a75ddf5556ac",
    "bert-base-spanish-wwm-cased": "996282fb2980536a995a4af8a72ed424ea8d68ecdf402bfd8d666d84d0eb7885",
    "bert-base-spanish-wwm-uncased": "626af2ca4b8a4281364f920ad93ebbc28e426282dd8cb6833b1de3d98b4149b8",
    "bert-base-multilingual-cased": "dd40b175fdef584c006b0716a8cfc1581db50d41faa539e9cab1fd68631a4b15",
    "roberta-base-bne": "37544c8542a7f357006753265b47cf0cde1aaebde7e0784796569842eb6421fa",
    "roberta-large-bne": "a2652899fe8d2d65e0f7f7975eb70756957dd27f3d6a648219fd7635110c1fad",
    "xlm-roberta-base": "32e4b984af651a24f48c61c6fa2f705424eb5aaa9318f1b4ff7f0251effd7efa",
    "patana-chilean-spanish-bert": "6614223b7da0580b73ae94a38f1e8593c1126eeb6643f59095f7d0a06b45b03c",
}

SUBJECTS: tuple[SubjectFacts, ...] = tuple(
    SubjectFacts(
        subject_id=name,
        title=title,
        languages=() if training.multilingual else ("es",),
        multilingual=training.multilingual,
        family=family,
        architecture=training.architecture,
        corpus=training.corpus,
        tokenizer=training.tokenizer,
        objective=training.objective,
        n_layers=layers,
        width=width,
        n_parameters=parameters,
        source="released with SAW-C, not in the paper" if name == NOT_IN_PAPER else "SAW-C, Table 2",
    )
    for name, title, family, layers, width, parameters, training in _MODELS
)
PAPER_MODELS: tuple[str, ...] = tuple(facts.subject_id for facts in SUBJECTS if facts.subject_id != NOT_IN_PAPER)


def model_file(name: str, view: str) -> DataFile:
    """Return the file of one model's released distances in one view."""
    folder, file = FOLDERS[view], f"sawc-distances_model-{name}.csv"
    pinned = (_WITH_STOP_SHA256 if view == WITH_STOP else _WITHOUT_STOP_SHA256)[name]
    # a folder of data may hold one of the two views only
    return DataFile(
        f"sawc/{folder}/{file}", f"{UPSTREAM}/processed/{folder}/{file}", pinned, optional=view != WITH_STOP
    )
