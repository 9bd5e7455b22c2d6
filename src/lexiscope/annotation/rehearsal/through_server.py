"""A study rehearsed through its real server: pages, cookies, store, places, exclusions, export; only the people and the
clock are simulated.

People arrive, read, answer, leave, give their place back, come back late. Events happen in the order of the simulated
clock, one after another, so that the same seed gives the same run.
"""

from __future__ import annotations

import asyncio
import heapq
import json
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlencode

from lexiscope.annotation.rehearsal.answers import Rehearsal, careful, known_answer, rating, rehearse, reports_of
from lexiscope.annotation.rehearsal.browser import Browser, Meter, PageReply
from lexiscope.annotation.rehearsal.page import Page, PageForm, read_page, squeezed
from lexiscope.annotation.rehearsal.population import Population, SimulatedPerson, draw_person
from lexiscope.annotation.rehearsal.run_report import ServerRun, report
from lexiscope.annotation.store.record import State, StateError
from lexiscope.annotation.study_file.freeze import FrozenStudy, freeze
from lexiscope.annotation.study_file.launched import StudyOnDisk
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
    """A clock that stands still until somebody does something."""

    now: datetime = field(default_factory=lambda: datetime(2030, 1, 1, tzinfo=UTC))

    def __call__(self) -> datetime:
        """Return the time."""
        return self.now

    def seconds(self) -> float:
        """Return the time as a number. *Unit:* seconds."""
        return self.now.timestamp()


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

    *people*: at most so many come (0: a thousand times as many as there are places). The store stands in *folder*, else
    in a temporary one that is removed. The platform ids and the random ids of simulated participants begin with
    ``simulated-``, and the study's name ends in ``-simulated``.
    Errors: :class:`RunError` where a page says that something is wrong; those of the study and its store.
    """
    # ids of simulated people fit no platform's pattern, and a rehearsal is no part of the study that it rehearses
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
        # a rehearsal's answers are nobody's: a power cut may take them
        settings, serving = ServerSettings(ORIGIN), Serving(unsafe_fast=True)
        place = folder if folder is not None else Path(temporary)
        with open_app(
            frozen, place, settings, serving=serving, clock=clock, steady=clock.seconds, search=study.search
        ) as app:
            for name, limit in (("saves", app.saves), ("arrivals", app.arrivals)):
                setattr(app, name, RateLimit(limit.burst, limit.per_second, clock=clock.seconds))
            run = _RunThroughServer(frozen, app, clock, population or Population(), seed, people)
            asyncio.run(run.to_the_end(progress))
            return report(frozen, app.store, run.outcome(), seed=seed)


@dataclass(frozen=True, slots=True)
class Walked:
    """How a run went, as the people saw it. *Unit:* ``hours`` of simulated time, ``seconds`` of processor time."""

    people: dict[str, SimulatedPerson]
    ends: dict[str, int]
    complete: bool
    hours: float
    n_requests: int
    seconds: float
    n_trial_requests: int
    trial_seconds: float


class _RunThroughServer:
    """The events of one run, in order of the simulated time."""

    def __init__(
        self, study: FrozenStudy, app: App, clock: SimulatedClock, population: Population, seed: int, people: int
    ) -> None:
        self.study, self.app, self.clock, self.population, self.seed = study, app, clock, population, seed
        self.people_at_most = people or _PEOPLE_PER_PLACE * sum(study.record.places.values())
        self.asgi = application(app)
        self.begun, self.last_finish = clock.now, clock.now
        self.events: list[tuple[datetime, int, str, Walker | None]] = []
        self.order, self.arrived, self.underway = 0, 0, 0
        self.rng = random.Random(f"{seed}/arrivals")
        self.walkers: dict[str, Walker] = {}
        self.ends: Counter[str] = Counter()
        self.trials, self.others = Meter(), Meter()
        behaviour = rehearse(study.definition, study.design, population, seed=seed)
        self.behaviour, self.recognition = Behaviour(study, behaviour), Recognition(study, app.pages)
        most = max(len(items) for items in study.design.lists) + study.definition.trials_per_list
        self.n_trials = study.record.written or most

    async def to_the_end(self, progress: Callable[[str, int, int], None] | None) -> None:
        """Let people come until nobody is underway and no place is free, or nobody more may come."""
        total = sum(self.study.record.places.values())
        self._at(0.0, "arrival", None)
        while self.events:
            self.clock.now, _, kind, walker = heapq.heappop(self.events)
            if walker is None:
                await self._arrival()
            else:
                await self._walk(kind, walker)
            await asyncio.gather(*self.app.tasks)
            if progress is not None:
                progress("people", min(self.ends["finished"], total), total)

    def outcome(self) -> Walked:
        """Return how it went."""
        return Walked(
            people={walker.platform_id: walker.person for walker in self.walkers.values()},
            ends=dict(self.ends),
            complete=self._is_complete(),
            hours=(self.last_finish - self.begun).total_seconds() / 3600,
            n_requests=self.trials.requests + self.others.requests,
            seconds=self.trials.seconds + self.others.seconds,
            n_trial_requests=self.trials.requests,
            trial_seconds=self.trials.seconds,
        )

    def _is_complete(self) -> bool:
        return all(load.valid >= self.study.quota.need for load in self.app.store.loads().values())

    def _is_over(self) -> bool:
        """Nobody is wanted any more. Who left without a word keeps a place until the time for it has run out."""
        loads = self.app.store.loads()
        held = any(load.active for load in loads.values())
        return self._is_complete() or (not held and self.study.choose(loads, 0) is None)

    def _at(self, seconds: float, kind: str, walker: Walker | None) -> None:
        self.order += 1
        heapq.heappush(self.events, (self.clock.now + timedelta(seconds=seconds), self.order, kind, walker))

    async def _arrival(self) -> None:
        if not self.underway and self._is_over():
            return
        self.arrived += 1
        minutes = self.study.definition.payment.minutes
        person = draw_person(self.population, number=self.arrived, minutes=minutes, seed=self.seed)
        if self.arrived < self.people_at_most:
            self._at(self.rng.expovariate(self.population.arrivals_per_hour) * 3600, "arrival", None)
        walker = Walker(
            person,
            Browser(self.asgi, ORIGIN, self.others),
            self.behaviour,
            self.recognition,
            seconds_per_trial=60 * person.minutes / self.n_trials,
        )
        if self.study.definition.platform.kind == "lab":
            (walker.token,) = self.app.store.make_tokens(1, actor="rehearsal")
        self.walkers[person.person_id] = walker
        self.underway += 1
        await walker.arrive()
        self._next(walker)

    async def _walk(self, kind: str, walker: Walker) -> None:
        if kind == "back":
            self.underway += 1
            walker.browser.cookies.clear()
            await walker.arrive()
        else:
            walker.browser.meter = self.trials if walker.path.startswith("/trial/trials/") else self.others
            await walker.step()
        self._next(walker)

    def _next(self, walker: Walker) -> None:
        """Plan what this person does next; an end of the study, or leaving, is the last of it."""
        page, person = walker.page, walker.person
        assert page is not None
        if page.name == "ended":
            self.underway -= 1
            self.ends[self._end(walker)] += 1
            return
        share = walker.answered / self.n_trials
        if person.leaves_at is not None and share >= person.leaves_at and walker.path.startswith("/trial/trials/"):
            self._leave(walker)
            return
        self._at(walker.seconds_per_trial if page.name == "trial" else SECONDS_PER_PAGE, "step", walker)

    def _leave(self, walker: Walker) -> None:
        self.underway -= 1
        self.ends[walker.person.after] += 1
        walker.person, after = replace(walker.person, leaves_at=None), walker.person.after
        if after == "late":
            self._at(1.5 * 60 * self.study.definition.lease.minutes, "back", walker)
        elif after == "returned" and not walker.token:
            who = self.app.store.find(walker.platform_id)
            with suppress(StateError):
                self.app.store.change_state(who or "", State.RETURNED, reason="returned on the platform (simulated)")

    def _end(self, walker: Walker) -> str:
        who = self.app.store.find(walker.platform_id)
        if who is None:
            self.last_finish = self.clock.now
            return "finished"
        state = self.app.store.progress(who).state
        if state in (State.FINISHED, State.ACCEPTED, State.EXCLUDED):
            self.last_finish = self.clock.now
            return "finished"
        return "screened_out" if state is State.SCREENED_OUT else "turned_away"


# -- a simulated participant on the real pages, from the link to the code -------------------------------------------


@dataclass(slots=True)
class Walker:
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
        """Follow the link of the study; who was here before goes on where they were.

        Errors: :class:`RunError` for a page that says that something is wrong.
        """
        platform = self.behaviour.study.definition.platform
        given = {platform.participant: self.platform_id, platform.session or "session": "simulated"}
        address = f"/t/{self.token}" if self.token else f"/?{urlencode(given)}"
        return self._see(await self.browser.get(address))

    async def step(self) -> Page:
        """Do what the page asks, once; return the page that follows (errors as in :meth:`arrive`)."""
        page = self.page
        if page is None:
            return await self.arrive()
        if page.name == "feedback":
            return self._see(await self.browser.get(page.link))
        if page.name == "trial":
            return await self._trial(page)
        form = page.answer
        return self._see(await self.browser.post(form.action, form.hidden | self._filled(page.name, form)))

    async def _trial(self, page: Page) -> Page:
        item, form = self.recognition.item_of(page), page.answer
        is_trial = self.path.startswith("/trial/trials/")
        if page.another is not None and self.behaviour.wants_another(self.person, item):
            return self._see(await self.browser.post(page.another.action, page.another.hidden))
        fields = form.hidden | await self._answer(page, form, item)
        if "rt_ms" in fields:
            rng = random.Random(f"{self.person.seed}/{item.item_id}/time")
            fields["rt_ms"] = f"{1000 * self.seconds_per_trial * rng.uniform(0.5, 1.5):.0f}"
        self.answered += is_trial
        return self._see(await self.browser.post(form.action, fields))

    async def _answer(self, page: Page, form: PageForm, item: Item) -> dict[str, str]:
        fields: dict[str, str] = {}
        for kind in ("value", "option"):
            if name := form.field_of(kind):
                fields[name] = self.behaviour.choose(self.person, item, form.choices[name])
        name = form.field_of("text")
        if page.search_url:
            fields |= await self._found(page, form, item)
        elif name:
            fields[name] = self.behaviour.write(self.person, item)
        guess = form.field_of("guessed_word")
        if guess and careful(self.person):
            fields[guess] = item.word
        flag = self.behaviour.sees_flaw(self.person, item, form)
        return fields | ({flag: "1"} if flag else {})

    async def _found(self, page: Page, form: PageForm, item: Item) -> dict[str, str]:
        """Search for the mention as it stands in the text, and take what is found first."""
        query = urlencode({"q": item.usages[0].target})
        found = json.loads((await self.browser.get(f"{page.search_url}?{query}")).text)
        if found:
            return {form.field_of("text"): found[0]["title"]}
        flag = form.field_of("flag_not_found")
        return {flag: "1"} if flag else {form.field_of("text"): item.usages[0].target}

    def _filled(self, page: str, form: PageForm) -> dict[str, str]:
        if page == "consent":
            return {"consent": "yes"}
        if page != "about":
            return {}
        said = dict(reports_of(self.behaviour.rehearsal, self.person))
        texts = dict.fromkeys(form.texts, "30")
        chosen = {name: said.get(name.removesuffix("-about"), values[0]) for name, values in form.choices.items()}
        return texts | chosen

    def _see(self, reply: PageReply) -> Page:
        self.path, self.page = reply.path, read_page(reply.text)
        if reply.status != 200 or not self.page.name:
            raise RunError(f"{reply.path} answered {reply.status}", why=" ".join(reply.text.split())[-400:])
        return self.page


# -- which item a page shows, told by what stands on it: a simulated participant knows nothing else -----------------


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
            self._learn()
        key = (squeezed(page.stimulus), _offered(page))
        for each in (key, (key[0], "")):
            if each in self._known:
                return self.study.items[self._known[each]]
        raise RunError("a page shows no item of the study", why=page.stimulus.strip()[:200])

    def _learn(self) -> None:
        for item_id, item in self.study.items.items():
            screen = self.study.screen_of(item_id)
            own = screen is self.study.screen
            for view in (*self.study.definition.views, "full") if own else ("full",):
                again = own and self.study.definition.reveal and view == screen.reveal_view
                for side in ("as_given", "swapped") if screen.swaps_sides else (None,):
                    for revealed in (False, True) if again else (False,):
                        self._learn_one(screen, item, Shown(view, side, revealed=revealed))

    def _learn_one(self, screen: Screen, item: Item, shown: Shown) -> None:
        language = self.study.definition.language
        html = self.pages.stimulus(screen, item, shown, language)
        stimulus = squeezed(read_page(f'<div class="stimulus">{html}</div>').stimulus)
        words = screen.words(language)
        texts = []
        for one in screen.choices(item, shown):
            lines = "".join(text for line in one.lines for text, _ in line)
            texts.append(squeezed(lines or words[f"option_{one.key}"]))
        self._known.setdefault((stimulus, "|".join(sorted(texts))), item.item_id)


def _offered(page: Page) -> str:
    name = page.answer.field_of("option")
    return "|".join(sorted(squeezed(text) for text in page.answer.labels.get(name, ())))


# -- what a simulated participant fills in: on a scale, among options, in words, by a search ------------------------
# Nothing that they write is anybody's judgment. Who reads the pages finds the right option with a share of ``1 - noise
# / 4`` (never below chance); who does not look takes any, or always the first.


SKIPS = 0.1
"""Share of drawn items for which somebody asks for another one."""
_PLACES = ("in the garden", "at the station", "behind the old school", "near the harbour", "after the long meeting")
_PEOPLE = ("Nobody", "Everybody", "My neighbour", "Her brother", "The new teacher")


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How the people of a rehearsal answer the items of a frozen study."""

    study: FrozenStudy
    rehearsal: Rehearsal

    def choose(self, person: SimulatedPerson, item: Item, offered: Sequence[str]) -> str:
        """Return which of the values that a page offers a person takes."""
        if item.item_id in self.study.known:
            given = known_answer(person, self.study.known[item.item_id], offered)
            return self._key(item, given) if careful(person) else given
        if self.study.screen.widget == "scale":
            caught = item.item_id in self.study.design.catch_ids
            return f"{rating(self.rehearsal, person, item.item_id, caught=caught):g}"
        rng = self._rng(person, item)
        if not careful(person):
            always_first = random.Random(f"{person.seed}/options").random() < 0.5
            return offered[0] if always_first else rng.choice(list(offered))
        share = max(1 / len(offered), 1 - self.rehearsal.population.noise / 4)
        right = self._right(item)
        if right is None or right not in offered:
            right = random.Random(item.item_id).choice(sorted(offered))
        others = [each for each in offered if each != right]
        return right if rng.random() < share or not others else rng.choice(others)

    def write(self, person: SimulatedPerson, item: Item) -> str:
        """Return a text that the task's rules of form let pass: one sentence, the word once or never as it wants."""
        rng = self._rng(person, item)
        opening = f"{rng.choice(_PEOPLE)} {rng.choice(_PLACES)}"
        # numbers in words would do as well: two texts of two people must never be the same
        mark = f"number {rng.randrange(10**6)}"
        word = item.usages[0].target
        texts = (f"{opening} spoke of the {word} of {mark}.", f"{opening} was never seen again by {mark}.")
        faulty = [text for text in texts if self.study.screen_of(item.item_id).faults(text, item)]
        return next((text for text in texts if text not in faulty), texts[0])

    def wants_another(self, person: SimulatedPerson, item: Item) -> bool:
        """Say whether a person asks for another item than the one that was drawn."""
        return random.Random(f"{person.seed}/{item.item_id}/another").random() < SKIPS

    def sees_flaw(self, person: SimulatedPerson, item: Item, form: PageForm) -> str:
        """Return the name of a flag that a person sets (one of a hundred items), else an empty name."""
        if not form.boxes or not careful(person):
            return ""
        rng = random.Random(f"{person.seed}/{item.item_id}/flag")
        return rng.choice(form.boxes) if rng.random() < 0.01 else ""

    def _right(self, item: Item) -> str | None:
        return None if item.gold is None else self._key(item, item.gold)

    def _key(self, item: Item, value: str) -> str:
        """What the page sends for an answer: the key of an option, whose value it is."""
        screen = self.study.screen_of(item.item_id)
        keys = {choice.value: choice.key for view in screen.views for choice in screen.options_of(item, view)}
        return keys.get(value, value)

    def _rng(self, person: SimulatedPerson, item: Item) -> random.Random:
        return random.Random(f"{self.rehearsal.seed}/{person.seed}/{item.item_id}")
