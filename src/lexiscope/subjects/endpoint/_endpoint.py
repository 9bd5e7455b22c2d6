"""An OpenAI-compatible server over HTTP: requests that are repeated where that can help, and errors in plain words.

The API key is read from an environment variable that the spec names. It goes into the header of a request and nowhere
else: it is cut out of every message that a server sends back.
"""

from __future__ import annotations

import hashlib
import html
import json
import logging
import math
import os
import zlib
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from threading import Event
from types import TracebackType
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

from lexiscope.core.errors import CapabilityError, SpecError, SubjectError, require
from lexiscope.core.foreign import parse_json, text_of
from lexiscope.core.spec import split_options
from lexiscope.core.subject import check_sending

LOG = logging.getLogger(__name__)
Task = TypeVar("Task")
Result = TypeVar("Result")

Lost = Callable[[str], None]
"""Told why a request was lost that a server may have answered and been paid for."""

_SECRET = ("key", "api_key", "apikey", "token", "password", "authorization")
_AGAIN = (408, 409, 425, 429, 500, 502, 503, 504)
_SERVER_ERROR = 500
# a server that says why it cannot will not be able to in a second
_FINAL = ("echo", "logprobs", "not supported", "unsupported", "quota")
_LONGEST_WAIT = 60.0
_PATIENCE = 600.0
_SHOWN = 300
_MOST_BYTES = 64 * 2**20
# of a body that is longer, or no JSON, so much is kept
_KEPT_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class ServedModelOptions:
    """How a server is reached.

    ``key_env``: the environment variable that holds the API key, empty without a key. ``parallel``: most requests under
    way. ``timeout``: seconds until a request is given up. ``retries``: how often it is sent again, ``backoff``: seconds
    before the first time, doubled each time.

    Errors: :class:`SpecError` for numbers out of range.
    """

    key_env: str = ""
    parallel: int = 4
    timeout: float = 120.0
    retries: int = 6
    backoff: float = 0.5

    def __post_init__(self) -> None:
        if min(self.parallel, self.timeout) <= 0 or min(self.retries, self.backoff) < 0:
            raise SpecError("parallel and timeout are above 0, retries and backoff 0 or more")


def split_address(url: str) -> tuple[str, dict[str, str]]:
    """Split what follows the @ of a spec into the address of the server and its options.

    >>> split_address("http://127.0.0.1:8000/v1/?policy=bos")
    ('http://127.0.0.1:8000/v1', {'policy': 'bos'})

    Errors: :class:`SpecError` for an option that is not key=value and for a secret in the address.
    """
    address, options = split_options(url)
    if urlsplit(address).scheme not in ("http", "https") or not urlsplit(address).hostname:
        raise SpecError("this is not an address of a server", hint="write completions:MODEL@http://host:8000/v1")
    if "@" in address:
        raise SpecError("the address has a user name or password in it", hint="use ?key_env=NAME")
    return address.rstrip("/"), options


def refuse_secrets(given: Mapping[str, str]) -> None:
    """Refuse a key or password among the options of a spec.

    Errors: :class:`SpecError`, which does not repeat it.
    """
    for key in given:
        if key.lower() in _SECRET:
            hint = "put the key into an environment variable and name that: key_env=NAME"
            raise SpecError(f"{key}= would write a secret into every record of the run", hint=hint)


@dataclass(frozen=True, slots=True)
class ServerReply:
    """What a server answered: its status, the JSON object of its body, and what it says is wrong."""

    status: int
    body: Mapping[str, Any]
    message: str

    @property
    def ok(self) -> bool:
        """Whether the request was served."""
        return self.status == 200

    @property
    def choices(self) -> Sequence[Mapping[str, Any]]:
        """The choices of a completion, in the order of their indices; none where the body has no such list."""
        choices = self.body.get("choices")
        if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
            return ()
        return sorted(choices, key=index_of)


