"""Stories around an ambiguous sentence, each judged for two meanings; questions for drafting them, sheets of tags.

AmbiStory §3.3: ending A is written for meaning 1, ending B for meaning 2, and the third story is left open. Six samples
of a setup therefore share the sentence and the sentences before it; two of a story share the ending as well.

On the sheets, people tag single answers: why a model's rating of a story is wrong, what a rater's comment is about. A
row shows a story with its ambiguous word in brackets, the meaning that was judged, and the answer. Which subject, or
which rater, gave it is not shown. *Source:* AmbiStory §5.2 (the three kinds of error), §4.2 (what comments tell of
disagreement).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Condition, Item
from lexiscope.core.prompt import ChatQuestion, Message
from lexiscope.core.showing import counted
from lexiscope.core.usage import Usage
from lexiscope.items.sheets.comment_sheet import Comment, anonymous_case_id, comment_sheet, read_comments
from lexiscope.items.sheets.form import TextColumn
from lexiscope.items.sheets.tag_sheet import TagSheet
from lexiscope.items.text_rules import count_sentences, word_recurs

TASK = "plausibility"
EndingOf = Literal["A", "B", "open"]
Meaning = Literal["1", "2"]
Intention = Literal["intended", "unintended", "open"]

SAMPLES: tuple[tuple[EndingOf, Meaning], ...] = (
    ("A", "1"),
    ("A", "2"),
    ("B", "1"),
    ("B", "2"),
    ("open", "1"),
    ("open", "2"),
)
"""The six samples of a setup in the published order: whose ending the story has, and which meaning is judged."""

WRITTEN_FOR: Mapping[EndingOf, Meaning | None] = {"A": "1", "B": "2", "open": None}
"""The meaning that an ending was written to favour; an open story favours neither."""


@dataclass(frozen=True, slots=True)
class StorySetup:
    """An ambiguous sentence with the sentences before it, two meanings of its word, and an ending for each.

    ``usage`` is the ambiguous sentence with the homonym's span. ``senses``, ``examples`` and ``endings`` have one text
    for meaning 1 and one for meaning 2. ``extra`` are further conditions of all six samples.
    """

    setup_id: str
    usage: Usage
    precontext: str
    senses: tuple[str, str]
    examples: tuple[str, str]
    endings: tuple[str, str]
    homonym: str = ""
    extra: Mapping[str, Condition] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if not self.homonym:
            object.__setattr__(self, "homonym", self.usage.target)
        lacking = [ending for ending in self.endings if not ending.strip()]
        if lacking or self.precontext != self.precontext.strip():
            raise InputError(
                "a setup needs two endings, and a precontext without outer white space",
                place=Place(item_id=self.setup_id),
                hint="write both endings; the open story is made without one",
            )

    def ending_text(self, ending_of: EndingOf) -> str:
        """Return the last sentence of a story; that of an open story is empty, which is data and no missing value."""
        return {"A": self.endings[0], "B": self.endings[1], "open": ""}[ending_of]


def intention(ending_of: EndingOf, meaning: Meaning) -> Intention:
    """Return whether a story's ending was written for the meaning that is judged.

    >>> [intention(ending_of, meaning) for ending_of, meaning in SAMPLES]
    ['intended', 'unintended', 'unintended', 'intended', 'open', 'open']
    """
    if ending_of == "open":
        return "open"
    return "intended" if WRITTEN_FOR[ending_of] == meaning else "unintended"


def story_samples(
    setup: StorySetup,
    *,
    dataset: str,
    item_ids: Sequence[str] | None = None,
    extra: Sequence[Mapping[str, Condition]] | None = None,
) -> tuple[Item, ...]:
    """Return the six samples of a setup as items for ``plausibility``, in the order of :data:`SAMPLES`.

    *item_ids* replace the ids made of the setup's; *extra* adds conditions to single samples. Neither ids nor the
    conditions ``setup``, ``story``, ``story_kind``, ``ending_of``, ``meaning``, ``intention`` are ever shown: a
    subject that knew them would know which meaning the writer of the ending had in mind.
    """
    ids = item_ids or [f"{setup.setup_id}/{ending_of}-{meaning}" for ending_of, meaning in SAMPLES]
    more = extra or [{} for _ in SAMPLES]
    return tuple(
        Item(item_id, dataset, (setup.usage,), conditions=_conditions(setup, *sample) | dict(setup.extra) | dict(own))
        for item_id, sample, own in zip(ids, SAMPLES, more, strict=True)
    )


def story_text(item: Item, sentence: str) -> str:
    """Return the story of a sample as one text, its ambiguous sentence written as *sentence* (marked, in brackets).

    >>> shuts = Usage("The bank shuts.", 4, 8)
    >>> item = Item("i", "d", (shuts,), conditions={"precontext": "It is six. ", "ending": ""})
    >>> story_text(item, shuts.bracketed)
    'It is six. The [bank] shuts.'
    """
    parts = (str(item.condition("precontext")).strip(), sentence, str(item.condition("ending")))
    return " ".join(part for part in parts if part)


def _conditions(setup: StorySetup, ending_of: EndingOf, meaning: Meaning) -> dict[str, Condition]:
    which = int(meaning) - 1
    return {
        "precontext": setup.precontext,
        "ending": setup.ending_text(ending_of),
        "sense": setup.senses[which],
        "example": setup.examples[which],
        "homonym": setup.homonym,
        "setup": setup.setup_id,
        "story": f"{setup.setup_id}/{ending_of}",
        "story_kind": "open" if ending_of == "open" else "ended",
        "ending_of": ending_of,
        "meaning": meaning,
        "intention": intention(ending_of, meaning),
    }


# -- stories of a user's own: what their design leaves out is read off the texts ------------------------------------


PLACED = ("setup", "story", "story_kind", "ending_of", "meaning", "intention")
_INTENDED = {
    "yes": "intended",
    "true": "intended",
    "no": "unintended",
    "false": "unintended",
    # an open story has no ending that could be meant; an empty field says nothing
    "open": "",
    "": "",
}


def placed_stories(items: Sequence[Item]) -> tuple[Item, ...]:
    """Return items for ``plausibility`` with their place in a setup, if they do not have it.

    Stories of one setup share the sentence with the word and the text before it; they differ in their endings, of any
    number, and in the meaning that is judged. ``setup``, ``ending_of`` and ``meaning`` are kept if the items have
    them; otherwise setups, endings and meanings are numbered in the order of the items (``open``: without an ending).
    Which meaning an ending was written for is known from ``intention`` (``intended``, ``unintended``) or ``intended``
    (yes, no); from ``ending_of`` and ``meaning`` if they are called as in AmbiStory (A is written for 1, B for 2);
    otherwise it is ``unknown``.

    Errors: :class:`InputError` with the item for one without the judged meaning, and for an
    ``intended`` that cannot be read.
    """
    setups: dict[object, str] = {}
    endings: dict[str, dict[str, str]] = {}
    meanings: dict[str, dict[str, str]] = {}
    made = []
    for item in items:
        has = {name: str(item.conditions.get(name, "")).strip() for name in (*PLACED, *_READ)}
        at = Place(item_id=item.item_id)
        if not has["sense"]:
            hint = "give the item file a column sense with the meaning that people judge"
            raise InputError("the item does not name the meaning that is judged", place=at, hint=hint)
        if has["intended"].casefold() not in _INTENDED:
            hint = "write yes or no: was the ending written for this meaning? Leave it empty where that is not known"
            raise InputError(f"{has['intended']!r} in the column intended", place=at, hint=hint)
        key = (item.word, has["precontext"], item.usages[0].text)
        setup = has["setup"] or setups.setdefault(key, f"{item.word}-{len(setups) + 1}")
        own_endings, own_meanings = endings.setdefault(setup, {}), meanings.setdefault(setup, {})
        meaning = has["meaning"] or own_meanings.setdefault(has["sense"], str(len(own_meanings) + 1))
        ending_of = "open"
        if has["ending"]:
            ending_of = has["ending_of"] or own_endings.setdefault(has["ending"], f"ending {len(own_endings) + 1}")
        told = has["intention"] or _INTENDED[has["intended"].casefold()]
        told = told or next((intention(*sample) for sample in SAMPLES if sample == (ending_of, meaning)), "unknown")
        place = {
            "setup": setup,
            "story": f"{setup}/{ending_of}",
            "story_kind": "open" if ending_of == "open" else "ended",
            "ending_of": ending_of,
            "meaning": meaning,
            "intention": "open" if ending_of == "open" else told,
        }
        texts = {name: has[name] for name in _READ[:3]} | {"homonym": has["homonym"] or item.usages[0].target}
        made.append(replace(item, conditions={**texts, **item.conditions, **place}))
    return tuple(made)


_READ = ("precontext", "ending", "example", "sense", "intended", "homonym")


# -- drafting -------------------------------------------------------------------------------------------------------
# Questions for which a language model drafts a text, and what must be right with the draft before a person sees it.
#
# A draft is a proposal: it goes on only when a person accepts it, the original text is kept, and it is marked with the
# name of the model (AmbiStory B.1, B.2; collection.md §2.2).


NOT_THREE_SENTENCES = "not_three_sentences"
_SENTENCES = 3


@dataclass(frozen=True, slots=True)
class DraftRequest:
    """One text to be drafted.

    ``draft_id`` is that of the answer or setup it is for, ``field`` what it is (``sentence``, ``ending``,
    ``precontext``, ``example``). ``raw`` is the text that it would replace (empty where there is none yet). ``faults``
    says what is wrong with a draft.
    """

    draft_id: str
    field: str
    raw: str
    question: ChatQuestion
    faults: Callable[[str], tuple[str, ...]]


def drafting_question(
    prompt: Path, about: str, *, word: str, variant: str, language: str = "en", max_tokens: int = 200
) -> ChatQuestion:
    """Return the question: the instructions of a file, with the word in its place, then what they are about.

    Errors: :class:`OSError` where the file of the prompt is not there.
    """
    # lines of the file are wrapped for reading: only an empty line ends a paragraph
    instructions = " ".join(prompt.read_text(encoding="utf-8").split("\n")).replace("  ", "\n\n").strip()
    # the word is put in by replacing: braces in a participant's word mean nothing
    told = instructions.replace("{word}", word)
    messages = (Message("system", told), Message("user", about))
    return ChatQuestion(messages, max_tokens=max_tokens, variant=variant, language=language)


def published_drafting_question(told: str, *, variant: str, language: str, max_tokens: int = 200) -> ChatQuestion:
    """Return a question in the words of a paper (:func:`~lexiscope.build.stories.instruments.drafting_prompt`).

    It is one message of the user. Errors: :class:`InputError` E616 for a text that is not English.
    """
    if language.partition("-")[0] != "en":
        hint = "draft without --wording published"
        raise InputError(f"the published prompt is not written in {language!r}", code="E616", hint=hint)
    return ChatQuestion(
        (Message("user", told),), max_tokens=max_tokens, variant=f"{variant}_published", language=language
    )


def precontext_faults(text: str, word: str, language: str) -> tuple[str, ...]:
    """Return what is wrong with a precontext: it is three sentences, and the ambiguous word is not in them.

    Whether it leaves the ambiguity open, people decide.

    >>> precontext_faults("It rained. Ana read. The bank shut.", "bank", "en")
    ('word_recurs',)
    >>> precontext_faults("It rained all day.", "bank", "en")
    ('not_three_sentences',)
    """
    count = None if count_sentences(text, language) == _SENTENCES else NOT_THREE_SENTENCES
    return tuple(fault for fault in (count, word_recurs(text, word)) if fault is not None)


TAGS: Mapping[str, str] = {
    "red_herring": "a word of the story fits the wrong meaning, and seems to have decided the answer",
    "open_ended": "the story leaves the meaning open, and the answer takes a side",
    "sense_distinction": "the two meanings are close, and the answer does not keep them apart",
}
"""The tags of errors, and what each means."""


@dataclass(frozen=True, slots=True)
class RatedCase:
    """One answer to an item: the subject, the answer, and the mean and SD (n − 1) of people's ratings.

    ``comment`` is what a rater wrote with the rating.
    """

    item: Item
    subject: str
    answer: float
    mean: float
    sd: float
    comment: str = ""

    @property
    def case_id(self) -> str:
        """An id made of item and subject alone; it does not tell the subject's name."""
        return anonymous_case_id(self.item.item_id, self.subject)


