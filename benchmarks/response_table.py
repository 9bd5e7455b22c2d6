"""Responses in memory and in files: Lexiscope, pandas, DuckDB and pyarrow, CPU seconds and peak memory.

    python benchmarks/response_table.py [--rows 1000000] [--rounds 5] [--scans-only] [--folder FOLDER]

Each measurement is a process of its own, pinned to one thread, in rounds that interleave both programs. Seconds are
process CPU time of the step alone, after imports and the same step on a small file. Memory is the peak resident size
of the process over its size before the step, and *held* what it holds after it (garbage collected, pools released).
Caution: in steps on loaded rows both are lower bounds, because memory that the loading has freed is used again.
pandas reads the same file through pyarrow, once with its default types and once with pyarrow's (`dtype_backend`).
Rows are distances of 20 models at 13 layers, with an item id a pair; `--scans-only` leaves out what loads all rows.
Bare DuckDB (one thread) and bare pyarrow (a streamed scan and aggregation by Acero) read the same file.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "ARROW_IO_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402
import pyarrow as pa  # noqa: E402

from lexiscope.core.response import ResponseTable, file_writer, parts_writer  # noqa: E402

SUBJECTS, LAYERS, PIECE = 20, 13, 1_000_000
SETUP = """
import ctypes, gc, json, sys, time, threading, resource
path, small, folder = sys.argv[1:4]
import numpy as np, pyarrow as pa, pyarrow.parquet
pa.set_cpu_count(1)
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
def release():
    gc.collect()
    pa.default_memory_pool().release_unused()
    ctypes.CDLL(None).malloc_trim(0)
def peak():
    line = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024
"""
LEXISCOPE = "from lexiscope.core.response import ResponseTable\nresult = ResponseTable.read_parquet(small)\n"
PANDAS = "import pandas as pd\nresult = pd.read_parquet(small)\n"
PANDAS_ARROW = "import pandas as pd\nresult = pd.read_parquet(small, dtype_backend='pyarrow')\n"
DUCKDB = """import duckdb
def means(path):
    with duckdb.connect(config={"threads": 1}) as database:
        query = "select subject_id, layer, avg(value) as mean from read_parquet($path) group by all"
        return database.execute(query, {"path": path}).to_arrow_table()
result = means(small)
"""
ACERO = """
import pyarrow.acero, pyarrow.dataset
def means(path):
    names = ["subject_id", "layer"]
    rows = pa.acero.ScanNodeOptions(pa.dataset.dataset(path), columns=[*names, "value"])
    grouped = pa.acero.AggregateNodeOptions([("value", "hash_mean", None, "mean")], keys=names)
    steps = [("scan", rows), ("aggregate", grouped)]
    plan = pa.acero.Declaration.from_sequence([pa.acero.Declaration(*step) for step in steps])
    return plan.to_table()