def index_of(choice: Mapping[str, Any]) -> int:
    """Return the place of a choice among those of one answer; 0 where the server does not give a number."""
    index = choice.get("index")
    return index if isinstance(index, int) else 0


class UnreadableReply(SubjectError):
    """A server served a request, each time with a body that cannot be read. ``content`` is the last one as text.

    Bytes that are not UTF-8 are written in it as lone surrogates (:func:`lexiscope.core.foreign.text_of`). Only the
    beginning of a long body is kept, and ``why`` gives its length.
    """

    def __init__(self, url: str, attempts: int, content: str, why: str) -> None:
        self.content = content
        super().__init__(
            f"the server at {url} did not answer in a way that can be read, {attempts} times",
            why=why,
            hint="see that it is a chat or completions endpoint; the same command again continues what was begun",
        )


class Endpoint:
    """The server at a base URL (``http://host:8000/v1``), for the time of one call. It is a context manager.

    Errors: :class:`SubjectError` where the environment variable of the key is not set; :class:`MissingExtraError`.
    """

    def __init__(self, url: str, options: ServedModelOptions) -> None:
        self._httpx = require("httpx", "http")
        self.url, self._options = url.rstrip("/"), options
        self._key = _read_key(options.key_env)
        self._key_written = _spellings(self._key)
        # these reach no server
        self._unsent = (
            self._httpx.ConnectError,
            self._httpx.ConnectTimeout,
            self._httpx.PoolTimeout,
            self._httpx.UnsupportedProtocol,
            self._httpx.LocalProtocolError,
        )
        self._stopped = Event()
        # not compressed: what is damaged on its way is kept as it came
        headers = {"Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {self._key}"} if self._key else {})
        self._client = self._httpx.Client(
            headers=headers,
            timeout=options.timeout,
            # certificates take longer to load than a request to a server on this machine takes
            verify=self.url.startswith("https:"),
            limits=self._httpx.Limits(max_connections=options.parallel),
            # a proxy of the environment cannot reach a server on this machine
            trust_env=not any(host in url for host in ("//127.", "//localhost", "//[::1]")),
        )

    def __enter__(self) -> Endpoint:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def get(self, path: str) -> ServerReply:
        """Ask for a page. Errors: those of :meth:`post`."""
        return self._send("GET", path, None)

    def post(self, path: str, body: Mapping[str, Any], *, lost: Lost | None = None) -> ServerReply:
        """Send a JSON object and return the answer with its status.

        A request that failed on its way, or that the server was too busy or too broken to serve, is sent again after a
        growing pause, or after the one that the server asks for. *lost* is told of each that reached the server and
        came to no answer: a body that was cut off, a connection that broke, a server's error (status 500 and above).
        Errors: :class:`SubjectError` where it never got through; those of *lost*.
        """
        return self._send("POST", path, dict(body), lost)

    def run_tasks(self, work: Callable[[Task], Result], tasks: Sequence[Task]) -> Generator[Result, None, None]:
        """Yield the results of tasks as they finish, ``parallel`` at a time; after an error none is begun."""
        self._stopped.clear()
        with ThreadPoolExecutor(max_workers=self._options.parallel) as pool:
            futures = [pool.submit(work, task) for task in tasks]
            try:
                for future in as_completed(futures):
                    yield future.result()
            finally:
                self._stopped.set()
                pool.shutdown(wait=False, cancel_futures=True)
        self._stopped.clear()

    def wait(self, pause: float) -> None:
        """Wait for some seconds. Errors: :class:`SubjectError` where another request failed or it is too long."""
        if pause > _PATIENCE:
            what = f"the server at {self.url} asks to wait {pause:.0f} seconds"
            raise SubjectError(what, hint="run the same command again then: it continues what was begun")
        if self._stopped.wait(pause):
            raise SubjectError("this request was given up because another one failed")

    def without_key(self, text: str) -> str:
        """Return a text without the API key, should it contain it, also as JSON, HTML or an address writes it."""
        for written in self._key_written:
            text = text.replace(written, "[key]")
        return text

    def storable(self, value: Any) -> Any:
        """Return a JSON value without the API key in any text or name, and ``None`` for numbers that JSON cannot write.

        Some servers send −Infinity as a logarithm.
        """
        if isinstance(value, str):
            return self.without_key(value)
        if isinstance(value, float):
            return value if math.isfinite(value) else None
        if isinstance(value, Mapping):
            return {self.without_key(str(name)): self.storable(entry) for name, entry in value.items()}
        return [self.storable(entry) for entry in value] if isinstance(value, list) else value

    def _send(self, method: str, path: str, body: Mapping[str, Any] | None, lost: Lost | None = None) -> ServerReply:
        check_sending()
        problem, pause = "", self._options.backoff
        unreadable: UnreadableReply | None = None
        for attempt in range(self._options.retries + 1):
            if attempt:
                LOG.warning(
                    "%s: %s. Attempt %d of %d in %.1f s.",
                    self.url, problem, attempt + 1, self._options.retries + 1, pause,
                )  # fmt: skip
                self.wait(pause)
            unreadable = None
            try:
                status, headers, content = self._exchange(method, path, body)
            except self._httpx.TransportError as error:
                problem = self.without_key(str(error)) or type(error).__name__
                if lost is not None and not isinstance(error, self._unsent):
                    lost(f"the connection broke: {problem}")
                pause = self._pause_after(attempt)
                continue
            reply = self._read(status, content)
            if isinstance(reply, ServerReply):
                final = any(word in reply.message.lower() for word in _FINAL)
                if final or reply.status not in _AGAIN:
                    return reply
            if isinstance(reply, str):
                unreadable = self._unreadable(content, reply)
            problem = f"status {status}: {reply.message if isinstance(reply, ServerReply) else reply}"
            # the last body that cannot be read is raised, and counted where it is kept
            last = attempt == self._options.retries
            if lost is not None and (status >= _SERVER_ERROR or (unreadable is not None and not last)):
                lost(problem)
            pause = _retry_pause(headers.get("Retry-After", ""), self._pause_after(attempt))
        if unreadable is not None:
            raise unreadable
        raise SubjectError(
            f"the server at {self.url} did not answer after {self._options.retries + 1} attempts",
            why=problem,
            hint="see that it runs and can be reached; the same command again continues what was begun",
        )

    def _exchange(self, method: str, path: str, body: Mapping[str, Any] | None) -> tuple[int, Mapping[str, str], bytes]:
        """Return status, headers and the bytes of the body, of which not more is read than any answer has."""
        with self._client.stream(method, f"{self.url}/{path}", json=body) as response:
            content = bytearray()
            for part in response.iter_raw():
                content += part
                if len(content) > _MOST_BYTES:
                    break
            encoding = response.headers.get("Content-Encoding", "").strip().lower()
            return response.status_code, response.headers, _inflate(bytes(content), encoding)

    def _unreadable(self, content: bytes, why: str) -> UnreadableReply:
        kept = self.without_key(text_of(content[:_KEPT_BYTES]))
        if len(content) > _KEPT_BYTES:
            digest = hashlib.sha256(content).hexdigest()
            why = f"{why}; of {len(content)} bytes (sha256 {digest}) the first {_KEPT_BYTES} are kept"
        return UnreadableReply(self.url, self._options.retries + 1, kept, why)

    def _pause_after(self, attempt: int) -> float:
        return min(_LONGEST_WAIT, float(self._options.backoff * 2**attempt))

    def _read(self, status: int, content: bytes) -> ServerReply | str:
        """Return the reply, or why a body that should be JSON is none."""
        if len(content) > _MOST_BYTES:
            return f"its answer is longer than {_MOST_BYTES} bytes"
        try:
            body = parse_json(content)
        except ValueError as error:
            if status == 200:
                return f"its answer is cut off or no JSON ({str(error)[:_SHOWN]})"
            return ServerReply(status, {}, self.without_key(text_of(content))[:_SHOWN])
        # what is no object has no choices: kept, and a fault for those who read it
        body = body if isinstance(body, dict) else {"no_object": body}
        return ServerReply(status, body, self.without_key(_error_message(body))[:_SHOWN])


