"""What a new study says to its participants before anybody has edited it, in the languages that we can write."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from lexiscope.annotation.study_file.definition import AboutYou, Option
from lexiscope.core.item import Item
from lexiscope.core.screen import Screen

NATIVE = "native_speaker"
"""The measure of the question about the native language."""

TEXTS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "title": "The meaning of words",
        "debrief": "Thank you. Your answers are stored. We study how people understand words that have several "
        "meanings.",
        "screened_out": "Thank you for your interest. Your answers to the first questions do not fit this study.",
        "declined": "You have not consented, so nothing is asked of you. Only the id with which you came and that you "
        "did not consent are stored. Thank you for your time.",
        "full": "All places are taken at the moment. Thank you for your interest; please try again later.",
        "closed": "This study takes no answers at the moment. Thank you for your interest.",
    },
    "es": {
        "title": "El significado de las palabras",
        "debrief": "Gracias. Sus respuestas han quedado guardadas. Estudiamos cómo se entienden las palabras que "
        "tienen varios significados.",
        "screened_out": "Gracias por su interés. Sus respuestas a las primeras preguntas no se ajustan a este estudio.",
        "declined": "No ha dado su consentimiento, así que no se le pregunta nada. Solo se han guardado el "
        "identificador con el que ha llegado y que no ha dado su consentimiento. Gracias por su tiempo.",
        "full": "En este momento no quedan plazas. Gracias por su interés; vuelva a intentarlo más tarde.",
        "closed": "Este estudio no admite respuestas en este momento. Gracias por su interés.",
    },
}
"""The texts around the trials, by language; consent is nobody's to write but the researcher's."""

_NATIVE: Mapping[str, tuple[str, str, str]] = {
    "en": ("Is the language of this study your native language?", "yes", "no"),
    "es": ("¿Es el español su lengua materna?", "sí", "no"),
}
_AGE: Mapping[str, str] = {"en": "How old are you?", "es": "¿Cuántos años tiene?"}


def base(language: str) -> str:
    """Return the language without its region: ``es-MX`` is written in the words of ``es`` until somebody edits them.

    >>> base("es-MX")
    'es'
    """
    return language.partition("-")[0].lower()


def questions(language: str) -> tuple[AboutYou, ...]:
    """Return the questions about the participant; none in a language in which they are not written."""
    if base(language) not in _NATIVE:
        return ()
    text, yes, no = _NATIVE[base(language)]
    native = AboutYou(measure=NATIVE, text=text, options=(Option(value="yes", text=yes), Option(value="no", text=no)))
    return (native, AboutYou(measure="age", text=_AGE[base(language)], kind="number", required=False))


def with_hints(text: str, screen: Screen, examples: Sequence[Item]) -> str:
    """Return the text of a study file with a question in comments where the qualification and the checks are empty.

    The question is the first of the task's own examples; a written answer has no list of right answers, so that a task
    answered in words gets none.
    """
    if not examples or screen.widget in ("text", "search"):
        return text
    for part, name in (("qualification", "q1"), ("attention", "a1")):
        lines = "\n".join(f"#   {line}" for line in _question(name, screen, examples[0]))
        hint = f"# one question, as an example of how: take the # away, and write your own\n# {part}:\n{lines}\n"
        text = text.replace(f"\n{part}: []\n", f"\n{hint}{part}: []\n")
    return text


def _question(name: str, screen: Screen, item: Item) -> Iterator[str]:
    yield f"- id: {name}"
    yield "  shows:"
    for number, usage in enumerate(item.usages, start=1):
        if number == 1:
            yield f"    target: {json.dumps(usage.target, ensure_ascii=False)}"
        yield f"    sentence_{number}: {json.dumps(usage.text, ensure_ascii=False)}"
    for condition, value in item.conditions.items():
        yield f"    {condition}: {json.dumps(str(value), ensure_ascii=False)}"
    yield f"  accept: [{_accepted(screen, item)}]"


def _accepted(screen: Screen, item: Item) -> str:
    gold = item.gold or ""
    if screen.widget != "scale" or screen.scale is None:
        return json.dumps(gold, ensure_ascii=False)
    # the two points at the end of the scale on which the example lies
    low = float(gold) < (screen.scale.low + screen.scale.high) / 2
    points = screen.scale.points[:2] if low else screen.scale.points[-2:]
    return ", ".join(f"{point:g}" for point in points)
