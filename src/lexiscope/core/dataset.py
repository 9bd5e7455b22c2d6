"""A dataset: its card, its items, and the answers of people and models that were published with it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from lexiscope.core.code_file import sha256_of
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item, check_unique_ids
from lexiscope.core.scale import Scale
from lexiscope.core.showing import call_presenter, counted

if TYPE_CHECKING:
    # responses bring numpy and pyarrow, which a card does not need
    from lexiscope.core.response import ResponseTable

_RATED = ("rating", "norm")
Availability = Literal["embedded", "download", "obtain"]


@dataclass(frozen=True, slots=True)
class DataFile:
    """One file of a dataset: its path in the data folder, its address, and its checksum.

    ``path`` is relative to the data folder (``sawc/sawc_avg_relatedness.csv``). ``url`` is any https address; a
    dataset outside the package may also have a ``file://`` address, or a path that starts at the folder of its ``.py``.
    ``sha256`` pins the file; it is ``None`` only where the publisher's file was never seen by us (the card says so).
    """

    path: str
    url: str = ""
    sha256: str | None = None
    optional: bool = False


@dataclass(frozen=True, slots=True)
class DatasetCard:
    """The facts about a dataset that a user needs before using it.

    ``availability``: ``embedded`` in the package, ``download`` from its publisher at a pinned version, or
    ``obtain`` by hand (``how_to_obtain`` says how). ``counts`` are checked when the dataset is loaded.
    ``scale`` is that of the recorded ratings or norms (``None`` where there are none): it differs between datasets.
    ``authorship`` says of each published field who wrote it, where not one hand wrote them all.
    ``raters`` are ``columns`` where the publisher does not say which ratings are of one person.
    """

    name: str
    title: str
    task: str
    language: str
    licence: str
    citation: str
    source: str
    version: str
    availability: Availability
    summary: str
    files: tuple[DataFile, ...] = ()
    counts: tuple[tuple[str, int], ...] = ()
    how_to_obtain: str = ""
    first_item: str = ""
    last_item: str = ""
    remarks: tuple[str, ...] = ()
    scale: Scale | None = None
    authorship: tuple[tuple[str, str], ...] = ()
    raters: Literal["persons", "columns"] = "persons"

    def count(self, name: str) -> int:
        """Return one of the card's counts (``items``, ``responses``, ``participants`` …)."""
        return dict(self.counts)[name]


def own_card(
    path: Path, *, task: str, language: str, scale: Scale | None = None, counts: tuple[tuple[str, int], ...] = ()
) -> DatasetCard:
    """Return the card of a file of the user's own: its name, what was read of it, and its checksum as version."""
    return DatasetCard(
        name=path.stem,
        title=path.name,
        task=task,
        language=language,
        licence="the user's own",
        citation="",
        source=path.name,
        version=sha256_of(path)[:12],
        availability="obtain",
        summary=f"Items of the user's own, read from {path.name}.",
        counts=counts,
        scale=scale,
    )


