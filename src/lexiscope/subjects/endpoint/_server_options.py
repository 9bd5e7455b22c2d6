"""What stands in the spec of a served model behind its address: ``completions:MODEL@URL?key=value&key=value``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from lexiscope.core.errors import SpecError
from lexiscope.core.scoring import PUBLISHED, ScoringPolicy
from lexiscope.core.spec import split_options
from lexiscope.subjects._options import read_options
from lexiscope.subjects._scoring_options import POLICY_OPTIONS, policy_of

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
    address, options = split_options(url)
    if urlsplit(address).scheme not in ("http", "https") or not urlsplit(address).hostname:
        raise SpecError("this is no address of a server", hint="write completions:MODEL@http://host:8000/v1")
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


def server_options(given: Mapping[str, str]) -> ServerOptions:
    """Read the options of a served model.

    >>> server_options({"policy": "bos", "parallel": "2"}).parallel
    2

    Errors: :class:`SpecError` for an unknown option or value; it does not repeat what may be a secret.
    """
    refuse_secrets(given)
    policy = policy_of(given)
    return read_options(ServerOptions, given, of="a served model", known=POLICY_OPTIONS, policy=policy)
