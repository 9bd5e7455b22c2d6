"""The definition of a data collection: one frozen object, one field per decision, for every task.

The fields' descriptions are the comments in the file that a user edits (``definition_file``). Nothing here knows a
task: the task decides what a page shows of an item and how an answer is read. ``launch`` checks whether a definition
may be launched.
"""

from __future__ import annotations

import hashlib
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from lexiscope.core.scale import Scale

T = TypeVar("T")
# a list in the file, a tuple here: a definition does not change once it is read
Listed = Annotated[tuple[T, ...], Field(strict=False)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Text = Annotated[str, Field(min_length=1)]
Answer = str | int | float
_OLDEST, _LARGEST = 120, 10**9


class DefinitionPart(BaseModel):
    """A part of a definition: unknown names are rejected, types are not converted, and it is frozen."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Anchor(DefinitionPart):
    """The label of one point of the scale."""

    point: Finite = Field(description="a point of the scale")
    text: Text = Field(description="its label, in the participants' language")


class ScaleSection(DefinitionPart):
    """The scale on which participants answer."""

    low: Finite = Field(default=1, description="lowest point")
    high: Finite = Field(default=5, description="highest point")
    step: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        default=1, description="step between two points; 0: any value in between"
    )
    anchors: Listed[Anchor] = Field(default=(), description="labels of points, as point and text")

    def scale(self) -> Scale:
        """Return the scale as answers are checked against it."""
        return Scale(self.low, self.high, self.step, tuple((a.point, a.text) for a in self.anchors))


class Confusion(DefinitionPart):
    """Items that must not meet often in one list: those that share a condition."""

    condition: Text = Field(default="word", description="a column of the items; word: the target's lemma")
    at_most: int = Field(
        default=0, ge=0, description="most of them in one list; 0: as few as the number of lists allows"
    )


class DesignSection(DefinitionPart):
    """How items are divided into lists."""

    lists: int = Field(default=1, ge=1, description="number of lists; one participant answers one list")
    per_list: int = Field(default=0, ge=0, description="items per list; 0: every item in exactly one list, evenly")
    shared: int = Field(default=0, ge=0, description="number of items in every list (overlap); needs per_list")
    confusion: Listed[Confusion] = Field(default=(Confusion(),), description="items that must not meet in one list")
    balance: Listed[Text] = Field(default=(), description="conditions spread evenly over the lists, first the main one")
    seed: int = Field(default=1, ge=0, description="seed of lists, orders, sides and catch trials")


class RatingsSection(DefinitionPart):
    """The number of answers per item."""

    per_item: int = Field(
        default=10, ge=1, description="valid answers that every item needs, not counting excluded participants"
    )
    first_wave: int = Field(
        default=0,
        ge=0,
        description="places open at the start; 0: lists × per_item. Places of excluded participants are refilled",
    )
    people_at_most: int = Field(default=0, ge=0, description="highest number of paid participants; 0: no limit")


class LeaseSection(DefinitionPart):
    """How long a place is kept."""

    minutes: Annotated[float, Field(gt=0, allow_inf_nan=False)] = Field(
        default=60, description="minutes without a saved answer after which another participant gets the place"
    )


class CatchSection(DefinitionPart):
    """Trials with two identical sentences."""

    per_list: int = Field(default=1, ge=0, description="catch trials in each list, never first or last")
    answer: Finite = Field(default=5, description="the correct answer")


class PoolSection(DefinitionPart):
    """Items drawn one by one from a pool, for tasks that offer another item (writing sentences)."""

    per_person: int = Field(default=5, ge=1, description="answers that one participant writes")
    at_most: int = Field(
        default=10, ge=0, description="answers per word, after which the word is no longer drawn; 0: no limit"
    )


class KnownQuestion(DefinitionPart):
    """A question with a known answer, or a worked example, shown through the task's own page."""

    id: Text = Field(description="ID in the data")
    task: str = Field(default="", description="task whose page shows the question; empty: the task of the study")
    shows: dict[str, str] = Field(description="content of the page, as columns of an item file: target, sentence_1 …")
    accept: Listed[Answer] = Field(default=(), description="the correct answers")
    explanation: str = Field(
        default="", description="why this is the answer; shown with examples and after practice trials"
    )


class AboutYouOption(DefinitionPart):
    """One answer to a question about the participant."""

    value: Text = Field(description="stored value; exclusion rules use it")
    text: Text = Field(description="text for the participant")


class AboutYou(DefinitionPart):
    """A question about the participant: a choice if there are options, otherwise a line of text or a number."""

    measure: Annotated[str, Field(pattern="^[a-z][a-z0-9_]*$")] = Field(
        description="its name in the data: lower-case letters a to z, digits and _"
    )
    text: Text = Field(description="the question, in the participants' language")
    kind: Literal["choice", "number", "text"] = Field(default="choice", description="choice, number or text")
    options: Listed[AboutYouOption] = Field(default=(), description="the options of a choice")
    required: bool = Field(default=True, description="an answer is required")
    low: Finite = Field(default=0, description="lowest number that is accepted")
    high: Finite | None = Field(
        default=None, description="highest number that is accepted; empty: 120 for age, otherwise no limit"
    )
    step: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        default=1, description="step between two numbers; 1: whole numbers, 0: any number"
    )

    def numbers(self) -> Scale:
        """Return the numbers that are accepted.

        Errors: :class:`InputError` for limits that leave none.
        """
        most = (_OLDEST if self.measure == "age" else _LARGEST) if self.high is None else self.high
        return Scale(self.low, most, self.step)