def _inflate(content: bytes, encoding: str) -> bytes:
    """Return a body as it was before a server compressed it unasked; unchanged if this is unclear."""
    if encoding not in ("gzip", "x-gzip", "deflate"):
        return content
    # 32: zlib finds out by itself which of the two forms it is; what does not fit is a body that is too long
    inflater = zlib.decompressobj(wbits=32 + zlib.MAX_WBITS)
    try:
        whole = inflater.decompress(content, _MOST_BYTES + 1)
    except zlib.error:
        return content
    return whole if inflater.eof or len(whole) > _MOST_BYTES else content


def refusal(reply: ServerReply, model: str, url: str, path: str = "completions") -> CapabilityError | SubjectError:
    """Return the error that explains why a request to *path* was finally rejected."""
    message = reply.message.lower()
    why = reply.message or f"status {reply.status}"
    if reply.status in (401, 403):
        hint = "put the key into an environment variable and name that: @URL?key_env=NAME"
        return SubjectError(f"the server at {url} refuses this key, or wants one", why=why, hint=hint)
    if path == "completions" and "chat" in message and "completions" in message:
        what = f"the model {model!r} can only be used for chat: the server refuses to complete a text with it"
        return CapabilityError(what, why=why, hint=_LOCAL)
    if "model" in message and any(word in message for word in ("not exist", "not found", "unknown", "no such")):
        hint = "see the names at /models of the server"
        return SubjectError(f"the server at {url} has no model {model!r}", why=why, hint=hint)
    if reply.status in (404, 405) and path == "completions":
        return CapabilityError(f"the server at {url} has no /completions: chat only", why=why, hint=_LOCAL)
    if reply.status in (404, 405):
        hint = f"is the address complete? It ends before /{path}, often with /v1"
        return CapabilityError(f"the server at {url} has no /{path}", why=why, hint=hint)
    return SubjectError(f"the server at {url} refuses the request (status {reply.status})", why=why)


