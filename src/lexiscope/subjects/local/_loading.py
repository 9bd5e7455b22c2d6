"""Loading a model and its tokenizer from a checked folder: whole, quiet, nothing cut off, no foreign code unasked."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lexiscope.core.errors import Place, SubjectError, require
from lexiscope.subjects.local._model_check import first_line
from lexiscope.subjects.local._model_folder import ModelFolder

LOG = logging.getLogger(__name__)
_NO_LIMIT = 1_000_000
_MIN_TRUSTED = 12


def may_run_own_code(folder: ModelFolder, named: str, *, hub_revision: str, revision: str) -> bool:
    """Return whether the model's own code may run: only where its revision, of the hub or of its bytes, is *named*.

    Errors: :class:`SubjectError` where another revision is named.
    """
    if not named:
        return False
    if len(named) >= _MIN_TRUSTED and (named == hub_revision or revision.startswith(named)):
        return True
    raise SubjectError(
        f"trust_remote_code names revision {named!r}, which is not the revision of this model",
        place=Place(str(folder.path)),
        hint=f"read the model's Python files, then write ?trust_remote_code={hub_revision or revision}",
    )


def load_tokenizer(place: str, *, trust_remote_code: bool) -> tuple[Any, Any]:
    """Load a fast tokenizer: its ``tokenizers.Tokenizer``, which cuts and pads nothing, and the whole of it.

    Errors: :class:`SubjectError` where there is none, or only one without character offsets.
    """
    ModelFolder(Path(place)).check()
    transformers = require("transformers", "models")
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            place, use_fast=True, trust_remote_code=trust_remote_code, local_files_only=True
        )
    except BaseException as error:  # a damaged file lets Rust panic, which Python knows as a BaseException
        raise _reading_error(place, "tokenizer", error) from error
    if not tokenizer.is_fast:
        raise SubjectError(
            "this model has no fast tokenizer, so its sub-words have no character offsets",
            place=Place(place),
            hint="convert it to tokenizer.json, or use another model",
        )
    fast = tokenizer.backend_tokenizer
    # a tokenizer file may ask for padding and truncation; lengths are ours to decide, and nothing is cut off
    fast.no_padding()
    fast.no_truncation()
    return fast, tokenizer


def load_model(place: str, *, trust_remote_code: bool, auto: str = "AutoModel", **settings: Any) -> Any:
    """Load a model for reading, without a cache; *auto* is the transformers class that chooses its kind.

    *settings* go to that class. Errors: :class:`SubjectError` where the weights cannot be read or do not fit.
    """
    ModelFolder(Path(place)).check()
    transformers = require("transformers", "models")
    begun = time.monotonic()
    with quiet_loading(transformers):
        try:
            model, loading = getattr(transformers, auto).from_pretrained(
                place,
                use_safetensors=True,
                trust_remote_code=trust_remote_code,
                local_files_only=True,
                output_loading_info=True,
                **settings,
            )
        except BaseException as error:  # as above; and transformers raises what it happens to meet in a folder
            raise _reading_error(place, "model", error) from error
    # a pooler on top is not a layer and may be absent; any other absent weight would be random numbers
    absent = sorted(name for name in loading["missing_keys"] if "pooler" not in name)
    if absent or loading.get("mismatched_keys"):
        raise SubjectError(
            "the weights do not fit the model's configuration",
            place=Place(place),
            why=f"absent or of another shape: {', '.join([*absent, *map(str, loading['mismatched_keys'])][:5])}",
        )
    if hasattr(model.config, "use_cache"):
        model.config.use_cache = False
    LOG.info("Loaded %s (%s) in %.1f s", place, type(model).__name__, time.monotonic() - begun)
    return model.eval().requires_grad_(False)


@contextmanager
def quiet_loading(transformers: Any) -> Iterator[None]:
    """Keep loading bars and the list of unused heads off the screen (absent weights are an error of ours)."""
    log = transformers.utils.logging
    level, bar = log.get_verbosity(), log.is_progress_bar_enabled()
    log.set_verbosity_error()
    log.disable_progress_bar()
    try:
        yield
    finally:
        log.set_verbosity(level)
        if bar:
            log.enable_progress_bar()


def _reading_error(place: str, what: str, error: BaseException) -> SubjectError:
    """Return the error for a folder that could not be read; let errors through that the folder did not cause."""
    if isinstance(error, KeyboardInterrupt | SystemExit | GeneratorExit | MemoryError):
        raise error
    first = first_line(error)
    code = "trust_remote_code" in str(error)
    return SubjectError(
        f"this {what} needs code that comes with it" if code else f"the {what} cannot be read",
        place=Place(place),
        why=first,
        hint="read that code first, then name its revision: ?trust_remote_code=REVISION" if code else "",
    )


def longest_of(model: Any, tokenizer_limit: int) -> int | None:
    """Return the most tokens that a model can read, or ``None`` if it is not recorded."""
    limits = [tokenizer_limit] if tokenizer_limit < _NO_LIMIT else []
    for name, module in model.named_modules():
        # RoBERTa and its kin count positions from the padding index + 1
        if name.endswith((".position_embeddings", "wpe")) and hasattr(module, "num_embeddings"):
            limits.append(module.num_embeddings - (0 if module.padding_idx is None else module.padding_idx + 1))
    config = getattr(model.config, "text_config", model.config)
    stated = getattr(config, "max_position_embeddings", None)
    return min([*limits, *([stated] if isinstance(stated, int) and stated > 0 else [])], default=None)


def dtype_of(torch: Any, name: str) -> Any:
    """Return torch's type of a name: ``fp32``, ``fp16``, ``bf16``."""
    return {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}[name]


def device_of(torch: Any, name: str) -> str:
    """Return a device's name where this machine has it.

    Errors: :class:`SubjectError` where torch cannot use it.
    """
    available = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if not available[name]:
        raise SubjectError(f"this machine has no device {name!r} that torch can use", hint="leave the option out")
    return name


@contextmanager
def torch_threads(torch: Any, number: int | None) -> Iterator[int]:
    """Use *number* threads of torch inside the block and restore the process's own setting after it.

    Gives the number that torch really uses.
    """
    before = torch.get_num_threads()
    if number is not None and number != before:
        torch.set_num_threads(number)
    try:
        yield int(torch.get_num_threads())
    finally:
        if torch.get_num_threads() != before:
            torch.set_num_threads(before)
