"""Checks of a model folder before transformers reads it, and the rounding error of its numbers.

A configuration that says 1e9 layers would be built, layer after layer; a header that lies about its length would be
believed; an index may name any file of this machine. Here each number is compared with the weights that are there.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from lexiscope.core.errors import Place, SubjectError
from lexiscope.core.foreign import parse_json

CONFIG, INDEX, WEIGHTS = "config.json", "model.safetensors.index.json", "model.safetensors"
LAYER_KEYS = ("num_hidden_layers", "n_layer", "n_layers", "encoder_layers", "num_layers")
WIDTH_KEYS = ("hidden_size", "n_embd", "dim", "d_model", "n_embed", "emb_dim")
# these tables are as wide as the model, so each must fit into its weights
_ROW_KEYS = ("vocab_size", "type_vocab_size", "intermediate_size", "ffn_dim", "d_ff", "n_inner", "hidden_dim")
_POSITION_KEYS = ("max_position_embeddings", "n_positions", "n_ctx")
# what a model builds a module for each of: of every one there are weights
_PART_KEYS = (*LAYER_KEYS, "num_hidden_groups", "inner_group_num")
# of these too, but the weights of all may be one tensor
_EXPERT_KEYS = ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts")
_COUNT_KEYS = (
    *("num_attention_heads", "n_head", "n_heads", "num_heads", "num_key_value_heads", "encoder_attention_heads"),
    *("head_dim", "d_kv"),
)
_MOST_POSITIONS, _MOST_COUNTED, _MOST_LABELS = 2**27, 100_000, 1_000_000
_MOST_HEADER = 100_000_000
_BYTES = {
    **dict.fromkeys(("F64", "I64", "U64", "C64"), 8),
    **dict.fromkeys(("F32", "I32", "U32"), 4),
    **dict.fromkeys(("F16", "BF16", "I16", "U16"), 2),
    **dict.fromkeys(("BOOL", "I8", "U8", "F8_E4M3", "F8_E5M2", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"), 1),
}
_POSITION_TABLE = re.compile(r"(?:position_embeddings|wpe|embed_positions)\.weight\Z")
_AGAIN = "fetch the model again, or name another folder"
Header = dict[str, dict[str, Any]]


def check_model_place(path: Path) -> None:
    """Check that a path that is there is a folder. Errors: :class:`SubjectError` for a file and for a circular link."""
    if path.is_dir() or not os.path.lexists(path):
        return
    link = path.is_symlink() and not path.exists()
    what = "this link leads to no folder" if link else "this is a file, not the folder of a model"
    raise SubjectError(what, place=Place(str(path)), hint=f"name the folder that holds {CONFIG}")


def read_object(path: Path) -> dict[str, Any]:
    """Read a JSON object of a model. Errors: :class:`SubjectError` where the file is damaged or something else."""
    try:
        content = parse_json(path.read_bytes())
    except (OSError, ValueError) as error:
        raise file_error(path, "this file of a model cannot be read", str(error)) from error
    if not isinstance(content, dict):
        raise file_error(path, "this file of a model holds no JSON object", f"it is a {type(content).__name__}")
    return content


def text_config(path: Path) -> dict[str, Any]:
    """Return a configuration; for a model of several parts, its text part. Errors: :class:`SubjectError`."""
    config = read_object(path)
    part = config.get("text_config") or config
    if not isinstance(part, dict):
        raise file_error(path, "this configuration is damaged", f"text_config is a {type(part).__name__}")
    return part


def weight_files(folder: Path) -> tuple[Path, ...]:
    """Return the files that the index of a model's weights names, in the order of their names.

    Errors: :class:`SubjectError` for an index without its map, with a name that leads elsewhere, or of an absent file.
    """
    index = folder / INDEX
    named = read_object(index).get("weight_map")
    if not isinstance(named, dict) or not named:
        raise file_error(index, "this index of weights is damaged", "it has no weight_map from tensors to files")
    for tensor, name in named.items():
        if not isinstance(name, str) or not name.endswith(".safetensors") or Path(name).name != name or "\\" in name:
            raise file_error(index, "this index of weights is damaged", f"it names {name!r} as the file of {tensor}")
    paths = tuple(folder / name for name in sorted(set(named.values())))
    for path in paths:
        if not path.is_file():
            raise file_error(path, "this file of weights is missing", f"{INDEX} names it")
    return paths


def read_header(path: Path) -> Header:
    """Return the header of a safetensors file: tensor name to dtype, shape and offsets.

    Errors: :class:`SubjectError` where the file is cut off, lies about itself, or is something else.
    """
    what = "this weight file is damaged"
    try:
        with path.open("rb") as stream:
            length = int.from_bytes(stream.read(8), "little")
            size = path.stat().st_size
            fits = 2 <= length <= min(size - 8, _MOST_HEADER)
            header = parse_json(stream.read(length)) if fits else None
    except (OSError, ValueError) as error:
        raise file_error(path, what, str(error)) from error
    if not isinstance(header, dict):
        raise file_error(path, what, "its header does not fit into the file")
    header.pop("__metadata__", None)
    end = 0
    for name, tensor in sorted(header.items(), key=lambda pair: _data_start(pair[1])):
        if not _is_tensor(tensor) or tensor["data_offsets"][0] != end:
            raise file_error(path, what, f"its header is wrong about the tensor {name}")
        end = tensor["data_offsets"][1]
    if 8 + length + end != size:
        raise file_error(path, what, f"it has {size} bytes, its header promises {8 + length + end}")
    return header


def check_config(folder: Path, headers: Mapping[str, Mapping[str, Any]]) -> None:
    """Check that the numbers of a configuration are those of a model of these weights.

    *headers*: name and header entry of every tensor. Errors: :class:`SubjectError` naming the field.
    """
    path = folder / CONFIG
    whole = read_object(path)
    shapes = [tuple(tensor["shape"]) for tensor in headers.values()]
    sizes = {size for shape in shapes for size in shape}
    n_numbers = sum(math.prod(shape) for shape in shapes)
    rows = [tensor["shape"][0] for name, tensor in headers.items() if _POSITION_TABLE.search(name) and tensor["shape"]]
    for config in (whole, *([text_config(path)] if "text_config" in whole else [])):
        _check_numbers(config, path, shapes)
        width = next((config[key] for key in WIDTH_KEYS if config.get(key) is not None), None)
        if width is not None and width not in sizes:
            raise file_error(
                path, "this configuration is of another model", f"vectors of {width} numbers are in no weight"
            )
        vocabulary = config.get("vocab_size")
        if vocabulary is not None and vocabulary not in sizes:
            why = f"vocab_size is {vocabulary}, which no weight has"
            raise file_error(path, "this configuration is of another model", why)
        for key in _ROW_KEYS:
            if width is not None and max(_numbers(config.get(key))) * width > max(n_numbers, 1) * 2:
                why = f"{key} is {config[key]}, the weights have {n_numbers} numbers in all"
                raise file_error(path, "this configuration is of another model", why)
        for key in _POSITION_KEYS:
            if rows and max(_numbers(config.get(key))) > max(rows):
                why = f"{key} is {config[key]}, the weights have {max(rows)} positions"
                raise file_error(path, "this configuration is of another model", why)


def check_tokenizer(folder: Path, names: tuple[str, ...]) -> None:
    """Check that the JSON files of a tokenizer are whole, and that the model has a vector for every token.

    Errors: :class:`SubjectError` naming the file.
    """
    path, last, wrong = folder / "tokenizer.json", None, ""
    for name in names:
        if name.endswith(".json") and (folder / name).is_file():
            if name == path.name:
                last, wrong = _tokens_of(path)
            else:
                read_object(folder / name)
    if wrong:
        raise file_error(path, "this tokenizer is damaged", wrong)
    if last is None:
        return
    size = text_config(folder / CONFIG).get("vocab_size")
    if isinstance(size, int) and last >= size:
        why = f"it numbers tokens up to {last}, the model has {size}"
        raise file_error(path, "this tokenizer is of another model", why)


def _tokens_of(path: Path) -> tuple[int | None, str]:
    try:
        return _tokens_in(path.read_bytes())
    except (OSError, ValueError):
        # raises the error that names the file
        read_object(path)
        raise


@lru_cache(maxsize=4)
def _tokens_in(content: bytes) -> tuple[int | None, str]:
    """Return the highest number of a token, or why there is none; a model is mostly loaded several times."""
    whole = parse_json(content)
    if not isinstance(whole, dict):
        raise ValueError("no JSON object")
    model = whole.get("model")
    vocabulary = model.get("vocab") if isinstance(model, dict) else None
    if not isinstance(vocabulary, dict | list) or not vocabulary:
        return None, "it has no vocabulary"
    numbers = vocabulary.values() if isinstance(vocabulary, dict) else range(len(vocabulary))
    if not all(isinstance(number, int) and not isinstance(number, bool) and number >= 0 for number in numbers):
        return None, "a token of its vocabulary has no number"
    return max(numbers), ""


def first_line(error: BaseException) -> str:
    """Return the message of a library's error, in one line; its kind if the message is empty."""
    lines = str(error).strip().splitlines()
    return lines[0][:300] if lines else type(error).__name__


