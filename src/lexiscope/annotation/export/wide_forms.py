"""The tables of a study in the form in which its paper published them, by task; any other task has a plain form.

Only answers that count are in them: to items, in the trials, of people who finished and are not excluded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lexiscope.annotation.export import choice_forms, plausibility_form, relatedness_form, text_forms
from lexiscope.annotation.export.collected import Collected
from lexiscope.annotation.export.plain_form import plain_sheets
from lexiscope.items.sheets.sheet import Sheet

Form = Callable[[Collected], tuple[Sheet, ...]]

FORMS: Mapping[str, Form] = {
    "relatedness": relatedness_form.sheets,
    "plausibility": plausibility_form.sheets,
    "same_sense": choice_forms.same_sense,
    "sense_verification": choice_forms.sense_verification,
    "substitution": choice_forms.substitution,
    "word_intrusion": choice_forms.word_intrusion,
    "sense_choice": choice_forms.sense_choice,
    "entity_link": text_forms.entity_link,
    "ambiguous_sentence": text_forms.ambiguous_sentence,
    "story_ending": text_forms.story_ending,
}
"""The form of a task's judgments, by the task's name; a task that is not named here has the plain form alone."""

RELEASES: Mapping[str, tuple[str, Callable[[Collected], str]]] = {
    "plausibility": ("release.json", plausibility_form.release),
}
"""Files of another shape than a table, by the task's name: the file's name, and what writes it."""


def wide_sheets(collected: Collected) -> tuple[Sheet, ...]:
    """Return the wide tables of a study: those of its task's paper, and one row per item with its statistics."""
    form = FORMS.get(collected.definition.task)
    own = form(collected) if form is not None else ()
    return (*own, *plain_sheets(collected))
