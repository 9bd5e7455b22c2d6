"""Templates: how a text is made of a context, a target and a word. They are data, read from a YAML file.

``synonymy_templates.yaml`` next to this file holds the eight suites of the synonymy study. Your own file may name other
relations (*is the opposite of*) and other languages, in the same format.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, cast, get_args

from lexiscope.core.errors import InputError, SpecError
from lexiscope.items.choice_sets.surface import Placed
from lexiscope.resources.lexicons.lexicon import POS_NAMES, Pos
from lexiscope.resources.tables.yaml_source import Key, YamlSource, read_yaml

Choice = Literal["controlled", "random", "correct_vs_random", "incorrect_vs_random"]
CHOICES: tuple[Choice, ...] = get_args(Choice)
"""Who competes: the synonym with the distractor, the synonym with the random nouns, the distractor with them."""

SLOTS = ("context", "substituted", "target", "Target", "determiner", "word", "Word")
TURNED = "_turned"
"""What the name of a suite ends in that asks a relation the other way round."""

# what an item's words replace; all other slots are the same for every word of a choice set, but for the determiner
_INSERTED = ("word", "Word", "substituted")
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_PARTS = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class Template:
    """How the texts of one suite are made.

    ``name`` is its own, ``suite`` what it belongs to (``substitution``, ``reference``, ``relation``,
    ``relation_no_context``, or another), ``expression`` the words of the relation (empty where there are none).
    ``pattern`` holds ``{word}``, ``{Word}`` (with a capital) or ``{substituted}`` once. ``{determiner}`` becomes
    ``singular`` or ``plural``. ``turned`` is the pattern of the same relation with target and word exchanged, for
    relations that hold both ways (synonymy does, *is a kind of* does not); empty where there is none. ``pos`` are the
    parts of speech that it is for (``noun``, ``verb`` …); empty: all.

    Errors: :class:`SpecError` for a pattern or a name that breaks these rules.

    >>> opposite = Template("A1", "relation", "{Target} is the opposite of {word}.", "is the opposite of")
    >>> opposite.key
    'relation/is_the_opposite_of'
    """

    name: str
    suite: str
    pattern: str
    expression: str = ""
    language: str = "en"
    conditions: tuple[Choice, ...] = ("controlled", "random")
    singular: str = ""
    plural: str = ""
    turned: str = ""
    pos: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        given = (self.name, self.suite, self.pattern, self.turned)
        for _, what, hint in _faults(given, self.conditions, self.pos, (self.singular, self.plural)):
            raise SpecError(f"template {self.name!r}: {what}", hint=hint)

    @property
    def key(self) -> str:
        """Suite and expression as they are in the ids of items; unique in a set of templates."""
        slug = re.sub(r"\W+", "_", self.expression.casefold()).strip("_")
        return f"{self.suite}/{slug}" if slug else self.suite

    def fits(self, pos: Pos) -> bool:
        """Return whether the template is for words of this part of speech."""
        return not self.pos or POS_NAMES[pos] in self.pos

    @property
    def substitutes(self) -> bool:
        """Whether the word is in the target's place in its sentence."""
        return "{substituted}" in self.pattern

    @property
    def truncated(self) -> bool:
        """Whether the text is cut off behind the word."""
        return self.pattern.endswith("{word}")

    @property
    def reversed_template(self) -> Template | None:
        """The same relation asked the other way round, in the controlled condition; ``None`` where it has no such text.

        >>> means = Template("T8", "relation", "{Target} means {word}.", "means", turned="{Word} means {target}.")
        >>> means.reversed_template.key, means.reversed_template.pattern
        ('relation_turned/means', '{Word} means {target}.')
        """
        if not self.turned:
            return None
        name, suite = self.name + TURNED, self.suite + TURNED
        return replace(self, name=name, suite=suite, pattern=self.turned, turned="", conditions=("controlled",))

    def fill(self, slots: Mapping[str, str], inserted: Placed) -> Placed:
        """Return the text with its slots filled; the slot of the word is filled with *inserted*.

        >>> Template("T8", "relation", "{Target} means {word}.").fill({"Target": "Soil"}, Placed("dirt", 0, 4))
        Placed(text='Soil means dirt.', start=11, end=15)
        """
        text, start, end = "", 0, 0
        for literal, slot in self.parts():
            text += literal
            if slot in _INSERTED:
                start, end = len(text) + inserted.start, len(text) + inserted.end
                text += inserted.text
            elif slot:
                text += slots[slot]
        return Placed(text, start, end)

    def parts(self) -> tuple[tuple[str, str], ...]:
        """Return the pattern in pieces: plain text and the slot behind it (empty at the end)."""
        return _pieces_of(self.pattern)