def file_error(path: Path, what: str, why: str) -> SubjectError:
    """Return the error for a file of a model that is damaged or does not belong to the others."""
    return SubjectError(what, place=Place(str(path)), why=" ".join(why.split())[:300], hint=_AGAIN)


def _check_numbers(config: Mapping[str, Any], path: Path, shapes: Sequence[tuple[int, ...]]) -> None:
    n_tensors = len(shapes)
    most = dict.fromkeys(_PART_KEYS, max(1, n_tensors))
    most |= dict.fromkeys(_EXPERT_KEYS, max([1, n_tensors, *(shape[0] for shape in shapes if len(shape) > 2)]))
    most |= dict.fromkeys((*WIDTH_KEYS, *_ROW_KEYS), 2**31) | dict.fromkeys(_POSITION_KEYS, _MOST_POSITIONS)
    most |= dict.fromkeys(_COUNT_KEYS, _MOST_COUNTED) | {"num_labels": _MOST_LABELS}
    for key, limit in most.items():
        value = config.get(key)
        if value is None:
            continue
        # some models give a number for every layer; of these there is one of a model
        listed = isinstance(value, list) and key not in (*LAYER_KEYS, *WIDTH_KEYS, "vocab_size")
        if not all(
            isinstance(number, int) and not isinstance(number, bool) for number in (value if listed else [value])
        ):
            raise file_error(
                path, "this configuration is damaged", f"{key} is {json.dumps(value)[:80]}, not a whole number"
            )
        # a table that a model does not have is of size 0, and one without experts has 0 of them
        least = 0 if key in (*_ROW_KEYS, *_POSITION_KEYS, *_EXPERT_KEYS, "num_labels") else 1
        if not all(least <= number <= limit for number in _numbers(value)):
            why = f"{key} is {str(value)[:80]}" + (
                f", the weights are {n_tensors} tensors" if key in LAYER_KEYS else ""
            )
            raise file_error(path, "this configuration is damaged or of another model", why)


