"""Induced senses: a folder that `lexiscope train gasi` wrote, as a subject that chooses a sense for a usage.

``gasi:FOLDER`` reads the words around the target, at most as many on each side as the training's window, without those
that it does not know, as in training. The target is where its span says; other occurrences of it are context. Texts are
cut by the ``own`` tokeniser (:mod:`lexiscope.resources.corpora.running_text`), even if the corpus was cut otherwise:
one that was tokenised already should be cut at the same places. A word is looked up as it is written, then in lower
case, then as the tokeniser writes it. The target's own form is looked up, its lemma is not tried. A target out of the
vocabulary, or of several words, is an error; :meth:`Gasi.knows` tells beforehand. Without a known word in the context,
all senses of a word are equally probable.

``gasi:FOLDER?window=50`` reads up to 50 words on each side instead of the training's window; the maximum is 1000.
``gasi:FOLDER?vectors=sum`` adds the word's context vector to each of its sense vectors where vectors are compared
(similarities, distances); the choice of a sense and neighbours stay as they are. Both change the figures of similarity:
see design/0042. With ``&`` between them both are given.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from lexiscope.core import catalog
from lexiscope.core.errors import SpecError
from lexiscope.core.subject import Floats, SubjectSpec
from lexiscope.core.usage import Usage
from lexiscope.resources.vectors.sense_vectors import SETTINGS, sense_probabilities, window_probabilities
from lexiscope.subjects._options import read_options, split_name
from lexiscope.subjects.senses._sense_subject import SenseFolder

CAPABILITIES = ("Embeds", "ChoosesSense")
TASKS = catalog.TasksThat(capability="ChoosesSense")
_WINDOW, _WIDEST = 5, 1000


@dataclass(frozen=True, slots=True)
class GasiOptions:
    """How a training is asked: words on each side that choose the sense (0: as trained), and what is compared.

    Errors: :class:`SpecError` for a window above 1000.
    """

    window: int = 0
    vectors: Literal["senses", "sum"] = "senses"

    def __post_init__(self) -> None:
        if self.window > _WIDEST:
            raise SpecError(f"a window of {self.window:,} words is too wide", hint=f"use {_WIDEST:,} at most")

    @property
    def given(self) -> dict[str, Any]:
        """The options that are not those of the training."""
        plain = GasiOptions()
        return {name: value for name, value in asdict(self).items() if value != getattr(plain, name)}


def load(spec: SubjectSpec) -> Gasi:
    """Make the subject of a folder. Its vectors are mapped when it is first asked.

    Errors: :class:`SpecError` for a revision, an unknown option, or a value that it does not take.
    """
    name, revision, given = split_name(spec.name)
    if revision:
        raise SpecError(f"{spec.name!r} names no folder of sense vectors", hint="write gasi:FOLDER?window=50")
    options = read_options(GasiOptions, given, of="a training of senses")
    return Gasi(name, called=f"gasi:{spec.name}" if given else "", options=options)


def files_of(spec: SubjectSpec) -> tuple[Path, ...]:
    """Return the files that say which vectors a spec names: the records of the trainings."""
    names = (split_name(SubjectSpec.parse(training).name)[0] for training in trainings_in(spec))
    return tuple(Path(name).expanduser() / SETTINGS for name in names)


def trainings_in(spec: SubjectSpec) -> tuple[str, ...]:
    """Return the specs of the trainings in a folder of trained folders, in the order of their names.

    A spec of a training is itself, as is that of a folder without any. Options are those of each.
    """
    name = split_name(spec.name)[0]
    folder, options = Path(name).expanduser(), spec.name.removeprefix(name)
    inside = sorted(path.parent for path in folder.glob(f"*/{SETTINGS}"))
    several = bool(inside) and not (folder / SETTINGS).is_file()
    return tuple(f"gasi:{path}{options}" for path in inside) if several else (f"gasi:{spec.name}",)


def expand_folders(specs: Sequence[str]) -> tuple[str, ...]:
    """Return specs in which a folder of trained folders is replaced by all of them, each once.

    >>> expand_folders(["sense_embedding:muse:a.txt,b.tsv"])
    ('sense_embedding:muse:a.txt,b.tsv',)
    """
    parsed = [(text, SubjectSpec.parse(text)) for text in specs]
    return tuple(
        dict.fromkeys(
            name for text, spec in parsed for name in (trainings_in(spec) if spec.kind == "gasi" else (text,))
        )
    )


def lineages(trainings: Sequence[Gasi]) -> list[tuple[Gasi, Gasi]]:
    """Return pairs of trainings of which the first has fewer senses than the second, and comes from it.

    Its senses were pruned, or dropped because people confuse them; or it was trained again on the senses that were
    left, which makes it a pair with the vectors before and after.
    """
    pairs = [
        (later, earlier)
        for later in trainings
        for earlier in trainings
        if later.dropped_from and later.dropped_from == earlier.about["files"]
    ]
    again = [
        (training, before)
        for training in trainings
        if not training.dropped_from and not training.vectors.mask.all()
        for dropped, earlier in pairs
        if np.array_equal(training.vectors.mask, dropped.vectors.mask)
        for before in (earlier, dropped)
    ]
    return [*pairs, *again]


class Gasi(SenseFolder):
    """Sense vectors that `lexiscope train gasi` wrote: the words around a target choose its sense."""

    kind = "gasi"
    learnt_by = "negative sampling"

    def __init__(self, name: str, *, called: str = "", options: GasiOptions | None = None) -> None:
        super().__init__(name, called=called)
        self.options = options or GasiOptions()

    @property
    def window(self) -> int:
        """The most words on each side that choose the sense: as in training."""
        return self.options.window or int(self.trained.get("window", _WINDOW))

    @property
    def trained(self) -> Mapping[str, Any]:
        """The settings of its training; empty where its record has none."""
        return cast(Mapping[str, Any], self.about.get("settings", {}))

    @property
    def variant(self) -> str:
        """How a sense was chosen in its training (``sasi``, ``gasi_beta`` …); empty where that is not known."""
        return str(self.trained.get("variant", ""))

    @property
    def beta(self) -> float:
        """The scale β of the noise in a training of GASI-β; not-a-number for the other variants."""
        return float(self.trained.get("beta", math.nan)) if self.variant == "gasi_beta" else math.nan

    @property
    def is_pruned(self) -> bool:
        """Whether senses were pruned and the vectors not trained again."""
        return self.about.get("pruned") is not None

    @property
    def senses_removed(self) -> float:
        """How many senses of a word are not there of those that words have at most, mean over words."""
        n_words, most, _ = self.about["shape"]
        return float(most - int(self.vectors.mask.sum()) / n_words)

    @property
    def dropped_from(self) -> Mapping[str, str]:
        """The checksums of the vectors that these are without some senses (pruned, or confused by people), if any."""
        dropped = self.about.get("pruned") or self.about.get("told_apart") or {}
        return cast(Mapping[str, str], dropped.get("from", {}))

    @property
    def settings(self) -> dict[str, Any]:
        """How it was trained and is asked, for the run record."""
        trained = {"training": self.trained, "pruned": self.about.get("pruned")}
        return {**trained, **({"asked": self.options.given} if self.options.given else {})}

    @property
    def noise_sd(self) -> float:
        """The standard deviation of the noise on c̄·s in its training, β π/√6; 0 without noise, or where none is known.

        *Source:* eq. 10 and 11.
        """
        scale = {"gasi": 1.0, "gasi_beta": float(self.trained.get("beta", 0.0))}.get(self.variant, 0.0)
        return scale * math.pi / math.sqrt(6)

    # -- what it is asked -------------------------------------------------------------------------------------

    def sense_distribution(self, usages: Sequence[Usage]) -> Floats:
        """Return the probability of each sense: softmax(c̄·s_k), 0 for a sense that the word has not.

        *Shape: (usages, K)*. *Source:* eq. 8, without noise.
        Errors: :class:`InputError` E712 for a target out of the vocabulary; :class:`SubjectError` E711.
        """
        rows = [sense_probabilities(self.vectors, self._number(usage), self.context(usage)) for usage in usages]
        return np.array(rows, np.float32).reshape(len(rows), self.vectors.mask.shape[1])

    def signals(self, usages: Sequence[Usage]) -> NDArray[np.float64]:
        """Return c̄·s_k of each usage and sense, before any softmax: NaN for a sense that the word has not.

        All of a usage are NaN without a known word around it. *Shape: (usages, K)*. *Source:* GASI §2.5, Figure 3.
        Errors: those of :meth:`sense_distribution`.
        """
        rows = np.full((len(usages), self.vectors.mask.shape[1]), np.nan)
        for row, usage in enumerate(usages):
            number, window = self._number(usage), self.context(usage)
            if len(window):
                mean = np.asarray(self.vectors.contexts[window], np.float64).mean(axis=0)
                signal = np.asarray(self.vectors.senses[number], np.float64) @ mean
                rows[row] = np.where(self.vectors.mask[number], signal, np.nan)
        return rows

    def distributions(self, word: int, windows: Sequence[Sequence[int]]) -> Floats:
        """Return :meth:`sense_distribution` of one word for many windows of known words' numbers, fast.

        *Shape: (windows, K)*.
        """
        return window_probabilities(self.vectors, word, windows)

    def _compared(self, number: int) -> Floats:
        """Return the vectors of a word that are compared with those of others. *Shape: (K, width)*."""
        own = super()._compared(number)
        return own if self.options.vectors == "senses" else np.asarray(own + self.vectors.contexts[number], np.float32)
