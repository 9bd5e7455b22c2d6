"""Freeze a definition and its items: what the store keeps of a study, and what every trial of it shows.

The frozen study is a pure function of the definition and the items: the same file gives the same lists, orders and
hashes on every start, which the store checks.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from lexiscope.annotation.phrases import msg
from lexiscope.annotation.store.record import ItemQuestion, Kind, Phase, StoredTrial, StudyItem, StudyRecord
from lexiscope.annotation.study_file.assignment import Quota, list_chooser, place_finder, places_per_list, plan_trials
from lexiscope.annotation.study_file.definition import AboutYou, KnownQuestion, StudyDefinition, text_versions
from lexiscope.annotation.study_file.definition_file import definition_yaml, parse_definition
from lexiscope.annotation.study_file.design import DividedLists, build_design, confusion_set
from lexiscope.annotation.study_file.items import question_item
from lexiscope.annotation.study_file.launch_screen import setting_problems, study_screen
from lexiscope.annotation.study_file.page_texts import OwnTexts, catalogue
from lexiscope.core import catalog
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.scale import Scale
from lexiscope.core.screen import Screen, Shown

if TYPE_CHECKING:
    # a type only: a study is checked before a database library is needed
    from lexiscope.annotation.store.places import Choose, HasPlace, ListLoad

ABOUT = "about:"
"""Begins the item id of a question about the participant; the measure follows."""
DEBRIEF_ITEM = "debrief:comment"
_ITEMS = "\n# items\n"
_DURATION = msg("Duration: about %(minutes)s min")
_PAY = msg("Pay: %(pay)s")
_CODES = {"completed": "completion", "screened_out": "screen_out", "no_consent": "no_consent"}


@dataclass(frozen=True, slots=True)
class FrozenStudy:
    """A study as it runs.

    ``items`` are all items that any page shows, by id; ``known`` the questions with a known answer among them;
    ``design`` is the division of the items of one arm; ``given`` are the items from which it was made. Lists are
    numbered from ``1`` through the arms: the lists of the first view, then those of the second.
    """

    definition: StudyDefinition
    record: StudyRecord
    design: DividedLists
    screen: Screen
    items: Mapping[str, Item]
    known: Mapping[str, KnownQuestion]
    versions: Mapping[str, str]
    given: tuple[Item, ...]

    def __reduce__(self) -> tuple[object, ...]:
        """Return how another process makes the same study: from the same definition and items."""
        return freeze, (self.definition, self.given)

    @property
    def quota(self) -> Quota:
        """How many people each list needs."""
        return _study_quota(self.definition, self.screen)

    @property
    def choose(self) -> Choose:
        """The rule by which a new participant gets a list; places added to a list since the launch count too."""
        chosen = list_chooser(self.quota, seed=self.definition.design.seed)
        return lambda loads, number: chosen(self._with_added(loads), number)

    @property
    def has_place(self) -> HasPlace:
        """The rule for participants who come back late, the same as for new ones: whether their list has a place."""
        is_free = place_finder(self.quota)
        return lambda loads, list_id: is_free(self._with_added(loads), list_id)

    def _with_added(self, loads: Mapping[str, ListLoad]) -> dict[str, ListLoad]:
        """Return the loads as the quota counts them: an added place counts like a missing valid answer."""
        planned = self.record.places
        return {name: replace(load, valid=load.valid - load.places + planned[name]) for name, load in loads.items()}

    @property
    def page_texts(self) -> Mapping[str, OwnTexts]:
        """The study's own texts of the pages by its language; nothing where it has none."""
        pages, language = self.definition.words.pages, self.definition.language
        return {language: OwnTexts(pages, language)} if pages else {}

    @property
    def scale(self) -> Scale:
        """The study's scale."""
        return self.definition.scale.scale()

    @property
    def consent_text(self) -> str:
        """The text that a participant consents to, as Markdown: consent, duration and pay, ethics statement."""
        return "\n\n".join(self.consent_parts)

    @property
    def consent_parts(self) -> tuple[str, str, str]:
        """The consent, duration and pay in the language of the study, and the ethics statement."""
        language, payment = self.definition.language, self.definition.payment
        texts = self.page_texts.get(language) or catalogue(language)
        terms = [texts.gettext(_DURATION) % {"minutes": f"{payment.minutes:g}"}]
        terms += [texts.gettext(_PAY) % {"pay": f"{payment.amount:.2f} {payment.currency}"}] if payment.amount else []
        listed = "\n".join(f"- {term}" for term in terms)
        return self.definition.texts.consent, listed, self.definition.ethics

    def screen_of(self, item_id: str) -> Screen:
        """Return the screen that shows an item: the study's, or that of the task which a known question names."""
        named = self.known[item_id].task if item_id in self.known else ""
        return catalog.screen(named) if named else self.screen

    def view_of(self, list_id: str | None) -> str:
        """Return the view of a list; before a list is taken, the first view of the study."""
        return self.record.views.get(list_id or "", self.definition.views[0])

    def display_of(self, trial: StoredTrial, *, list_id: str | None, phase: Phase) -> Shown:
        """Return how a trial shows its item."""
        revealed = phase is Phase.REVEAL
        return Shown(view=self.view_of(list_id), side=trial.side, order=trial.display_order, revealed=revealed)

    def trials(self, list_id: str, *, number: int) -> tuple[StoredTrial, ...]:
        """Return the trials of participant *number* on a list: order, sides, order of options, checks."""
        list_number = (int(list_id) - 1) % len(self.design.lists)
        planned = plan_trials(self.definition, self.design, list_number=list_number, number=number)
        view = self.view_of(list_id)
        return tuple(self._trial(trial.item, trial.side, number=number, view=view) for trial in planned)

    def drawn_trial(self, item_id: str, *, number: int) -> StoredTrial:
        """Return the trial of an item that was drawn from the pool."""
        return self._trial(self.items[item_id], "as_given", number=number, view=self.definition.views[0])

    def opening_trials(self, phase: Phase) -> tuple[StoredTrial, ...]:
        """Return the trials of a phase that is the same for everybody: about you, qualification, practice."""
        if phase is Phase.DEMOGRAPHICS:
            return tuple(StoredTrial(ABOUT + question.measure) for question in self.definition.about_you)
        questions = self.definition.qualification if phase is Phase.QUALIFICATION else self.definition.practice
        return tuple(StoredTrial(question.id) for question in questions)

    def _trial(self, item: Item, side: str, *, number: int, view: str) -> StoredTrial:
        screen = self.screen_of(item.item_id)
        order: tuple[int, ...] = ()
        if screen.shuffles_options and screen.options is not None and self.definition.option_order == "random":
            places = list(range(len(screen.options_of(item, view))))
            random.Random(f"{self.definition.design.seed}/{number}/{item.item_id}/options").shuffle(places)
            order = tuple(places)
        return StoredTrial(item.item_id, order, side if screen.swaps_sides else None)


