"""How a task asks: prompts from the page people see, one sentence with its target, answers looked up in a list.

A prompt is made of the item's texts as the view shows them and of the conditions that the page shows. Ids,
gold answers, groups, lists, the place in a file, and other items never enter it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from string import Template

from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import AS_GIVEN, Item
from lexiscope.core.prompt import GUIDELINES, ChatQuestion, Message, PromptOption
from lexiscope.core.scale import Scale
from lexiscope.core.screen import Choice, Line, Screen, Shown, emphasised_line
from lexiscope.core.usage import Usage
from lexiscope.items.arrange.views import view_item
from lexiscope.tasks.kit.words_file import is_words_file, read_words

Fields = Callable[[Item, str], Mapping[str, str]]
"""What a prompt says of an item: the item as the view shows it and the language → name → text."""


@dataclass(frozen=True, slots=True)
class Variant:
    """How a variant of a prompt is asked.

    ``temperature`` and ``max_tokens`` are those of its source; ``None`` leaves them to the endpoint. ``takes_shots``:
    worked examples may precede the item. ``names_points``: its words name the points of the task's scale, so that
    it cannot be asked on another one. ``written`` returns the message of the user for a number of worked examples, its
    ``$names`` open, if the wording is not the package's: it reads the wording from the data. It is English.
    """

    temperature: float | None = 0.0
    max_tokens: int | None = 16
    takes_shots: bool = True
    names_points: bool = False
    written: Callable[[int], str] | None = None


@dataclass(frozen=True, slots=True)
class Asking:
    """The ``asks`` of a task: :class:`lexiscope.core.prompt.AskFunction`.

    ``screen`` has the guidelines, the scale and the options, ``fields`` the texts of an item for the prompt,
    ``examples`` are the task's worked examples as items, with the correct answer as ``gold``. ``variants`` are those
    that are not asked as :class:`Variant` has it by default. A rating is asked on the scale of the item, or on that of
    the task if the item names none; the answer of a worked example is then moved to the same relative point of that
    scale.
    """

    screen: Screen
    fields: Fields
    examples: Callable[[str], tuple[Item, ...]]
    variants: Mapping[str, Variant] = field(default_factory=dict)
    prompt: PromptText | None = None

    def __call__(
        self, item: Item, *, view: str = "full", language: str = "", variant: str = GUIDELINES, shots: int = 0
    ) -> ChatQuestion:
        """Return the question. Errors: those of :class:`~lexiscope.core.prompt.AskFunction`, and of a file of words."""
        if is_words_file(variant):
            return self._ask_in_words(item, view, language, variant, shots)
        used = language or _language(item)
        settings = self.variants.get(variant, Variant())
        self._check_shots(shots, settings, variant, used)
        scale = self._rating_scale(item, used, settings, variant)
        text = self._text(used, variant, shots)
        options = self._numbered_options(item, view, used)
        values = self._prompt_values(item, view, used, text)
        if settings.written is not None and shots and values["story"] in text.user:
            raise _is_example(item)
        first = text.messages(values)
        before = [
            turn
            for example in self.examples(used)[: 0 if settings.written else shots]
            for turn in self._worked_example(replace(example, scale=item.scale), item, view, used, text)
        ]
        return ChatQuestion(
            (*first[:-1], *before, first[-1]),
            scale=scale,
            options=tuple(option for option, _ in options),
            temperature=settings.temperature,
            max_tokens=settings.max_tokens,
            variant=variant,
            language=used,
            shots=shots,
        )

    def _ask_in_words(self, item: Item, view: str, language: str, path: str, shots: int) -> ChatQuestion:
        """Return the question in the words of a user's file, in its language."""
        file = read_words(path, self.screen)
        words = file.task_words
        if language and not words.is_in(language):
            what = f"the words are in {words.language!r}, and the language {language!r} is asked for"
            raise InputError(what, code="E618", place=Place(path), hint="leave the option language out")
        own = PromptText(file.prompt.system.strip(), file.prompt.user.strip(), file.prompt.not_quoted)
        asked = replace(self, screen=replace(self.screen, given=words), prompt=own if own.user else None)
        return replace(asked(item, view=view, language=words.language, shots=shots), variant=path)

    def _text(self, language: str, variant: str, shots: int) -> PromptText:
        """Return the messages of a variant: of a file of words, of the task's file, or as the data have them."""
        if self.prompt is not None:
            return self.prompt
        written = self.variants[variant].written if variant in self.variants else None
        others = [name for name, settings in self.variants.items() if settings.written is not None]
        if written is None or language.partition("-")[0] != "en":
            return prompt_text(self.screen.folder / "prompt.txt", language, variant, written=others)
        return PromptText("", written(shots))

    def _prompt_values(self, item: Item, view: str, language: str, text: PromptText) -> dict[str, str]:
        scale = item.scale if self.screen.scale is not None else None
        everything = self.screen.guidelines(language, views=[view.partition("+")[0]], scale=scale)
        not_quoted = tuple(self.screen.on_scale(passage, language, scale) for passage in text.not_quoted)
        quoted = without_passages(everything, not_quoted)
        scale = scale or self.screen.scale
        listed = [f"{option.names[0]}: {shown}" for option, shown in self._numbered_options(item, view, language)]
        return {
            "guidelines": without_examples(quoted),
            "guidelines_with_examples": quoted,
            "question": self.screen.question(item, language, view=view),
            "low": f"{scale.low:g}" if scale is not None else "",
            "high": f"{scale.high:g}" if scale is not None else "",
            "options": "\n".join(listed),
            "numbers": f"1–{len(listed)}",
            **self.fields(item, language),
        }

    def _worked_example(
        self, example: Item, item: Item, view: str, language: str, text: PromptText
    ) -> tuple[Message, Message]:
        """Return a worked example as two turns: asked as the item is, and answered rightly."""
        shown = view_item(example, view)
        asked = text.turn(self._prompt_values(shown, view, language, text))
        if asked == text.turn(self._prompt_values(item, view, language, text)):
            raise _is_example(item)
        return asked, Message("assistant", self._right_answer(shown, view, language))

    def _right_answer(self, example: Item, view: str, language: str) -> str:
        gold = example.gold or ""
        if self.screen.scale is not None and example.scale is not None:
            return f"{example.scale.nearest_to(float(gold), of=self.screen.scale):g}"
        named = [
            option.names[0] for option, _ in self._numbered_options(example, view, language) if option.value == gold
        ]
        return named[0] if named else gold

    def _numbered_options(self, item: Item, view: str, language: str) -> list[tuple[PromptOption, str]]:
        """Return the options, numbered, each with its text; those that are shuffled in the order of their keys."""
        choices = self.screen.options_of(item, view)
        if self.screen.shuffles_options and AS_GIVEN not in item.conditions:
            # keys follow the alphabet: the order of a file often tells which one is right
            choices = tuple(sorted(choices, key=lambda choice: (len(choice.key), choice.key)))
        words = self.screen.words(language)
        return [_option(number, choice, words) for number, choice in enumerate(choices, start=1)]

    def _rating_scale(self, item: Item, language: str, settings: Variant, variant: str) -> Scale | None:
        own, given = self.screen.scale, item.scale
        if own is None or given is None or (given.low, given.high, given.step) == (own.low, own.high, own.step):
            return own
        if settings.names_points:
            what = f"the variant {variant!r} is worded for the scale {own}, this item is rated on the scale {given}"
            raise InputError(what, place=Place(item_id=item.item_id), hint=f"use the variant {GUIDELINES!r}")
        return self.screen.scale_in(language, given)

    def _check_shots(self, shots: int, settings: Variant, variant: str, language: str) -> None:
        if shots and not settings.takes_shots:
            what = f"the variant {variant!r} has no worked examples that could be shown"
            raise InputError(what, hint=f"use shots=0, or the variant {GUIDELINES!r}")
        there = len(self.examples(language))
        if shots > there and settings.written is None:
            what = f"{shots} shots are asked for, the task has {there} examples in {language!r}"
            raise InputError(what, hint=f"use shots={there} or fewer")


