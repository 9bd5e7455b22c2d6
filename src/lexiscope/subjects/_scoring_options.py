"""The options of subjects that score texts: how they count, on what they run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from lexiscope.core.errors import SpecError
from lexiscope.core.prompt import Prompting
from lexiscope.core.scoring import PRESETS, PUBLISHED, ScoringPolicy
from lexiscope.subjects._options import Device, read_options

_POLICY = ("bos", "first", "tokens", "per")
POLICY_OPTIONS = ("policy", *_POLICY)
"""The options that say which tokens count."""

_ROW_TOKENS, _PLAIN_ROW_TOKENS = {"cpu": 2_048}, {"cpu": 512}
_BATCH_TOKENS = {"cpu": 1_024}


class HasWording(Protocol):
    """Options that name a wording."""

    @property
    def variant(self) -> str:
        """The wording; empty: the task's first."""

    @property
    def language(self) -> str:
        """The language of the words; empty: the item's own."""


@dataclass(frozen=True, slots=True)
class CausalOptions:
    """How a causal language model is run.

    ``policy``: which tokens count. ``threads``: of torch, 0 = as the process has it. ``route``: how texts that begin
    alike are scored. ``row_tokens``: most tokens of a row of the prefix tree where it can be cut well,
    ``batch_tokens``: of a batch; 0 = as measured best. ``self_test``: the task tries trivially easy pairs first.
    ``bos_token``: the text of the token that is put before a text, for a tokenizer that names none.
    ``trust_remote_code``: the revision whose code may run. ``base``: where the base model of an adapter lies, if not
    where the training found it. ``variant`` and ``language``: the wording in which a task asks, and its language.
    """

    policy: ScoringPolicy = PUBLISHED
    dtype: Literal["fp32", "bf16", "fp16"] = "fp32"
    device: Device = "cpu"
    threads: int = 0
    route: Literal["auto", "tree", "batched", "single"] = "auto"
    row_tokens: int = 0
    batch_tokens: int = 0
    self_test: bool = True
    bos_token: str = ""
    trust_remote_code: str = ""
    base: str = ""
    variant: str = ""
    language: str = ""

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


def policy_of(given: Mapping[str, str]) -> ScoringPolicy:
    """Read a policy: a preset (``policy=``), and the parts of it that are given in addition.

    >>> str(policy_of({"policy": "bos", "tokens": "word"}))
    'log_probability(bos=yes,first=scored,tokens=word,per=token)'

    Errors: :class:`SpecError` for an unknown preset or part.
    """
    name = given.get("policy", "published")
    if name not in PRESETS:
        raise SpecError(f"{name!r} is not a scoring policy", hint=f"use one of {', '.join(PRESETS)}")
    preset = PRESETS[name]
    parts: dict[str, Any] = {part: given.get(part, getattr(preset, part)) for part in _POLICY}
    return ScoringPolicy(**parts)


def policy_options(policy: ScoringPolicy) -> dict[str, str]:
    """Return the options that make a policy out of the default one; what a sum is divided by changes no score.

    >>> policy_options(PRESETS["word"])
    {'bos': 'yes', 'first': 'scored', 'tokens': 'word'}
    """
    parts = [part for part in _POLICY if part != "per"]
    return {part: getattr(policy, part) for part in parts if getattr(policy, part) != getattr(PUBLISHED, part)}


def prompting_of(options: HasWording) -> Prompting:
    """Return in which words a task asks: its wording and their language; empty: the task's first, the item's own."""
    return Prompting(options.variant, language=options.language)


def wording_options(options: HasWording) -> dict[str, str]:
    """Return the options of a spec that name the wording of a task; none for the task's first wording."""
    named = {"variant": options.variant, "language": options.language}
    return {name: value for name, value in named.items() if value}


def causal_options(given: Mapping[str, str]) -> CausalOptions:
    """Read the options of a causal language model.

    >>> causal_options({"dtype": "bf16", "self_test": "no"}).self_test
    False

    Errors: :class:`SpecError` for an unknown option or value.
    """
    return read_options(CausalOptions, given, of="a causal_lm", known=POLICY_OPTIONS, policy=policy_of(given))