def _numbers(value: int | list[int] | None) -> list[int]:
    """Return a number of a configuration, or those of every layer; of one that is absent or of no layer, 0."""
    return (value if isinstance(value, list) else [value or 0]) or [0]


def _is_tensor(tensor: Any) -> bool:
    if not isinstance(tensor, dict):
        return False
    shape, offsets, size = tensor.get("shape"), tensor.get("data_offsets"), tensor.get("dtype")
    if not isinstance(shape, list) or not all(_is_size(size) for size in shape) or not isinstance(size, str):
        return False
    if not isinstance(offsets, list) or len(offsets) != 2 or not all(map(_is_size, offsets)):
        return False
    length = offsets[1] - offsets[0]
    # types that came later, of parts of a byte, have the length that they have
    return bool(length == math.prod(shape) * _BYTES[size] if size in _BYTES else length >= 0)


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**60


def _data_start(tensor: Any) -> tuple[int, int]:
    offsets = tensor.get("data_offsets") if isinstance(tensor, dict) else None
    if not isinstance(offsets, list) or len(offsets) != 2 or not all(map(_is_size, offsets)):
        return -1, -1
    return offsets[0], offsets[1]


# -- how much the same numbers may differ when a model computes them in another order -------------------------------
# Processors add in different orders, so an absolute bound that holds on one machine fails on another, and a bound for
# numbers around 1 is meaningless for numbers around 1,000: bounds follow the type and the size of the numbers.


# shares of the size, not steps of the last digit: sums over a model's width and layers add up their rounding errors
_SHARE = {"fp32": 1e-5, "fp16": 5e-3, "bf16": 2.5e-2}


def rounding(largest: float, dtype: str = "fp32") -> float:
    """Return how much two routes to the same numbers may differ by rounding alone.

    *largest:* the largest absolute value among them; *dtype:* ``fp32``, ``fp16`` or ``bf16``. *Unit:* that of the
    numbers.

    >>> f"{rounding(8.0):.0e}", rounding(8.0, "bf16")
    ('8e-05', 0.2)
    """
    return largest * _SHARE[dtype]


def same_to_rounding(actual: Any, expected: Any, dtype: str = "fp32", *, part: float = 1.0) -> bool:
    """Return whether two tensors of one shape are equal to a part of :func:`rounding`.

    Each vector (last dimension) is judged by its own largest value, so that one large vector does not excuse the
    others. NaN is never equal.
    """
    if actual.shape != expected.shape:
        return False
    actual, expected = actual.float(), expected.float()
    bound = expected.abs().amax(dim=-1, keepdim=True) * (part * _SHARE[dtype])
    return bool(((actual - expected).abs() <= bound).all())
