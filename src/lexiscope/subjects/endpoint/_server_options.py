"""What stands in the spec of a served model behind its address: ``completions:MODEL@URL?key=value&key=value``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any
from urllib.parse import urlsplit

from lexiscope.core.errors import SpecError
from lexiscope.core.scoring import PUBLISHED, ScoringPolicy
from lexiscope.subjects._options import option_value
from lexiscope.subjects._scoring_options import policy_of

_POLICY = ("policy", "bos", "first", "tokens", "per")
_WHOLE = ("parallel", "batch", "retries")
_SECONDS = ("timeout", "backoff")
_SECRET = ("key", "api_key", "apikey", "token", "password", "authorization")


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """How a served model is asked.

    ``policy``: which tokens count. ``bos_token``: the text of the token that is to stand before every text, for a
    server that adds none. ``key_env``: the environment variable that holds the API key. ``parallel``: most requests
    under way, ``batch``: most texts in one. ``timeout``: seconds until a request is given up. ``retries``: how often
    it is sent again, ``backoff``: seconds before the first time, doubled each time. ``self_test``: the task tries
    trivially easy pairs first.
    """

    policy: ScoringPolicy = PUBLISHED
    bos_token: str = ""
    key_env: str = ""
    parallel: int = 4
    batch: int = 8
    timeout: float = 120.0
    retries: int = 6
    backoff: float = 0.5
    self_test: bool = True

    def __post_init__(self) -> None:
        if min(self.parallel, self.batch, self.timeout) <= 0 or min(self.retries, self.backoff) < 0:
            raise SpecError("parallel, batch and timeout are above 0, retries and backoff 0 or more")


def split_address(url: str) -> tuple[str, dict[str, str]]:
    """Split what follows the @ of a spec into the address of the server and its options.

    >>> split_address("http://127.0.0.1:8000/v1/?policy=bos")
    ('http://127.0.0.1:8000/v1', {'policy': 'bos'})

    Errors: :class:`SpecError` for an option that is not key=value and for a secret in the address.
    """
    address, _, query = url.partition("?")
    if urlsplit(address).scheme not in ("http", "https") or not urlsplit(address).hostname:
        raise SpecError("this is no address of a server", hint="write completions:MODEL@http://host:8000/v1")
    if "@" in address:
        raise SpecError("the address has a user name or password in it", hint="use ?key_env=NAME")
    pairs = [part.partition("=") for part in query.split("&") if part]
    if any(not key or not value for key, _, value in pairs):
        raise SpecError("the options of a served model are written key=value&key=value")
    return address.rstrip("/"), {key: value for key, _, value in pairs}


def refuse_secrets(given: Mapping[str, str]) -> None:
    """Refuse a key or password among the options of a spec.

    Errors: :class:`SpecError`, which does not repeat it.
    """
    for key in given:
        if key.lower() in _SECRET:
            hint = "put the key into an environment variable and name that: key_env=NAME"
            raise SpecError(f"{key}= would write a secret into every record of the run", hint=hint)


def server_options(given: Mapping[str, str]) -> ServerOptions:
    """Read the options of a served model.

    >>> server_options({"policy": "bos", "parallel": "2"}).parallel
    2

    Errors: :class:`SpecError` for an unknown option or value; it does not repeat what may be a secret.
    """
    known = (*_POLICY, *(field.name for field in fields(ServerOptions) if field.name != "policy"))
    refuse_secrets(given)
    for key, value in given.items():
        if key not in known:
            raise SpecError(f"{key!r} is no option of a served model", hint=f"use one of {', '.join(known)}")
        if key in _WHOLE and not value.isdecimal():
            raise SpecError(f"the option {key} is a whole number, not {value!r}")
    if given.get("self_test", "yes") not in ("yes", "no"):
        raise SpecError("self_test is yes or no")
    settings: dict[str, Any] = {key: given[key] for key in ("bos_token", "key_env") if key in given}
    settings |= {"bos_token": option_value(given["bos_token"])} if "bos_token" in given else {}
    settings |= {key: int(given[key]) for key in _WHOLE if key in given}
    settings |= {key: _seconds(key, given[key]) for key in _SECONDS if key in given}
    self_test = given.get("self_test", "yes") == "yes"
    return ServerOptions(policy=policy_of(dict(given)), self_test=self_test, **settings)


def _seconds(key: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise SpecError(f"the option {key} is a number of seconds, not {value!r}") from None
