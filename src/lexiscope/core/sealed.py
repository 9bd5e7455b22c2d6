"""Checksums of runs: ``run.json`` has the sha256 of every file of a run, and a seal over its own content.

Every reader of a run checks before it reads, and none writes a new checksum for a file that it found changed. The way
back is always the command that made the run: it computes from what is whole.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shlex
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lexiscope.core.errors import Place, RunError
from lexiscope.core.foreign import json_text, parse_json
from lexiscope.core.run import manifest, read_json, sha256_of, write_atomically

RUN, MACHINE, QUESTION, RESPONSES = "run.json", "machine.json", "question.json", "responses.parquet"
PARTS, WORK = "parts", "work"
SEAL = "seal"
"""The field of a sealed file that holds the sha256 of the rest of it."""

NAME = "file"
"""The field of a sealed file that says which file it is: one in the place of another is damage."""

NOTHING = "no such file"


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file of a run that is not as it was written: its name in the folder, and the sha256 of both."""

    name: str
    expected: str
    actual: str

    def __str__(self) -> str:
        return f"{self.name}: sha256 {self.actual}, expected {self.expected}"


def sealed_text(content: Mapping[str, Any]) -> str:
    """Return a JSON object as text with the sha256 of its content in the field ``seal``.

    >>> print(sealed_text({"n": 1}), end="")
    {
      "n": 1,
      "seal": "abbda3b04c3748d7b6c313556484c3cd1d49d86cb65fc1a0d9a305776031611a"
    }
    """
    # through JSON, as it will be read
    kept = {name: value for name, value in json.loads(_text(content)).items() if name != SEAL}
    return _text(kept | {SEAL: hashlib.sha256(_text(kept).encode("utf-8")).hexdigest()})


def write_sealed(path: Path, content: Mapping[str, Any]) -> None:
    """Write a JSON object with its file's name and its seal, whole or not at all."""
    write_atomically(path, sealed_text({**content, NAME: path.name}))


