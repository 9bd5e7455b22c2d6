"""The options of subjects that score texts: how they count, on what they run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lexiscope.core.errors import SpecError
from lexiscope.core.scoring import PRESETS, PUBLISHED, ScoringPolicy
from lexiscope.subjects._options import option_value

ROUTES = ("auto", "tree", "batched", "single")
_POLICY = ("bos", "first", "tokens", "per")
_NUMBERS = ("threads", "row_tokens", "batch_tokens")
_WORDS = {"dtype": ("fp32", "bf16", "fp16"), "device": ("cpu", "cuda", "mps"), "route": ROUTES}
_FREE = ("bos_token", "trust_remote_code", "base")
_ROW_TOKENS, _PLAIN_ROW_TOKENS = {"cpu": 2_048}, {"cpu": 512}
_BATCH_TOKENS = {"cpu": 1_024}


@dataclass(frozen=True, slots=True)
class CausalOptions:
    """How a causal language model is run.

    ``policy``: which tokens count. ``dtype``: ``fp32``, ``bf16`` or ``fp16``. ``device``: ``cpu``, ``cuda`` or ``mps``.
    ``threads``: of torch, 0 = as the process has it. ``route``: ``auto``, ``tree``, ``batched`` or ``single``.
    ``row_tokens``: most tokens of a row of the prefix tree where it can be cut well, ``batch_tokens``: of a batch; 0 =
    as measured best. ``self_test``: the task tries trivially easy pairs first. ``bos_token``: the text of the token
    that stands before a text, for a tokenizer that names none. ``trust_remote_code``: the revision whose code may run.
    ``base``: where the base model of an adapter lies, if not where the training found it.
    """

    policy: ScoringPolicy = PUBLISHED
    dtype: str = "fp32"
    device: str = "cpu"
    threads: int = 0
    route: str = "auto"
    row_tokens: int = 0
    batch_tokens: int = 0
    self_test: bool = True
    bos_token: str = ""
    trust_remote_code: str = ""
    base: str = ""

    @property
    def row_budget(self) -> int:
        """The most tokens of a row of the prefix tree."""
        return self.row_tokens or _ROW_TOKENS.get(self.device, 1_024)

    @property
    def plain_row_budget(self) -> int:
        """The same where every token of a row is compared with every other one."""
        return self.row_tokens or _PLAIN_ROW_TOKENS.get(self.device, 1_024)

    @property
    def batch_budget(self) -> int:
        """The most tokens of a batch, padding included."""
        return self.batch_tokens or _BATCH_TOKENS.get(self.device, 16_384)


def policy_of(given: dict[str, str]) -> ScoringPolicy:
    """Read a policy: a preset (``policy=``), and the parts of it that are given beside.

    >>> str(policy_of({"policy": "bos", "tokens": "word"}))
    'log_probability(bos=yes,first=scored,tokens=word,per=token)'

    Errors: :class:`SpecError` for an unknown preset or part.
    """
    name = given.get("policy", "published")
    _one_of("policy", name, tuple(PRESETS))
    preset = PRESETS[name]
    parts: dict[str, Any] = {part: given.get(part, getattr(preset, part)) for part in _POLICY}
    return ScoringPolicy(**parts)


def policy_text(policy: ScoringPolicy) -> list[str]:
    """Return the options that make a policy out of the default one; what a sum is divided by changes no score.

    >>> policy_text(PRESETS["word"])
    ['bos=yes', 'first=scored', 'tokens=word']
    """
    parts = [part for part in _POLICY if part != "per"]
    return [f"{part}={getattr(policy, part)}" for part in parts if getattr(policy, part) != getattr(PUBLISHED, part)]


def causal_options(given: dict[str, str]) -> CausalOptions:
    """Read the options of a causal language model.

    >>> causal_options({"dtype": "bf16", "self_test": "no"}).self_test
    False

    Errors: :class:`SpecError` for an unknown option or value.
    """
    for key, value in given.items():
        _one_of("option", key, ("policy", *_POLICY, *_NUMBERS, *_WORDS, *_FREE, "self_test"))
        if key in _NUMBERS and not value.isdecimal():
            raise SpecError(f"the option {key} of a causal_lm is a whole number, not {value!r}")
        if key in _WORDS:
            _one_of(key, value, _WORDS[key])
    _one_of("self_test", given.get("self_test", "yes"), ("yes", "no"))
    settings: dict[str, Any] = {key: given[key] for key in (*_WORDS, *_FREE) if key in given}
    settings |= {key: int(given[key]) for key in _NUMBERS if key in given}
    settings |= {"bos_token": option_value(given["bos_token"])} if "bos_token" in given else {}
    return CausalOptions(policy=policy_of(given), self_test=given.get("self_test", "yes") == "yes", **settings)


def _one_of(what: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise SpecError(f"{value!r} is not a known {what} of a causal_lm", hint=f"use one of {', '.join(allowed)}")
