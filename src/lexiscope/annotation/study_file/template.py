"""Write the first draft of a study: the settings that its task and its items imply, and texts in its language.

Consent and ethics stay empty: only the researcher can write them, and without them no study is launched. The habits of
the papers that ran a task (answers per item, length of a list, going back) are those of its screen
(:class:`lexiscope.core.screen.Habit`).
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from lexiscope.annotation.study_file.definition import (
    AboutYou,
    AboutYouOption,
    Anchor,
    CatchSection,
    Confusion,
    DesignSection,
    KnownQuestion,
    Planned,
    PoolSection,
    RatingsSection,
    ScaleSection,
    StudyDefinition,
    StudyTexts,
    WordsSection,
)
from lexiscope.annotation.study_file.definition_file import definition_yaml
from lexiscope.annotation.study_file.design import confusion_set
from lexiscope.annotation.study_file.launch_screen import MOST_POINTS
from lexiscope.annotation.study_file.page_texts import has_catalogue, participants_texts
from lexiscope.core import catalog
from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import SAME_SENSE, Item
from lexiscope.core.run import write_atomically
from lexiscope.core.screen import Habit, PaperWords, Screen
from lexiscope.items.arrange.lists import OverlappingLists
from lexiscope.items.tables.tabular import is_item_table, read_items
from lexiscope.tasks.kit.words_file import WordsFile

_BALANCED = (SAME_SENSE, "meaning", "ending_kind")
# what keeps items apart in a file without the condition
_FALLBACK: Mapping[str, str] = {"homonym": "word", "word": "word"}
_PLANNED = Planned(model="rating ~ same_sense + (1 | participant) + (1 | word) + (1 | item)", effect=SAME_SENSE)


def draft_definition(
    items: Sequence[Item],
    *,
    task: str,
    items_file: str,
    language: str,
    name: str,
    columns: dict[str, str] | None = None,
    published: bool = False,
    words: WordsFile | None = None,
) -> StudyDefinition:
    """Return a definition with all settings that follow from the task and the items.

    Relatedness: lists of at most 82 items (the largest of SAW-C), balanced on ``same_sense`` where the items have it,
    a catch trial, SAW-C's four exclusion rules in their pre-registered order. Other tasks: their own habits
    (``Screen.habit``). Anchors, instructions and questions are in the language, if the task has them.
    *published*: instructions, qualification test, anchors and texts of the page are those that people of the task's
    paper had, read from the data. *words* are the researcher's own: in a language of the package they take the place
    of its words, in any other all must be there (:func:`check_words`).
    Errors: :class:`SpecError` for an unknown task, :class:`InputError` for no items, or items that the task's page
    cannot show (E617); of *published*, E616 for another language than English, and those of the data.
    """
    screen = catalog.screen(task)
    if words is not None:
        screen = replace(screen, given=words.task_words)
    if not items:
        raise InputError("The item file has no items.", code="E620")
    for item in items:
        screen.check(item)
    habit, scale = screen.habit, _scale_section(screen, language, items)
    design = _design_section(items, screen, habit)
    # a catch trial needs two sentences, and a scale for its correct answer
    catch = CatchSection(per_list=int(screen.widget == "scale" and screen.n_usages > 1), answer=scale.high)
    about = about_you_questions(language, words.about_you if words is not None else {})
    paper = _paper_words(screen, language) if published else None
    if paper is not None and paper.anchors:
        scale = scale.model_copy(update={"anchors": tuple(Anchor(point=p, text=text) for p, text in paper.anchors)})
    # the text for all arms; the part of a view is on the first page of its arm. In a language in which the task has no
    # guidelines it is empty: the check asks the researcher to write it
    instructions = ""
    if paper is not None:
        instructions = paper.instructions
    elif base_language(language) in screen.guided_languages:
        shown_scale = scale.scale() if screen.scale is not None else None
        instructions = screen.guidelines(language, views=(), scale=shown_scale) + "\n"
    # before and after the trials: the texts of the researcher, otherwise those of the package
    own = words.texts if words is not None else {}
    texts_around = {
        **TEXTS.get(base_language(language), {}),
        **{name: text for name, text in own.items() if text.strip()},
    }
    # the words alone only if they differ: two equal words have one answer
    default_views = (
        screen.views
        if screen.n_usages < 2 or not all(item.has_one_word for item in items)
        else tuple(view for view in screen.views if view != "word")
    )
    return StudyDefinition(
        name=name,
        task=task,
        language=language,
        items=items_file,
        columns=columns or {},
        scale=scale,
        views=default_views,
        pool=_pool_section(items),
        back=habit.back,
        design=design,
        ratings=_ratings_section(items, screen, habit),
        catch=catch,
        qualification=tuple(
            KnownQuestion(id=asked.question_id, task=asked.task, shows=dict(asked.shows), accept=(asked.accept,))
            for asked in paper.qualification
        )
        if paper is not None
        else (),
        about_you=about,
        exclusions=_exclusion_rules(screen, catch, habit, asks_native=any(q.measure == NATIVE for q in about)),
        planned=_PLANNED if screen.widget == "scale" and SAME_SENSE in design.balance else Planned(),
        texts=StudyTexts(**texts_around, instructions=instructions),
        words=WordsSection(task=words.words, guidelines=words.guidelines, pages=words.pages)
        if words is not None
        else WordsSection(task=dict(paper.page) if paper is not None else {}),
    )


def check_words(words: WordsFile, path: Path | str) -> None:
    """Check that a file of words has all that participants read in its language, beyond the words of the task.

    Errors: :class:`InputError` E618 naming every missing text: around the trials, about the participant, of the pages.
    """
    language = base_language(words.language)
    wanted: tuple[tuple[str, Sequence[str], Mapping[str, str]], ...] = (
        ("texts", () if language in TEXTS else tuple(TEXTS["en"]), words.texts),
        ("about_you", () if language in _NATIVE else ABOUT_YOU, words.about_you),
        ("pages", () if has_catalogue(words.language) else participants_texts(), words.pages),
    )
    known = {"texts": tuple(TEXTS["en"]), "about_you": (*ABOUT_YOU, *OPTIONAL), "pages": participants_texts()}
    strange = [f"{part}.{name}" for part, _, given in wanted for name in given if name not in known[part]]
    if strange:
        hint = "Compare it with a new file of words: lexiscope annotate words."
        raise InputError(f"Unknown name {strange[0]!r}.", code="E618", place=Place(str(path)), hint=hint)
    missing = [f"{part}.{name}" for part, names, given in wanted for name in names if not given.get(name, "").strip()]
    if missing:
        what = f"Texts for participants are missing in {words.language!r}: {', '.join(missing)}."
        why = f"The package does not have them in {words.language!r}."
        raise InputError(what, code="E618", place=Place(str(path)), why=why, hint="Write them; none may be empty.")


def with_drawn_lists(draft: StudyDefinition, path: Path) -> StudyDefinition:
    """Return the draft with the lists of items that were drawn for several annotators, if the item file has such lists.

    The draft has the same number and size of lists and of shared items, one answer from each annotator, and after a
    view that hides the target the same items revealed (the context–word bias study, §2.2). The shared items are drawn
    again.
    """
    items = read_items(path) if is_item_table(path) else ()
    if not items or not all(item.list_id for item in items):
        return draft
    drawn = OverlappingLists.of(items)
    sizes = {len(members) for members in drawn.lists}
    if len(sizes) > 1 or len(drawn.lists) < 2:
        return draft
    size = {"lists": len(drawn.lists), "per_list": sizes.pop(), "shared": len(drawn.shared)}
    return draft.model_copy(
        update={
            "design": draft.design.model_copy(update=size),
            "ratings": draft.ratings.model_copy(update={"per_item": 1}),
            "reveal": catalog.screen(draft.task).reveal_view in draft.views,
        }
    )


def write_draft(draft: StudyDefinition, path: Path) -> None:
    """Write a draft as a study file, with examples of the questions that only a researcher can choose, in comments.

    Errors: :class:`InputError` E615 where the file exists.
    """
    if path.exists():
        raise InputError(f"{path} already exists.", code="E615", hint="Name a new file.")
    make = getattr(catalog.module("tasks", draft.task), "example_items", None)
    examples = cast(Sequence[Item], make(base_language(draft.language))) if make is not None else ()
    write_atomically(path, with_hints(definition_yaml(draft), catalog.screen(draft.task), examples))


def _scale_section(screen: Screen, language: str, items: Sequence[Item]) -> ScaleSection:
    """Return the scale of the items, if they name one; a short continuous one is asked in whole numbers, as buttons."""
    if screen.scale is None:
        return ScaleSection()
    named = next((item.scale for item in items if item.scale is not None), screen.scale)
    # the task's scale has English words, which are of no use in another language
    own = screen.given is not None and bool(screen.given.anchors)
    known = own or base_language(language) in screen.anchors or (named is not screen.scale and bool(named.anchors))
    scale = screen.scale_in(language, named) if known else named
    assert scale is not None
    return ScaleSection(
        low=scale.low,
        high=scale.high,
        step=scale.step or float(scale.high - scale.low < MOST_POINTS),
        anchors=tuple(Anchor(point=point, text=text) for point, text in (scale.anchors if known else ())),
    )


def _design_section(items: Sequence[Item], screen: Screen, habit: Habit) -> DesignSection:
    """Return one list for items drawn from a pool, otherwise the fewest lists that separate items that must not meet.

    A file without a column of word forms (``homonym``) keeps words apart instead.
    """
    if screen.drawn:
        return DesignSection(lists=1)
    named = [
        name if all(name in item.conditions for item in items) else _FALLBACK.get(name, "") for name in habit.apart
    ]
    apart = [name for name in named if name]
    # few levels, each often: a column in which every item differs cannot be spread over lists
    balance = tuple(name for name in _BALANCED if 2 <= _n_levels(items, name) <= 3)
    lists = math.ceil(len(items) / habit.per_list) if habit.per_list else 1
    largest = [max(Counter(confusion_set(item, name) for item in items).values()) for name in apart]
    confusion = tuple(Confusion(condition=name, at_most=1) for name in apart) or (Confusion(),)
    return DesignSection(lists=max([lists, *largest]), confusion=confusion, balance=balance)


def _n_levels(items: Sequence[Item], name: str) -> int:
    """Return how many values a condition has; 0 if an item does not have it."""
    if not all(name in item.conditions for item in items):
        return 0
    return len({str(item.conditions[name]) for item in items})


def _ratings_section(items: Sequence[Item], screen: Screen, habit: Habit) -> RatingsSection:
    if screen.drawn:
        people = math.ceil(len(items) / _pool_section(items).per_person)
        return RatingsSection(per_item=1, first_wave=people)
    return RatingsSection(per_item=habit.per_item)


def _pool_section(items: Sequence[Item]) -> PoolSection:
    """Return a pool of at least twice as many items as one participant writes: each may ask for another word."""
    return PoolSection(per_person=max(1, min(PoolSection().per_person, len(items) // 2)))


def _exclusion_rules(screen: Screen, catch: CatchSection, habit: Habit, *, asks_native: bool) -> tuple[str, ...]:
    rules = []
    if catch.per_list:
        rules += [f"failed_catch(items=catch,expected={catch.answer:g})", "too_slow(sd=3)"]
        rules += ["low_agreement(r_squared=0.1,ignore_items=catch,missing=exclude)"] if habit.per_item > 2 else []
    if screen.widget == "scale" and asks_native:
        rules.append(f"self_report(measure={NATIVE},value=no)")
    return tuple(rules)


def _paper_words(screen: Screen, language: str) -> PaperWords:
    """Return what people of the task's paper read."""
    if screen.paper_words is None:
        raise InputError("No paper has instructions for this task.", code="E616", hint="Remove --wording published.")
    if base_language(language) != "en":
        hint = "Remove --wording published, or translate the instructions by hand."
        what = f"The instructions of the paper are in English; the study is in {language!r}."
        raise InputError(what, code="E616", hint=hint)
    return screen.paper_words()