result = means(small)
"""
MEASURE = """
big, many, path, folder = path, folder, small, small
exec({load!r})
result = {step}
path, folder = big, many
exec({load!r})
release()
open("/proc/self/clear_refs", "w").write("5")
before = resident()
start = time.process_time()
result = {step}
seconds = time.process_time() - start
top = peak()
release()
print(json.dumps([seconds, top - before, resident() - before, str({check})]))
"""
_LOAD = {
    "lexiscope": "table = ResponseTable.read_parquet(path)",
    "pandas": "table = pd.read_parquet(path)",
    "pandas, pyarrow types": "table = pd.read_parquet(path, dtype_backend='pyarrow')",
}
_PROGRAM = {"lexiscope": LEXISCOPE, "pandas": PANDAS, "pandas, pyarrow types": PANDAS_ARROW}
_PROGRAM |= {"duckdb": DUCKDB, "pyarrow": ACERO}
_STREAMING = ("lexiscope", "lexiscope, parts", "duckdb", "pyarrow")
_COLUMNS = "columns=['subject_id', 'layer', 'value']"
_GROUPED = "groupby(['subject_id', 'layer'], observed=True)['value'].mean()"
# step: program: (what is loaded first, the step, what is compared)
STEPS = {
    "load all columns": {
        "lexiscope": ("", "ResponseTable.read_parquet(path)", "len(result)"),
        "pandas": ("", "pd.read_parquet(path)", "len(result)"),
        "pandas, pyarrow types": ("", "pd.read_parquet(path, dtype_backend='pyarrow')", "len(result)"),
    },
    "rows of one model (loaded)": {
        "lexiscope": ("load", "table.where(subject_id='encoder:m07')", "len(result)"),
        "pandas": ("load", "table[table['subject_id'] == 'encoder:m07']", "len(result)"),
        "pandas, pyarrow types": ("load", "table[table['subject_id'] == 'encoder:m07']", "len(result)"),
    },
    "sort by item and layer (loaded)": {
        "lexiscope": ("load", "table.sorted_by('item_id', 'layer')", "result.arrow['item_id'][-1]"),
        "pandas": ("load", "table.sort_values(['item_id', 'layer'], kind='stable')", "result['item_id'].iloc[-1]"),
        "pandas, pyarrow types": (
            "load",
            "table.sort_values(['item_id', 'layer'], kind='stable')",
            "result['item_id'].iloc[-1]",
        ),
    },
    "mean by model and layer (loaded)": {
        "lexiscope": ("load", "table.group_means('subject_id', 'layer')", "round(float(result.mean.sum()), 6)"),
        "pandas": ("load", f"table.{_GROUPED}", "round(float(result.sum()), 6)"),
        "pandas, pyarrow types": ("load", f"table.{_GROUPED}", "round(float(result.sum()), 6)"),
    },
}
SCANS = {
    "mean by model and layer (from the file)": {
        "lexiscope": (
            "",
            "ResponseTable.scan(path).group_means('subject_id', 'layer')",
            "round(float(result.mean.sum()), 6)",
        ),
        "lexiscope, parts": (
            "",
            "ResponseTable.scan(folder).group_means('subject_id', 'layer')",
            "round(float(result.mean.sum()), 6)",
        ),
        "duckdb": ("", "means(path)", "round(float(sum(result['mean'].to_pylist())), 6)"),
        "pyarrow": ("", "means(path)", "round(float(sum(result['mean'].to_pylist())), 6)"),
        "pandas": ("", f"pd.read_parquet(path, {_COLUMNS}).{_GROUPED}", "round(float(result.sum()), 6)"),
        "pandas, pyarrow types": (
            "",
            f"pd.read_parquet(path, {_COLUMNS}, dtype_backend='pyarrow').{_GROUPED}",
            "round(float(result.sum()), 6)",
        ),
    },
}


def piece(start: int, n: int) -> ResponseTable:
    """Rows *start* to *start* + *n* of made-up distances."""
    number = np.arange(start, start + n)
    pair = number // LAYERS
    models = pa.array([f"encoder:m{k:02d}" for k in range(SUBJECTS)])
    # models follow each other in blocks, as they are collected
    subject = (number // 130_000) % SUBJECTS
    first = int(pair[0])
    items = pa.array([f"item-{k % 100_000:06d}" for k in range(first, int(pair[-1]) + 1)])
    return ResponseTable.from_columns(
        {
            "subject_id": pa.DictionaryArray.from_arrays(pa.array(subject, pa.int32()), models),
            "subject_kind": "encoder",
            "item_id": items.take(pa.array(pair - first)),
            "task": "relatedness",
            "measure": "cosine_distance",
            "value": np.random.default_rng(start).random(n),
            "layer": number % LAYERS,
            "view": "full",
        }
    )


def measured(program: str, load: str, step: str, check: str, places: list[str]) -> tuple[float, float, float, str]:
    """Return CPU seconds, MiB at the peak, MiB held, and what to compare, of one step in a process of its own."""
    name = program.partition(", parts")[0]
    code = SETUP + _PROGRAM[name] + MEASURE.format(load=_LOAD[name] if load else "", step=step, check=check)
    done = subprocess.run([sys.executable, "-c", code, *places], capture_output=True, text=True, check=True)
    seconds, top, held, value = json.loads(done.stdout)
    return seconds, top / 2**20, held / 2**20, value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--scans-only", action="store_true", help="measure what never holds all rows: means from files, without pandas"
    )
    parser.add_argument("--folder", type=Path, help="where to write the files (default: a temporary folder)")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=chosen.folder) as home:
        path, small, folder = (Path(home) / name for name in ("rows.parquet", "small.parquet", "parts"))
        piece(0, 100).write_parquet(small)
        with file_writer(path) as write, parts_writer(folder) as write_part:
            for start in range(0, chosen.rows, PIECE):
                rows = piece(start, min(PIECE, chosen.rows - start))
                write(rows)
                write_part(rows)
        print(f"{chosen.rows:,} rows, {path.stat().st_size / 2**20:.0f} MiB in one file")
        print("| step | program | median s | min s | peak MiB | held MiB | × lexiscope s |")
        print("|---|---|---|---|---|---|---|")
        for step, programs in (SCANS if chosen.scans_only else STEPS | SCANS).items():
            if chosen.scans_only:
                programs = {name: programs[name] for name in _STREAMING}
            places = [str(path), str(small), str(folder)]
            runs: dict[str, list[tuple[float, float, float, str]]] = {name: [] for name in programs}
            for _ in range(chosen.rounds):
                for name, (load, call, check) in programs.items():
                    runs[name].append(measured(name, load, call, check, places))
            values = {run[3] for several in runs.values() for run in several}
            assert len(values) == 1, f"{step}: the programs differ: {values}"
            ours = statistics.median(run[0] for run in runs["lexiscope"])
            for name, several in runs.items():
                seconds, top, held = (statistics.median(run[k] for run in several) for k in range(3))
                least = min(run[0] for run in several)
                print(
                    f"| {step} | {name} | {seconds:.3f} | {least:.3f} | {top:.0f} | {held:.0f} | {seconds / ours:.2f} |"
                )


if __name__ == "__main__":
    main()