def freeze(definition: StudyDefinition, items: Sequence[Item]) -> FrozenStudy:
    """Freeze a study.

    Errors: :class:`InputError` E617 for an item that the task's page cannot show, E619 for a view or setting
    that the task does not have; those of the design.
    """
    screen = study_screen(definition)
    for problem in setting_problems(definition, screen):
        raise InputError(problem.what, code=problem.code, hint=problem.hint)
    design = build_design(items, definition.design, definition.catch)
    real = {item.item_id: item for item in design.items}
    catch = {item.item_id: item for per_list in design.catch for item in per_list}
    questions = {
        **{question.id: (Kind.QUALIFICATION, question) for question in definition.qualification},
        **{question.id: (Kind.PRACTICE, question) for question in definition.practice},
        **{question.id: (Kind.ATTENTION, question) for question in definition.attention},
    }
    known = {name: question for name, (_, question) in questions.items()}
    asked = {name: question_item(question, definition.name, definition.language) for name, question in known.items()}
    together = {**real, **catch, **asked}
    screens = {name: catalog.screen(question.task) for name, question in known.items() if question.task}
    for item_id, item in together.items():
        screens.get(item_id, screen).check(item)
    confusion = definition.design.confusion[0].condition if definition.design.confusion else "word"
    stored = [
        StudyItem(
            name,
            _item_question(definition, screen, item),
            item_sha256(item),
            confusion_set=confusion_set(item, confusion),
        )
        for name, item in real.items()
    ]
    right = float(definition.catch.answer)
    stored += [
        StudyItem(name, _item_question(definition, screen, item), item_sha256(item), Kind.CATCH, (right,))
        for name, item in catch.items()
    ]
    for name, (kind, question) in questions.items():
        trial_question = _item_question(definition, screens.get(name, screen), asked[name])
        accept = tuple(answer if isinstance(answer, str) else float(answer) for answer in question.accept)
        stored.append(StudyItem(name, trial_question, item_sha256(asked[name]), kind, accept))
    stored += [_about_item(about) for about in definition.about_you]
    debrief = ItemQuestion("debrief_comment", required=False)
    stored.append(StudyItem(DEBRIEF_ITEM, debrief, _text_sha256("debrief"), Kind.SELF_REPORT))
    record = _study_record(definition, screen, design, tuple(stored), together)
    return FrozenStudy(
        definition,
        record,
        design,
        screen,
        MappingProxyType(together),
        MappingProxyType(known),
        MappingProxyType(text_versions(definition)),
        tuple(items),
    )