# -- the texts of a new study for its participants, before the researcher edits them --------------------------------


NATIVE = "native_speaker"
"""The measure of the question about the native language."""
TEXTS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "title": "The meaning of words",
        "debrief": "Thank you. Your answers are stored. We study how people understand words that have several "
        "meanings.",
        "screened_out": "Thank you for your interest. Your answers to the first questions do not fit this study.",
        "declined": "You have not consented, so the study ends here. Only your participant ID and your decision are "
        "stored. Thank you for your time.",
        "full": "All places are taken at the moment. Thank you for your interest; please try again later.",
        "closed": "This study does not accept participants at the moment. Thank you for your interest.",
    },
    "es": {
        "title": "El significado de las palabras",
        "debrief": "Gracias. Sus respuestas han quedado guardadas. Estudiamos cómo se entienden las palabras que "
        "tienen varios significados.",
        "screened_out": "Gracias por su interés. Sus respuestas a las primeras preguntas no se ajustan a este estudio.",
        "declined": "No ha dado su consentimiento, así que el estudio termina aquí. Solo se han guardado su "
        "identificador de participante y su decisión. Gracias por su tiempo.",
        "full": "En este momento no quedan plazas. Gracias por su interés; vuelva a intentarlo más tarde.",
        "closed": "Este estudio no admite participantes en este momento. Gracias por su interés.",
    },
    "de": {
        "title": "Die Bedeutung von Wörtern",
        "debrief": "Vielen Dank. Ihre Antworten sind gespeichert. Wir untersuchen, wie Menschen Wörter verstehen, die "
        "mehrere Bedeutungen haben.",
        "screened_out": "Vielen Dank für Ihr Interesse. Ihre Antworten auf die ersten Fragen passen nicht zu dieser "
        "Studie.",
        "declined": "Sie haben nicht eingewilligt, deshalb endet die Studie hier. Gespeichert sind nur Ihre "
        "Teilnehmerkennung und Ihre Entscheidung. Vielen Dank für Ihre Zeit.",
        "full": "Zurzeit sind alle Plätze vergeben. Vielen Dank für Ihr Interesse; bitte versuchen Sie es später noch "
        "einmal.",
        "closed": "Diese Studie nimmt zurzeit keine Teilnehmer auf. Vielen Dank für Ihr Interesse.",
    },
}
"""The texts around the trials, by language; only the researcher can write the consent."""
_NATIVE: Mapping[str, tuple[str, str, str]] = {
    "en": ("Is the language of this study your native language?", "yes", "no"),
    "es": ("¿Es el español su lengua materna?", "sí", "no"),
    "de": ("Ist Deutsch Ihre Muttersprache?", "ja", "nein"),
}
ABOUT_YOU = (NATIVE, "yes", "no", "age")
"""What a file of words calls the questions about the participant: the native language, its two answers, the age."""
_AGE: Mapping[str, str] = {"en": "How old are you?", "es": "¿Cuántos años tiene?", "de": "Wie alt sind Sie?"}
OPTIONAL = ("country", "gender", "woman", "man", "another", "not_said")
"""What a file of words calls the other questions about the participant: the country; the gender, and its answers."""
_OPTIONAL: Mapping[str, tuple[str, ...]] = {
    "en": ("In which country do you live? You can leave this empty.", "What is your gender?", "woman", "man",
           "another gender", "prefer not to say"),
    "es": ("¿En qué país vive? Puede dejarlo en blanco.", "¿Cuál es su género?", "mujer", "hombre", "otro género",
           "prefiero no decirlo"),
    "de": ("In welchem Land leben Sie? Sie können das Feld leer lassen.", "Welches Geschlecht haben Sie?", "weiblich",
           "männlich", "anderes", "keine Angabe"),
}  # fmt: skip
_GENDERS = {"woman": "woman", "man": "man", "another": "another gender", "not_said": "prefer not to say"}
"""The stored answers to the question about the gender, by the names of their texts."""


