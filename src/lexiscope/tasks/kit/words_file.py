"""A file of words: what people and chat models read of a task in a language, or in a wording, as the user has it.

One file serves both: ``lexiscope annotate init --words FILE`` makes a study of people of it, ``--wording FILE`` (of
``study`` and ``collect``) and the option ``variant=FILE`` of a chat model ask in it. In a language of the package a
file needs what it changes alone; in any other it needs everything, and the error names what is missing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lexiscope.core import catalog
from lexiscope.core.errors import InputError, Place
from lexiscope.core.screen import ALL_VIEWS, Screen, TaskWords
from lexiscope.resources.tables.yaml_source import YamlSource, fault_error, read_yaml, yaml_value

SUFFIXES = (".yaml", ".yml")
"""What the name of a file of words ends in."""
_FIELD = re.compile(r"\{(\w+)\}")
_HEAD = """\
# The words of the task {task} in {language}, for people and chat models alike. Write yours between the quotation
# marks, or behind the lines with |; the line above each is the English one. Keep what is in braces or begins with $.
# People: lexiscope annotate init --task {task} --items ITEMS --words THIS_FILE --out study.yaml
# Models: lexiscope study NAME --subject chat:MODEL@URL --wording THIS_FILE
"""


class _WordsPart(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class AnchorWords(_WordsPart):
    """The words at one point of the scale."""

    point: Annotated[float, Field(allow_inf_nan=False)] = Field(description="a point of the task's scale")
    text: str = Field(description="its words")


class PromptWords(_WordsPart):
    """The messages to a chat model, with names to fill in (``$guidelines``, ``$target``); ``system`` may be empty."""

    system: str = Field(default="", description="the system message")
    user: str = Field(default="", description="the message of the user")
    not_quoted: Annotated[tuple[str, ...], Field(strict=False)] = Field(
        default=(), description="passages of the guidelines that are about the page, excluded from the prompt"
    )


class WordsFile(_WordsPart):
    """The content of a file of words. ``pages`` translates the buttons and messages of the pages, by their English."""

    task: str = Field(description="a task from `lexiscope list tasks`")
    language: Annotated[str, Field(min_length=2)] = Field(description="the language of these words: sw, de …")
    words: dict[str, str] = Field(default={}, description="question, options and lines of the page, by their names")
    anchors: Annotated[tuple[AnchorWords, ...], Field(strict=False)] = Field(
        default=(), description="words at points of the scale"
    )
    guidelines: dict[str, str] = Field(default={}, description="all: what everybody reads; a view: its own part")
    prompt: PromptWords = Field(default=PromptWords(), description="the prompt of a chat model")
    texts: dict[str, str] = Field(default={}, description="what participants read around the trials")
    about_you: dict[str, str] = Field(default={}, description="questions about the participant")
    pages: dict[str, str] = Field(default={}, description="buttons and messages of the pages, by their English")

    @property
    def task_words(self) -> TaskWords:
        """The words of the task; what is empty is not given."""
        guidelines = {"" if part == ALL_VIEWS else part: text.strip() for part, text in self.guidelines.items()}
        return TaskWords(
            self.language,
            words={key: text for key, text in self.words.items() if text.strip()},
            anchors=tuple((anchor.point, anchor.text) for anchor in self.anchors if anchor.text.strip()),
            guidelines={part: text for part, text in guidelines.items() if text},
        )


def is_words_file(name: str) -> bool:
    """Return whether the name of a wording is a file; else it is that of a variant of the task's prompt."""
    return name.endswith(SUFFIXES)


def read_words(path: Path | str, screen: Screen) -> WordsFile:
    """Read a file of words for a task.

    Errors: :class:`InputError` E001 where there is no file, E618 for a file of another task, for a name that the
    task's words do not have, for a text with a ``{name}`` that cannot be filled in, for words that are missing (all of
    them are named); E60x and E61x as for a study file.
    """
    file = Path(path).expanduser()
    if not file.is_file():
        hint = f"write it: lexiscope annotate words {screen.folder.name} --language TAG --out {path}"
        raise InputError("there is no such file of words", code="E001", place=Place(str(path)), hint=hint)
    stat = file.stat()
    return _read(str(path), stat.st_mtime_ns, stat.st_size, screen.folder.name)


def words_task(path: Path | str) -> str:
    """Return the task that a file of words names; empty if it names none. Errors: those of reading a YAML file."""
    content = read_yaml(Path(path).expanduser()).content
    return str(content.get("task", "")) if isinstance(content, Mapping) else ""


