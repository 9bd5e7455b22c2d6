"""Files that the user names, and Python files loaded by path: a dataset, task, kind of subject or study.

A path is ``my_norms.py``, or a folder with an ``__init__.py`` (``./my_norms``). What is hashed is what runs, under a
module name that no other module has. No ``__pycache__`` is written next to the file.
"""

from __future__ import annotations

import ast
import functools
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import module_from_spec
from pathlib import Path
from types import CodeType, ModuleType
from typing import cast

from lexiscope.core.errors import InputError, LexiscopeError, Place, SpecError

_PREFIX = "lexiscope_file_"
_LOADED: dict[str, ModuleType] = {}
"""Module name -> module: a file is run once per process, and once more if its content has changed since."""


def is_path(name: str) -> bool:
    """Whether a name is a path to Python code: it ends in ``.py``, or is a folder with an ``__init__.py``.

    The name of a folder needs a separator (``./raw_c``), so that no folder hides a name of the catalog.

    >>> is_path("my_norms.py"), is_path("studies/my_norms.py"), is_path("raw_c"), is_path("ratings.csv")
    (True, True, False, False)
    """
    if name.endswith(".py"):
        return True
    named_as_folder = "/" in name or os.sep in name
    return named_as_folder and (Path(name).expanduser() / "__init__.py").is_file()


def assigned(path: Path, name: str) -> ast.expr | None:
    """Return what a Python file assigns to a name at its top level, read as text: the file is not run.

    ``None`` if no line begins with the name and an equals sign.
    """
    return _assigned(path, name, path.stat().st_mtime_ns)


@functools.cache
def _assigned(path: Path, name: str, _changed: int) -> ast.expr | None:
    """The same, read once for each change of the file: a list of the catalog asks for a task once per subject."""
    text = "\n" + path.read_text(encoding="utf-8")
    start = text.find(f"\n{name} = ") + 1
    if not start:
        return None
    # parsing a whole file takes ten times as long; a statement lasts while lines are indented or close a bracket
    lines = text[start:].splitlines()
    last = 1
    while last < len(lines) and lines[last][:1] in (" ", ")", "]", "}"):
        last += 1
    (statement,) = ast.parse("\n".join(lines[:last])).body
    return cast(ast.Assign, statement).value


def assigned_text(path: Path, value: ast.expr | None) -> str | None:
    """Return a text in a Python file: a literal, a name that the file assigns one to, or an f-string of these.

    ``None`` for anything else: only the file's code can tell.
    """
    match value:
        case ast.Constant(value=str(text)):
            return text
        case ast.Name(id=name):
            return assigned_text(path, assigned(path, name))
        case ast.FormattedValue(value=inner, conversion=-1, format_spec=None):
            return assigned_text(path, inner)
        case ast.JoinedStr(values=parts):
            texts = [assigned_text(path, part) for part in parts]
            return None if None in texts else "".join(text for text in texts if text is not None)
    return None


def code_sha256(name: str) -> str:
    """Return the sha256 of a file by path, or, for a folder, that of the names and contents of its ``.py`` files.

    Errors: :class:`SpecError` for a file that is not there.
    """
    path = _file(name)
    if path.name != "__init__.py":
        return _sha256(path.read_bytes())
    files = sorted(path.parent.rglob("*.py"))
    lines = [f"{file.relative_to(path.parent).as_posix()} {_sha256(file.read_bytes())}\n" for file in files]
    return _sha256("".join(lines).encode())


def load_file(name: str) -> ModuleType:
    """Run the file that a path names and return its module; the same content is run once per process.

    Errors: :class:`SpecError` with file and line for a file that is not there or cannot be run.
    """
    path = _file(name)
    key = _sha256(f"{path} {code_sha256(name)}".encode())[:16]
    stem = path.parent.name if path.name == "__init__.py" else path.stem
    module_name = f"{_PREFIX}{re.sub(r'[^0-9A-Za-z_]', '_', stem)}_{key}"
    if module_name not in _LOADED:
        _LOADED[module_name] = _run_file(path, module_name)
    return _LOADED[module_name]


def line_in_file(error: BaseException) -> Place | None:
    """Return the last line of a file by path that an error passed through; ``None`` if it passed through none."""
    files = {module.__file__ for module in _LOADED.values()}
    folders = tuple(f"{Path(file).parent}{os.sep}" for file in files if file and file.endswith("__init__.py"))
    return _last_line(error, lambda file: file in files or file.startswith(folders))