def base_language(language: str) -> str:
    """Return the language without its region: the texts of ``es-MX`` are those of ``es`` until they are edited.

    >>> base_language("es-MX")
    'es'
    """
    return language.partition("-")[0].lower()


def about_you_words(language: str) -> dict[str, str]:
    """Return the package's words for the questions about the participant, by their names; empty in other languages."""
    base = base_language(language)
    if base not in _NATIVE:
        return {}
    return dict(zip((*ABOUT_YOU, *OPTIONAL), (*_NATIVE[base], _AGE[base], *_OPTIONAL[base]), strict=True))


def about_you_questions(language: str, own: Mapping[str, str]) -> tuple[AboutYou, ...]:
    """Return the questions about the participant; none in a language in which they are not written.

    They are about the native language, and, each optional, the age, the country and the gender. *own* are the
    researcher's words for them, by their names (:data:`ABOUT_YOU`, :data:`OPTIONAL`); without all words of the optional
    ones, country and gender are not asked.
    """
    asked = about_you_words(language) | {name: text for name, text in own.items() if text.strip()}
    if any(name not in asked for name in ABOUT_YOU):
        return ()
    text, yes, no, age = (asked[name] for name in ABOUT_YOU)
    native = AboutYou(
        measure=NATIVE, text=text, options=(AboutYouOption(value="yes", text=yes), AboutYouOption(value="no", text=no))
    )
    questions = (native, AboutYou(measure="age", text=age, kind="number", required=False))
    if any(name not in asked for name in OPTIONAL):
        return questions
    genders = tuple(AboutYouOption(value=value, text=asked[name]) for name, value in _GENDERS.items())
    country = AboutYou(measure="country", text=asked["country"], kind="text", required=False)
    return (*questions, country, AboutYou(measure="gender", text=asked["gender"], options=genders, required=False))