def plain_text(line: Line) -> str:
    """Return a line without its marks.

    >>> plain_text((("The ", False), ("bank", True)))
    'The bank'
    """
    return "".join(text for text, _ in line)


def starred_text(line: Line) -> str:
    """Return a line with ``**`` around what is emphasised on the page.

    >>> starred_text((("The ", False), ("bank", True)))
    'The **bank**'
    """
    return "".join(f"**{text}**" if emphasised else text for text, emphasised in line)


def _is_example(item: Item) -> InputError:
    what = "this item is one of the worked examples, which the prompt shows with their answers"
    return InputError(what, place=Place(item_id=item.item_id), hint="ask it without shots")


def _language(item: Item) -> str:
    known = item.usages[0].language
    return "en" if known == "und" else known


def _option(number: int, choice: Choice, words: Mapping[str, str]) -> tuple[PromptOption, str]:
    shown = "\n".join(map(plain_text, choice.lines)) or words[f"option_{choice.key}"]
    # a sentence with a candidate in it may be named by the candidate
    inner = [text.strip("[]") for line in choice.lines for text, emphasised in line if emphasised]
    return PromptOption(choice.value, (str(number), shown, *inner), choice.flags), shown


# -- the prompt of a task, ``prompt.txt``, and the guidelines that it quotes ----------------------------------------
# The file has a section for each language (``# en``) and for each further variant (``# es/saw_c``). In a section,
# ``## system`` and ``## user`` are the messages; ``## not quoted`` lists passages of the guidelines, one per line, that
# are about the page (its buttons, its keys) and mean nothing to a model. ``$name`` is filled in. A line whose names are
# all empty is omitted.