def _file(name: str) -> Path:
    """Return the absolute path of the file to run."""
    path = Path(name).expanduser().resolve()
    file = path / "__init__.py" if path.is_dir() else path
    if not file.is_file():
        what = "this folder has no __init__.py" if path.is_dir() else "there is no such file"
        raise SpecError(what, place=Place(name), hint="check the name and the folder")
    return file


class _Loader(SourceFileLoader):
    """Compiles the file as it is now: an old ``__pycache__`` is not read, a new one is not written."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


def _run_file(path: Path, module_name: str) -> ModuleType:
    folder = [str(path.parent)] if path.name == "__init__.py" else None
    spec = ModuleSpec(module_name, _Loader(module_name, str(path)), origin=str(path), is_package=folder is not None)
    spec.has_location = True
    if folder is not None:
        spec.submodule_search_locations = folder
    module = module_from_spec(spec)
    # dataclasses and relative imports look their module up here
    sys.modules[module_name] = module
    try:
        with _located_errors(path), _no_bytecode():
            _Loader(module_name, str(path)).exec_module(module)
    except BaseException:
        for name in list(sys.modules):
            if name == module_name or name.startswith(f"{module_name}."):
                del sys.modules[name]
        raise
    return module


@contextmanager
def _no_bytecode() -> Iterator[None]:
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        yield
    finally:
        sys.dont_write_bytecode = before


@contextmanager
def _located_errors(path: Path) -> Iterator[None]:
    """Turn what goes wrong while a user's file is run into an error with its file and line."""
    try:
        yield
    except SyntaxError as error:
        text = (error.text or "").rstrip("\n")
        place = Place(error.filename or str(path), error.lineno, error.offset or None, text=text or None)
        what = f"this file is not valid Python: {error.msg}"
        raise SpecError(what, place=place, hint="correct the line") from error
    except ImportError as error:
        hint = "install it, or correct the name"
        if error.name is not None and (path.parent / f"{error.name.partition('.')[0]}.py").is_file():
            hint = "a file loaded by path does not see its neighbours: make the folder a package with an __init__.py"
            hint += f" and write: from . import {error.name}"
        raise _load_error(path, error, hint) from error
    except LexiscopeError as error:
        if error.place is not None and error.place.path is not None:
            raise
        place = _error_place(path, error)
        raise type(error)(error.what, code=error.code, place=place, why=error.why, hint=error.hint) from error
    except (Exception, SystemExit) as error:
        # the file is the user's: whatever it raises is told with its line
        raise _load_error(path, error, "correct the line") from error


def _load_error(path: Path, error: BaseException, hint: str) -> SpecError:
    said = f": {error}" if str(error) else ""
    what = f"this file could not be loaded: {type(error).__name__}{said}"
    return SpecError(what, place=_error_place(path, error), hint=hint)


def _error_place(path: Path, error: BaseException) -> Place:
    """Return the last line of the file, or of its folder, that an error passed through."""
    folder = (f"{path.parent}{os.sep}",) if path.name == "__init__.py" else ()
    return _last_line(error, lambda file: file == str(path) or file.startswith(folder)) or Place(str(path))


def _last_line(error: BaseException, is_ours: Callable[[str], bool]) -> Place | None:
    """Return the last line that an error passed through, of the files that are asked for."""
    # only an error needs it: the help of a command does not wait for it
    import traceback

    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if is_ours(frame.filename)]
    return Place(frames[-1].filename, frames[-1].lineno, text=frames[-1].line or None) if frames else None


def sha256_of(path: Path) -> str:
    """Return the sha256 of a file as hexadecimal text."""
    import hashlib

    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _sha256(content: bytes) -> str:
    # only a file by path needs it: it loads a library of ciphers
    import hashlib

    return hashlib.sha256(content).hexdigest()


# -- A file that the user names -------------------------------------------------------------------------------------


def existing_file(path: Path | str) -> Path:
    """Return the path of a file that is there and not empty.

    Errors: :class:`InputError` E001 (there is no such file, or it is a folder), E002 (it is empty).
    """
    path, place = Path(path), Place(str(path))
    if not path.exists():
        raise InputError("there is no such file", code="E001", place=place, hint="check the name and the folder")
    if path.is_dir():
        raise InputError("this is a folder, not a file", code="E001", place=place, hint="name a file in it")
    if not path.stat().st_size:
        hint = "write a header and at least one row, or name another file"
        raise InputError("the file is empty", code="E002", place=place, hint=hint)
    return path
