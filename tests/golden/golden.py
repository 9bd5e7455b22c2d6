"""Golden sums: sha256 of what the studies and the exports write, to prove that a change of structure lost nothing.

``python tests/golden/golden.py write SUMS.json`` computes the sums of the Lexiscope that is imported,
``python tests/golden/golden.py compare SUMS.json`` compares them with those of a file and names each file that differs
(exit status 1). ``make golden`` does the second with ``tests/golden/sums.json``.

A case is a command line. Its sums are those of results.json, tables, the data of figures, and the responses (as CSV:
Parquet files hold the version of their writer). Not compared are ``run.json``, ``machine.json`` and the pages, whose
words may change. Floating-point results can differ between processors in the last bits, so the file names the processor
and the libraries; on another machine, ``--base COMMIT`` computes the sums of that commit first.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

import lexiscope

HERE = Path(__file__).parent
OWN = HERE / "own"
SIMULATED = HERE.parent / "simulated" / "relatedness.py"
LIBRARIES = ("numpy", "scipy", "pyarrow", "torch", "transformers", "scikit-learn", "mixedlm", "matplotlib")
NOT_COMPARED = {"run.json", "machine.json", "report.html", "sections.json", "refit.R"}


@dataclass(frozen=True)
class Case:
    """A command line whose ``{…}`` are files of *inputs*, and whether it needs the published data."""

    name: str
    command: str
    published: bool = False


STUDY = "study {} --bootstrap 10 --quiet --out {{out}}"
CASES = (
    Case("saw_c/published", STUDY.format("saw_c"), published=True),
    Case("saw_c/raw_c", STUDY.format("saw_c --dataset raw_c"), published=True),
    Case("saw_c/embedded", STUDY.format("saw_c --dataset mini_relatedness --subject encoder:minilm")),
    Case(
        "saw_c/own",
        STUDY.format(
            "saw_c --items {own}/ratings.csv --scale 1 100 --language en --subject encoder:minilm "
            "--subject baseline:word_overlap --mixed every"
        ),
    ),
    Case("synonymy/published", STUDY.format("synonymy"), published=True),
    Case("synonymy/embedded", STUDY.format("synonymy --dataset mini_synonymy --subject baseline:random")),
    Case(
        "synonymy/own",
        STUDY.format("synonymy --items {own}/synonyms.csv --subject baseline:random --frequency {own}/counts.csv"),
    ),
    Case("ambistory/published", STUDY.format("ambistory --subject baseline:random --split all"), published=True),
    Case("ambistory/embedded", STUDY.format("ambistory --dataset mini_ambistory --subject baseline:random")),
    Case("ambistory/own", STUDY.format("ambistory --dataset mini_ambistory --subject recorded:{predictions}")),
    Case(
        "context_bias/published",
        STUDY.format("context_bias --dataset wic_tsv --dataset wic --encoder look_up --encoder words"),
        published=True,
    ),
    Case("context_bias/embedded", STUDY.format("context_bias --dataset planted_bias --encoder look_up")),
    Case(
        "context_bias/own", STUDY.format("context_bias --items {own}/same_sense.csv --encoder words --encoder minilm")
    ),
    Case(
        "sense_induction/published",
        STUDY.format("sense_induction --subject sense_embedding:ego_network:{senses} --synset= --word bank"),
        published=True,
    ),
    Case("sense_induction/embedded", STUDY.format("sense_induction --planted made_up")),
    Case(
        "sense_induction/own",
        STUDY.format(
            "sense_induction --dataset mini_relatedness --synset= --word bark "
            "--subject sense_embedding:ego_network:{senses}"
        ),
    ),
    Case("any_ratings/published", STUDY.format("any_ratings --dataset raw_c"), published=True),
    Case("any_ratings/embedded", STUDY.format("any_ratings --dataset {simulated} --subject baseline:word_overlap")),
    Case("any_ratings/ordinal", STUDY.format("any_ratings --dataset {simulated} --ordinal logit")),
    Case("any_ratings/own", STUDY.format("any_ratings --file {own}/ratings.csv --scale 1 100")),
    Case("norm/published", STUDY.format("norm --dataset raw_c --draws 20"), published=True),
    Case(
        "norm/embedded",
        STUDY.format("norm --dataset {simulated} --subject baseline:word_overlap --draws 20 --rated-items 12"),
    ),
    Case(
        "norm/own",
        STUDY.format(
            "norm --file {own}/ratings.csv --scale 1 100 --subject baseline:word_overlap --draws 20 --rated-items 12"
        ),
    ),
)


def sums_of_runs(work: Path, *, published: bool, only: str = "*") -> dict[str, dict[str, str]]:
    """Return the sums of the cases whose name fits *only*, and of the exports of the tasks that people are asked."""
    given = {**inputs(work), "simulated": SIMULATED}
    # a relative PYTHONPATH would name another folder for the commands, which would run what is installed
    environment = os.environ | {"PYTHONPATH": str(Path(lexiscope.__file__).parents[1])}
    found: dict[str, dict[str, str]] = {}
    for case in CASES:
        if (case.published and not published) or not fnmatch(case.name, only):
            continue
        out = work / case.name.replace("/", "_")
        words = [word.format(out=out, own=OWN, **given) for word in case.command.split()]
        started = time.monotonic()
        command = [sys.executable, "-m", "lexiscope", *words]
        subprocess.run(command, check=True, cwd=work, env=environment, stdout=subprocess.DEVNULL)
        sys.stderr.write(f"{case.name}: {time.monotonic() - started:.0f} s\n")
        found[case.name] = sums_of_folder(
            out,
            {
                str(work): "WORK",
                str(work).replace("_", r"\_"): "WORK",
                str(OWN): "OWN",
                str(SIMULATED): "SIMULATED",
            },
        )
    return found | (exports(work) if fnmatch("export/", only) else {})


def inputs(work: Path) -> Mapping[str, Path]:
    """Write what the cases read besides the files of ``own``: predictions and sense vectors, made by rule."""
    from lexiscope.core.response import ResponseTable
    from lexiscope.datasets import mini_ambistory, mini_relatedness

    dice = np.random.default_rng(11)
    stories = [item.item_id for item in mini_ambistory.load().items]
    columns = {"subject_id": "my_model", "subject_kind": "model", "task": "plausibility", "measure": "rating"}
    ratings = dice.integers(1, 6, len(stories)).astype(float)
    predictions = work / "predictions.csv"
    ResponseTable.from_columns({**columns, "item_id": stories, "value": list(ratings)}).write_csv(predictions)
    texts = [usage.text for item in mini_relatedness.load("en").items for usage in item.usages]
    words = sorted({word for text in texts for word in text.lower().split()} | {"bank", "king", "queen", "money"})
    rows = [f"{word}#{sense}" for word in words for sense in (0, 1)]
    vectors = dice.normal(size=(len(rows), 8)).round(4)
    lines = [" ".join((name, *map(str, row))) for name, row in zip(rows, vectors.tolist(), strict=True)]
    senses = work / "senses.txt"
    senses.write_text("\n".join((f"{len(rows)} 8", *lines)) + "\n", encoding="utf-8")
    shares = "".join(f"{name}\t{0.7 if name.endswith('0') else 0.3}\n" for name in rows)
    (work / "senses.txt.inventory.csv").write_text(shares, encoding="utf-8")
    return {"predictions": predictions, "senses": senses}


def exports(work: Path) -> dict[str, dict[str, str]]:
    """Return the sums of the exports of a rehearsal of every task that people are asked."""
    sys.path.insert(0, str(HERE.parents[1]))
    from tests.annotation.rehearsal.test_simulated_stay_marked import rehearsed
    from tests.annotation.rehearsal.test_through_server import ASKED

    # by a relative path: a study's definition names the files that it was given
    with contextlib.chdir(work):
        folder = Path("exports")
        folder.mkdir()
        return {f"export/{task}": sums_of_folder(rehearsed(task, folder), {}, every=True) for task in ASKED}


def sums_of_folder(folder: Path, names: Mapping[str, str], *, every: bool = False) -> dict[str, str]:
    """Return the sha256 of the files of a run (of an export: *every*), with its own places replaced by *names*."""
    found = {}
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if path.is_dir() or path.name in NOT_COMPARED or inside.parts[0] in ("collected", "asked"):
            continue
        if path.suffix == ".parquet":
            found[f"{inside} as CSV"] = _sha256(_as_csv(path), names)
        elif every or path.suffix in (".csv", ".tex", ".json", ".jsonl"):
            found[str(inside)] = _sha256(path.read_bytes(), names)
    return found


def _as_csv(path: Path) -> bytes:
    import pyarrow.csv
    import pyarrow.parquet

    stream = io.BytesIO()
    pyarrow.csv.write_csv(pyarrow.parquet.read_table(path), stream)
    return stream.getvalue()


def _sha256(content: bytes, names: Mapping[str, str]) -> str:
    for place, name in names.items():
        content = content.replace(place.encode(), name.encode())
    return hashlib.sha256(content).hexdigest()


def machine() -> dict[str, str]:
    """Return what the last bits of floating-point results depend on: the processor and the versions of libraries."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        processor = next(
            line.partition(":")[2].strip() for line in lines if line.startswith(("model name", "CPU part"))
        )
    except (OSError, StopIteration):
        processor = platform.processor()
    found = {"processor": processor, "python": ".".join(platform.python_version_tuple()[:2])}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = ""
    return found