_HEADING = re.compile(r"^(#{1,2}) (.+)$", re.MULTILINE)
# "*Example.* …", with the list that belongs to it, or a section of its own
_EXAMPLE = re.compile(r"\*[^*\n]{1,30}\.\*\s")
_EXAMPLES = re.compile(r"^## (?:Examples|Ejemplos|Beispiele|أمثلة)\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_PARTS = ("system", "user", "not quoted")


@dataclass(frozen=True, slots=True)
class PromptText:
    """The messages of one variant in one language, not yet filled in; ``system`` may be empty."""

    system: str
    user: str
    not_quoted: tuple[str, ...] = ()

    def messages(self, values: Mapping[str, str]) -> tuple[Message, ...]:
        """Return the messages with names filled in. Errors: :class:`InputError` for a name without a value."""
        system = (Message("system", fill_template(self.system, values)),) if self.system else ()
        return (*system, self.turn(values))

    def turn(self, values: Mapping[str, str]) -> Message:
        """Return the message of the user alone, with names filled in: the item."""
        return Message("user", fill_template(self.user, values))


def prompt_text(path: Path, language: str, variant: str = GUIDELINES, *, written: Sequence[str] = ()) -> PromptText:
    """Return a variant of a prompt in a language; ``es-MX`` is answered with ``es``.

    *written* are the variants that are not in the file, but in the data, in English.
    Errors: :class:`InputError` E616 for a language in which the variant is not written, and for an unknown variant.
    """
    sections = _sections(path)
    place = Place(path.parent.name)
    variants = sorted({*(name for _, name in sections), *written})
    if variant not in variants:
        what = f"the prompt of this task has no variant {variant!r}"
        raise InputError(what, place=place, hint=f"use one of {', '.join(variants)}")
    for name in (language, language.partition("-")[0]):
        if (name, variant) in sections:
            return sections[name, variant]
    hint = f"use one of {', '.join(name for name, other in sections if other == variant) or 'en'}"
    hint += f", or a file of words (lexiscope annotate words {path.parent.name} --language {language} --out words.yaml)"
    raise InputError(f"the prompt is not written in {language!r}", code="E616", place=place, hint=hint)


def variants_of(path: Path) -> tuple[tuple[str, str], ...]:
    """Return the (language, variant) pairs in which a prompt is written, in the order of the file."""
    return tuple(_sections(path))


def fill_template(template: str, values: Mapping[str, str]) -> str:
    """Return a text with its ``$names`` filled in; ``$$`` is a dollar sign, and what is filled in is never read again.

    >>> fill_template("Word: $word\\nExample: $example\\nRating:", {"word": "$bank", "example": ""})
    'Word: $bank\\nRating:'

    Errors: :class:`InputError` for a name without a value.
    """
    lines = []
    for line in template.split("\n"):
        part = Template(line)
        names = part.get_identifiers()
        unknown = [name for name in names if name not in values]
        if unknown:
            raise InputError(f"a prompt names ${unknown[0]}, which this task does not fill in")
        if not names or any(values[name] for name in names):
            lines.append(part.substitute(values))
    return "\n".join(lines)


def without_examples(guidelines: str) -> str:
    """Return guidelines without their worked examples.

    An example is a section *Examples*, or a paragraph that begins with a word in italics (``*Example.*``) and the list
    behind it.

    >>> without_examples("Rate it.\\n\\n*Example.* A bank: 1.\\n\\n- Good.\\n\\nThanks.\\n\\n## Examples\\n\\n> One.")
    'Rate it.\\n\\nThanks.'
    """
    kept, behind = [], False
    for paragraph in _EXAMPLES.sub("", guidelines).split("\n\n"):
        example = bool(_EXAMPLE.match(paragraph))
        behind = example or (behind and paragraph.startswith("- "))
        kept += [] if behind else [paragraph]
    return "\n\n".join(kept).strip()


def without_passages(guidelines: str, passages: tuple[str, ...]) -> str:
    """Return guidelines without some passages, wherever their lines break; what a view does not show is not there.

    >>> without_passages("Rate it. You answer\\nwith keys.\\n\\nThank you.", ("You answer with keys.",))
    'Rate it.\\n\\nThank you.'
    """
    patterns = [r"\s?" + r"\s+".join(map(re.escape, passage.split())) for passage in passages]
    kept = []
    for paragraph in guidelines.split("\n\n"):
        left = paragraph
        for pattern in patterns:
            left = re.sub(pattern, "", left)
        # a paragraph that is gone leaves no gap
        kept += [left.strip()] if left.strip() else []
    return "\n\n".join(kept)


@lru_cache
def _sections(path: Path) -> Mapping[tuple[str, str], PromptText]:
    return {name: _prompt(section) for name, section in read_sections(path, _PARTS, "user").items()}


def read_sections(path: Path, parts: Sequence[str], needed: str) -> Mapping[tuple[str, str], Mapping[str, str]]:
    """Read a file of words with a section for each language and variant (``# en/question``), divided into parts.

    Returns the parts (``## user``) of each section by (language, variant); the variant of ``# en`` is ``guidelines``.
    Errors: :class:`InputError` for a heading that is not one of *parts*, and for a section without the one that is
    *needed*.
    """
    pieces = _HEADING.split(path.read_text(encoding="utf-8"))[1:]
    sections: dict[tuple[str, str], dict[str, str]] = {}
    section: dict[str, str] = {}
    for level, heading, content in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True):
        if level == "#":
            language, _, variant = heading.strip().partition("/")
            section = sections.setdefault((language, variant or GUIDELINES), {})
        elif heading.strip() in parts:
            section[heading.strip()] = content.strip("\n")
        else:
            raise InputError(f"a prompt has no part {heading!r}", place=Place(str(path)), hint=f"use {tuple(parts)}")
    if not sections or any(needed not in section for section in sections.values()):
        raise InputError(f"a prompt needs '## {needed}' in every section", place=Place(str(path)))
    return sections


