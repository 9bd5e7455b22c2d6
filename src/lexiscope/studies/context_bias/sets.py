"""The datasets of a run: of the catalog or the user's own file, each divided into train, dev and test (Table 6)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from lexiscope.analysis.bootstrap import GroupOf
from lexiscope.core import catalog
from lexiscope.core.dataset import Dataset, DatasetCard, own_card
from lexiscope.core.errors import DataError, InputError, SpecError, results_and_errors
from lexiscope.core.item import Item
from lexiscope.core.run import sha256_of
from lexiscope.core.spec import plain_name
from lexiscope.items.answers.search_space import MEASURE_RETRIEVED, SearchSpace, retrieval_items, synset_space
from lexiscope.items.arrange.pairs import SPLITS
from lexiscope.items.arrange.splits import ItemDivision, divide_by_splits
from lexiscope.items.arrange.views import CONTEXT_SPAN, shows_word
from lexiscope.items.check.bias_fitness import bias_fitness
from lexiscope.items.read.labelled_file import divide_file, read_labelled
from lexiscope.resources.lexicons import wordnet
from lexiscope.studies.context_bias.settings import ContextBiasSettings

SETS = ("wic", "wic_tsv", "mcl_wic", "xl_wic", "am2ico?language=zh", "wsd", "aida", "wikification", "wikimed", "cometa")
"""The datasets of the paper: those that are not in a run are listed with the reason."""
DEFAULT = ("wic", "wic_tsv", "mcl_wic")
"""What is run if no dataset is named: the three whose published files are complete and small."""
RETRIEVAL = "wsd?task=sense_retrieval"
"""Names retrieval among all synsets, with the items of ``wsd``."""
VIEWS = ("full", "context", "word", "label")
"""The views on which a model is trained and tested, a separate model on each."""
PAIR_TASKS, RETRIEVAL_TASKS = ("same_sense", "sense_verification"), ("sense_retrieval", "entity_link")

TASKS = {
    "same_sense": "same meaning in two texts",
    "sense_verification": "meaning of a definition",
    "sense_disambiguation": "choice among senses",
    "sense_retrieval": "search among all senses",
    "entity_link": "search among entries",
}
"""The tasks whose items have a part of the input to hide, and what they ask."""

_N_FOLDS = 5
_NOT_ASKED = "Not asked for: "


@dataclass(frozen=True, eq=False)
class AuditSet:
    """A dataset that is audited: its items, divided. ``space`` is what retrieval searches.

    ``caught`` reports how many items of a file are catch trials, which are not used.
    """

    name: str
    title: str
    task: str
    parts: ItemDivision
    card: DatasetCard | None = None
    space: SearchSpace | None = None
    checksums: tuple[tuple[str, str], ...] = ()
    caught: tuple[str, ...] = ()

    @property
    def test(self) -> tuple[Item, ...]:
        """The tested items."""
        return self.parts.test

    @property
    def views(self) -> tuple[str, ...]:
        """The views that are asked; with the published CONTEXT next to ours if an item shows its word a second time."""
        return (*VIEWS, CONTEXT_SPAN) if self.n_shown else VIEWS

    @cached_property
    def n_shown(self) -> int:
        """The number of tested items whose texts show the word outside its span too."""
        return sum(map(shows_word, self.test))

    @property
    def measure(self) -> str:
        """The measure of the rows that answer its items."""
        return MEASURE_RETRIEVED if self.task in RETRIEVAL_TASKS else "choice"

    @property
    def words(self) -> dict[str, str]:
        """The word of every tested item: what is resampled."""
        return GroupOf({item.item_id: item.word for item in self.test}, "words")


@dataclass(frozen=True, slots=True)
class NotUsed:
    """A dataset that is not in the run, and why."""

    name: str
    title: str
    reason: str

    @property
    def was_asked(self) -> bool:
        """Whether the run was asked for it."""
        return not self.reason.startswith(_NOT_ASKED)


def open_sets(settings: ContextBiasSettings) -> tuple[tuple[AuditSet, ...], tuple[NotUsed, ...]]:
    """Load the named sets; return them, and those of the paper or of the call that are not used, with the reason.

    Errors: those of a dataset that is damaged or not fit for an audit; :class:`DataError` if none of those asked for is
    available; those of :func:`own_set`.
    """
    if settings.items:
        return (own_set(Path(settings.items), settings),), ()
    asked = settings.datasets or ((settings.dataset,) if settings.dataset else DEFAULT)
    if len(set(asked)) < len(asked):
        raise InputError(f"the same dataset is asked twice: {', '.join(asked)}")
    loaders = {name: partial(_published_set, name, settings.seed) for name in asked}
    sets, missing = results_and_errors(loaders, DataError)
    if not sets:
        raise next(iter(missing.values()))
    not_used = [NotUsed(name, _title(name), f"Not available: {why.sentences}") for name, why in missing.items()]
    plain, of_paper = ({plain_name(name): name for name in names} for names in (asked, SETS))
    if plain.keys() & of_paper.keys():
        others = [name for short, name in of_paper.items() if short not in plain]
        not_used += [NotUsed(name, _title(name), f"{_NOT_ASKED}--dataset {name}.") for name in others]
    return tuple(sets.values()), tuple(not_used)


def own_set(path: Path, settings: ContextBiasSettings) -> AuditSet:
    """Read a pair file of the user's own and check that it is fit for an audit.

    A file without a column ``split`` is learnt from and tested in folds, if the learners cost seconds; otherwise it is
    divided for a training.
    Errors: those of :func:`~lexiscope.items.read.labelled_file.read_labelled` and :func:`divide_file`.
    """
    file = read_labelled(path, language=settings.language, options=settings, entities=settings.entities)
    # an encoder that searches, or chooses among senses, is trained once: only counting is repeated in folds
    repeated = file.task in PAIR_TASKS or set(settings.encoders) == {"look_up"}
    quick = repeated and not settings.budget and settings.protocol in ("auto", "linear")
    parts = divide_file(file, _N_FOLDS if quick else 0, settings.seed)
    audit = AuditSet(
        path.stem, path.stem, file.task, parts, space=file.space, checksums=((path.name, sha256_of(path)),),
        caught=file.remarks
    )  # fmt: skip
    counts = (("items", len(parts.test)),) if parts.folds else tuple(parts.sizes.items())
    return replace(audit, card=own_card(path, task=file.task, language=settings.language, counts=counts))


def _published_set(name: str, seed: int) -> AuditSet:
    loaded, task, space = _load_items(name)
    if task not in TASKS:
        what = f"{name} asks the task {task!r}, which has no part of the input to hide"
        raise InputError(what, hint=f"context bias is measured on {', '.join(TASKS)}")
    parts = divide_by_splits(loaded.items, seed)
    if task in PAIR_TASKS:
        bias_fitness(parts.with_split_conditions(), needs=SPLITS).require()
    options = name.removeprefix(plain_name(name))[1:]
    title = f"{loaded.card.title} [{options}]" if options else loaded.card.title
    return AuditSet(name, title, task, parts, loaded.card, space, loaded.checksums)


def _load_items(name: str) -> tuple[Dataset, str, SearchSpace | None]:
    module: Any = catalog.module("datasets", plain_name(name))
    if module.CARD.name == "wsd":
        if name not in ("wsd", RETRIEVAL):
            raise SpecError(f"this study needs the whole dataset wsd, not {name}", hint=f"write wsd or {RETRIEVAL}")
        loaded: Dataset = module.load("all")
        if name == "wsd":
            return loaded, loaded.card.task, None
        lexicon = wordnet.load()
        items = retrieval_items(loaded.items, lexicon)
        return replace(loaded, items=items), "sense_retrieval", synset_space(lexicon)
    loaded = catalog.dataset(name)
    if hasattr(module, "sampled") and {item.conditions.get("split") for item in loaded.items} == {"test"}:
        # published without splits: the dataset itself defines how it is divided
        loaded = replace(loaded, items=module.sampled(loaded.items))
    space = module.search_space() if loaded.card.task in RETRIEVAL_TASKS else None
    return loaded, loaded.card.task, space


def _title(name: str) -> str:
    return catalog.card(name).title if catalog.has("datasets", name) else name
