"""The views of a trial: texts in the participants' language, without anything that reveals an answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from markupsafe import escape

from lexiscope.annotation.store.record import Phase
from lexiscope.annotation.study_file.definition import AboutYou
from lexiscope.annotation.study_file.freeze import FrozenStudy
from lexiscope.annotation.study_file.items import question_item
from lexiscope.annotation.web.flow import TrialOnPage
from lexiscope.annotation.web.pages import Pages, line_html, to_html
from lexiscope.annotation.web.views import AboutView, ChoiceView, ExampleView, FlagView, FoldView, PointView, TrialView
from lexiscope.core import catalog
from lexiscope.core.item import Item
from lexiscope.core.scale import Scale
from lexiscope.core.screen import Choice, Screen, Shown


def trial_view(
    study: FrozenStudy,
    pages: Pages,
    asked: TrialOnPage,
    *,
    phase: Phase,
    position: int,
    client_key: str,
    shown_mark: str = "",
    given: Mapping[str, str] | None = None,
    faults: Mapping[str, str] | None = None,
) -> TrialView:
    """Return what the page of a trial shows.

    *given* are the fields of a form that was not accepted, *faults* the reasons; otherwise the stored answer is shown.
    """
    language, screen, item, shown = study.definition.language, asked.screen, asked.item, asked.shown
    words, view = screen.words(language), shown.appears_as
    stored = asked.stored or {}
    done, total = trials_done(study, asked, phase=phase)
    return TrialView(
        phase=str(phase),
        position=position,
        action=f"/trial/{phase}/{position}",
        suffix=f"{phase}-{position}",
        client_key=client_key,
        stimulus=pages.stimulus(screen, item, shown, language),
        question=screen.question(item, language, view=view),
        widget=screen.widget,
        advance=screen.advance_in(view),
        points=_point_views(study.scale if screen is study.screen else screen.scale, screen),
        choices=tuple(
            ChoiceView(choice.key, "" if choice.lines else words[f"option_{choice.key}"], choice.lines)
            for choice in screen.choices(item, shown)
        ),
        flags=tuple(FlagView(name, words[f"flag_{name}"]) for name in screen.flags),
        folds=_fold_views(study, asked, language, first=position == 0),
        placeholder=words.get("placeholder", ""),
        guess=words["guess"] if view in screen.guess_views else "",
        comment=screen.comment,
        max_length=screen.max_length,
        may_stay_empty=screen.may_stay_empty,
        search_url="/search" if screen.widget == "search" else "",
        back_url=f"/trial/{phase}/{position - 1}" if position and phase in study.record.revisable else "",
        another_url=f"/another/{position}" if screen.drawn and phase is Phase.TRIALS else "",
        another_text=words.get("another", ""),
        counter=words["counter"].format(done=done, total=total) if phase is Phase.TRIALS and "counter" in words else "",
        supersedes=int(str(stored["id"])) if stored else None,
        given=given if given is not None else _stored_fields(asked, stored),
        faults=faults or {},
        shown_mark=shown_mark,
        page_version=study.record.sha256[:12],
        instructions=pages.instructions(study, language, lambda: _instructions(study, pages)),
        instructions_url=f"/instructions/{phase}/{position}",
    )


def about_view(question: AboutYou, *, given: str = "", fault: str = "") -> AboutView:
    """Return what the page shows of a question about the participant."""
    options = tuple(ChoiceView(option.value, option.text) for option in question.options)
    return AboutView(question.measure, question.text, question.kind, question.required, options, given, fault)


def example_views(study: FrozenStudy, pages: Pages) -> tuple[ExampleView, ...]:
    """Return the worked examples of the instructions."""
    definition = study.definition
    examples = []
    for question in definition.examples:
        screen = catalog.screen(question.task) if question.task else study.screen
        item = question_item(question, definition.name, definition.language)
        examples.append(
            ExampleView(
                stimulus=pages.stimulus(screen, item, Shown(view=definition.views[0]), definition.language),
                question=screen.question(item, definition.language, view=definition.views[0]),
                answer=" / ".join(answer_texts(study, screen, item, question.accept)),
                explanation=question.explanation,
            )
        )
    return tuple(examples)


def given_text(study: FrozenStudy, asked: TrialOnPage, stored: Mapping[str, object]) -> str:
    """Return a stored answer as the participant reads it; empty where nothing was answered."""
    given = _stored_fields(asked, stored)
    for choice in asked.screen.options_of(asked.item, asked.shown.appears_as):
        if choice.key == given.get("option"):
            return _choice_text(choice, asked.screen.words(study.definition.language))
    if "value" in given:
        return answer_texts(study, asked.screen, asked.item, (float(given["value"]),))[0]
    return given.get("text", "")


def answer_texts(study: FrozenStudy, screen: Screen, item: Item, answers: Sequence[object]) -> tuple[str, ...]:
    """Return answers as participants read them: what an option shows, a point of the scale with its words.

    What is stored of an option may be an id that no participant has seen.
    """
    words = screen.words(study.definition.language)
    anchors = dict(study.scale.anchors) if screen is study.screen else {}
    choices = {choice.value: choice for choice in reversed(screen.options_of(item, study.definition.views[0]))}
    texts = []
    for answer in answers:
        if isinstance(answer, str):
            texts.append(_choice_text(choices[answer], words) if answer in choices else answer)
        else:
            point = float(str(answer))
            texts.append(f"{point:g} ({anchors[point]})" if point in anchors else f"{point:g}")
    return tuple(texts)


def _choice_text(choice: Choice, words: Mapping[str, str]) -> str:
    if not choice.lines:
        return words[f"option_{choice.key}"]
    return " / ".join("".join(text for text, _ in line) for line in choice.lines)


def _point_views(scale: Scale | None, screen: Screen) -> tuple[PointView, ...]:
    if screen.widget != "scale" or scale is None:
        return ()
    anchors = dict(scale.anchors)
    return tuple(PointView(f"{point:g}", anchors.get(point, "")) for point in scale.points)


def _fold_views(study: FrozenStudy, asked: TrialOnPage, language: str, *, first: bool) -> tuple[FoldView, ...]:
    screen = asked.screen
    if not screen.fold_outs:
        return ()
    words, values = screen.words(language), screen.stimulus(asked.item, asked.shown)
    folds = []
    for name in screen.fold_outs:
        if name != "guidelines":
            folds.append(FoldView(name, words[f"fold_{name}"], _lines_html(values[f"fold_{name}"])))
            continue
        scale = study.scale if screen is study.screen and screen.scale is not None else None
        # the parts of its view alone, so that no arm reads about another
        view = asked.shown.appears_as
        again = study.definition.reveal and screen is study.screen and asked.shown.view == screen.reveal_view
        html = guidelines_html(screen, language, (view, "reveal") if again else (view,), scale)
        # the instructions are the same for all views: the list is not known when they are read
        shown = first and bool(screen.guideline_parts(language))
        folds.append(FoldView(name, words[f"fold_{name}"], html, open=shown))
    return tuple(folds)


def trials_done(study: FrozenStudy, asked: TrialOnPage, *, phase: Phase) -> tuple[int, int]:
    """Return how many trials of a phase are done, of how many; where items are drawn, a skipped one is not done."""
    if asked.screen.drawn and phase is Phase.TRIALS:
        return asked.progress.n_written, study.record.written
    return asked.progress.next_position, asked.progress.n_trials


def guidelines_html(screen: Screen, language: str, views: tuple[str, ...] = (), scale: Scale | None = None) -> str:
    """Return a task's guidelines as safe HTML, on a study's scale: the general part and the parts of some views."""
    return to_html(screen.guidelines(language, views=views, scale=scale))


def _instructions(study: FrozenStudy, pages: Pages) -> tuple[str, tuple[ExampleView, ...]]:
    """Return the instructions to be read again; empty if they are the guidelines that every trial shows anyway."""
    text, screen, language = study.definition.texts.instructions, study.screen, study.definition.language
    examples = example_views(study, pages)
    if "guidelines" in screen.fold_outs and not examples:
        general = screen.guidelines(language, views=(), scale=study.scale if screen.scale is not None else None)
        if text.split() == general.split():
            return "", ()
    return to_html(text), examples


def _lines_html(value: object) -> str:
    lines = value if isinstance(value, list | tuple) else (str(value),)
    return "".join(f"<p>{escape(line) if isinstance(line, str) else line_html(line)}</p>" for line in lines)


def _stored_fields(asked: TrialOnPage, stored: Mapping[str, object]) -> dict[str, str]:
    """Return the stored answer by the names of the form's fields."""
    if not stored:
        return {}
    flags = set(json.loads(str(stored["flags"])))
    given = {f"flag_{name}": "1" for name in flags}
    for name in ("text", "guessed_word", "comment"):
        if stored[name] is not None:
            given[name] = str(stored[name])
    if stored["value"] is not None:
        given["value"] = f"{float(str(stored['value'])):g}"
    for choice in asked.screen.options_of(asked.item, asked.shown.appears_as):
        if choice.value == stored["option"] and set(choice.flags) <= flags:
            given["option"] = choice.key
            if choice.flags:
                break
    return given