@lru_cache(maxsize=64)
def _read(path: str, _changed: int, _size: int, task: str) -> WordsFile:
    # each item of a run asks for the file again
    source, screen = read_yaml(Path(path).expanduser()), catalog.screen(task)
    try:
        file = WordsFile.model_validate(source.content)
    except ValidationError as error:
        comments = {name: about.description or "" for name, about in WordsFile.model_fields.items()}
        raise fault_error(source, error.errors()[0], WordsFile, comments) from error
    if file.task != screen.folder.name:
        what = f"these are words of the task {file.task!r}; {screen.folder.name!r} is asked"
        raise InputError(what, code="E618", place=source.place(("task",)), hint="name the file of this task")
    _check_names(file, source, screen)
    missing = [*screen.missing_words(file.task_words), *missing_prompt(file, screen)]
    if missing:
        what = f"the words in {file.language!r} are not complete: {', '.join(missing)}"
        why = f"the package has no words of this task in {file.language!r} that could take their place"
        raise InputError(what, code="E618", place=Place(path), why=why, hint="write them; none may be empty")
    return file


def missing_prompt(file: WordsFile, screen: Screen) -> tuple[str, ...]:
    """Return what of a prompt is missing in a file that the package does not have in its language."""
    prompt = screen.folder / "prompt.txt"
    if file.prompt.user.strip() or not prompt.is_file():
        return ()
    written = re.findall(r"^# ([\w-]+)$", prompt.read_text(encoding="utf-8"), re.MULTILINE)
    return () if file.language.partition("-")[0] in written else ("prompt.user",)


def _check_names(file: WordsFile, source: YamlSource, screen: Screen) -> None:
    """Refuse words that no page or prompt would show, and texts whose names cannot be filled in."""
    known: dict[str, Mapping[str, str]] = {
        "words": screen.words("en"),
        "guidelines": {part or ALL_VIEWS: text for part, text in screen.guideline_sections("en").items()},
    }
    for section, english in known.items():
        given: Mapping[str, str] = getattr(file, section)
        for key, text in given.items():
            place = source.place((section, key), of_key=True)
            if key not in english:
                hint = f"the names are: {', '.join(english)}"
                raise InputError(f"unknown name {key!r} in {section}", code="E618", place=place, hint=hint)
            names = set(_FIELD.findall(english[key]))
            strange = [name for name in _FIELD.findall(text) if name not in names | _ALWAYS.get(section, set())]
            if strange:
                hint = f"it can have: {', '.join(sorted(names)) or 'none'}"
                what = f"{{{strange[0]}}} in {section}.{key} cannot be filled in"
                raise InputError(what, code="E618", place=source.place((section, key)), hint=hint)
    for number, anchor in enumerate(file.anchors):
        if screen.scale is None or not screen.scale.contains(anchor.point):
            what = f"the point {anchor.point:g} is not on the scale of the task ({screen.scale or 'it has none'})"
            raise InputError(what, code="E618", place=source.place(("anchors", number, "point")))


_ALWAYS: Mapping[str, set[str]] = {"guidelines": {"low", "high", "between", "anchors"}, "words": {"target", "word"}}
"""What any text of a section may have filled in."""


def words_template(
    screen: Screen,
    language: str,
    *,
    texts: Mapping[str, str],
    about_you: Mapping[str, str],
    pages: Sequence[str],
    prompt: PromptWords,
) -> str:
    """Return a file of words to fill in: every name with an empty text, the English one in comments above it.

    *texts* and *about_you* are the English texts around the trials, *pages* the English buttons and messages.
    """
    sections: list[tuple[str, Mapping[str, str]]] = [
        ("words", screen.words("en")),
        ("guidelines", {part or ALL_VIEWS: text for part, text in screen.guideline_sections("en").items()}),
        ("prompt", {"system": prompt.system, "user": prompt.user}),
        ("texts", texts),
        ("about_you", about_you),
        ("pages", {text: text for text in pages}),
    ]
    head = _HEAD.format(task=screen.folder.name, language=language)
    lines = [head, f"task: {screen.folder.name}", f"language:{yaml_value(language)}"]
    about = {name: field.description or "" for name, field in WordsFile.model_fields.items()}
    for name, english in sections:
        lines += ["", f"# {about[name]}", f"{name}:" if english else f"{name}: {{}}"]
        for key, text in english.items():
            lines += [f"  # {line}".rstrip() for line in text.splitlines() if text != key]
            quoted = key if re.fullmatch(r"[a-z_]+", key) else '"' + key.replace("\\", "\\\\").replace('"', '\\"') + '"'
            lines.append(f"  {quoted}: " + ('""' if "\n" not in text else "|\n\n"))
        if name == "words" and screen.scale is not None:
            lines += ["", f"# {about['anchors']}", "anchors:"]
            for point, text in screen.scale.anchors:
                lines += [f"  # {text}", f"  - point: {point:g}", '    text: ""']
        if name == "prompt":
            lines += [*(f"  # - {passage}" for passage in prompt.not_quoted), "  not_quoted: []"]
    return "\n".join(lines) + "\n"
