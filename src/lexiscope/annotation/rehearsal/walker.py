"""A simulated participant who goes through the real pages, from the link to the code, form by form."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from urllib.parse import urlencode

from lexiscope.annotation.rehearsal.answers import careful, reports_of
from lexiscope.annotation.rehearsal.behaviour import Behaviour
from lexiscope.annotation.rehearsal.browser import Browser, Reply
from lexiscope.annotation.rehearsal.page import Form, Page, read_page
from lexiscope.annotation.rehearsal.population import Person
from lexiscope.annotation.rehearsal.recognition import Recognition
from lexiscope.core.errors import RunError
from lexiscope.core.item import Item


@dataclass(slots=True)
class Walker:
    """A person with a browser. ``page`` is what they see, ``path`` where; ``answered`` counts their trials."""

    person: Person
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

    async def _answer(self, page: Page, form: Form, item: Item) -> dict[str, str]:
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

    async def _found(self, page: Page, form: Form, item: Item) -> dict[str, str]:
        """Search for the mention as it stands in the text, and take what is found first."""
        query = urlencode({"q": item.usages[0].target})
        found = json.loads((await self.browser.get(f"{page.search_url}?{query}")).text)
        if found:
            return {form.field_of("text"): found[0]["title"]}
        flag = form.field_of("flag_not_found")
        return {flag: "1"} if flag else {form.field_of("text"): item.usages[0].target}

    def _filled(self, page: str, form: Form) -> dict[str, str]:
        if page == "consent":
            return {"consent": "yes"}
        if page != "about":
            return {}
        said = dict(reports_of(self.behaviour.rehearsal, self.person))
        texts = dict.fromkeys(form.texts, "30")
        chosen = {name: said.get(name.removesuffix("-about"), values[0]) for name, values in form.choices.items()}
        return texts | chosen

    def _see(self, reply: Reply) -> Page:
        self.path, self.page = reply.path, read_page(reply.text)
        if reply.status != 200 or not self.page.name:
            raise RunError(f"{reply.path} answered {reply.status}", why=" ".join(reply.text.split())[-400:])
        return self.page
