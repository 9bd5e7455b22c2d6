"""What a new study says to its participants before anybody has edited it, in the languages that we can write."""

from __future__ import annotations

from collections.abc import Mapping

from lexiscope.annotation.definition import AboutYou, Option

NATIVE = "native_speaker"
"""The measure of the question about the native language."""

TEXTS: Mapping[str, Mapping[str, str]] = {
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
