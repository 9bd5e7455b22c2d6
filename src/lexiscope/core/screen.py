"""The page on which people answer a task: what it shows of an item, its widget, and how an answer is read.

A task that people can answer has a :class:`Screen` under the name ``SCREEN`` in its folder. The web app draws the page
from it: the stimulus is the task's own template (``screen.html``), the widget, flags and comment box are the app's. A
new task folder therefore appears in the app with no change to the app.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.scale import Scale

Widget = Literal["scale", "choice", "text", "search"]
Words = Mapping[str, str]
ALL_VIEWS = "all"
"""The name, in a file of words, of the part of the guidelines that people read in every view."""
# more points between the ends are not listed one by one
_LISTED = 5
Line = tuple[tuple[str, bool], ...]
"""A line of text in pieces; the pieces marked true are emphasised (a target in its sentence)."""


@dataclass(frozen=True, slots=True)
class Shown:
    """How an item is shown in one trial.

    ``side`` is ``as_given`` or ``swapped`` where the task has two sides. ``order`` is the permutation of the options:
    place *i* of the page shows option ``order[i]`` of the item; empty means as given. ``revealed`` says that the
    target is shown in a second phase, after it was hidden in the first.
    """

    view: str = "full"
    side: str | None = None
    order: tuple[int, ...] = ()
    revealed: bool = False

    @property
    def appears_as(self) -> str:
        """The view that the page shows: ``full`` where the target is revealed.

        >>> Shown("context").appears_as, Shown("context", revealed=True).appears_as
        ('context', 'full')
        """
        return "full" if self.revealed else self.view


@dataclass(frozen=True, slots=True)
class Choice:
    """One option of a choice: what the form sends (``key``), what is stored, and what is read on the page.

    Without ``lines`` the page shows the task's word ``option_<key>``. ``flags`` are stored with the answer ("cannot
    decide" stores an answer and says that it was none).
    """

    key: str
    value: str
    lines: tuple[Line, ...] = ()
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """An answer as it was read from a form and checked: on the scale, one of the options, or text without faults."""

    value: float | None = None
    option: str | None = None
    text: str | None = None
    guessed_word: str | None = None
    flags: tuple[str, ...] = ()
    comment: str | None = None


class AnswerInvalid(InputError):
    """An answer cannot be taken. ``field`` is the field of the form, ``key`` names the task's word for the reason."""

    def __init__(self, field: str, key: str, what: str) -> None:
        self.field, self.key = field, key
        super().__init__(f"{field}: {what}")


def no_values(_item: Item, _shown: Shown) -> Mapping[str, object]:
    """Return no values: the stimulus of a task whose options say everything."""
    return {}


def no_faults(_text: str, _item: Item) -> tuple[str, ...]:
    """Find no fault in a text."""
    return ()


def emphasised_line(text: str, start: int, end: int) -> Line:
    """Return a text in three pieces, its span emphasised; empty pieces are skipped.

    >>> emphasised_line("The bank shuts", 4, 8)
    (('The ', False), ('bank', True), (' shuts', False))
    """
    pieces = ((text[:start], False), (text[start:end], True), (text[end:], False))
    return tuple(piece for piece in pieces if piece[0])


@dataclass(frozen=True, slots=True)
class Habit:
    """How a task is usually run: answers per item, longest list (0: one list), Back, items that must not meet.

    The last are conditions, or ``word``: a list holds one item of each of their values.
    """

    per_item: int = 3
    per_list: int = 50
    back: bool = False
    apart: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QualificationQuestion:
    """A question of a published qualification test: what a page shows, and the answer that is right.

    ``task`` names the task whose page shows it; empty: the task's own.
    """

    question_id: str
    shows: Mapping[str, str]
    accept: str | int
    task: str = ""


