"""What a study with people is: one frozen object, one field per decision, whatever the task.

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
    """A part of a definition: unknown names are refused, types are not converted, nothing changes later."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Anchor(DefinitionPart):
    """The words at one point of the scale."""

    point: Finite = Field(description="a point of the scale")
    text: Text = Field(description="its words, in the participants' language")


class ScaleSection(DefinitionPart):
    """The scale on which participants answer."""

    low: Finite = Field(default=1, description="lowest point")
    high: Finite = Field(default=5, description="highest point")
    step: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        default=1, description="distance of two points; 0: any value between"
    )
    anchors: Listed[Anchor] = Field(default=(), description="words at some points, as point and text")

    def scale(self) -> Scale:
        """Return the scale as answers are checked against it."""
        return Scale(self.low, self.high, self.step, tuple((a.point, a.text) for a in self.anchors))


class Confusion(DefinitionPart):
    """Items that must not meet often in one list: those that share a condition."""

    condition: Text = Field(default="word", description="a column of the items; word: the target's lemma")
    at_most: int = Field(default=0, ge=0, description="so many in one list; 0: as few as the number of lists allows")


class DesignSection(DefinitionPart):
    """How items are divided into lists."""

    lists: int = Field(default=1, ge=1, description="number of lists; one participant answers one list")
    per_list: int = Field(default=0, ge=0, description="items per list; 0: every item in exactly one list, evenly")
    shared: int = Field(default=0, ge=0, description="items that stand in every list (overlap); needs per_list")
    confusion: Listed[Confusion] = Field(default=(Confusion(),), description="items that must not meet in one list")
    balance: Listed[Text] = Field(default=(), description="conditions spread evenly over the lists, first the main one")
    seed: int = Field(default=1, ge=0, description="seed of lists, orders, sides and catch trials")


class RatingsSection(DefinitionPart):
    """How many answers are wanted."""

    per_item: int = Field(default=10, ge=1, description="valid answers that every item needs, exclusions taken away")
    first_wave: int = Field(
        default=0, ge=0, description="places opened at first, whoever is excluded; 0: lists × per_item, then refill"
    )
    people_at_most: int = Field(default=0, ge=0, description="never more paid people than this; 0: no limit")


class LeaseSection(DefinitionPart):
    """How long a place is kept."""

    minutes: Annotated[float, Field(gt=0, allow_inf_nan=False)] = Field(
        default=60, description="minutes without a saved answer after which a place is given to somebody else"
    )


class CatchSection(DefinitionPart):
    """Trials with two identical sentences."""

    per_list: int = Field(default=1, ge=0, description="catch trials in each list, never first or last")
    answer: Finite = Field(default=5, description="the right answer")


class PoolSection(DefinitionPart):
    """Items drawn one by one from a pool, for tasks that offer another one (writing sentences)."""

    per_person: int = Field(default=5, ge=1, description="answers that one participant writes")
    at_most: int = Field(default=10, ge=0, description="answers to items of one word, then it is retired; 0: no limit")


class KnownQuestion(DefinitionPart):
    """A question with a known answer, or a worked example, shown through the task's own page."""

    id: Text = Field(description="its name in the data")
    task: str = Field(default="", description="the task whose page shows it; empty: the study's own task")
    shows: dict[str, str] = Field(description="what the page shows, as columns of an item file: target, sentence_1 …")
    accept: Listed[Answer] = Field(default=(), description="the answers that are right")
    explanation: str = Field(default="", description="what an example says about its answer")


class AboutYouOption(DefinitionPart):
    """One answer to a question about the participant."""

    value: Text = Field(description="what is stored, and what exclusion rules name")
    text: Text = Field(description="what the participant reads")


class AboutYou(DefinitionPart):
    """A question about the participant: a choice where there are options, else a line of text."""

    measure: Annotated[str, Field(pattern="^[a-z][a-z0-9_]*$")] = Field(
        description="its name in the data: small letters a to z, digits and _"
    )
    text: Text = Field(description="the question, in the participants' language")
    kind: Literal["choice", "number", "text"] = Field(default="choice", description="choice, number or text")
    options: Listed[AboutYouOption] = Field(default=(), description="the options of a choice")
    required: bool = Field(default=True, description="must it be answered")
    low: Finite = Field(default=0, description="lowest number that is taken")
    high: Finite | None = Field(default=None, description="highest number; none given: 120 for age, else no limit")
    step: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        default=1, description="distance of two numbers; 1: whole numbers, 0: any number"
    )

    def numbers(self) -> Scale:
        """Return the numbers that are taken.

        Errors: :class:`InputError` for limits that leave none.
        """
        most = (_OLDEST if self.measure == "age" else _LARGEST) if self.high is None else self.high
        return Scale(self.low, most, self.step)


class StudyTexts(DefinitionPart):
    """What participants read around the trials. A changed text is another version, and its version is stored."""

    title: str = Field(default="", description="title of the study")
    consent: str = Field(default="", description="consent; without it the study is not launched")
    instructions: str = Field(default="", description="instructions (Markdown)")
    debrief: str = Field(default="", description="what is said at the end")
    screened_out: str = Field(default="", description="to who failed the qualification")
    declined: str = Field(default="", description="to who did not consent")
    full: str = Field(default="", description="to who comes when no place is free")
    closed: str = Field(default="", description="to who comes when the study is paused or closed")


