"""Run a page of the docs from top to bottom, as a reader would: write its files, run its Python, give its commands.

``python docs/run_page.py docs/people/index.md`` prints what each command prints; with ``--write`` the outputs that the
page shows are replaced, except those in which a line ``…`` stands for what is omitted. The tests use :func:`run_page`.

Blocks: ``python`` is run; ``python NAME.py`` and ``csv NAME.csv`` are files; ``yaml NAME.yaml`` are settings that are
merged into that file; ``console`` are commands, and a ``text`` block after one is its output.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

BLOCK = re.compile(r"^```(?P<language>\w+)(?: (?P<name>[\w./-]+))?\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
OMITTED = "…"
#: commands that serve until they are stopped
SERVING = (("annotate", "serve"), ("annotate", "preview"))
SECONDS_SILENT, SECONDS_SERVED, SECONDS = 4, 60, 600
INTERRUPTED = 130
#: what a reader puts in: a command with one of these is shown, not run
PLACEHOLDER = re.compile(r"\b(?:FOLDER|MODEL|URL|NAME)\b")


@dataclass(frozen=True, slots=True)
class Command:
    """A command of a page, how it ended, what it printed, and the output that the page shows, with its place."""

    words: tuple[str, ...]
    status: int
    printed: str
    shown: str = ""
    begin: int = 0
    end: int = 0


def run_page(text: str, folder: Path, environment: Mapping[str, str]) -> Iterator[Command]:
    """Run the blocks of a page in a folder, in order, and yield its ``lexiscope`` commands.

    Errors: :class:`subprocess.CalledProcessError` if a Python block fails.
    """
    blocks = list(BLOCK.finditer(text))
    for block, after in zip(blocks, [*blocks[1:], None], strict=True):
        language, name, code = block["language"], block["name"], block["text"]
        if name and language == "yaml":
            _merge(folder / name, code)
        elif name:
            (folder / name).write_text(code, encoding="utf-8")
        elif language == "python":
            subprocess.run([sys.executable, "-c", code], cwd=folder, env=dict(environment), check=True)
        elif language == "console":
            lines = code.replace("\\\n", " ").splitlines()
            commands = [words for line in lines if (words := _words(line))]
            for place, words in enumerate(commands):
                shows = place == len(commands) - 1 and after is not None and _is_output(text, block, after)
                output = after if shows else None
                status, printed = _run(words, folder, environment)
                at = (output["text"], output.start("text"), output.end("text")) if output else ("", 0, 0)
                yield Command(tuple(words), status, printed, *at)


def extras_of(text: str) -> tuple[str, ...]:
    """Return the extras that a page names under its heading, or in its line of installation.

    >>> extras_of("# Page\\n\\nExtras: `train`, `annotate`. More.\\n"), extras_of('$ pip install ".[demo]"')
    (('train', 'annotate'), ('demo',))
    """
    line = re.search(r"^Extras?: ((?:`\w+`(?:, )?)+)", text, re.MULTILINE)
    installed = re.findall(r'^\$ pip install "\.\[([\w,]+)\]"', text, re.MULTILINE)
    return tuple(re.findall(r"`(\w+)`", line[1])) if line else tuple(installed[0].split(",")) if installed else ()


def _words(line: str) -> list[str]:
    words = shlex.split(line.removeprefix("$ "), comments=True)
    return words[1:] if words[:1] == ["lexiscope"] and not PLACEHOLDER.search(line) else []


def _is_output(text: str, block: re.Match[str], after: re.Match[str]) -> bool:
    return after["language"] == "text" and not after["name"] and not text[block.end() : after.start()].strip()


def _run(words: list[str], folder: Path, environment: Mapping[str, str]) -> tuple[int, str]:
    command = [sys.executable, "-m", "lexiscope", *words]
    serves = tuple(words[:2]) in SERVING
    with tempfile.TemporaryFile("w+", encoding="utf-8") as printed:
        told = {**environment, "PYTHONUNBUFFERED": "1"}
        process = subprocess.Popen(command, cwd=folder, env=told, stdout=printed, stderr=subprocess.STDOUT)
        if serves:
            _end_when_silent(process, printed.fileno())
        try:
            status = process.wait(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            status = process.wait()
        printed.seek(0)
        return (0 if serves and status == INTERRUPTED else status), printed.read()


def _end_when_silent(process: subprocess.Popen[bytes], printed: int) -> None:
    """Interrupt a server when it has printed something and then nothing for some seconds; it serves until then."""
    begun, size, changed = time.monotonic(), 0, time.monotonic()
    while process.poll() is None:
        now = time.monotonic()
        if os.fstat(printed).st_size > size:
            size, changed = os.fstat(printed).st_size, now
        if (size and now - changed > SECONDS_SILENT) or now - begun > SECONDS_SERVED:
            process.send_signal(signal.SIGINT)
            return
        time.sleep(0.1)


def _merge(path: Path, settings: str) -> None:
    yaml = YAML()
    known = yaml.load(path.read_text(encoding="utf-8")) if path.is_file() else {}
    with path.open("w", encoding="utf-8") as file:
        yaml.dump(_merged(known, YAML(typ="safe").load(settings)), file)


def _merged(known: Any, added: Mapping[str, Any]) -> Any:
    for key, value in added.items():
        known[key] = _merged(known[key], value) if isinstance(value, dict) and key in known else value
    return known


def main(page: Path, *, write: bool) -> int:
    """Run a page in an empty folder and show or replace the outputs. Returns the number of commands that failed."""
    text, failed = page.read_text(encoding="utf-8"), 0
    edits: list[tuple[int, int, str]] = []
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "COLUMNS": "80", "OMP_NUM_THREADS": "1"}
        for command in run_page(text, Path(folder), environment):
            failed += command.status != 0
            sys.stdout.write(f"$ lexiscope {shlex.join(command.words)}\n{command.printed}\n")
            if command.shown and OMITTED not in command.shown.splitlines():
                edits.append(
                    (command.begin, command.end, "\n".join(map(str.rstrip, command.printed.splitlines())) + "\n")
                )
    for begin, end, printed in reversed(edits) if write else ():
        text = text[:begin] + printed + text[end:]
    if write:
        page.write_text(text, encoding="utf-8")
    return failed


if __name__ == "__main__":
    sys.exit(sum(main(Path(name), write="--write" in sys.argv) for name in sys.argv[1:] if name != "--write"))