@dataclass(frozen=True, slots=True)
class PaperWords:
    """What people of a task's paper read: instructions, qualification test, and texts of the page.

    ``page`` has words of the page by key, empty if the data folder does not have them; ``anchors`` are the words at the
    points of the scale.
    """

    instructions: str
    qualification: tuple[QualificationQuestion, ...]
    page: Words = field(default_factory=dict)
    anchors: tuple[tuple[float, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Writing:
    """What becomes of the texts that people write: a study of the next task asks about them (AmbiStory §3).

    ``text`` is what a text is called, ``next_task`` names the task whose items are made of the accepted ones.
    ``cleaning`` returns the request that a language model clean a text of an item, ``precontext`` (of sentences) that
    it write the text before one, with ``published=True`` in the words of the paper:
    :mod:`lexiscope.build.stories.stories`.
    """

    text: Literal["sentence", "ending"]
    next_task: str
    cleaning: Callable[..., Any]
    precontext: Callable[..., Any] | None = None

    @property
    def file(self) -> str:
        """The name of the table of a study's texts."""
        return f"{self.text}s.csv"


@dataclass(frozen=True, slots=True)
class TaskWords:
    """A user's words of a task in one language, which take the place of the package's, for people and models alike.

    ``words`` are those of ``words.json`` by key, ``anchors`` those at points of the scale, ``guidelines`` the parts of
    the guidelines by view (empty name: for everybody). What is not there is the package's, as far as it knows the
    language (:meth:`Screen.missing_words`).
    """

    language: str
    words: Words = field(default_factory=dict)
    anchors: tuple[tuple[float, str], ...] = ()
    guidelines: Mapping[str, str] = field(default_factory=dict)

    def is_in(self, language: str) -> bool:
        """Whether these are words of a language, in any region."""
        return self.language.partition("-")[0].lower() == language.partition("-")[0].lower()


@dataclass(frozen=True, slots=True)
class Screen:
    """What people see of a task, in addition to the study's own texts.

    ``folder`` holds ``screen.html`` (the stimulus, a Jinja template given what ``stimulus`` returns, ``words`` and
    ``shown``), ``words.json`` (language → key → text) and ``guidelines.md`` (a section per language, and one per part
    that only some views need). Words that every task has: ``question``; that some need: ``question_<view>`` (where a
    view is asked otherwise), ``question_words`` (of an item about two words, ``{target}`` and ``{other}``),
    ``option_<key>``, ``flag_<name>``, ``fold_<name>`` (what opens a fold-out), ``placeholder``, ``guess``, ``another``,
    and one per fault. ``{target}`` and the item's conditions in braces are
    filled in by :meth:`question`.

    ``measure`` is the measure of the stored rows. ``requires`` are the conditions that an item must have, ``n_usages``
    how many usages (0: one for each of its options, whose texts they are). ``shows`` are further columns of an item
    file that the page shows (``group_*``: all that begin so); rows that differ in one of these or of ``requires`` are
    different items. ``word_alone``: an item is about a word without a sentence, so that its file needs no column of
    sentences. ``advance``: ``press`` stores on the press
    of a button, ``next`` on a separate button (:meth:`advance_in`). ``views`` are the views that can be asked;
    ``guess_views`` those with a field for the guessed word; ``reveal_view`` the view that is answered again, target
    shown, in a second phase. ``drawn``: items are drawn from a pool, and another one can be asked for. ``fold_outs``
    are parts that open on demand: ``guidelines``, or a name for which the stimulus has the value ``fold_<name>``.
    ``may_stay_empty``: the answer may be empty if a flag is set. ``examples.jsonl`` holds the worked examples,
    an object with its ``language`` per line; the task's function ``example_items(language)`` makes items of them,
    whose ``gold`` is the correct answer. ``options`` returns the options of an item in a view. ``faults`` returns the
    keys of what is wrong with a text.

    ``on_sheet`` says whether an item is one that a sheet by view asks (:mod:`lexiscope.items.sheets.view_sheet`).
    ``habit`` says how a study of the task is usually run, ``writing`` what becomes of texts that are written for the
    next study. ``published`` makes the tables in which the answers of a study are published, of its judgments
    (:mod:`lexiscope.tasks.kit.published_sheets`), and ``release`` is a file of another shape: its name, and what
    writes it. ``paper_words`` reads, from the data, what the people of the task's paper read in English
    (:class:`PaperWords`). ``given`` are words of the user's own.
    """

    folder: Path
    widget: Widget
    measure: str
    stimulus: Callable[[Item, Shown], Mapping[str, object]] = no_values
    options: Callable[[Item, str], tuple[Choice, ...]] | None = None
    faults: Callable[[str, Item], tuple[str, ...]] = no_faults
    scale: Scale | None = None
    anchors: Mapping[str, tuple[tuple[float, str], ...]] = field(default_factory=dict)
    n_usages: int = 1
    requires: tuple[str, ...] = ()
    shows: tuple[str, ...] = ()
    word_alone: bool = False
    swaps_sides: bool = False
    shuffles_options: bool = False
    advance: Literal["press", "next"] = "next"
    flags: tuple[str, ...] = ()
    comment: bool = True
    may_stay_empty: bool = False
    views: tuple[str, ...] = ("full",)
    guess_views: tuple[str, ...] = ()
    reveal_view: str | None = None
    drawn: bool = False
    fold_outs: tuple[str, ...] = ()
    max_length: int = 1000
    on_sheet: Callable[[Item], bool] | None = None
    habit: Habit = Habit()
    writing: Writing | None = None
    published: Callable[[Any], tuple[Any, ...]] | None = None
    release: tuple[str, Callable[[Any], str]] | None = None
    paper_words: Callable[[], PaperWords] | None = None
    given: TaskWords | None = None

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages in which the task's words are written."""
        return tuple(_words(self.folder / "words.json"))

    @property
    def guided_languages(self) -> tuple[str, ...]:
        """The languages in which the guidelines are written."""
        text = (self.folder / "guidelines.md").read_text(encoding="utf-8")
        own = (self.given.language.partition("-")[0],) if self.given is not None and self.given.guidelines else ()
        return (*re.findall(r"^# ([\w-]+)$", text, re.MULTILINE), *own)

    def missing_words(self, given: TaskWords) -> tuple[str, ...]:
        """Return which of a task's words neither *given* nor the package has in the language, as keys of a words file.

        The English ones are the complete list: ``words.question``, ``guidelines.context`` (``guidelines.all``: of all
        views), ``anchors.1``.
        """
        base, own = given.language.partition("-")[0], replace(self, given=None)
        words = () if base in own.languages else own.words("en")
        parts = () if base in own.guided_languages else own.guideline_sections("en")
        ends = () if self.scale is None or base in self.anchors else (self.scale.low, self.scale.high)
        points = {point for point, text in given.anchors if text}
        return (
            *(f"words.{key}" for key in words if not given.words.get(key)),
            *(f"anchors.{point:g}" for point in ends if point not in points),
            *(f"guidelines.{part or ALL_VIEWS}" for part in parts if not given.guidelines.get(part)),
        )

    def words(self, language: str) -> Words:
        """Return the task's words in a language; ``es-MX`` is answered with ``es``.

        Errors: :class:`InputError` E616 for a language in which they are not written.
        """
        by_language = _words(self.folder / "words.json")
        given = self.given.words if self.given is not None and self.given.is_in(language) else {}
        for name in (language, language.partition("-")[0]):
            if name in by_language:
                return {**by_language[name], **given} if given else by_language[name]
        if given:
            return given
        hint = f"use one of {', '.join(by_language)}, or {_words_hint(self.folder.name, language)}"
        raise InputError(f"the task has no words in {language!r}", code="E616", place=self._place(), hint=hint)

    def guidelines(self, language: str, *, views: Collection[str] | None = None, scale: Scale | None = None) -> str:
        """Return the guidelines in a language, as Markdown: what everybody reads, then the parts of some *views*.

        Without *views* these are all parts (:meth:`guideline_parts`); with none, the part for everybody alone. They
        speak of the numbers of *scale*, or of the task's.
        Errors: :class:`InputError` E616 for a language in which they are not written.
        """
        parts = self.guideline_sections(language)
        shown = [part for part in parts if part and (views is None or part in views)]
        return self.on_scale("\n\n".join(parts[part] for part in ("", *shown)), language, scale)

    def guideline_parts(self, language: str) -> tuple[str, ...]:
        """Return the names of the parts that only some views need: a view, or ``reveal`` for the second phase.

        Errors: :class:`InputError` E616 for a language in which the guidelines are not written.
        """
        return tuple(part for part in self.guideline_sections(language) if part)

    def scale_in(self, language: str, scale: Scale | None = None) -> Scale | None:
        """Return a rating scale with its words in a language: the task's, or another one.

        A scale without words, and with other ends than the task's, gets the task's words at its two ends.
        ``None`` for a task without ratings.
        """
        if self.scale is None:
            return None
        used = scale or self.scale
        anchors = self.anchors.get(language.partition("-")[0], self.scale.anchors)
        if self.given is not None and self.given.anchors and self.given.is_in(language):
            anchors = self.given.anchors
        # the words of the task's own scale are those of one language
        if used.anchors and used != self.scale:
            return used
        if (used.low, used.high, used.step) != (self.scale.low, self.scale.high, self.scale.step) and anchors:
            anchors = ((used.low, anchors[0][1]), (used.high, anchors[-1][1]))
        return replace(used, anchors=anchors)

    def on_scale(self, text: str, language: str, scale: Scale | None = None) -> str:
        """Return a text of the task with the numbers of a rating scale filled in; without one with those of the task's.

        ``{low}`` and ``{high}`` are the ends, ``{between}`` the points between them, ``{point:3}`` is the point that
        lies where 3 lies on the task's scale, ``{anchors}`` a list of the points that have words.
        """
        used = self.scale_in(language, scale)
        if used is None or self.scale is None:
            return text
        own, between = self.scale, _inner_points(used)
        lines = [f"- **{point:g}** – {words}." for point, words in used.anchors]
        if len(used.anchors) < len(used.points or (0, 1, 2)) and "{anchors}" in text:
            lines.insert(1, f"- **{between}** – {self.words(language)['between']}.")
        named = {"low": f"{used.low:g}", "high": f"{used.high:g}", "between": between, "anchors": "\n".join(lines)}
        filled = re.sub(r"\{(low|high|between|anchors)\}", lambda match: named[match[1]], text)
        return re.sub(r"\{point:(\d+)\}", lambda match: f"{used.nearest_to(float(match[1]), of=own):g}", filled)

    def examples(self, language: str) -> tuple[Mapping[str, Any], ...]:
        """Return the task's worked examples in a language, from ``examples.jsonl``."""
        lines = (self.folder / "examples.jsonl").read_text(encoding="utf-8").splitlines()
        rows = [json.loads(line) for line in lines]
        return tuple(row for row in rows if row["language"] == language)

    def question(self, item: Item, language: str, *, view: str = "full") -> str:
        """Return the question that is asked of an item in a view, in a language.

        Errors: :class:`InputError` E617 for a question that names, in braces, what the item does not have.
        """
        words = self.words(language)
        known = {name: str(value) for name, value in item.conditions.items()}
        plain = words["question"] if item.has_one_word else words.get("question_words", words["question"])
        asked = words.get(f"question_{view}", plain)
        named = {"target": item.usages[0].target, "other": item.usages[-1].target, "word": item.word}
        # of a text for each option, the first is the right one
        try:
            return asked.format_map(named | known if self.n_usages else known)
        except KeyError as error:
            what = f"the question {asked!r} names {error}, which this item does not have"
            raise InputError(
                what, code="E617", place=Place(item_id=item.item_id), hint="change the question"
            ) from error

    def advance_in(self, view: str) -> Literal["press", "next"]:
        """Return what stores an answer in a view: not the press of an option if a word is guessed, too."""
        return "next" if view in self.guess_views else self.advance

    def check(self, item: Item) -> None:
        """Check that an item has what the page shows of it.

        Errors: :class:`InputError` E617 naming the item and what is missing.
        """
        lacking = [name for name in self.requires if name not in item.conditions]
        needed = self.n_usages or len(item.options)
        if len(item.usages) != needed:
            lacking.append(f"{needed} usages (it has {len(item.usages)})")
        # options are made of what an item has: what it lacks is said first
        elif not lacking and self.options is not None:
            few = [view for view in self.views if len({choice.key for choice in self.options_of(item, view)}) < 2]
            lacking += [f"two different options in the view {view!r}" for view in few]
        if lacking:
            what = f"an item of this task needs {', '.join(lacking)}"
            raise InputError(what, code="E617", place=Place(item_id=item.item_id), hint="add it as a column")

    def choices(self, item: Item, shown: Shown) -> tuple[Choice, ...]:
        """Return the options in the order in which this trial shows them."""
        options = self.options_of(item, shown.appears_as)
        return tuple(options[place] for place in shown.order) if shown.order else options

    def options_of(self, item: Item, view: str) -> tuple[Choice, ...]:
        """Return the options of an item in a view, as given; none for a task that is not a choice."""
        return self.options(item, view) if self.options is not None else ()

    def values_of(self, item: Item, view: str) -> tuple[str, ...]:
        """Return what is stored for the options of an item in a view."""
        return tuple(choice.value for choice in self.options_of(item, view))

    def read(self, form: Mapping[str, str], item: Item, *, view: str = "full", scale: Scale | None = None) -> Reading:
        """Read and check an answer.

        The form has ``value`` (scale), ``option`` (the key of a choice) or ``text``; and ``guessed_word``,
        ``flag_<name>`` and ``comment`` where the task has them. *view* is the one that the page showed
        (:attr:`Shown.appears_as`); *scale* is the study's, or the task's.
        Errors: :class:`AnswerInvalid` naming the field.
        """
        flags = tuple(name for name in self.flags if form.get(f"flag_{name}"))
        comment = _text(form, "comment") if self.comment else None
        guessed = _text(form, "guessed_word") if view in self.guess_views else None
        if (
            self.may_stay_empty
            and flags
            and not any(form.get(name, "").strip() for name in ("value", "option", "text"))
        ):
            return Reading(flags=flags, comment=comment, guessed_word=guessed)
        if self.widget == "scale":
            return Reading(value=self._value(form, scale), flags=flags, comment=comment, guessed_word=guessed)
        if self.widget == "choice":
            choice = self._choice(form, item, view)
            return Reading(option=choice.value, flags=(*flags, *choice.flags), comment=comment, guessed_word=guessed)
        return Reading(text=self._text(form, item), flags=flags, comment=comment, guessed_word=guessed)

    def _value(self, form: Mapping[str, str], scale: Scale | None) -> float:
        used, value = scale or self.scale, number_in(form.get("value", ""))
        if value is None:
            raise AnswerInvalid("value", "answer_missing", "no point of the scale was chosen")
        if used is None or not used.contains(value):
            raise AnswerInvalid("value", "answer_missing", f"{value:g} is not on the scale")
        return value

    def _choice(self, form: Mapping[str, str], item: Item, view: str) -> Choice:
        options = {choice.key: choice for choice in self.options_of(item, view)}
        key = form.get("option", "")
        if key not in options:
            raise AnswerInvalid("option", "answer_missing", "none of the options was chosen")
        return options[key]

    def _text(self, form: Mapping[str, str], item: Item) -> str:
        text = _text(form, "text")
        if text is None:
            raise AnswerInvalid("text", "answer_missing", "nothing was written")
        if len(text) > self.max_length:
            raise AnswerInvalid("text", "too_long", f"it has {len(text)} characters, at most {self.max_length} fit")
        faults = self.faults(text, item)
        if faults:
            raise AnswerInvalid("text", faults[0], f"the text cannot be accepted: {', '.join(faults)}")
        return text

    def guideline_sections(self, language: str) -> dict[str, str]:
        """Return the parts by name, first that for everybody, whose name is empty, scales not filled in.

        In the file a heading is ``es`` or ``es/context``. Errors: as :meth:`guidelines`.
        """
        text = (self.folder / "guidelines.md").read_text(encoding="utf-8")
        sections: dict[str, dict[str, str]] = {}
        for section in text.removeprefix("# ").split("\n# "):
            heading, _, content = section.partition("\n")
            written, _, part = heading.strip().partition("/")
            sections.setdefault(written, {})[part] = content.strip()
        given = dict(self.given.guidelines) if self.given is not None and self.given.is_in(language) else {}
        for name in (language, language.partition("-")[0]):
            if name in sections:
                return sections[name] | given
        if given:
            return given
        hint = f"use one of {', '.join(sections)}, or {_words_hint(self.folder.name, language)}"
        raise InputError(f"the guidelines are not written in {language!r}", code="E616", place=self._place(), hint=hint)

    def _place(self) -> Place:
        return Place(str(self.folder.name))


def _words_hint(task: str, language: str) -> str:
    return f"write the words yourself: lexiscope annotate words {task} --language {language} --out words.yaml"


def number_in(text: str) -> float | None:
    """Return the number in a field of a form; ``None`` where there is anything but a sign, digits and a decimal point.

    Python reads more than that as a number: spaces, signs, exponents, ``nan``, and digits of any script.

    >>> number_in("-2.50"), number_in("1e9"), number_in("+1"), number_in("1_0")
    (-2.5, None, None, None)
    """
    return float(text) if re.fullmatch(r"-?[0-9]{1,9}(\.[0-9]{1,20})?", text) else None


def _inner_points(scale: Scale) -> str:
    """Name the points between the ends of a scale: one by one, or the first and the last of many."""
    if scale.step:
        inner = [f"{point:g}" for point in scale.points[1:-1]]
        return ", ".join(inner) if len(inner) <= _LISTED else f"{inner[0]}–{inner[-1]}"
    first, last = math.floor(scale.low) + 1, math.ceil(scale.high) - 1
    return f"{first}–{last}" if first < last else "…"


def _text(form: Mapping[str, str], name: str) -> str | None:
    # a page with scripts sends line feeds, one without sends carriage returns too: one text is one text
    return form.get(name, "").replace("\r\n", "\n").strip() or None


@lru_cache
def _words(path: Path) -> Mapping[str, Words]:
    by_language: dict[str, dict[str, str]] = json.loads(path.read_text(encoding="utf-8"))
    return MappingProxyType({language: MappingProxyType(words) for language, words in by_language.items()})
