"""A page of the app as a browser without scripts reads it: its name, its forms, what they offer, what is shown."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

_VOID = frozenset({"input", "br", "img", "meta", "link", "hr", "wbr"})


@dataclass(slots=True)
class PageForm:
    """One form: where it is sent, its hidden fields, and by field what can be chosen, written or ticked.

    ``choices`` has the values of buttons and radio buttons in the order of the page, ``labels`` what stands on each.
    """

    action: str
    hidden: dict[str, str] = field(default_factory=dict)
    choices: dict[str, list[str]] = field(default_factory=dict)
    labels: dict[str, list[str]] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    boxes: list[str] = field(default_factory=list)

    def field_of(self, name: str) -> str:
        """Return the full name of a field, whatever its suffix; empty where the form has none."""
        names = (*self.choices, *self.texts, *self.boxes)
        return next((each for each in names if each.partition("-")[0] == name), "")


@dataclass(slots=True)
class Page:
    """A page: its name, its forms, the text of its stimulus, its completion code, and the first link that leads on."""

    name: str = ""
    forms: list[PageForm] = field(default_factory=list)
    stimulus: str = ""
    code: str = ""
    link: str = ""
    search_url: str = ""

    @property
    def answer(self) -> PageForm:
        """The form that answers the page: the last one."""
        return self.forms[-1]

    @property
    def another(self) -> PageForm | None:
        """The form that asks for another item, where the page has one."""
        return next((form for form in self.forms if form.action.startswith("/another/")), None)


def read_page(text: str) -> Page:
    """Read a page.

    >>> html = '<body data-page="consent"><form action="/go"><button name="consent" value="yes">Yes</button></form>'
    >>> page = read_page(html)
    >>> page.name, page.answer.action, page.answer.choices
    ('consent', '/go', {'consent': ['yes']})
    """
    reader = _PageParser()
    reader.feed(text)
    reader.close()
    return reader.page


def squeezed(text: str) -> str:
    """Return a text without white space, by which two renderings of it are compared."""
    return re.sub(r"\s+", "", text)


class _PageParser(HTMLParser):
    """Follows the elements of a page; ``depth`` counts those that are open inside the one that is listened to."""

    def __init__(self) -> None:
        super().__init__()
        self.page = Page()
        self._form: PageForm | None = None
        self._heard: list[str] = []
        self._listening, self._depth = "", 0
        self._labelled: tuple[str, int] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take an element in."""
        given = {name: value or "" for name, value in attrs}
        if self._listening and tag not in _VOID:
            self._depth += 1
        if tag == "body":
            self.page.name = given.get("data-page", "")
        elif tag == "form":
            self._form = PageForm(given.get("action", ""))
            self.page.forms.append(self._form)
        elif tag == "a" and "primary" in given.get("class", ""):
            self.page.link = self.page.link or given.get("href", "")
        elif tag == "code" and given.get("id") == "code":
            self._listen("code")
        elif tag == "div" and given.get("class") == "stimulus":
            self._listen("stimulus")
        elif tag == "div" and "data-search" in given:
            self.page.search_url = given["data-search"]
        elif tag == "span" and self._labelled is not None:
            self._listen("label")
        elif tag in ("input", "button", "textarea") and self._form is not None:
            self._control(self._form, tag, given)

    def handle_endtag(self, tag: str) -> None:
        """Close an element; what was heard inside belongs to the page."""
        if tag == "form":
            self._form = None
        if not self._listening:
            return
        self._depth -= 1
        if self._depth < 0:
            self._keep("".join(self._heard))
            self._listening = ""

    def handle_data(self, data: str) -> None:
        """Hear text."""
        if self._listening:
            self._heard.append(data)

    def _control(self, form: PageForm, tag: str, given: dict[str, str]) -> None:
        name, kind = given.get("name", ""), given.get("type", "")
        self._labelled = None
        if not name:
            return
        if kind == "hidden":
            form.hidden[name] = given.get("value", "")
        elif kind == "checkbox":
            form.boxes.append(name)
        elif tag == "button" or kind == "radio":
            form.choices.setdefault(name, []).append(given.get("value", ""))
            form.labels.setdefault(name, []).append("")
            self._labelled = (name, len(form.labels[name]) - 1)
        else:
            form.texts.append(name)

    def _listen(self, what: str) -> None:
        if not self._listening:
            self._listening, self._depth, self._heard = what, 0, []

    def _keep(self, text: str) -> None:
        if self._listening == "code":
            self.page.code = text.strip()
        elif self._listening == "stimulus":
            self.page.stimulus += text
        elif self._labelled is not None and self._form is not None:
            name, number = self._labelled
            self._form.labels[name][number] += text
            # what follows in the form stands on no button
            self._labelled = None