def item_sha256(item: Item) -> str:
    """Return the hash of everything an item can show: texts, spans, options, conditions."""
    usages = [(u.text, u.start, u.end, u.lemma, u.language) for u in item.usages]
    content = [usages, list(item.options), sorted((k, str(v)) for k, v in item.conditions.items())]
    return hashlib.sha256(json.dumps(content, ensure_ascii=False).encode("utf-8")).hexdigest()


def _study_record(
    definition: StudyDefinition,
    screen: Screen,
    design: DividedLists,
    stored: tuple[StudyItem, ...],
    items: Mapping[str, Item],
) -> StudyRecord:
    n_lists, arms = len(design.lists), definition.views
    places = places_per_list(_study_quota(definition, screen), n_lists * len(arms))
    names = [str(number + 1) for number in range(n_lists * len(arms))]
    # the items are part of what was launched: another file of items is another study
    hashes = "".join(f"# {name} {item_sha256(items[name])}\n" for name in sorted(items))
    return StudyRecord(
        study_id=definition.name,
        task=definition.task,
        definition=definition_yaml(definition) + _ITEMS + hashes,
        same_as=lambda stored: _is_same(stored, definition, hashes),
        items=stored,
        places=dict(zip(names, places, strict=True)),
        revisable=frozenset({Phase.TRIALS, Phase.REVEAL} if definition.back else ()),
        codes={kind: code for kind, name in _CODES.items() if (code := str(getattr(definition.codes, name)).strip())},
        views={name: arms[number // n_lists] for number, name in enumerate(names)},
        written=definition.pool.per_person if screen.drawn else 0,
        hold_minutes=definition.lease.minutes,
        retain_days=definition.retention.platform_ids_days,
    )


def _is_same(stored: str, definition: StudyDefinition, of_items: str) -> bool:
    """Return whether a stored text defines the same study; settings of a later version have their defaults."""
    text, _, stored_items = stored.partition(_ITEMS)
    try:
        return stored_items == of_items and parse_definition(text).definition == definition
    except InputError:
        return False


def _item_question(definition: StudyDefinition, screen: Screen, item: Item) -> ItemQuestion:
    excused_by = screen.flags if screen.may_stay_empty else ()
    if screen.widget == "scale":
        scale = definition.scale.scale() if screen.folder.name == definition.task else screen.scale
        return ItemQuestion(screen.measure, scale=scale, excused_by=excused_by)
    if screen.widget == "choice":
        values = dict.fromkeys(choice.value for view in definition.views for choice in screen.options_of(item, view))
        return ItemQuestion(screen.measure, options=tuple(values), excused_by=excused_by)
    return ItemQuestion(screen.measure, max_length=screen.max_length, excused_by=excused_by)


def _about_item(question: AboutYou) -> StudyItem:
    options = tuple(option.value for option in question.options)
    asked = ItemQuestion(
        question.measure,
        scale=question.numbers() if question.kind == "number" else None,
        options=options if question.kind == "choice" else (),
        max_length=1000,
        required=question.required,
    )
    # the same hash as before questions had limits, where the study sets none
    unset = {
        name for name in ("low", "high", "step") if getattr(question, name) == type(question).model_fields[name].default
    }
    shown = _text_sha256(question.model_dump_json(exclude=unset))
    return StudyItem(ABOUT + question.measure, asked, shown, Kind.SELF_REPORT)


def _study_quota(definition: StudyDefinition, screen: Screen) -> Quota:
    """Return the quota of a study; if items are drawn, people are counted, not valid answers to each item."""
    declared = Quota.of(definition)
    if not screen.drawn:
        return declared
    return Quota(definition.ratings.first_wave or declared.need, 0, declared.people_at_most)


def _text_sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
