"""What stands in a subject's spec behind its name: ``NAME[#REVISION][?key=value&key=value]``."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

from lexiscope.core.errors import SpecError


@dataclass(frozen=True, slots=True)
class EncoderOptions:
    """How an encoder is run.

    ``dtype``: ``fp32`` or ``bf16``. ``device``: ``cpu``, ``cuda`` or ``mps``. ``threads``: of torch, 0 = as the
    process has it. ``batch_tokens``: most tokens of a batch, 0 = 1,024 on a CPU and 16,384 elsewhere.
    ``trust_remote_code``: the revision of the model whose own Python code may be run; empty = none.
    """

    dtype: str = "fp32"
    device: str = "cpu"
    threads: int = 0
    batch_tokens: int = 0
    trust_remote_code: str = ""

    def __post_init__(self) -> None:
        _one_of("dtype", self.dtype, ("fp32", "bf16"))
        _one_of("device", self.device, ("cpu", "cuda", "mps"))
        if self.threads < 0 or self.batch_tokens < 0:
            raise SpecError("threads and batch_tokens of an encoder are 0 or more")

    @property
    def budget(self) -> int:
        """The most tokens of a batch, padding included."""
        return self.batch_tokens or (1_024 if self.device == "cpu" else 16_384)


def split_name(text: str) -> tuple[str, str, dict[str, str]]:
    """Split what follows the kind in a spec into name, revision and options.

    An existing folder is taken whole, whatever its name.

    >>> split_name("org/model#v1.0?dtype=bf16&threads=2")
    ('org/model', 'v1.0', {'dtype': 'bf16', 'threads': '2'})

    Errors: :class:`SpecError` for an option that is not key=value.
    """
    if Path(text).expanduser().exists():
        return text, "", {}
    rest, _, query = text.partition("?")
    name, _, revision = rest.partition("#")
    pairs = [part.partition("=") for part in query.split("&") if part]
    if not name or any(not key or not value for key, _, value in pairs):
        raise SpecError(f"{text!r} does not name a subject", hint="write NAME#REVISION?key=value&key=value")
    return name, revision, {key: value for key, _, value in pairs}


def option_text(value: str) -> str:
    """Return a value as it stands among the options of a spec: ``&``, which divides them, is written ``%26``.

    >>> option_text("<a&b>"), option_text("50%"), option_value(option_text("%26"))
    ('<a%26b>', '50%25', '%26')
    """
    return value.replace("%", "%25").replace("&", "%26")


def option_value(text: str) -> str:
    """Read :func:`option_text` back; another ``%`` stands for itself."""
    return text.replace("%26", "&").replace("%25", "%")


def encoder_options(given: dict[str, str]) -> EncoderOptions:
    """Read the options of an encoder.

    >>> encoder_options({"dtype": "bf16", "threads": "2"}).threads
    2

    Errors: :class:`SpecError` for an unknown option or value.
    """
    known = [field.name for field in fields(EncoderOptions)]
    for key, value in given.items():
        _one_of("option", key, tuple(known))
        if key in ("threads", "batch_tokens") and not value.isdecimal():
            raise SpecError(f"the option {key} of an encoder is a whole number, not {value!r}")
    return EncoderOptions(
        dtype=given.get("dtype", "fp32"),
        device=given.get("device", "cpu"),
        threads=int(given.get("threads", 0)),
        batch_tokens=int(given.get("batch_tokens", 0)),
        trust_remote_code=given.get("trust_remote_code", ""),
    )


def _one_of(what: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise SpecError(f"{value!r} is not a known {what} of an encoder", hint=f"use one of {', '.join(allowed)}")