@lru_cache(maxsize=256)
def _pieces_of(pattern: str) -> tuple[tuple[str, str], ...]:
    # splitting at a group alternates text and slots and ends in a text
    pieces = [*_PARTS.split(pattern), ""]
    return tuple(zip(pieces[::2], pieces[1::2], strict=True))


@lru_cache(maxsize=1)
def synonymy_templates() -> tuple[Template, ...]:
    """Return the eight templates of the synonymy study: T7, T8, T9, T11, T12, T13, T14, T15."""
    return read_templates(Path(__file__).parent / "synonymy_templates.yaml")


def read_templates(path: Path | str) -> tuple[Template, ...]:
    """Read templates from a YAML file: ``language`` (optional) and a list ``templates``.

    Errors: :class:`InputError` with file and line: those of :func:`~lexiscope.resources.tables.yaml_source.read_yaml`,
    E611 (unknown name), E612 (a value that breaks a rule), E613 (a name is missing), E440 (two templates of one key).
    """
    source = read_yaml(path)
    _check_names(source, (), source.content, ("language", "templates"), ("templates",))
    entries = source.content["templates"]
    if not isinstance(entries, list) or not entries:
        raise InputError(
            "'templates' is a list of templates", code="E612", place=source.place(("templates",)), hint="- name: …"
        )
    language = _text(source, ("language",), source.content.get("language", "en"))
    read = tuple(_template(source, number, entry, language) for number, entry in enumerate(entries))
    _check_keys(source, read)
    return read


def choose_templates(templates: Collection[Template], suites: Collection[str] | None) -> tuple[Template, ...]:
    """Return the templates of these suites (a suite's name, a template's name, or its key), in their order.

    Errors: :class:`SpecError` for a name that is none, with the nearest one.
    """
    if suites is None:
        return tuple(templates)
    known = [name for template in templates for name in (template.suite, template.name, template.key)]
    for name in suites:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(dict.fromkeys(known))}"
            raise SpecError(f"no template belongs to {name!r}", hint=hint)
    return tuple(template for template in templates if {template.suite, template.name, template.key} & set(suites))


_FIELDS = tuple(field.name for field in fields(Template))


def _template(source: YamlSource, number: int, entry: Any, language: str) -> Template:
    keys: tuple[Key, ...] = ("templates", number)
    if not isinstance(entry, dict):
        raise InputError("a template is lines of the form 'name: value'", code="E612", place=source.place(keys))
    _check_names(source, keys, entry, _FIELDS, ("name", "suite", "pattern"))
    lists = {"conditions": ["controlled", "random"], "pos": []} | {
        name: entry[name] for name in ("conditions", "pos") if name in entry
    }
    for name, listed in lists.items():
        if not isinstance(listed, list):
            place = source.place((*keys, name))
            raise InputError(f"{name!r} is a list", code="E612", place=place, hint=f"write [{listed}]")
    conditions, pos = lists["conditions"], lists["pos"]
    texts = {name: _text(source, (*keys, name), value) for name, value in entry.items() if name not in lists}
    forms = (texts.get("singular", ""), texts.get("plural", ""))
    given = (texts["name"], texts["suite"], texts["pattern"], texts.get("turned", ""))
    for field, what, hint in _faults(given, conditions, pos, forms):
        place = source.place((*keys, field))
        raise InputError(f"template {texts['name']!r}: {what}", code="E612", place=place, hint=hint)
    chosen = cast(tuple[Choice, ...], tuple(conditions))
    return Template(**({"language": language} | texts), conditions=chosen, pos=tuple(pos))