def with_hints(text: str, screen: Screen, examples: Sequence[Item]) -> str:
    """Return the text of a study file with a question in comments where the qualification and the checks are empty.

    The question is the first example of the task. Tasks that are answered by a text get none, because a text cannot be
    compared with a list of correct answers.
    """
    if not examples or screen.widget in ("text", "search"):
        return text
    for part, name in (("qualification", "q1"), ("attention", "a1")):
        lines = "\n".join(f"#   {line}" for line in _question_lines(name, screen, examples[0]))
        hint = f"# Example of a question. To use it, delete the # signs and change the texts.\n# {part}:\n{lines}\n"
        text = text.replace(f"\n{part}: []\n", f"\n{hint}{part}: []\n")
    return text


def _question_lines(name: str, screen: Screen, item: Item) -> Iterator[str]:
    yield f"- id: {name}"
    yield "  shows:"
    for number, usage in enumerate(item.usages, start=1):
        if not screen.n_usages:
            name = f"incorrect_{number - 1}" if number > 1 else "correct"
            yield f"    {name}: {json.dumps(usage.text, ensure_ascii=False)}"
            continue
        if number == 1:
            yield f"    target: {json.dumps(usage.target, ensure_ascii=False)}"
        yield f"    sentence_{number}: {json.dumps(usage.text, ensure_ascii=False)}"
    for condition, value in item.conditions.items():
        yield f"    {condition}: {json.dumps(str(value), ensure_ascii=False)}"
    yield f"  accept: [{_accepted_answers(screen, item)}]"


def _accepted_answers(screen: Screen, item: Item) -> str:
    gold = item.gold or ""
    if screen.widget != "scale" or screen.scale is None:
        return json.dumps(gold, ensure_ascii=False)
    # the two points at the end of the scale on which the example lies
    low = float(gold) < (screen.scale.low + screen.scale.high) / 2
    points = screen.scale.points[:2] if low else screen.scale.points[-2:]
    return ", ".join(f"{point:g}" for point in points)
