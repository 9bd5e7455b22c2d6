"""All that templates ask about a collection of words: choice sets, the same turned round, gaps; and what they cannot.

Choice sets of a file whose texts are made already are taken as they are
(:mod:`lexiscope.items.choice_sets.choice_set_file`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lexiscope.build.forced_choice import choice_sets_of, pages_in, pages_of
from lexiscope.build.gap_filling.gaps import COLUMN_PROMPT, gap_items, gap_prompt, gap_template
from lexiscope.core.errors import SpecError
from lexiscope.core.item import Item
from lexiscope.core.settings import ReadingOptions
from lexiscope.items.choice_sets.choice_set_file import is_collection, read_designed_sets
from lexiscope.items.choice_sets.collection_file import read_collection
from lexiscope.items.choice_sets.minimal_pairs import SynonymItem, choice_sets, fitting_templates, reversed_sets
from lexiscope.items.choice_sets.surface import Mode, is_english
from lexiscope.items.choice_sets.templates import Template, read_templates, synonymy_templates
from lexiscope.items.tables.tabular import is_item_table

OTHER_SUITES, CATEGORIES_OF_GAPS = "Suites other than substitution", "Error categories of gap filling"
GAPS = "Gap filling"
"""Analyses that some items do not allow."""
NO_PAGES = "No template of the suite substitution makes controlled choice sets, and a choice between words needs one."
"""Why people and chat models are asked no forced choice about a collection."""

_OTHER_LANGUAGE = (
    "The items are not in English, and the texts of the paper's other suites and of gap filling are: --templates FILE "
    "gives them in the language of the items."
)
_NO_NOUNS = "An item has no random nouns (random_nouns)."
_CONTROLS = "They have no distractor and compete with random nouns alone, and an item has none (random_nouns)."
_NOT_TURNED = "No template has a text for it (turned)."
_NO_GAP = "No template has {context} in front and only the target before its {word}."
_NO_SYNSETS = "No item names the lemmas of its synset (synset)."
_NOT_PROPOSED = "They are those of errors in synonymy, proposed from the English WordNet."
_UNKNOWN_LANGUAGE = "und"
_ONE_QUESTION = "The items are those that people were asked, each with its own question."
_NO_ANSWERS = "The items are forced choices: they name no answer to a gap."


@dataclass(frozen=True, slots=True)
class ChoiceItems:
    """Choice sets (``items``), and the gaps that the template ``gap`` makes (``gap_items``).

    ``token_deltas`` are those that came with a collection (the column ``token_delta``), by the number of its item;
    ``omitted`` are the analyses that the items do not allow, each with the reason. ``pages`` are the forced choices
    that people and chat models are asked (:mod:`lexiscope.build.forced_choice`).
    """

    items: tuple[Item, ...]
    gap_items: tuple[Item, ...] = ()
    gap: Template | None = None
    token_deltas: tuple[float, ...] = ()
    omitted: Mapping[str, str] = field(default_factory=dict)
    pages: tuple[Item, ...] = ()

    @property
    def language(self) -> str:
        """The language of the items."""
        return (self.items or self.gap_items)[0].usages[0].language

    def prompt(self, *, mode: Mode = "clean") -> str:
        """Return what is before the gap, with ``T`` for the target."""
        if self.gap is not None:
            return gap_prompt("T", self.gap, mode=mode)
        asked = self.gap_items[0]
        return re.sub(re.escape(asked.usages[0].target), "T", str(asked.condition(COLUMN_PROMPT)), flags=re.IGNORECASE)


def choice_items(
    collection: Sequence[SynonymItem],
    *,
    templates: Path | str = "",
    mode: Mode = "clean",
    dataset: str = "synonymy",
) -> ChoiceItems:
    """Return what a file of templates (without one, those of the synonymy study) asks about a collection.

    Without random nouns these are the controlled choice sets; items that are not in English and have no
    templates get the suite that has no words of any language.
    Errors: those of the templates and of :func:`~lexiscope.items.choice_sets.minimal_pairs.choice_sets`.
    """
    english = all(is_english(item.language) for item in collection)
    used = read_templates(templates) if templates else synonymy_templates()
    if not english and not templates:
        used = tuple(template for template in used if template.substitutes)
    has_nouns, gap = all(item.random_nouns for item in collection), gap_template(used)
    used, unfit = fitting_templates(collection, used)
    sets = choice_sets(collection, used, conditions=None if has_nouns else ["controlled"], mode=mode, dataset=dataset)
    deltas = [dict(item.extra).get("token_delta", "") for item in sorted(collection, key=lambda item: item.number)]
    reasons = {
        OTHER_SUITES: "" if english or templates else _OTHER_LANGUAGE,
        **unfit,
        "Random conditions, best of several and both": _NO_NOUNS if not has_nouns else "",
        "Controls with one sense": _CONTROLS if not has_nouns and any(item.is_control for item in collection) else "",
        "The relation turned round": "" if any(template.reversed_template for template in used) else _NOT_TURNED,
        GAPS: "" if gap else _NO_GAP,
        "Gap filling by synset": _NO_SYNSETS if gap and not any(item.synset for item in collection) else "",
        CATEGORIES_OF_GAPS: _NOT_PROPOSED if gap and (templates or not english) else "",
    }
    return ChoiceItems(
        (*sets, *reversed_sets(collection, used, mode=mode, dataset=dataset)),
        gap_items(collection, template=gap, mode=mode, dataset=dataset) if gap else (),
        gap,
        tuple(map(float, deltas)) if all(deltas) else (),
        {analysis: why for analysis, why in reasons.items() if why},
        pages_of(collection, sets, mode=mode, dataset=dataset),
    )


def read_choice_items(
    path: Path | str,
    *,
    templates: Path | str = "",
    mode: Mode = "clean",
    language: str = _UNKNOWN_LANGUAGE,
    options: ReadingOptions | None = None,
) -> ChoiceItems:
    """Read a collection (:func:`choice_items`), choice sets with their place in a design, or what people were asked.

    *language* is that of a file without a column for it; without one it is that of the templates. *options* are what
    the user said of how the file is written.
    Errors: :class:`SpecError` for templates of choice sets; those of the readers.
    """
    path = Path(path)
    asked = None if templates else pages_in(path, language=language, options=options)
    if asked is not None:
        pages, gaps = asked
        reasons = {OTHER_SUITES: _ONE_QUESTION} | ({} if gaps else {GAPS: _NO_ANSWERS})
        return ChoiceItems(choice_sets_of(pages), gaps, omitted=reasons, pages=pages)
    if language == _UNKNOWN_LANGUAGE:
        language = read_templates(templates)[0].language if templates else "en"
    if not is_item_table(path) and is_collection(path, options):
        collection = read_collection(path, language=language, options=options)
        return choice_items(collection, templates=templates, mode=mode, dataset=path.stem)
    if templates:
        what = "these are choice sets, whose texts are made: templates have no effect"
        raise SpecError(what, hint="leave out templates, or give a collection (target, synonym, distractor, sentence)")
    why = "The items are choice sets: they name no answer to a gap."
    sets = read_designed_sets(path, language=language, options=options)
    return ChoiceItems(sets, omitted={GAPS: why}, pages=sets)