def _faults(
    given: tuple[str, str, str, str], conditions: Collection[object], pos: Collection[object], forms: tuple[str, str]
) -> Iterator[tuple[str, str, str]]:
    """Yield what breaks a rule: the field, what is wrong with it, and what to do."""
    name, suite, pattern, turned = given
    if not name.strip():
        yield "name", "it needs a name", "give every template a unique name"
    if not _NAME.fullmatch(suite):
        yield "suite", f"{suite!r} names no suite", "use small letters, digits and _"
    yield from (("pattern", what, hint) for what, hint in _pattern_faults(pattern))
    if turned:
        yield from (("turned", what, hint) for what, hint in _pattern_faults(turned))
        if "{substituted}" in turned + pattern or not {"{target}", "{Target}"} & set(re.findall(r"\{\w+\}", turned)):
            yield "turned", "it exchanges target and word, and one of them is missing", "write {Word} … {target}"
    if "{determiner}" in pattern and not all(forms):
        yield "pattern", "{determiner} needs its forms", "give singular and plural (This, These)"
    unknown = [str(condition) for condition in conditions if condition not in CHOICES]
    if unknown or not conditions:
        yield (
            "conditions",
            f"conditions are missing or unknown: {', '.join(unknown) or 'none given'}",
            f"use {', '.join(CHOICES)}",
        )
    strange = [str(name) for name in pos if name not in POS_NAMES.values()]
    if strange:
        yield "pos", f"unknown part of speech: {', '.join(strange)}", f"use {', '.join(POS_NAMES.values())}"


def _pattern_faults(pattern: str) -> Iterator[tuple[str, str]]:
    slots = _PARTS.findall(pattern)
    known = f"the slots are {', '.join(f'{{{slot}}}' for slot in SLOTS)}"
    for slot in slots:
        if slot not in SLOTS:
            near = difflib.get_close_matches(slot, SLOTS, n=1)
            yield f"unknown slot {{{slot}}}", f"did you mean {{{near[0]}}}?" if near else known
    if re.search("[{}]", _PARTS.sub("", pattern)):
        yield "a brace in the pattern is not part of a slot", known
    if sum(slot in _INSERTED for slot in slots) != 1:
        yield "the pattern needs {word}, {Word} or {substituted}, once", "say where the words of an item are inserted"


def _text(source: YamlSource, keys: tuple[Key, ...], value: object) -> str:
    if not isinstance(value, str):
        what = f"{keys[-1]!r} must be a text, not {value!r}"
        raise InputError(what, code="E612", place=source.place(keys), hint="put it in quotation marks")
    return value


def _check_names(
    source: YamlSource, keys: tuple[Key, ...], entry: Mapping[str, Any], known: Collection[str], needed: Collection[str]
) -> None:
    for name in entry:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"the names are: {', '.join(known)}"
            place = source.place((*keys, name), of_key=True)
            raise InputError(f"unknown name {name!r}", code="E611", place=place, hint=hint)
    for name in needed:
        if name not in entry:
            raise InputError(f"{name!r} is missing", code="E613", place=source.place(keys), hint=f"add {name}: …")


def _check_keys(source: YamlSource, templates: tuple[Template, ...]) -> None:
    # ids are made of suite and expression: two templates of one key would make two items of one id
    seen: dict[str, str] = {}
    for number, template in enumerate(templates):
        for what, name in (("name", template.name), ("suite and expression", template.key)):
            if f"{what} {name}" in seen:
                raise InputError(
                    f"two templates have the {what} {name!r}",
                    code="E440",
                    place=source.place(("templates", number)),
                    hint="their items would have the same ids: change one",
                )
            seen[f"{what} {name}"] = template.name
