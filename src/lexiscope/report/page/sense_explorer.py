"""The sense explorer: words, their induced senses, ten neighbours of each, example sentences, a map of the neighbours.

:func:`explore` collects what is shown. :func:`write_explorer` makes of it one page with a search box, a file that opens
without a network; :func:`explorer_section` a section of any report. Of several subjects, :func:`explore_each` collects
it, and :func:`neighbour_maps`, :func:`sections_with_pages` and :func:`write_pages` show it.
*Source:* GASI §4, Figure 2.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files as package_files
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lexiscope.analysis.senses.similarity import tsne
from lexiscope.core.run import write_atomically
from lexiscope.core.settings import option
from lexiscope.core.subject import Subject
from lexiscope.report.document import Section
from lexiscope.report.figures import Figure, Heading
from lexiscope.report.page.html import new_environment
from lexiscope.report.part import Omission, Part, part_of
from lexiscope.report.plots.senses import MapPoint, SensePoint, colour, key, neighbour_map, sense_map
from lexiscope.report.tables import BOUNDED, Cell, Head, Table, table_of
from lexiscope.senses.entries import SenseEntry, UnknownWord, WordEntry, known_words, make_entries
from lexiscope.senses.examples import Progress, ReadsSenses
from lexiscope.senses.induced_senses import InducedSenses

if TYPE_CHECKING:
    from jinja2 import Environment


EXPLORER, MAP = "The explorer", "Map of neighbours"
"""What a report omits for a subject that has nothing to show."""
# more names than these cannot be read on a map
_NAMES = 60
_NO_VECTORS = "It gives no vectors of its senses."


@dataclass(frozen=True, slots=True)
class ExplorerSettings:
    """What the explorer shows."""

    n_neighbours: int = option(
        10, "number of neighbours of each sense, distinct words", flag="--neighbours", least=1, most=50
    )
    n_best: int = option(
        5, "number of examples of each sense, the most probable ones", flag="--examples", least=0, most=100
    )
    n_drawn: int = option(
        5, "number of further examples of each sense, drawn at random", flag="--random", least=0, most=100
    )
    seed: int = option(0, "random seed of the drawn examples and of the maps", least=0)
    language: str = option("und", "language of the words, for screen readers", metavar="TAG")


@dataclass(frozen=True, slots=True)
class Exploration:
    """What the explorer shows of a subject: the words it knows, those that it does not, and a map of each word.

    ``corpus`` are the names of the files that were read. ``maps`` are in the order of ``words``; a word whose senses
    have no neighbours has none.
    """

    subject_id: str
    about: str
    words: tuple[WordEntry, ...]
    unknown: tuple[UnknownWord, ...]
    maps: tuple[Figure | None, ...]
    corpus: tuple[str, ...]
    settings: ExplorerSettings


def explore(
    reader: ReadsSenses,
    words: Sequence[str],
    files: Sequence[Path] = (),
    *,
    subject_id: str,
    about: str = "",
    settings: ExplorerSettings | None = None,
    progress: Progress | None = None,
) -> Exploration:
    """Collect what the explorer shows of some words: senses, neighbours, examples from *files*, maps.

    *reader* is a subject that chooses among induced senses (``gasi``, ``sense_embedding``), *about* a line on it. The
    corpus is read once. The same subject, words, corpus and settings give the same exploration.
    Errors: :class:`InputError` E731 where no word is in the vocabulary; E702 and E703 for a file that is no text.
    """
    asked = settings or ExplorerSettings()
    known, unknown = known_words(reader, words)
    entries = make_entries(
        reader,
        known,
        files,
        n_neighbours=asked.n_neighbours,
        n_best=asked.n_best,
        n_drawn=asked.n_drawn,
        seed=asked.seed,
        progress=progress,
    )
    maps = []
    for done, entry in enumerate(entries, start=1):
        heading = Heading(f"map_{done}", "", f"The senses of {entry.word} and their neighbours")
        maps.append(word_map(reader.induced, entry, heading, seed=asked.seed))
        if progress is not None:
            progress("maps", done, len(entries))
    names = tuple(path.name for path in files)
    return Exploration(subject_id, about, entries, unknown, tuple(maps), names, asked)


_WHOLE_TEXTS = "It chooses a sense by the whole text, and examples are found by a window of words in the corpus."


def explore_each(
    subjects: Iterable[Subject],
    words: Sequence[str],
    files: Sequence[Path] = (),
    *,
    titles: Mapping[str, str],
    settings: ExplorerSettings | None = None,
) -> tuple[tuple[Exploration, ...], tuple[Omission, ...]]:
    """Collect what the explorer shows of every subject that knows one of the words, and the omitted subjects.

    An exploration has the short name of its subject, which *titles* give by id. Errors: those of the files.
    """
    explorations, omitted = [], []
    for subject in subjects:
        title = titles.get(subject.subject_id, subject.subject_id)
        if not isinstance(subject, ReadsSenses):
            omitted.append(Omission(EXPLORER, _NO_VECTORS, title))
        elif not any(word in subject.induced.index for word in words):
            omitted.append(Omission(EXPLORER, "It knows none of the words that were named.", title))
        else:
            about, read = subject.facts.title, files
            if files and not subject.window:
                # its senses are shown without examples; the others have theirs
                omitted.append(Omission(f"{EXPLORER}: example sentences", _WHOLE_TEXTS, title))
                read = ()
            explorations.append(explore(subject, words, read, subject_id=title, about=about, settings=settings))
    return tuple(explorations), tuple(omitted)


def word_map(induced: InducedSenses, entry: WordEntry, heading: Heading, *, seed: int = 0) -> Figure | None:
    """Draw the senses of a word and their neighbours by t-SNE of their directions; ``None`` without neighbours.

    A neighbour of two senses is drawn once, with the sense to which it is nearer. If a word has many senses, each has
    fewer names on the map, and the caption gives their number.
    """
    own = list(induced.of(entry.word))
    most = max((len(sense.neighbours) for sense in entry.senses), default=0)
    drawn = max(3, _NAMES // max(1, len(entry.senses)))
    if drawn < most:
        heading = replace(
            heading, caption=f"The {drawn} nearest neighbours of each sense are drawn. {heading.caption}".strip()
        )
    nearest: dict[int, tuple[float, SensePoint]] = {}
    for sense in entry.senses:
        for near in sense.neighbours[:drawn]:
            point = SensePoint(near.word, sense.number, 0.0, 0.0)
            row = induced.row(near)
            if row not in nearest or near.distance < nearest[row][0]:
                nearest[row] = near.distance, point
    if not nearest:
        return None
    points = [SensePoint(entry.word, sense.number, 0.0, 0.0, itself=True) for sense in entry.senses]
    points += [point for _, point in nearest.values()]
    rows = induced.vectors([*own, *nearest]).astype(np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    places = tsne(rows / np.where(lengths > 0, lengths, 1.0), seed=seed)
    placed = [replace(point, x=x, y=y) for point, (x, y) in zip(points, places.tolist(), strict=True)]
    return sense_map(placed, heading)


def neighbours_by_sense(induced: InducedSenses, entry: WordEntry, heading: Heading, *, seed: int = 0) -> Figure:
    """Draw the neighbours alone, each as often as it is one, by t-SNE of their directions (GASI, Figure 2).

    The vector of a neighbour is that of its sense that is near. At least one sense needs neighbours.
    """
    points = [(sense.number, near) for sense in entry.senses for near in sense.neighbours]
    vectors = induced.vectors([induced.row(near) for _, near in points])
    places = tsne(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), seed=seed)
    drawn = [
        MapPoint(near.word, f"sense {sense}", x, y)
        for (sense, near), (x, y) in zip(points, places.tolist(), strict=True)
    ]
    return neighbour_map(drawn, heading)


def neighbour_maps(
    subjects: Sequence[Subject],
    explorations: Sequence[Exploration],
    words: Sequence[str],
    *,
    titles: Mapping[str, str],
    most: int = 6,
    seed: int = 0,
) -> Part:
    """Return maps of the neighbours of each word by each subject, one colour for each sense (GASI, Figure 2).

    *explorations* are those of :func:`explore_each`. A word without two senses that have neighbours has no map, nor has
    one after the first *most*: these are omitted, with the reason.
    """
    if not subjects or not words:
        return part_of(Omission(MAP, "No word was named: --word." if subjects else "No vectors were given: --subject."))
    entries = {(shown.subject_id, entry.word): (entry, shown) for shown in explorations for entry in shown.words}
    figures: list[Figure] = []
    omitted = []
    for word in words:
        for subject in subjects:
            title = titles.get(subject.subject_id, subject.subject_id)
            entry, shown = entries.get((title, word), (None, None))
            if not isinstance(subject, ReadsSenses):
                reason = _NO_VECTORS
            elif entry is None or shown is None or len(entry.senses) < 2:
                reason = f"It has no two senses of {word!r}."
            elif sum(len(sense.neighbours) for sense in entry.senses) < 2:
                reason = f"The senses of {word!r} have no direction, and no neighbours."
            elif len(figures) == most:
                reason = f"{most} maps are drawn: name fewer words or subjects."
            else:
                n = shown.settings.n_neighbours
                caption = f"The {n} words nearest to each sense of {word!r}, placed by t-SNE: only nearness "
                named = f"Neighbours of {word!r}: {title}"
                heading = Heading(f"map_{len(figures) + 1}", "2", named, f"{caption}means something.")
                figures.append(neighbours_by_sense(subject.induced, entry, heading, seed=seed))
                continue
            omitted.append(Omission(MAP, reason, title))
    return part_of(figures, omitted)


def render_explorer(exploration: Exploration) -> str:
    """Return the explorer as one HTML page; the same exploration always gives an identical page.

    Everything that comes from data is escaped. The page runs its own search script, known by its hash, and nothing
    else; it forbids itself all requests. Without scripts it shows all words, and only the search box is missing.
    """
    script = package_files("lexiscope.report").joinpath("templates", "explorer.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    page = _environment().get_template("explorer.html")
    return page.render(shown=exploration, script=script, digest=digest)


def write_explorer(exploration: Exploration, path: Path | str) -> int:
    """Write the page to *path*, all of it or nothing; return its size. *Unit:* bytes."""
    page = render_explorer(exploration).encode()
    write_atomically(Path(path), page)
    return len(page)


def page_name(number: int) -> str:
    """Return the name of the page of a subject, by its place among several.

    >>> page_name(2)
    'senses_2.html'
    """
    return f"senses_{number}.html"


def write_pages(explorations: Sequence[Exploration], folder: Path) -> tuple[str, ...]:
    """Write the page of each exploration into a folder; return their names."""
    pages = {page_name(number): exploration for number, exploration in enumerate(explorations, start=1)}
    for name, exploration in pages.items():
        write_explorer(exploration, folder / name)
    return tuple(pages)


def sections_with_pages(explorations: Sequence[Exploration]) -> list[Section]:
    """Return a section for each exploration, without maps, that names its page (:func:`write_pages`)."""
    sections = []
    for number, exploration in enumerate(explorations, start=1):
        title = f"Senses in {exploration.subject_id}"
        section = explorer_section(exploration, section_id=f"senses_{number}", title=title)
        page = f"The file {page_name(number)} in the folder of this report has all examples, maps and a search box."
        inner = tuple(replace(inner, figures=()) for inner in section.subsections)
        sections.append(replace(section, paragraphs=(*section.paragraphs, page), subsections=inner))
    return sections


def explorer_section(
    exploration: Exploration, *, section_id: str = "senses", title: str = "Senses of words"
) -> Section:
    """Return an exploration as a section of a report, a subsection for each word: a table of senses, and the map.

    For each sense, the share in the corpus, the neighbours and the best example are shown, its target in brackets. The
    names of tables and figures begin with *section_id*.
    """
    unknown = ", ".join(word.word for word in exploration.unknown)
    texts = [*_intro(exploration), *([f"Not in the vocabulary: {unknown}."] if unknown else [])]
    of_words = []
    for number, (entry, figure) in enumerate(zip(exploration.words, exploration.maps, strict=True), start=1):
        tables = (_senses_table(entry, f"{section_id}_{number}"),)
        figures = () if figure is None else (replace(figure, name=f"{section_id}_map_{number}"),)
        of_words.append(Section(f"{section_id}-{number}", entry.word, (word_line(entry),), tables, figures))
    return Section(section_id, title, tuple(texts), subsections=tuple(of_words))


def _intro(exploration: Exploration) -> list[str]:
    """Return the texts that describe the content, for both the page and the section."""
    about = f" ({exploration.about})" if exploration.about else ""
    texts = [
        f"Senses that {exploration.subject_id} has induced{about}. A sense has no definition: it is known by its "
        "neighbours, the words whose nearest sense has the smallest cosine distance from it, each word once."
    ]
    if exploration.corpus:
        texts.append(
            f"Shares and examples come from the occurrences in {', '.join(exploration.corpus)}. A share is the mean "
            "probability of the sense; each example has the model's probability of the sense in it. It "
            "shows how sure the model is, not that it is right."
        )
    return texts


def _senses_table(entry: WordEntry, name: str) -> Table:
    cells: Mapping[Head, Callable[[SenseEntry], Cell]] = {
        "Sense": lambda sense: str(sense.number),
        ("Share", BOUNDED): lambda sense: sense.share,
        "Neighbours": lambda sense: ", ".join(near.word for near in sense.neighbours),
        "Most probable example": _example_text,
    }
    return table_of(name, f"Senses of {entry.word}", entry.senses, cells)


def _example_text(sense: SenseEntry) -> str:
    """Return the most probable example of a sense, its target in brackets; empty without examples."""
    if sense.examples is None or not sense.examples.best:
        return ""
    best = sense.examples.best[0]
    before, target, after = best.text[: best.start], best.text[best.start : best.end], best.text[best.end :]
    return f"{before}[{target}]{after} ({best.probability:.2f})"


def word_line(entry: WordEntry) -> str:
    """Return as text how many senses a word has, which were pruned, and how often it occurs.

    >>> word_line(WordEntry("bank", (SenseEntry(1, ()), SenseEntry(3, ())), (2,), 1200, 40, 1))
    '2 senses (sense 2 was pruned: a duplicate of another). 40 occurrences in the corpus read, 1 of them without ...'
    """
    n, which = len(entry.senses), ", ".join(map(str, entry.pruned))
    pruned = f" (sense {which} was pruned: a duplicate of another)" if which else ""
    if len(entry.pruned) > 1:
        pruned = f" (senses {which} were pruned: duplicates of others)"
    texts = [f"{n} sense{'s' if n != 1 else ''}{pruned}."]
    if entry.n is not None:
        alone = f", {entry.n_alone:,} of them without a known word in the context" if entry.n_alone else ""
        texts.append(f"{entry.n:,} occurrence{'s' if entry.n != 1 else ''} in the corpus read{alone}.")
    if entry.count is not None:
        texts.append(f"{entry.count:,} in the corpus of the training.")
    return " ".join(texts)


def percent(share: float) -> str:
    """Return a share as a whole percentage, never 0 or 100 where it is not.

    >>> percent(0.342), percent(0.9991), percent(0.0004), percent(1.0)
    ('34 %', '> 99 %', '< 1 %', '100 %')
    """
    if np.isnan(share):
        return "–"
    if 0 < share < 0.005:
        return "< 1 %"
    return "> 99 %" if 0.995 <= share < 1 else f"{100 * share:.0f} %"


def _sense_shares(senses: Sequence[SenseEntry]) -> list[tuple[int, float]]:
    """Return number and share of each sense that has one."""
    shares = [(sense.number, sense.share) for sense in senses]
    return [(number, round(share, 4)) for number, share in shares if share is not None and share == share]


@cache
def _environment() -> Environment:
    from markupsafe import Markup

    environment = new_environment()
    environment.filters.update(
        percent=percent,
        place=lambda example: f"{Path(example.path).name}:{example.line}",
        line=word_line,
        intro=_intro,
        shares=_sense_shares,
        key=lambda sense: Markup(key(sense)),
        drawing=lambda figure: Markup(figure.svg),
        colour=colour,
    )
    return environment