class Codes(DefinitionPart):
    """What the participant hands back to the platform; no two are the same."""

    completion: str = Field(default="", description="after the last answer was stored")
    screen_out: str = Field(default="", description="after a failed qualification; empty without one")
    no_consent: str = Field(default="", description="without consent")
    full: str = Field(
        default="", description="when no place is free; needed with a qualification, so that who passed it is paid"
    )


class Payment(DefinitionPart):
    """What one participant is paid."""

    amount: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(default=0, description="per participant")
    currency: str = Field(default="EUR", description="EUR, GBP, USD …")
    minutes: Annotated[float, Field(gt=0, allow_inf_nan=False)] = Field(
        default=15, description="expected median time in minutes"
    )
    hourly_least: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        default=0, description="pay per hour below which the study is not launched; 0: no such limit"
    )

    @property
    def hourly(self) -> float:
        """Pay per hour at the expected median time. *Unit:* currency per hour."""
        return self.amount * 60 / self.minutes


class Platform(DefinitionPart):
    """Where participants come from, and under which names the link hands over who they are."""

    kind: Literal["prolific", "panel", "lab"] = Field(default="prolific", description="prolific, panel or lab (tokens)")
    participant: Text = Field(default="PROLIFIC_PID", description="parameter of the link: the participant")
    study: str = Field(default="STUDY_ID", description="parameter of the link: the study on the platform")
    session: str = Field(default="SESSION_ID", description="parameter of the link: the session")
    pattern: str = Field(default="", description="regular expression that a participant's id matches; empty: any id")
    return_url: str = Field(
        default="", description="where the last page leads back to; {code} stands for the completion code"
    )


class Retention(DefinitionPart):
    """How long what could identify a participant is kept."""

    platform_ids_days: int = Field(default=90, ge=0, description="days after closing until platform ids are deleted")
    answers: str = Field(default="", description="what happens to the pseudonymous answers, in words")


class Planned(DefinitionPart):
    """The mixed model that the ratings are collected for; ``simulate`` estimates its power."""

    model: str = Field(
        default="", description="rating ~ same_sense + (1 | participant) + (1 | item); empty: none planned"
    )
    effect: str = Field(default="", description="the fixed effect that is tested: same_sense")
    size: Finite = Field(default=0.5, description="smallest size of it, in points, that the study should find")


class StudyDefinition(DefinitionPart):
    """A study in which people answer the items of one task."""

    name: Text = Field(description="the study's short name")
    task: Text = Field(description="a task from `lexiscope list tasks`")
    language: Text = Field(description="language of the items and of every text that a participant reads")
    items: str = Field(default="", description="the item file; its path starts at the folder the command is run in")
    dataset: str = Field(default="", description="or a dataset from `lexiscope list datasets` (never both)")
    columns: dict[str, str] = Field(default={}, description="part: column, where a column has no usual name")
    scale: ScaleSection = Field(default=ScaleSection(), description="the scale")
    side: Literal["random", "as_given"] = Field(
        default="random", description="which sentence stands left: random in every trial, or as_given"
    )
    option_order: Literal["random", "as_given"] = Field(
        default="random", description="order of the options, where the task shuffles them: random, or as_given"
    )
    views: Listed[Text] = Field(
        default=("full",), description="arms: what is shown of an item (full, context, word); each has its own lists"
    )
    reveal: bool = Field(
        default=False, description="after a view that hides the target, the same items again with the target shown"
    )
    search: str = Field(default="", description="file of what can be found, for tasks answered by a search")
    pool: PoolSection = Field(default=PoolSection(), description="for tasks that draw items: how many, how often")
    back: bool = Field(default=False, description="may participants go back and change an answer")
    design: DesignSection = Field(default=DesignSection(), description="lists: who answers what")
    ratings: RatingsSection = Field(default=RatingsSection(), description="how many answers")
    lease: LeaseSection = Field(default=LeaseSection(), description="how long a place is kept")
    catch: CatchSection = Field(default=CatchSection(), description="catch trials: the same sentence twice")
    examples: Listed[KnownQuestion] = Field(default=(), description="worked examples; their words must not be targets")
    practice: Listed[KnownQuestion] = Field(default=(), description="practice trials before the first real one")
    qualification: Listed[KnownQuestion] = Field(
        default=(), description="one attempt before the trials; a failure ends it"
    )
    attention: Listed[KnownQuestion] = Field(default=(), description="checks among the trials, never first or last")
    about_you: Listed[AboutYou] = Field(default=(), description="questions about the participant")
    exclusions: Listed[Text] = Field(
        default=(), description="exclusion rules, applied in this order; items=catch means the catch trials"
    )
    planned: Planned = Field(default=Planned(), description="the analysis that the ratings are for")
    texts: StudyTexts = Field(default=StudyTexts(), description="what participants read")
    codes: Codes = Field(default=Codes(), description="completion codes")
    payment: Payment = Field(default=Payment(), description="pay")
    platform: Platform = Field(default=Platform(), description="where participants come from")
    ethics: str = Field(default="", description="ethics statement: board, number, date; without it no launch")
    contact: str = Field(default="", description="whom a participant can write to")
    retention: Retention = Field(default=Retention(), description="what is kept how long")

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
