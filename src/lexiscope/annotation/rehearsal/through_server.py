"""Rehearse a study through its real server: pages, cookies, store, places, exclusions, export.

Only the people and the clock are simulated. People arrive, read, answer, leave, give their place back, come back late.
Events happen in the order of the simulated clock, one after another, so that the same seed gives the same run.
"""

from __future__ import annotations

import asyncio
import heapq
import json
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlencode

from lexiscope.annotation.export.study_data import StudyData
from lexiscope.annotation.rehearsal.answers import (
    Population,
    Rehearsal,
    SimulatedPerson,
    draw_person,
    is_careful,
    known_answer,
    rehearse,
    self_reports,
    simulated_rating,
)
from lexiscope.annotation.rehearsal.browser import (
    Browser,
    Meter,
    Page,
    PageForm,
    PageReply,
    read_page,
    without_white_space,
)
from lexiscope.annotation.rehearsal.simulate import (
    RecoveredEffect,
    RuleCatches,
    count_catches,
    count_missed,
    fit_planned_model,
    ratings_per_item,
)
from lexiscope.annotation.store.export import FINISHED
from lexiscope.annotation.store.record import State, StateError
from lexiscope.annotation.study_file.freeze import FrozenStudy, freeze
from lexiscope.annotation.study_file.study_folder import StudyOnDisk
from lexiscope.annotation.web.admin.summary import read_collected
from lexiscope.annotation.web.app import App
from lexiscope.annotation.web.pages import Pages
from lexiscope.annotation.web.security import RateLimit, ServerSettings
from lexiscope.annotation.web.serving import Serving, application, open_app
from lexiscope.core.errors import RunError
from lexiscope.core.item import Item
from lexiscope.core.screen import Screen, Shown

ORIGIN = "http://127.0.0.1:8000"
SECONDS_PER_PAGE = 20.0
"""Time for each page that is no trial."""
_PEOPLE_PER_PLACE = 1000


@dataclass(slots=True)
class SimulatedClock:
    """A clock that moves only from event to event."""

    now: datetime = field(default_factory=lambda: datetime(2030, 1, 1, tzinfo=UTC))

    def __call__(self) -> datetime:
        """Return the time."""
        return self.now

    def seconds(self) -> float:
        """Return the time as a number. *Unit:* seconds."""
        return self.now.timestamp()


@dataclass(frozen=True, slots=True)
class ServerRun:
    """One rehearsal through the server.

    ``ends`` counts how people left (finished, gone, returned, late, screened_out, turned_away); ``ratings`` are
    (fewest, mean, most) valid answers per item; ``missed`` counts faulty participants that no rule excluded. *Unit:*
    ``cost`` in the study's currency, ``hours`` of simulated time, ``cpu_ms`` milliseconds of processor time for an
    answer and the page after it.
    """

    seed: int
    complete: bool
    paid: int
    valid: int
    excluded: int
    ends: Mapping[str, int]
    cost: float
    hours: float
    ratings: tuple[int, float, int]
    rules: tuple[RuleCatches, ...]
    missed: tuple[tuple[str, int], ...]
    recovered: RecoveredEffect | None
    n_answers: int
    n_requests: int
    cpu_ms: float
    collected: StudyData