def commented_cases(
    path: Path,
    items: Mapping[str, Item],
    ratings: Mapping[tuple[str, str], float],
    norms: Mapping[str, tuple[float, float]],
) -> tuple[tuple[RatedCase, ...], int]:
    """Return the comments of a file with their ratings, and the number of those without one.

    The file is a table with the columns item_id, participant_id and comment, as the export of a study has them
    (``judgments.csv``); rows without a comment are passed over. *items* are by their ids, *ratings* by rater and item,
    *norms* are the mean and the SD (n − 1) of the ratings of each item.
    Errors: :class:`InputError` for a file without these columns, a rater with two comments on one item (with its line),
    and if no comment belongs to one of the ratings.
    """
    comments = read_comments(path)
    rated: dict[tuple[str, str], Comment] = {}
    for comment in comments:
        key = (comment.participant_id, comment.item_id)
        if key in rated:
            # one in each of two phases, of which a run has one rating
            place = Place(str(path), item_id=comment.item_id)
            what = "this rater has two comments on this item"
            raise InputError(what, code="E472", place=place, hint="join the two")
        rated[key] = comment
    cases = {
        (rater, item): RatedCase(items[item], rater, ratings[rater, item], *norms[item], comment.text)
        for (rater, item), comment in rated.items()
        if (rater, item) in ratings
    }
    n_others = len(comments) - len(cases)
    if not cases:
        what = f"none of {counted(n_others, 'comment')} belongs to a rating of this run"
        hint = "give the judgments of the same study, with its ids of items and participants"
        raise InputError(what, place=Place(str(path)), hint=hint)
    return tuple(cases.values()), n_others


_SHOWN: tuple[TextColumn[RatedCase], ...] = (
    TextColumn("story", lambda case: story_text(case.item, case.item.usages[0].bracketed)),
    TextColumn("meaning", lambda case: str(case.item.condition("sense"))),
    TextColumn("example", lambda case: str(case.item.condition("example"))),
    TextColumn("people", lambda case: f"{case.mean:.2f} ± {case.sd:.2f}"),
    TextColumn("answer", lambda case: f"{case.answer:g}"),
)
ERROR_SHEET: TagSheet[RatedCase] = TagSheet(
    "a sheet of error tags",
    "error_tag",
    TASK,
    TAGS,
    _SHOWN,
    case_id=lambda case: case.case_id,
    item_id=lambda case: case.item.item_id,
    remarks="comment",
)
"""The sheet of wrong answers of models."""
COMMENT_SHEET: TagSheet[RatedCase] = comment_sheet(
    TASK,
    _SHOWN,
    comment=lambda case: case.comment,
    case_id=lambda case: case.case_id,
    item_id=lambda case: case.item.item_id,
)
"""The sheet of raters' comments, with the story and what other people answered."""