def _prompt(section: Mapping[str, str]) -> PromptText:
    not_quoted = tuple(line for line in section.get("not quoted", "").splitlines() if line.strip())
    return PromptText(section.get("system", ""), section["user"], not_quoted)


# -- questions that are answered from a list (an entry is looked up): what their tasks have in common ---------------


SEARCH_VARIANTS = {GUIDELINES: Variant(max_tokens=64)}
"""How a model is asked. An answer is a name: it needs no more tokens than that."""


def search_screen(folder: Path, measure: str) -> Screen:
    """Return the page of a task that shows a sentence and searches a list; *folder* holds the task's words.

    The list need not be complete: an address that is not in it is an answer, and so is "not found".
    """
    return Screen(
        folder=folder,
        widget="search",
        measure=measure,
        stimulus=shown_sentence,
        flags=("not_found",),
        may_stay_empty=True,
        views=("full", "context", "word"),
        fold_outs=("guidelines",),
        max_length=500,
    )


# -- one sentence ---------------------------------------------------------------------------------------------------
# One sentence with its target, for the tasks that show no more of an item: page, prompt and worked examples.


def sentence_examples(
    screen: Screen, language: str, *, task: str, gold: str, conditions: Sequence[str] = ()
) -> tuple[Item, ...]:
    """Return the worked examples of a task in a language as items of one sentence.

    *gold* names the column of an example that holds the correct answer, *conditions* those that the item needs.
    """
    items = []
    for number, row in enumerate(screen.examples(language), start=1):
        usage = Usage(row["sentence"], row["start"], row["end"], lemma=row.get("word"), language=language)
        needed = {name: row[name] for name in conditions}
        items.append(Item(f"example_{number}", task, (usage,), gold=str(row[gold]), conditions=needed))
    return tuple(items)


def pair_examples(screen: Screen, language: str, *, task: str, gold: str) -> tuple[Item, ...]:
    """Return the worked examples of a task in a language as pairs of sentences.

    *gold* names the column of an example that holds the correct answer.
    """
    items = []
    for number, row in enumerate(screen.examples(language), start=1):
        usages = tuple(
            Usage(row[f"sentence_{n}"], row[f"start_{n}"], row[f"end_{n}"], lemma=row["word"], language=language)
            for n in (1, 2)
        )
        items.append(Item(f"example_{number}", task, usages, gold=str(row[gold])))
    return tuple(items)


def shown_sentence(item: Item, shown: Shown) -> Mapping[str, object]:
    """Return what the page shows: the sentence with the target marked, ``[X]`` in its place, or the target alone."""
    usage = view_item(item, shown.appears_as).usages[0]
    return {"sentence": emphasised_line(usage.text, usage.start, usage.end)}


def told_sentence(item: Item, _language: str) -> Mapping[str, str]:
    """Return what a prompt says of an item: the text of the view, the target between ``**``.

    >>> told_sentence(Item("i", "d", (Usage("The bank shuts.", 4, 8),)), "en")
    {'sentence': 'The **bank** shuts.'}
    """
    return {"sentence": starred_target(item.usages[0])}


def starred_target(usage: Usage) -> str:
    """Return the text of a usage with ``**`` around the target."""
    return starred_text(emphasised_line(usage.text, usage.start, usage.end))
