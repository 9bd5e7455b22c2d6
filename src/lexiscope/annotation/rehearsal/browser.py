"""A browser without scripts: it requests pages of the app in this process and reads their forms and texts."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.types import ASGIApp

from lexiscope.core.errors import RunError

_REDIRECTS = (302, 303, 307)


@dataclass(slots=True)
class Meter:
    """Requests and the processor time of the whole process while the application worked on them. *Unit:* seconds."""

    requests: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class PageReply:
    """What came back, after redirects: the path at which they ended, the status, the text."""

    path: str
    status: int
    text: str


@dataclass(slots=True)
class Browser:
    """One participant's browser: its cookies, and a meter of the server's work."""

    app: ASGIApp
    origin: str
    meter: Meter = field(default_factory=Meter)
    cookies: dict[str, str] = field(default_factory=dict)

    async def get(self, address: str) -> PageReply:
        """Open an address.

        Errors: :class:`RunError` for a failure of the server, or redirects without end.
        """
        return await self._follow("GET", address, b"")

    async def post(self, address: str, form: Mapping[str, str]) -> PageReply:
        """Send a form and follow where it leads (errors as in :meth:`get`)."""
        return await self._follow("POST", address, urlencode(form).encode("ascii"))

    async def _follow(self, method: str, address: str, body: bytes) -> PageReply:
        for _ in range(10):
            status, headers, text = await self._request(method, address, body)
            if status >= 500:
                raise RunError(f"the server answered {method} {address} with {status}", why=text[:300])
            if status not in _REDIRECTS:
                return PageReply(urlsplit(address).path, status, text)
            method, address, body = "GET", headers["location"], b""
        raise RunError(f"{address} redirects without end")

    async def _request(self, method: str, address: str, body: bytes) -> tuple[int, dict[str, str], str]:
        got: dict[str, Any] = {"status": 0, "headers": {}, "parts": []}
        sent = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def receive() -> MutableMapping[str, Any]:
            return next(sent, {"type": "http.disconnect"})

        async def send(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                got["status"] = message["status"]
                self._read_headers(message["headers"], got["headers"])
            else:
                got["parts"].append(message.get("body", b""))

        before = time.process_time()
        await self.app(self._scope(method, address, body), receive, send)
        self.meter.seconds += time.process_time() - before
        self.meter.requests += 1
        return got["status"], got["headers"], b"".join(got["parts"]).decode("utf-8")

    def _scope(self, method: str, address: str, body: bytes) -> dict[str, Any]:
        parts, host = urlsplit(address), urlsplit(self.origin).netloc
        headers = [(b"host", host.encode()), (b"origin", self.origin.encode()), (b"sec-fetch-site", b"same-origin")]
        if self.cookies:
            jar = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
            headers.append((b"cookie", jar.encode("ascii")))
        if method == "POST":
            headers.append((b"content-type", b"application/x-www-form-urlencoded"))
            headers.append((b"content-length", str(len(body)).encode()))
        return {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": urlsplit(self.origin).scheme,
            "path": parts.path,
            "raw_path": parts.path.encode(),
            "query_string": urlencode(parse_qsl(parts.query)).encode(),
            "root_path": "",
            "headers": headers,
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
        }

    def _read_headers(self, given: list[tuple[bytes, bytes]], into: dict[str, str]) -> None:
        for name, value in given:
            text = value.decode("latin-1")
            if name == b"set-cookie":
                key, _, rest = text.partition("=")
                self.cookies[key] = rest.partition(";")[0]
            into[name.decode("latin-1")] = text


# -- pages ----------------------------------------------------------------------------------------------------------


_VOID = frozenset({"input", "br", "img", "meta", "link", "hr", "wbr"})


@dataclass(slots=True)
class PageForm:
    """One form: its address, its hidden fields, and by field what can be chosen, written or ticked.

    ``choices`` has the values of buttons and radio buttons in the order of the page, ``labels`` their texts.
    """

    action: str
    hidden: dict[str, str] = field(default_factory=dict)
    choices: dict[str, list[str]] = field(default_factory=dict)
    labels: dict[str, list[str]] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    boxes: list[str] = field(default_factory=list)

    def field_of(self, name: str) -> str:
        """Return the full name of a field, with its suffix; empty if the form does not have it."""
        names = (*self.choices, *self.texts, *self.boxes)
        return next((full for full in names if full.partition("-")[0] == name), "")


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


def without_white_space(text: str) -> str:
    """Return a text without white space, by which two renderings of it are compared."""
    return re.sub(r"\s+", "", text)


class _PageParser(HTMLParser):
    """Follows the elements of a page; ``depth`` counts the open ones inside the element whose text is kept."""

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
            self._listen_for("code")
        elif tag == "div" and given.get("class") == "stimulus":
            self._listen_for("stimulus")
        elif tag == "div" and "data-search" in given:
            self.page.search_url = given["data-search"]
        elif tag == "span" and self._labelled is not None:
            self._listen_for("label")
        elif tag in ("input", "button", "textarea") and self._form is not None:
            self._add_control(self._form, tag, given)

    def handle_endtag(self, tag: str) -> None:
        """Close an element; what was heard inside belongs to the page."""
        if tag == "form":
            self._form = None
        if not self._listening:
            return
        self._depth -= 1
        if self._depth < 0:
            self._keep_text("".join(self._heard))
            self._listening = ""

    def handle_data(self, data: str) -> None:
        """Hear text."""
        if self._listening:
            self._heard.append(data)

    def _add_control(self, form: PageForm, tag: str, given: dict[str, str]) -> None:
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

    def _listen_for(self, what: str) -> None:
        if not self._listening:
            self._listening, self._depth, self._heard = what, 0, []

    def _keep_text(self, text: str) -> None:
        if self._listening == "code":
            self.page.code = text.strip()
        elif self._listening == "stimulus":
            self.page.stimulus += text
        elif self._labelled is not None and self._form is not None:
            name, number = self._labelled
            self._form.labels[name][number] += text
            # what follows in the form is on no button
            self._labelled = None
