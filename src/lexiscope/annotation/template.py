"""The first draft of a study: what its task and its items already say, and texts in the languages that we can write.

Consent and ethics stay empty: nobody but the researcher can write them, and without them nothing is launched.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import ModuleType
from typing import cast

from lexiscope.annotation.definition import (
    AboutYou,
    Anchor,
    CatchSection,
    DesignSection,
    Option,
    Planned,
    ScaleSection,
    StudyDefinition,
    Texts,
)
from lexiscope.core import catalog
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.scale import Scale

_ITEMS_PER_LIST = 82
NATIVE = "native_speaker"

_TEXTS: dict[str, dict[str, str]] = {
    "en": {
        "title": "The meaning of words",
        "debrief": "Thank you. Your answers are stored. We study how people understand words that have several "
        "meanings.",
        "screened_out": "Thank you for your interest. Your answers to the first questions do not fit this study.",
        "declined": "You have not consented, so nothing was stored. Thank you for your time.",
        "full": "All places are taken at the moment. Thank you for your interest; please try again later.",
        "closed": "This study takes no answers at the moment. Thank you for your interest.",
    },
    "es": {
        "title": "El significado de las palabras",
        "debrief": "Gracias. Sus respuestas han quedado guardadas. Estudiamos cómo se entienden las palabras que "
        "tienen varios significados.",
        "screened_out": "Gracias por su interés. Sus respuestas a las primeras preguntas no se ajustan a este estudio.",
        "declined": "No ha dado su consentimiento y no se ha guardado nada. Gracias por su tiempo.",
        "full": "En este momento no quedan plazas. Gracias por su interés; vuelva a intentarlo más tarde.",
        "closed": "Este estudio no admite respuestas en este momento. Gracias por su interés.",
    },
}
_NATIVE: dict[str, tuple[str, str, str]] = {
    "en": ("Is the language of this study your native language?", "yes", "no"),
    "es": ("¿Es el español su lengua materna?", "sí", "no"),
}
_AGE: dict[str, str] = {"en": "How old are you?", "es": "¿Cuántos años tiene?"}


def draft_definition(
    items: Sequence[Item],
    *,
    task: str,
    items_file: str,
    language: str,
    name: str,
    columns: dict[str, str] | None = None,
) -> StudyDefinition:
    """Return a definition in which everything is filled in that the task and the items say.

    Lists of at most 82 items (the largest of SAW-C), balanced on ``same_sense`` where the items have it; SAW-C's four
    exclusion rules in their pre-registered order; anchors, instructions and questions in the language, where the task
    has them.
    Errors: :class:`SpecError` for an unknown task, :class:`InputError` for one that has no scale or for no items.
    """
    known = catalog.task(task)
    if known.scale is None:
        raise InputError(f"the task {task!r} has no scale: nobody can rate its items")
    if not items:
        raise InputError("there are no items to ask about", code="E620")
    module = cast(ModuleType, catalog.module("tasks", task))
    scale = _scale(module, known.scale, language)
    same = len({str(item.conditions.get("same_sense", "")) for item in items}) == 2
    return StudyDefinition(
        name=name,
        task=task,
        language=language,
        items=items_file,
        columns=columns or {},
        scale=scale,
        design=DesignSection(lists=math.ceil(len(items) / _ITEMS_PER_LIST), balance=("same_sense",) if same else ()),
        catch=CatchSection(answer=scale.high),
        about_you=_questions(language),
        exclusions=_exclusions(scale.high, language),
        planned=_planned() if same else Planned(),
        texts=Texts(**_TEXTS.get(_base(language), {}), instructions=_instructions(task, language)),
    )


def _scale(module: ModuleType, scale: Scale, language: str) -> ScaleSection:
    anchors = dict(getattr(module, "ANCHORS", {})).get(_base(language), ())
    return ScaleSection(
        low=scale.low,
        high=scale.high,
        step=scale.step,
        anchors=tuple(Anchor(point=point, text=text) for point, text in anchors),
    )


def _instructions(task: str, language: str) -> str:
    screen = catalog.screen(task)
    return screen.guidelines(language) + "\n" if _base(language) in screen.languages else ""


def _base(language: str) -> str:
    # es-MX is written in the words of es until somebody edits them
    return language.partition("-")[0].lower()


def _questions(language: str) -> tuple[AboutYou, ...]:
    if _base(language) not in _NATIVE:
        return ()
    text, yes, no = _NATIVE[_base(language)]
    native = AboutYou(measure=NATIVE, text=text, options=(Option(value="yes", text=yes), Option(value="no", text=no)))
    return (native, AboutYou(measure="age", text=_AGE[_base(language)], kind="number", required=False))


def _exclusions(answer: float, language: str) -> tuple[str, ...]:
    rules = (
        f"failed_catch(items=catch,expected={answer:g})",
        "too_slow(sd=3)",
        "low_agreement(r_squared=0.1,ignore_items=catch,missing=exclude)",
    )
    return (*rules, f"self_report(measure={NATIVE},value=no)") if _base(language) in _NATIVE else rules


def _planned() -> Planned:
    return Planned(model="rating ~ same_sense + (1 | participant) + (1 | word) + (1 | item)", effect="same_sense")