_LOCAL = "serve the model with vLLM, or use it here as causal_lm:"


def _read_key(name: str) -> str:
    if not name:
        return ""
    key = os.environ.get(name, "").strip()
    if not key:
        raise SubjectError(
            f"the environment variable {name}, which key_env names, is not set", hint=f"export {name}=… and run again"
        )
    # the error of the HTTP library for such a header would show it
    if not key.isascii() or not key.isprintable() or " " in key:
        raise SubjectError(f"the environment variable {name} does not hold an API key: it has spaces or odd characters")
    return key


def _spellings(key: str) -> tuple[str, ...]:
    """Return how a server may write a key that it echoes: as it is, in JSON once or twice, in HTML, in an address."""
    if not key:
        return ()
    once = json.dumps(key)[1:-1]
    ways = {key, once, json.dumps(once)[1:-1], html.escape(key), quote(key, safe=""), repr(key)[1:-1]}
    return tuple(sorted(ways | {way.replace("/", "\\/") for way in ways}, key=len, reverse=True))


def _retry_pause(header: str, otherwise: float) -> float:
    """Read ``Retry-After``: seconds or a date (RFC 9110, section 10.2.3)."""
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(header) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return otherwise


def _error_message(body: Mapping[str, Any]) -> str:
    """Return what an error body says: OpenAI's ``error.message``, vLLM's ``message``, FastAPI's ``detail``."""
    error = body.get("error")
    if isinstance(error, Mapping):
        return str(error.get("message") or error)
    return str(error or body.get("message") or body.get("detail") or "")