def without_seal(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of a sealed file without what :func:`write_sealed` added."""
    return {name: value for name, value in content.items() if name not in (SEAL, NAME)}


def read_sealed(path: Path, *, hint: str = "") -> dict[str, Any]:
    """Read a JSON object that :func:`write_sealed` wrote; every byte of the file counts.

    Errors: :class:`RunError` where it is absent or damaged, or has no seal.
    """
    hint = hint or f"delete {path.name} and give the command again that made this folder: it continues"
    try:
        raw = path.read_bytes()
        content = parse_json(raw)
    except (OSError, ValueError) as error:
        what = "this file of a run cannot be read"
        raise RunError(what, place=Place(str(path)), why=str(error), hint=hint) from error
    if not isinstance(content, dict) or SEAL not in content:
        why = "it has no seal: an earlier version of Lexiscope wrote it, or it was changed"
        raise RunError("this file of a run cannot be checked", place=Place(str(path)), why=why, hint=hint)
    expected = sealed_text(content)
    if raw != expected.encode("utf-8"):
        changed = ChangedFile(path.name, content[SEAL], json.loads(expected)[SEAL])
        why = f"its content has the sha256 {changed.actual}, sealed was {changed.expected}"
        if changed.actual == changed.expected:
            why = f"its content has the sealed sha256 {changed.expected}, but its bytes are others"
        raise RunError("this file of a run is damaged", place=Place(str(path)), why=why, hint=hint)
    if content.get(NAME) != path.name:
        why = f"it was written as {content[NAME]}" if NAME in content else "it does not say which file it is"
        raise RunError("this file of a run was replaced", place=Place(str(path)), why=why, hint=hint)
    return content


def seal_run(folder: Path, record: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Write ``run.json``: *record* with the sha256 of the named files, sealed. It is the last file of a run."""
    sealed_record = {**record, "files": manifest(folder, dict.fromkeys(names))}
    write_sealed(folder / RUN, sealed_record)
    return sealed_record


def collected_names(folder: Path) -> list[str]:
    """Return the names of the files in which answers were collected, in the folder and in folders below it."""
    names: list[str] = []
    for question in sorted(folder.rglob(QUESTION)):
        home = question.parent
        parts = sorted(path for path in (home / PARTS).glob("*.*") if path.suffix in (".json", ".parquet"))
        paths = [question, *parts, *([home / RESPONSES] if (home / RESPONSES).is_file() else [])]
        names += [path.relative_to(folder).as_posix() for path in paths if not path.name.startswith(".")]
    return names


def part_seals(folder: Path) -> Iterator[tuple[Path, dict[str, Any], bool]]:
    """Yield each finished part of a run folder: the path of its seal, its content, and whether the run asks for it.

    Errors: :class:`RunError` if the question or a seal is damaged.
    """
    asked = read_sealed(folder / QUESTION)["parts"]
    for path in sorted((folder / PARTS).glob("[!.]*.json")):
        seal = read_sealed(path)
        yield path, seal, seal["key"] in asked


def run_names(folder: Path) -> list[str]:
    """Return the names of :func:`collected_names` that belong to a run: no kept answers that its question leaves out.

    Errors: :class:`RunError` if a question or a seal is damaged.
    """
    others: set[str] = set()
    for question in folder.rglob(QUESTION):
        for seal, _, is_asked in part_seals(question.parent):
            if not is_asked:
                others |= {path.relative_to(folder).as_posix() for path in (seal, seal.with_suffix(".parquet"))}
    return [name for name in collected_names(folder) if name not in others]


def possibly_paid(folder: Path) -> dict[str, int]:
    """Return how many requests to each endpoint may have been paid without a reply, as the seals of all parts say.

    In the folder and in folders below it; subjects without such a request are not in it.
    Errors: :class:`RunError` if a seal is damaged.
    """
    counts: dict[str, int] = {}
    for path in sorted(folder.rglob(f"{PARTS}/*.json")):
        if path.name.startswith("."):
            continue
        about = read_sealed(path).get("about", {})
        subject, settings = str(about.get("facts", {}).get("subject_id", "")), about.get("settings", {})
        # an account is of one part; without one the count is that of the folder so far
        if "account" in settings:
            counts[subject] = counts.get(subject, 0) + settings["account"].get("possibly_paid", 0)
        else:
            counts[subject] = max(counts.get(subject, 0), settings.get("possibly_paid", 0))
    return {subject: count for subject, count in counts.items() if count}


def working_names(folder: Path) -> list[str]:
    """Return the names of the files that hold what a run has worked out on its way."""
    paths = (path for top in sorted(folder.rglob(WORK)) if top.is_dir() for path in sorted(top.rglob("*")))
    files = (path for path in paths if path.is_file() and not path.name.startswith("."))
    return list(dict.fromkeys(path.relative_to(folder).as_posix() for path in files))


def write_machine(folder: Path, seconds: float) -> None:
    """Write ``machine.json``: where the last attempt at a run took place, how long it took, and what it worked out.

    The files of its work differ between equal runs (they hold times), so ``run.json`` does not have their checksums.
    """
    about = {
        "platform": platform.platform(),
        "processor": platform.machine(),
        "cores": os.cpu_count() or 0,
        "seconds_of_last_attempt": round(seconds, 3),
        "finished_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    write_sealed(folder / MACHINE, about | {"files": manifest(folder, working_names(folder))})


def altered_files(folder: Path, record: Mapping[str, Any]) -> list[ChangedFile]:
    """Return the files of a run that are not as its record says: changed or lost."""
    files = record.get("files")
    if not isinstance(files, dict) or not files:
        why = "its record names no files: an earlier version of Lexiscope wrote it"
        hint = _command_hint(record, "give the command again that made this folder")
        raise RunError("this run cannot be checked", place=Place(str(folder / RUN)), why=why, hint=hint)
    changed = []
    for name, expected in files.items():
        path = folder / name
        actual = sha256_of(path) if path.is_file() else NOTHING
        if actual != expected:
            changed.append(ChangedFile(name, str(expected), actual))
    return changed


def check_run(folder: Path) -> dict[str, Any]:
    """Check that a run holds what its record says, and return the record.

    Errors: :class:`RunError` naming every file that is damaged, with its sha256, and the command to rebuild it.
    """
    record = read_sealed(folder / RUN)
    changed = altered_files(folder, record)
    if changed:
        raise damage_error(folder, record, changed)
    return record


def check_file(path: Path) -> None:
    """Check a file against the record of the run that it is in, if it is in one that names it.

    Errors: :class:`RunError` where the file, or the record, is not as it was written.
    """
    record_path = path.parent / RUN
    if not record_path.is_file():
        return
    # folders of trained models, too, have a record of this name; none of them holds such a file
    record = read_json(record_path)
    if isinstance(record.get("files"), dict) and path.name in record["files"]:
        record = read_sealed(record_path)
        changed = altered_files(path.parent, {"files": {path.name: record["files"][path.name]}})
        if changed:
            raise damage_error(path.parent, record, changed)


def damage_error(folder: Path, record: Mapping[str, Any], changed: Sequence[ChangedFile]) -> RunError:
    """Return the error for files of a run that are not as they were written."""
    first = changed[0]
    count = "" if len(changed) == 1 else f" ({len(changed)} such files)"
    others = "".join(f"; {file}" for file in changed[1:])
    return RunError(
        f"this file of a run is not as it was written{count}",
        place=Place(str(folder / first.name)),
        why=f"sha256 {first.actual}, expected {first.expected}{others}",
        hint=_command_hint(record, rebuild_hint(folder, changed)),
    )


def rebuild_hint(folder: Path, changed: Sequence[ChangedFile]) -> str:
    """Return the instruction to rebuild files of a run: what to delete, if anything, then to run the command again."""
    away: list[str] = []
    for file in changed:
        path = Path(file.name)
        if path.parent.name == PARTS:
            away += [str(folder / path.with_suffix(end)) for end in (".json", ".parquet")]
        elif path.name == QUESTION:
            away += [str(folder / path), str(folder / path.parent / RESPONSES)]
        elif WORK in path.parts:
            away.append(str(folder / path))
    away = [name for name in dict.fromkeys(away) if Path(name).exists()]
    return f"delete {', '.join(away)}, then run again" if away else "run again"


def _command_hint(record: Mapping[str, Any], before: str) -> str:
    command = record.get("command")
    written = shlex.join(map(str, command)) if isinstance(command, list) else command
    return f"{before}: {written}" if written else f"{before}: the command that made this folder"


def _text(content: Mapping[str, Any]) -> str:
    return json_text(json.dumps(content, ensure_ascii=False, indent=2, sort_keys=True, allow_nan=False) + "\n")
