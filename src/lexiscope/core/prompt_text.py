"""The words of a prompt, as they stand in a task's ``prompt.txt``, and the guidelines that it quotes.

The file has a section for each language (``# en``) and for each further variant (``# es/saw_c``). In a section,
``## system`` and ``## user`` are the messages; ``## not quoted`` lists passages of the guidelines, one a line, that
tell of the page (its buttons, its keys) and mean nothing to a model. ``$name`` is filled in. A line whose names are all
empty is left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from string import Template

from lexiscope.core.errors import InputError, Place
from lexiscope.core.prompt import GUIDELINES, Message

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
        system = (Message("system", filled(self.system, values)),) if self.system else ()
        return (*system, self.turn(values))

    def turn(self, values: Mapping[str, str]) -> Message:
        """Return the message of the user alone, with names filled in: the item."""
        return Message("user", filled(self.user, values))


def prompt_text(path: Path, language: str, variant: str = GUIDELINES) -> PromptText:
    """Return a variant of a prompt in a language; ``es-MX`` is answered with ``es``.

    Errors: :class:`InputError` E616 for a language in which the variant is not written, and for an unknown variant.
    """
    written = _sections(path)
    place = Place(path.parent.name)
    variants = sorted({name for _, name in written})
    if variant not in variants:
        what = f"the prompt of this task has no variant {variant!r}"
        raise InputError(what, place=place, hint=f"use one of {', '.join(variants)}")
    for name in (language, language.partition("-")[0]):
        if (name, variant) in written:
            return written[name, variant]
    hint = f"use one of {', '.join(name for name, other in written if other == variant)}"
    raise InputError(f"the prompt is not written in {language!r}", code="E616", place=place, hint=hint)


def variants_of(path: Path) -> tuple[tuple[str, str], ...]:
    """Return the (language, variant) pairs in which a prompt is written, in the order of the file."""
    return tuple(_sections(path))


def filled(template: str, values: Mapping[str, str]) -> str:
    """Return a text with its ``$names`` filled in; ``$$`` is a dollar sign, and what is filled in is never read again.

    >>> filled("Word: $word\\nExample: $example\\nRating:", {"word": "$bank", "example": ""})
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
    """Read a file. Errors: :class:`InputError` for a heading that is none of those above, or a missing ``## user``."""
    parts = _HEADING.split(path.read_text(encoding="utf-8"))[1:]
    found: dict[tuple[str, str], dict[str, str]] = {}
    section: dict[str, str] = {}
    for level, heading, content in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        if level == "#":
            language, _, variant = heading.strip().partition("/")
            section = found.setdefault((language, variant or GUIDELINES), {})
        elif heading.strip() in _PARTS:
            section[heading.strip()] = content.strip("\n")
        else:
            raise InputError(f"a prompt has no part {heading!r}", place=Place(str(path)), hint=f"use {_PARTS}")
    if not found or any("user" not in section for section in found.values()):
        raise InputError("a prompt needs '## user' in every section", place=Place(str(path)))
    return {name: _prompt(section) for name, section in found.items()}


def _prompt(section: Mapping[str, str]) -> PromptText:
    not_quoted = tuple(line for line in section.get("not quoted", "").splitlines() if line.strip())
    return PromptText(section.get("system", ""), section["user"], not_quoted)