def differences(before: Mapping[str, Mapping[str, str]], after: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return a line for each file that differs, is new or is gone, and for each case that only one side has run."""
    lines = []
    for case in dict.fromkeys((*before, *after)):
        if case not in before or case not in after:
            lines.append(f"{case}: {'not in the file of sums' if case not in before else 'not run'}")
            continue
        old, new = before[case], after[case]
        for name in sorted({*old, *new}):
            if old.get(name) != new.get(name):
                state = "new" if name not in old else "gone" if name not in new else "differs"
                lines.append(f"{case}: {name}: {state}")
    return lines


def main() -> int:
    """Write or compare the sums."""
    reader = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    reader.add_argument("what", choices=("write", "compare"))
    reader.add_argument("file", type=Path)
    reader.add_argument("--base", metavar="COMMIT", help="Compare with the sums of this commit, computed here.")
    reader.add_argument("--only", metavar="PATTERN", default="*", help="Only these cases: saw_c/*, */own, export/*.")
    asked = reader.parse_args()
    published = bool(os.environ.get("LEXISCOPE_DATA"))
    if asked.what == "compare" and not asked.base and not asked.file.exists():
        reader.error(f"{asked.file} is missing: record it with `make golden-sums`, or use make golden BASE=COMMIT")
    with tempfile.TemporaryDirectory() as folder:
        now = {"machine": machine(), "sums": sums_of_runs(Path(folder), published=published, only=asked.only)}
    if asked.what == "write":
        if asked.only != "*" and asked.file.exists():
            # the sums of the other cases stay as they are
            now["sums"] = json.loads(asked.file.read_text(encoding="utf-8"))["sums"] | now["sums"]
        asked.file.write_text(json.dumps(now, indent=1) + "\n", encoding="utf-8")
        return 0
    recorded = asked.file.read_text(encoding="utf-8") if not asked.base else ""
    before = sums_of_commit(asked.base, asked.only) if asked.base else json.loads(recorded)
    if before["machine"] != now["machine"]:
        other = {key: (value, now["machine"].get(key)) for key, value in before["machine"].items()}
        unequal = "; ".join(f"{key} {old}, here {new}" for key, (old, new) in other.items() if old != new)
        sys.stdout.write(f"The sums are of another machine ({unequal}): if files differ, use --base COMMIT\n")
    whole = published and asked.only == "*"
    sums = before["sums"] if whole else {name: s for name, s in before["sums"].items() if name in now["sums"]}
    lines = differences(sums, now["sums"])
    equal = f"{sum(map(len, now['sums'].values()))} files of {len(now['sums'])} cases are the same"
    sys.stdout.write(("\n".join(lines) or equal) + "\n")
    return 1 if lines else 0


def sums_of_commit(commit: str, only: str = "*") -> dict[str, dict[str, dict[str, str]]]:
    """Compute the sums of a commit in a work tree of its own, with its own cases."""
    with tempfile.TemporaryDirectory() as folder:
        tree, file = Path(folder) / "tree", Path(folder) / "sums.json"
        git = ["git", "-C", str(HERE)]
        subprocess.run([*git, "worktree", "add", "--quiet", "--detach", str(tree), commit], check=True)
        try:
            command = [sys.executable, str(tree / "tests/golden/golden.py"), "write", str(file), "--only", only]
            subprocess.run(command, check=True, env=os.environ | {"PYTHONPATH": str(tree / "src")})
            content: dict[str, dict[str, dict[str, str]]] = json.loads(file.read_text(encoding="utf-8"))
            return content
        finally:
            subprocess.run([*git, "worktree", "remove", "--force", str(tree)], check=True)


if __name__ == "__main__":
    sys.exit(main())