def rehearse_through_server(
    study: StudyOnDisk,
    *,
    population: Population | None = None,
    seed: int = 1,
    people: int = 0,
    folder: Path | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> ServerRun:
    """Send simulated participants through a study's server, until every list has its valid answers.

    *people*: the highest number of participants (0: a thousand times the number of places). The store is written to
    *folder*; by default, to a temporary one that is removed. The platform ids and the random ids of simulated
    participants begin with ``simulated-``, and the study's name ends in ``-simulated``.
    Errors: :class:`RunError` where a page says that something is wrong; those of the study and its store.
    """
    # ids of simulated participants do not match a platform's pattern, and a rehearsal is not part of its study
    definition = study.definition.model_copy(
        update={
            "name": f"{study.definition.name}-simulated",
            "platform": study.definition.platform.model_copy(update={"pattern": ""}),
        }
    )
    frozen, clock = freeze(definition, study.items), SimulatedClock()
    # the store gives ids that carry the mark, so that no table made of the answers can lose it
    frozen = replace(frozen, record=replace(frozen.record, simulated=True))
    with tempfile.TemporaryDirectory(prefix="lexiscope-") as temporary:
        # a power cut may take the answers of a rehearsal
        settings, serving = ServerSettings(ORIGIN), Serving(unsafe_fast=True)
        place = folder if folder is not None else Path(temporary)
        with open_app(
            frozen, place, settings, serving=serving, clock=clock, steady=clock.seconds, search=study.search
        ) as app:
            for name, limit in (("saves", app.saves), ("arrivals", app.arrivals)):
                setattr(app, name, RateLimit(limit.burst, limit.per_second, clock=clock.seconds))
            run = _RunThroughServer(frozen, app, clock, population or Population(), seed, people)
            asyncio.run(run.run(progress))
            return run.result()


class _RunThroughServer:
    """The events of one run, in order of the simulated time."""

    def __init__(
        self, study: FrozenStudy, app: App, clock: SimulatedClock, population: Population, seed: int, people: int
    ) -> None:
        self.study, self.app, self.clock, self.population, self.seed = study, app, clock, population, seed
        self.people_at_most = people or _PEOPLE_PER_PLACE * sum(study.record.places.values())
        self.asgi = application(app)
        self.begun, self.last_finish = clock.now, clock.now
        self.events: list[tuple[datetime, int, str, Visitor | None]] = []
        self.order, self.arrived, self.underway = 0, 0, 0
        self.rng = random.Random(f"{seed}/arrivals")
        self.visitors: dict[str, Visitor] = {}
        self.ends: Counter[str] = Counter()
        self.trials, self.others = Meter(), Meter()
        rehearsal = rehearse(study.definition, study.design, population, seed=seed)
        self.behaviour, self.recognition = Behaviour(study, rehearsal), Recognition(study, app.pages)
        most = max(len(items) for items in study.design.lists) + study.definition.trials_per_list
        self.n_trials = study.record.written or most

    async def run(self, progress: Callable[[str, int, int], None] | None) -> None:
        """Let participants arrive until no visit is active and no place is free, or the highest number has arrived."""
        total = sum(self.study.record.places.values())
        self._add_event(0.0, "arrival", None)
        while self.events:
            self.clock.now, _, kind, visitor = heapq.heappop(self.events)
            if visitor is None:
                await self._begin_visit()
            else:
                await self._continue_visit(kind, visitor)
            await asyncio.gather(*self.app.tasks)
            if progress is not None:
                progress("people", min(self.ends["finished"], total), total)

    def result(self) -> ServerRun:
        """Summarise the run from what the store has.

        Errors: those of the planned model.
        """
        study, store = self.study, self.app.store
        definition = study.definition
        collected = read_collected(study, store, tables=store.responses_and_judgments())
        characters = {
            participant_id: visitor.person.character
            for platform_id, visitor in self.visitors.items()
            if (participant_id := store.find(platform_id)) is not None
        }
        finished = [person for person in store.people() if person.state in FINISHED]
        excluded = [person for person in finished if person.state is State.EXCLUDED]
        caught = {
            rule: [person.participant_id for person in excluded if person.reason == rule]
            for rule in definition.exclusions
        }
        included = [person.participant_id for person in finished if person.state is not State.EXCLUDED]
        kept = collected.item_answers
        n_answers = sum(row["phase"] == "trials" for row in collected.rows)
        return ServerRun(
            seed=self.seed,
            complete=self._is_complete(),
            paid=len(finished),
            valid=len(finished) - len(excluded),
            excluded=len(excluded),
            ends=dict(self.ends),
            cost=len(finished) * definition.payment.amount,
            hours=(self.last_finish - self.begun).total_seconds() / 3600,
            ratings=ratings_per_item(study.design, kept),
            rules=tuple(count_catches(rule, caught[rule], characters) for rule in definition.exclusions),
            missed=count_missed(included, characters),
            recovered=fit_planned_model(definition, study.design, kept) if definition.planned.model else None,
            n_answers=n_answers,
            n_requests=self.trials.requests + self.others.requests,
            cpu_ms=1000 * self.trials.seconds / max(1, n_answers),
            collected=collected,
        )

    def _is_complete(self) -> bool:
        return all(load.valid >= self.study.quota.need for load in self.app.store.loads().values())

    def _is_over(self) -> bool:
        """Return whether no more participants are needed; one who just left keeps the place until its lease ends."""
        loads = self.app.store.loads()
        held = any(load.active for load in loads.values())
        return self._is_complete() or (not held and self.study.choose(loads, 0) is None)

    def _add_event(self, seconds: float, kind: str, visitor: Visitor | None) -> None:
        self.order += 1
        heapq.heappush(self.events, (self.clock.now + timedelta(seconds=seconds), self.order, kind, visitor))

    async def _begin_visit(self) -> None:
        if not self.underway and self._is_over():
            return
        self.arrived += 1
        minutes = self.study.definition.payment.minutes
        person = draw_person(self.population, number=self.arrived, minutes=minutes, seed=self.seed)
        if self.arrived < self.people_at_most:
            self._add_event(self.rng.expovariate(self.population.arrivals_per_hour) * 3600, "arrival", None)
        visitor = Visitor(
            person,
            Browser(self.asgi, ORIGIN, self.others),
            self.behaviour,
            self.recognition,
            seconds_per_trial=60 * person.minutes / self.n_trials,
        )
        if self.study.definition.platform.kind == "lab":
            (visitor.token,) = self.app.store.make_tokens(1, actor="rehearsal")
        self.visitors[person.person_id] = visitor
        self.underway += 1
        await visitor.arrive()
        self._plan_next(visitor)

    async def _continue_visit(self, kind: str, visitor: Visitor) -> None:
        if kind == "back":
            self.underway += 1
            visitor.browser.cookies.clear()
            await visitor.arrive()
        else:
            visitor.browser.meter = self.trials if visitor.path.startswith("/trial/trials/") else self.others
            await visitor.step()
        self._plan_next(visitor)

    def _plan_next(self, visitor: Visitor) -> None:
        """Plan the next event of a visit, unless the study has ended for this person or the person leaves."""
        page, person = visitor.page, visitor.person
        assert page is not None
        if page.name == "ended":
            self.underway -= 1
            self.ends[self._way_out(visitor)] += 1
            return
        share = visitor.answered / self.n_trials
        if person.leaves_at is not None and share >= person.leaves_at and visitor.path.startswith("/trial/trials/"):
            self._leave(visitor)
            return
        self._add_event(visitor.seconds_per_trial if page.name == "trial" else SECONDS_PER_PAGE, "step", visitor)

    def _leave(self, visitor: Visitor) -> None:
        self.underway -= 1
        self.ends[visitor.person.after] += 1
        visitor.person, after = replace(visitor.person, leaves_at=None), visitor.person.after
        if after == "late":
            self._add_event(1.5 * 60 * self.study.definition.lease.minutes, "back", visitor)
        elif after == "returned" and not visitor.token:
            who = self.app.store.find(visitor.platform_id)
            with suppress(StateError):
                self.app.store.change_state(who or "", State.RETURNED, reason="returned on the platform (simulated)")

    def _way_out(self, visitor: Visitor) -> str:
        who = self.app.store.find(visitor.platform_id)
        if who is None:
            self.last_finish = self.clock.now
            return "finished"
        state = self.app.store.progress(who).state
        if state in FINISHED:
            self.last_finish = self.clock.now
            return "finished"
        return "screened_out" if state is State.SCREENED_OUT else "turned_away"


# -- a simulated participant on the real pages, from the link to the code -------------------------------------------


@dataclass(slots=True)
class Visitor:
    """A person with a browser. ``page`` is what they see, ``path`` where; ``answered`` counts their trials."""

    person: SimulatedPerson
    browser: Browser
    behaviour: Behaviour
    recognition: Recognition
    seconds_per_trial: float = 10.0
    token: str = ""
    page: Page | None = None
    path: str = ""
    answered: int = 0

    @property
    def platform_id(self) -> str:
        """The id with which the recruiting platform would send this person: no platform gives ids that begin so."""
        return self.person.person_id

    async def arrive(self) -> Page:
        """Follow the link of the study; a participant who was here before continues at the same step.

        Errors: :class:`RunError` for a page that says that something is wrong.
        """
        platform = self.behaviour.study.definition.platform
        given = {platform.participant: self.platform_id, platform.session or "session": "simulated"}
        address = f"/t/{self.token}" if self.token else f"/?{urlencode(given)}"
        return self._show_reply(await self.browser.get(address))

    async def step(self) -> Page:
        """Do what the page asks, once; return the page that follows (errors as in :meth:`arrive`)."""
        page = self.page
        if page is None:
            return await self.arrive()
        if page.name == "feedback":
            return self._show_reply(await self.browser.get(page.link))
        if page.name == "trial":
            return await self._answer_trial(page)
        form = page.answer
        return self._show_reply(await self.browser.post(form.action, form.hidden | self._form_fields(page.name, form)))

    async def _answer_trial(self, page: Page) -> Page:
        item, form = self.recognition.item_of(page), page.answer
        is_trial = self.path.startswith("/trial/trials/")
        if page.another is not None and self.behaviour.wants_another(self.person, item):
            return self._show_reply(await self.browser.post(page.another.action, page.another.hidden))
        fields = form.hidden | await self._answer_fields(page, form, item)
        if "rt_ms" in fields:
            rng = random.Random(f"{self.person.seed}/{item.item_id}/time")
            fields["rt_ms"] = f"{1000 * self.seconds_per_trial * rng.uniform(0.5, 1.5):.0f}"
        self.answered += is_trial
        return self._show_reply(await self.browser.post(form.action, fields))

    async def _answer_fields(self, page: Page, form: PageForm, item: Item) -> dict[str, str]:
        fields: dict[str, str] = {}
        for kind in ("value", "option"):
            if name := form.field_of(kind):
                fields[name] = self.behaviour.choose(self.person, item, form.choices[name])
        name = form.field_of("text")
        if page.search_url:
            fields |= await self._search_fields(page, form, item)
        elif name:
            fields[name] = self.behaviour.write(self.person, item)
        guess = form.field_of("guessed_word")
        if guess and is_careful(self.person):
            fields[guess] = item.word
        flag = self.behaviour.sees_flaw(self.person, item, form)
        return fields | ({flag: "1"} if flag else {})

    async def _search_fields(self, page: Page, form: PageForm, item: Item) -> dict[str, str]:
        """Search for the mention as written in the text, and choose the first hit."""
        query = urlencode({"q": item.usages[0].target})
        hits = json.loads((await self.browser.get(f"{page.search_url}?{query}")).text)
        if hits:
            return {form.field_of("text"): hits[0]["title"]}
        flag = form.field_of("flag_not_found")
        return {flag: "1"} if flag else {form.field_of("text"): item.usages[0].target}

    def _form_fields(self, page: str, form: PageForm) -> dict[str, str]:
        if page == "consent":
            return {"consent": "yes"}
        if page != "about":
            return {}
        reports = dict(self_reports(self.behaviour.rehearsal, self.person))
        texts = dict.fromkeys(form.texts, "30")
        chosen = {name: reports.get(name.removesuffix("-about"), values[0]) for name, values in form.choices.items()}
        return texts | chosen

    def _show_reply(self, reply: PageReply) -> Page:
        self.path, self.page = reply.path, read_page(reply.text)
        if reply.status != 200 or not self.page.name:
            raise RunError(f"{reply.path} answered {reply.status}", why=" ".join(reply.text.split())[-400:])
        return self.page


# -- the item that a page shows, recognised by the text of the page: a simulated participant knows nothing else -------


@dataclass(slots=True)
class Recognition:
    """The items of a study by what their pages show."""

    study: FrozenStudy
    pages: Pages
    _known: dict[tuple[str, str], str] = field(default_factory=dict)

    def item_of(self, page: Page) -> Item:
        """Return the item that a page shows.

        Errors: :class:`RunError` where the page shows none of the study's items.
        """
        if not self._known:
            self._learn_items()
        stimulus = without_white_space(page.stimulus)
        labels = page.answer.labels.get(page.answer.field_of("option"), ())
        options = "|".join(sorted(without_white_space(text) for text in labels))
        for key in ((stimulus, options), (stimulus, "")):
            if key in self._known:
                return self.study.items[self._known[key]]
        raise RunError("a page shows no item of the study", why=page.stimulus.strip()[:200])

    def _learn_items(self) -> None:
        for item_id, item in self.study.items.items():
            screen = self.study.screen_of(item_id)
            own = screen is self.study.screen
            for view in (*self.study.definition.views, "full") if own else ("full",):
                again = own and self.study.definition.reveal and view == screen.reveal_view
                for side in ("as_given", "swapped") if screen.swaps_sides else (None,):
                    for revealed in (False, True) if again else (False,):
                        self._learn_display(screen, item, Shown(view, side, revealed=revealed))

    def _learn_display(self, screen: Screen, item: Item, shown: Shown) -> None:
        language = self.study.definition.language
        html = self.pages.stimulus(screen, item, shown, language)
        stimulus = without_white_space(read_page(f'<div class="stimulus">{html}</div>').stimulus)
        words = screen.words(language)
        texts = []
        for choice in screen.choices(item, shown):
            lines = "".join(text for line in choice.lines for text, _ in line)
            texts.append(without_white_space(lines or words[f"option_{choice.key}"]))
        self._known.setdefault((stimulus, "|".join(sorted(texts))), item.item_id)


# -- answers of a simulated participant: on a scale, among options, as text, by a search ----------------------------
# None of them is a judgment of a person. A careful participant chooses the right option with probability ``1 - noise /
# 4`` (never below chance); a careless one chooses any, or always the first.


SKIPS = 0.1
"""Share of drawn items for which a participant asks for another one."""
_PLACES = ("in the garden", "at the station", "behind the old school", "near the harbour", "after the long meeting")
_PEOPLE = ("Nobody", "Everybody", "My neighbour", "Her brother", "The new teacher")  # words: ok, simulated texts


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How the people of a rehearsal answer the items of a frozen study."""

    study: FrozenStudy
    rehearsal: Rehearsal

    def choose(self, person: SimulatedPerson, item: Item, offered: Sequence[str]) -> str:
        """Return which of the values that a page offers a person takes."""
        if item.item_id in self.study.known:
            given = known_answer(person, self.study.known[item.item_id], offered)
            return self._option_key(item, given) if is_careful(person) else given
        if self.study.screen.widget == "scale":
            caught = item.item_id in self.study.design.catch_ids
            return f"{simulated_rating(self.rehearsal, person, item.item_id, caught=caught):g}"
        rng = self._rng(person, item)
        if not is_careful(person):
            always_first = random.Random(f"{person.seed}/options").random() < 0.5
            return offered[0] if always_first else rng.choice(list(offered))
        share = max(1 / len(offered), 1 - self.rehearsal.population.noise / 4)
        right = None if item.gold is None else self._option_key(item, item.gold)
        if right is None or right not in offered:
            right = random.Random(item.item_id).choice(sorted(offered))
        others = [value for value in offered if value != right]
        return right if rng.random() < share or not others else rng.choice(others)

    def write(self, person: SimulatedPerson, item: Item) -> str:
        """Return a text that the task's rules of form let pass: one sentence, the word once or never as it wants."""
        rng = self._rng(person, item)
        opening = f"{rng.choice(_PEOPLE)} {rng.choice(_PLACES)}"
        # any unique mark would do: two texts of two participants must never be equal
        mark = f"number {rng.randrange(10**6)}"
        word = item.usages[0].target
        texts = (f"{opening} spoke of the {word} of {mark}.", f"{opening} was never seen again by {mark}.")
        faulty = [text for text in texts if self.study.screen_of(item.item_id).faults(text, item)]
        return next((text for text in texts if text not in faulty), texts[0])

    def wants_another(self, person: SimulatedPerson, item: Item) -> bool:
        """Return whether a person asks for another item than the one that was drawn."""
        return random.Random(f"{person.seed}/{item.item_id}/another").random() < SKIPS

    def sees_flaw(self, person: SimulatedPerson, item: Item, form: PageForm) -> str:
        """Return the name of a flag that a person sets (one of a hundred items), else an empty name."""
        if not form.boxes or not is_careful(person):
            return ""
        rng = random.Random(f"{person.seed}/{item.item_id}/flag")
        return rng.choice(form.boxes) if rng.random() < 0.01 else ""

    def _option_key(self, item: Item, value: str) -> str:
        """Return what the page sends for an answer: the key of the option with this value."""
        screen = self.study.screen_of(item.item_id)
        keys = {choice.value: choice.key for view in screen.views for choice in screen.options_of(item, view)}
        return keys.get(value, value)

    def _rng(self, person: SimulatedPerson, item: Item) -> random.Random:
        return random.Random(f"{self.rehearsal.seed}/{person.seed}/{item.item_id}")