class StudyTexts(DefinitionPart):
    """What participants read before and after the trials. A changed text is a new version; the version is stored."""

    title: str = Field(default="", description="title of the study")
    consent: str = Field(
        default="", description="consent text (Markdown), required to launch; the page adds duration and pay"
    )
    instructions: str = Field(default="", description="instructions (Markdown)")
    debrief: str = Field(default="", description="text after the last trial")
    screened_out: str = Field(default="", description="text for participants who failed the qualification")
    declined: str = Field(default="", description="text for participants who did not consent")
    full: str = Field(default="", description="text for participants who arrive when no place is free")
    closed: str = Field(default="", description="text for participants who arrive when the study is paused or closed")


class WordsSection(DefinitionPart):
    """The researcher's texts of the task and of the pages, in the study's language; empty: those of the package."""

    task: dict[str, str] = Field(default={}, description="question, options and lines of the page, by name")
    guidelines: dict[str, str] = Field(
        default={}, description="the task's guidelines, by view; all: the guidelines of every view"
    )
    pages: dict[str, str] = Field(default={}, description="buttons and messages of the pages, by their English text")


class Codes(DefinitionPart):
    """The codes that participants return to the platform; no two are equal."""

    completion: str = Field(default="", description="code after the last answer was stored")
    screen_out: str = Field(default="", description="code after a failed qualification; empty without a qualification")
    no_consent: str = Field(default="", description="code without consent")
    full: str = Field(
        default="",
        description="code if no place is free; required with a qualification: participants who pass it are paid",
    )


class Payment(DefinitionPart):
    """The payment of one participant."""

    amount: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        default=0, description="payment per participant; the consent page shows it"
    )
    currency: str = Field(default="EUR", description="EUR, GBP, USD …")
    minutes: Annotated[float, Field(gt=0, allow_inf_nan=False)] = Field(
        default=15, description="expected median time in minutes; the consent page shows it"
    )
    hourly_least: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        default=0, description="minimum pay per hour, required to launch; 0: no minimum"
    )

    @property
    def hourly(self) -> float:
        """Pay per hour at the expected median time. *Unit:* currency per hour."""
        return self.amount * 60 / self.minutes


class Platform(DefinitionPart):
    """Where participants come from, and the link parameters that identify them."""

    kind: Literal["prolific", "panel", "lab"] = Field(
        default="prolific", description="prolific, panel, or lab (one link per participant)"
    )
    participant: Text = Field(default="PROLIFIC_PID", description="link parameter: participant")
    study: str = Field(default="STUDY_ID", description="link parameter: study on the platform")
    session: str = Field(default="SESSION_ID", description="link parameter: session")
    pattern: str = Field(default="", description="regular expression for participant IDs; empty: any ID")
    return_url: str = Field(
        default="", description="address to which the last page links; {code} is replaced by the completion code"
    )


class Retention(DefinitionPart):
    """How long identifying data are kept."""

    platform_ids_days: int = Field(default=90, ge=0, description="days after closing until platform IDs are deleted")
    answers: str = Field(
        default="", description="who keeps the pseudonymous answers, for how long, and where they are published"
    )


