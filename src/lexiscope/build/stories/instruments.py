"""The instruments of AmbiStory as their authors wrote them: prompts, guidelines, the qualification test.

They are read from the folder ``ambistory/instruments`` of the data, one file each, and are not part of the package. The
files are cut from the text of the paper, whose lines and asterisks are those of a text extraction: a paragraph that
begins in lower case continues the one before it, a word that ends in a hyphen there is one word, and any run
of asterisks is one mark ``**``. *Source:* AmbiStory §5.3.1, A.2.1 to A.2.3, A.3, B.1 to B.3.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Literal

from lexiscope.core.dataset import DataFile
from lexiscope.core.errors import InputError, Place
from lexiscope.core.screen import QualificationQuestion, Words
from lexiscope.resources import fetch

Instrument = Literal[
    "a21_guidelines_sentence",
    "a22_guidelines_ending",
    "a23_guidelines_plausibility",
    "a3_qualification",
    "b1_clean_ending",
    "b1_clean_sentence",
    "b2_precontext",
    "b3_prediction_four_shot",
    "training_string",
]
"""The files, without ``.txt``."""
FOLDER = "ambistory/instruments"
PAGES = "c_interface"
"""The texts of Figures 2 to 4, which appendix C shows as pictures. The file is optional: see :func:`published_page`."""
SHOTS = 4
"""The worked examples of B.3."""

_HOW = (
    f"cut them from the appendices of the paper (Gehring & Roth 2025) and put them into {FOLDER} of the folder that "
    f"{fetch.VARIABLE} names"
)
# how the paragraph begins that the examples follow, and the one whose text follows a colon
_EXAMPLES = "Take a look at"
_ITEM = "Now take a look at"
# which of the two meanings is right; its underlining is lost in the text of the paper
_RIGHT = {"hard": 0, "lousy": 1, "fan": 0, "beat": 1}
_STORY = re.compile(r"Story: (?P<before>.*?) ?\*\*(?P<sentence>.+?)\*\*$")
_WORD = re.compile(r'Most Plausible Meaning of "(?P<word>\w+)":$')
# the number of an appendix, and what its authors say about the text; the last begins where a page may break it
_REMARK = re.compile(
    r"A\.\d|The following are|Please note that the sentence|only added after data|We (?:use GPT-4o|include a similar)"
)
# the marks of headings are lost in the text of the paper: they are short and end without a stop
_HEADING = re.compile(r"[A-Z][A-Za-z ]{3,50}$")
_PLACE = re.compile(r"\{([a-z0-9 ]+)\}")
# a page break, or a dash at the beginning of a line, within a sentence
_GOES_ON = re.compile(r"(?:- )?[a-z]")
_RATED = re.compile(r"Plausibility of the meaning ‘(?P<sense>.+)’:$")
_POINT = re.compile(r"^- \*\*(?P<point>\d):\*\* (?P<words>.+?)\.?$", re.MULTILINE)
_POINTS = 5


@dataclass(frozen=True, slots=True)
class QualificationStory:
    """One of the four stories of the qualification test (A.3), for both of its versions.

    Writers choose between the two ``senses``; raters rate ``rated`` from 1 to 5. ``right`` is the index of the
    plausible sense.
    """

    precontext: str
    sentence: str
    word: str
    senses: tuple[str, str]
    rated: str
    right: int

    def rated_question(self) -> QualificationQuestion:
        """Return the version of raters on the page of the task: 5 is correct for the plausible sense, 1 otherwise."""
        shows = {"target": self.word, "sentence_1": self.sentence, "precontext": self.precontext, "ending": ""}
        shows |= {"sense": self.rated, "example": ""}
        return QualificationQuestion(f"q_{self.word}", shows, 5 if self.rated == self.senses[self.right] else 1)

    def chosen_question(self, task: str) -> QualificationQuestion:
        """Return the version of writers, on the page of a *task* that offers the glosses of a word in its text."""
        shows = {"target": self.word, "sentence_1": f"{self.precontext} {self.sentence}"}
        return QualificationQuestion(
            f"q_{self.word}", shows | {"glosses": "|".join(self.senses)}, str(self.right + 1), task
        )


def read_instrument(name: Instrument, *, mended: bool = True) -> tuple[str, ...]:
    """Return the paragraphs of an instrument, without the heading of its appendix and the authors' remarks on it.

    *mended*: paragraphs and words that a page break divides are whole again; lists of short lines want none of it.
    Errors: :class:`DataError` if the file is not there, with the place searched and its source.
    """
    file = DataFile(f"{FOLDER}/{name}.txt")
    path = fetch.locate(file, dataset="ambistory", how_to_obtain=_HOW).path
    text = re.sub(r"\*{2,}", "**", path.read_text(encoding="utf-8"))
    paragraphs = [part.strip() for part in re.split(r"\n\s*\n", text) if part.strip()]
    paragraphs = [part for part in paragraphs if not _REMARK.match(part)]
    if not mended:
        return tuple(paragraphs)
    whole: list[str] = []
    for part in paragraphs:
        if not whole or not _GOES_ON.match(part):
            whole.append(part)
        elif whole[-1].endswith("-"):
            whole[-1] = whole[-1][:-1] + part
        else:
            # what was bold up to the break is bold to its end
            broken = re.match(r"(- )?\*\*[^*]*\*\*$", whole[-1])
            whole[-1] = f"{whole[-1][:-2]} {part}**" if broken else f"{whole[-1]} {part}"
    return tuple(whole)


def prediction_prompt(shots: int) -> str:
    """Return the prompt of B.3 with its first *shots* worked examples, ``$story``, ``$target`` and ``$sense`` open.

    The marked sentence of a story is between ``**``. Errors: :class:`InputError` for more shots than it has, and
    for a file that is not that prompt; those of :func:`read_instrument`.
    """
    if not 0 <= shots <= SHOTS:
        raise InputError(f"{shots} shots are asked for, the published prompt has {SHOTS} examples")
    parts = [_without_inner_marks(part) for part in read_instrument("b3_prediction_four_shot")]
    ends = [number for number, part in enumerate(parts) if part.startswith("Correct answer: ")]
    starts = [number for number, part in enumerate(parts) if part.startswith(_EXAMPLES)]
    items = [number for number, part in enumerate(parts) if part.startswith(_ITEM)]
    if len(ends) != SHOTS or len(starts) != 1 or len(items) != 1:
        raise _unlike("b3_prediction_four_shot", f"four examples after '{_EXAMPLES} …', then '{_ITEM} …'")
    first = starts[0] if shots == 0 else ends[shots - 1] + 1
    asked = parts[items[0]].partition(": ")[0]
    kept = [*parts[:first], f"{asked}: {{story}}", *parts[items[0] + 1 :]]
    return _template("b3_prediction_four_shot", kept, {"story": "story", "word": "target", "word sense": "sense"})


def training_prompt() -> str:
    """Return the story, without marks, and behind it the string of §5.3.1.

    ``$plain_story``, ``$target``, ``$sense`` and ``$example`` are open. The text between story and string is not
    published: here it is an empty line. Errors: those of :func:`prediction_prompt`.
    """
    names = {"story": "plain_story", "homonym": "target", "definition": "sense", "example sentence": "example"}
    return _template("training_string", ["{story}", *read_instrument("training_string")], names)


def drafting_prompt(name: Instrument, values: Mapping[str, str]) -> str:
    """Return a prompt of B.1 or B.2 with its places filled in; *values* has the text of each.

    Errors: :class:`InputError` for a file that has other places; those of :func:`read_instrument`.
    """
    text = "\n\n".join(_lists_joined(read_instrument(name)))
    if set(_PLACE.findall(text)) != set(values):
        raise _unlike(name, ", ".join(f"{{{place}}}" for place in values))
    # one pass: braces in a participant's text mean nothing
    return _PLACE.sub(lambda place: values[place[1]], text)


def published_guidelines(name: Instrument) -> str:
    """Return guidelines that people read, as Markdown: A.2.1, A.2.2 or A.2.3.

    Errors: those of :func:`read_instrument`.
    """
    parts = read_instrument(name)
    return "\n\n".join(_lists_joined(f"## {part}" if _HEADING.match(part) else part for part in parts)) + "\n"


def published_anchors() -> tuple[tuple[float, str], ...]:
    """Return the words at the points of the plausibility scale, as the guidelines of A.2.3 have them.

    Errors: :class:`InputError` for a file without five points; those of :func:`read_instrument`.
    """
    name: Instrument = "a23_guidelines_plausibility"
    points = _POINT.findall("\n".join(read_instrument(name)))
    if [point for point, _ in points] != [str(number) for number in range(1, _POINTS + 1)]:
        raise _unlike(name, f"a list of {_POINTS} points, each as '- **1:** …'")
    return tuple((float(point), words) for point, words in points)


def published_page(begins: Mapping[str, str], *, word: str = "", place: str = "") -> Words:
    """Return texts of a page of appendix C by key: for each key the paragraph that begins with these words.

    *word* is the ambiguous word of the figure, in whose place the text has the *place* of a task's word (``{target}``).
    Empty if the data folder has no file ``c_interface.txt``: the instruments' files are cut from text, and these are
    pictures, whose words a user may type or cut from a text extraction.
    Errors: :class:`InputError` for a file without one of the paragraphs, or without the word in it.
    """
    file = fetch.locate_optional(DataFile(f"{FOLDER}/{PAGES}.txt"), dataset="ambistory")
    if file is None:
        return {}
    text = file.path.read_text(encoding="utf-8")
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", text)]
    page: dict[str, str] = {}
    for key, begin in begins.items():
        paragraph = next((part for part in paragraphs if part.startswith(begin)), None)
        if paragraph is None:
            raise _unlike(PAGES, f"a paragraph that begins with '{begin} …'")
        page[key] = re.sub(rf"\*{{0,2}}\b{word}\b\*{{0,2}}", place, paragraph) if word else paragraph
        if place not in page[key]:
            raise _unlike(PAGES, f"the word {word!r} in the paragraph that begins with '{begin} …'")
    return page


def published_qualification() -> tuple[QualificationStory, ...]:
    """Return the four stories of the qualification test (A.3).

    Errors: :class:`InputError` for a file that is not that test; those of :func:`read_instrument`.
    """
    parts = read_instrument("a3_qualification", mended=False)
    starts = [number for number, part in enumerate(parts) if part.startswith("Story: ")]
    stories = [_qualification_story(parts[start:end]) for start, end in pairwise([*starts, len(parts)])]
    if [story.word for story in stories] != list(_RIGHT):
        raise _unlike("a3_qualification", f"stories of {', '.join(_RIGHT)}")
    return tuple(stories)


def _qualification_story(parts: tuple[str, ...]) -> QualificationStory:
    story, word = _STORY.match(parts[0]), _WORD.match(parts[1]) if len(parts) > 1 else None
    rated = _RATED.match(parts[4]) if len(parts) > 4 else None
    if story is None or word is None or rated is None or word["word"].lower() not in _RIGHT:
        raise _unlike("a3_qualification", "a story, its word, two meanings, and the meaning that is rated")
    name = word["word"].lower()
    return QualificationStory(
        story["before"], story["sentence"], name, (parts[2], parts[3]), rated["sense"], _RIGHT[name]
    )


def _without_inner_marks(part: str) -> str:
    """Return a paragraph whose marked sentence has its first and last mark only; a numbered point keeps both of its."""
    pieces = part.split("**")
    return part if len(pieces) <= 3 else f"{pieces[0]}**{''.join(pieces[1:-1])}**{pieces[-1]}"


def _lists_joined(parts: Iterable[str]) -> Iterator[str]:
    """Yield paragraphs; points of a list that follow each other are one, a line each."""
    for is_point, several in groupby(parts, key=lambda part: part.startswith(("- ", "* "))):
        if is_point:
            yield "\n".join(several)
        else:
            yield from several


def _template(name: Instrument, parts: Iterable[str], names: Mapping[str, str]) -> str:
    """Return paragraphs as a template: every place ``{…}`` of the instrument under the name that a task fills in."""
    text = "\n\n".join(_lists_joined(parts)).replace("$", "$$")
    if set(_PLACE.findall(text)) != set(names):
        raise _unlike(name, ", ".join(f"{{{place}}}" for place in names if place != "story"))
    return _PLACE.sub(lambda place: f"${{{names[place[1]]}}}", text)


def _unlike(name: str, expected: str) -> InputError:
    place = Place(f"{FOLDER}/{name}.txt")
    return InputError(f"this file is not the instrument {name}", place=place, why=f"it needs {expected}", hint=_HOW)