@dataclass(frozen=True, slots=True)
class SetAside:
    """A published row that is not an item of the dataset: its file and line, its cells, and why it is not used."""

    path: str
    line: int
    reason: str
    cells: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Dataset:
    """Items with the recorded answers of people and models.

    ``responses`` holds human trials and released model distances as ``recorded`` subjects (subject_kind
    ``participant`` or ``encoder``). ``checksums`` maps each file that was read to its sha256. ``set_aside`` keeps
    published rows that are no items, so that an export loses nothing. Where the card names a rating scale, every item
    carries it (models are asked on the scale that people had), and every rating and norm says it.
    """

    card: DatasetCard
    items: tuple[Item, ...]
    responses: ResponseTable
    checksums: tuple[tuple[str, str], ...] = ()
    subjects: tuple[SubjectFacts, ...] = ()
    set_aside: tuple[SetAside, ...] = ()

    def __post_init__(self) -> None:
        check_unique_ids(self.items)
        scale = self.card.scale
        if scale is None:
            return
        items = tuple(item if item.scale is not None else replace(item, scale=scale) for item in self.items)
        object.__setattr__(self, "items", items)
        measured = self.responses.column("measure").astype(str)
        rated = (measured == _RATED[0]) | (measured == _RATED[1])
        if rated.any():
            printed = self.responses.column("scale").astype(object)
            printed[rated] = str(scale)
            object.__setattr__(self, "responses", self.responses.with_column("scale", printed))

    def check_counts(self, *names: str) -> None:
        """Check that the dataset holds as many of these as its card says.

        *names*: ``items``, ``words``, ``sentences`` (distinct texts), ``participants``, ``trials`` (their responses),
        ``lists``, ``set_aside``. Errors: :class:`InputError` naming the first that differs.
        """
        trials = self.responses.where(subject_kind="participant")
        numbers = {
            "items": len(self.items),
            "words": len({item.word for item in self.items}),
            "sentences": len({usage.text for item in self.items for usage in item.usages}),
            "participants": len(trials.unique("subject_id")),
            "trials": len(trials),
            "lists": len(trials.unique("list_id")),
            "set_aside": len(self.set_aside),
        }
        for name in names:
            number = numbers[name]
            if number != self.card.count(name):
                raise InputError(f"{self.card.name} has {self.card.count(name)} {name}; these files hold {number}")

    def __repr__(self) -> str:
        subjects = counted(len(self.responses.unique("subject_id")), "subject")
        size = f"{counted(len(self.items), 'item')}, {counted(len(self.responses), 'response')}, {subjects}"
        return f"Dataset({self.card.name}: {size})"

    def frame(self) -> Any:
        """Return the items as a pandas table, one item a row: id, word, texts, targets, gold answer, conditions."""
        return call_presenter("frame_of", _item_columns(self.items))

    def plot(self, measure: str = "", title: str = "") -> Any:
        """Return the distribution of the recorded answers as a figure (:meth:`ResponseTable.plot`)."""
        return self.responses.plot(measure, title or self.card.title)

    def _repr_html_(self) -> str:
        return cast(str, call_presenter("html_of", self.card.title, _item_columns(self.items[:10]), repr(self)))


def _item_columns(items: tuple[Item, ...]) -> dict[str, list[object]]:
    """Return items as columns; one that no item has is skipped."""
    columns: dict[str, list[object]] = {
        "item_id": [item.item_id for item in items],
        "word": [item.word for item in items],
    }
    for place in range(max((len(item.usages) for item in items), default=0)):
        usages = [item.usages[place] if place < len(item.usages) else None for item in items]
        columns[f"text_{place + 1}"] = [usage and usage.text for usage in usages]
        columns[f"target_{place + 1}"] = [usage and usage.target for usage in usages]
    if any(item.options for item in items):
        columns["options"] = [" | ".join(item.options) for item in items]
    if any(item.gold is not None for item in items):
        columns["gold"] = [item.gold for item in items]
    for name in dict.fromkeys(name for item in items for name in item.conditions):
        # a condition may have the name of a part of the item
        column = f"condition.{name}" if name in columns else name
        columns[column] = [item.conditions.get(name) for item in items]
    return columns


@dataclass(frozen=True, slots=True)
class SubjectFacts:
    """What is known of a model subject (Table 2 of SAW-C): one row of the model registry.

    ``n_parameters`` is counted from the weights where possible, else as published; ``family`` is an explicit
    assignment, never derived from the order of names.
    """

    subject_id: str
    title: str = ""
    kind: str = "encoder"
    languages: tuple[str, ...] = ()
    multilingual: bool | None = None
    family: str = ""
    architecture: str = ""
    corpus: str = ""
    tokenizer: str = ""
    objective: str = ""
    n_layers: int | None = None
    width: int | None = None
    n_parameters: int | None = None
    revision: str = ""
    source: str = ""

    @property
    def short_title(self) -> str:
        """The title without what follows in brackets, as sentences name the subject; empty without a title.

        >>> SubjectFacts("encoder:minilm", "MiniLM (all-MiniLM-L6-v2)").short_title
        'MiniLM'
        """
        return self.title.partition(" (")[0]