class Planned(DefinitionPart):
    """The planned analysis: questions of a study, and a mixed model; ``simulate`` estimates its power.

    The questions become confirmatory if the definition is signed before the first answer (``annotate sign``).
    """

    study: str = Field(default="", description="study whose questions are planned: saw_c; empty: none")
    questions: Listed[Text] = Field(
        default=(), description="planned questions of this study: Q1; `annotate template --study` lists them"
    )
    models: Listed[Text] = Field(
        default=(), description="models to compare with participants: encoder:minilm; other models are exploratory"
    )
    model: str = Field(
        default="", description="mixed model: rating ~ same_sense + (1 | participant) + (1 | item); empty: none"
    )
    effect: str = Field(default="", description="fixed effect to test: same_sense")
    size: Finite = Field(
        default=0.5, description="smallest effect, in points of the scale, that the study should detect"
    )


class StudyDefinition(DefinitionPart):
    """A study in which people answer the items of one task."""

    name: Text = Field(description="short name of the study")
    task: Text = Field(description="question to ask: a task from `lexiscope list tasks`")
    language: Text = Field(description="language of the items and of all texts for participants")
    items: str = Field(default="", description="your item file; a relative path starts at the current folder")
    dataset: str = Field(
        default="", description="published dataset instead of an item file: a name from `lexiscope list datasets`"
    )
    columns: dict[str, str] = Field(
        default={}, description="columns with other names than the usual ones, as part: column"
    )
    scale: ScaleSection = Field(default=ScaleSection(), description="rating scale")
    side: Literal["random", "as_given"] = Field(
        default="random", description="left sentence of a pair: random in every trial, or as_given"
    )
    option_order: Literal["random", "as_given"] = Field(
        default="random", description="order of the options: random in every trial, or as_given"
    )
    comments: bool | None = Field(
        default=None,
        description="a field for a comment in every trial: true or false; empty: as the task has it",
    )
    views: Listed[Text] = Field(
        default=("full",), description="views, one study arm each: full, context, word; each view has separate lists"
    )
    reveal: bool = Field(
        default=False, description="after a view that hides the target, show the same items again with the target"
    )
    search: str = Field(default="", description="file of the entries to search, for tasks answered by a search")
    pool: PoolSection = Field(
        default=PoolSection(), description="items drawn from a pool, for tasks in which participants write"
    )
    back: bool = Field(default=False, description="participants can go back and change an answer")
    design: DesignSection = Field(default=DesignSection(), description="lists: the items that one participant sees")
    ratings: RatingsSection = Field(default=RatingsSection(), description="number of answers")
    lease: LeaseSection = Field(default=LeaseSection(), description="how long a place is reserved")
    catch: CatchSection = Field(
        default=CatchSection(), description="catch trials: the same sentence twice, with a known answer"
    )
    examples: Listed[KnownQuestion] = Field(
        default=(), description="worked examples in the instructions; their words must not be targets"
    )
    practice: Listed[KnownQuestion] = Field(default=(), description="practice trials before the first real one")
    qualification: Listed[KnownQuestion] = Field(
        default=(), description="qualification test before the trials, one attempt; a wrong answer ends the study"
    )
    attention: Listed[KnownQuestion] = Field(
        default=(), description="attention checks among the trials, never first or last"
    )
    about_you: Listed[AboutYou] = Field(default=(), description="questions about the participant")
    exclusions: Listed[Text] = Field(
        default=(), description="exclusion rules, applied in this order; items=catch: the catch trials"
    )
    planned: Planned = Field(default=Planned(), description="planned analysis")
    texts: StudyTexts = Field(default=StudyTexts(), description="texts for participants")
    words: WordsSection = Field(
        default=WordsSection(),
        description="your texts of the task and the pages, from a file of words (annotate words)",
    )
    codes: Codes = Field(default=Codes(), description="completion codes")
    payment: Payment = Field(default=Payment(), description="pay")
    platform: Platform = Field(default=Platform(), description="where participants come from")
    ethics: str = Field(default="", description="ethics statement: board, number, date; required to launch")
    contact: str = Field(default="", description="contact for participants: an e-mail address")
    retention: Retention = Field(default=Retention(), description="data retention")

    @property
    def trials_per_list(self) -> int:
        """Catch trials and attention checks that are added to the items of a list."""
        return self.catch.per_list + len(self.attention)


def text_versions(definition: StudyDefinition) -> dict[str, str]:
    """Return the version of every text: the first 12 digits of its SHA-256, empty where there is no text.

    >>> study = StudyDefinition(name="s", task="relatedness", language="en", texts=StudyTexts(consent="I agree."))
    >>> text_versions(study)["consent"] == hashlib.sha256(b"I agree.").hexdigest()[:12]
    True
    """
    texts: dict[str, str] = definition.texts.model_dump()
    return {name: hashlib.sha256(text.encode()).hexdigest()[:12] if text else "" for name, text in texts.items()}
