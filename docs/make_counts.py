"""Write the table of the five papers into README.md and docs/papers/index.md: printed values and claims are counted.

``make docs-tables`` runs this; a test fails while a table is out of date. A row of the study's ``printed.csv`` is a
result or a setting (planned by the authors, or stated about a model by others). A result can be computed unless its row
gives a reason why not. A claim is a row of ``claims.csv``.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STUDIES = ROOT / "src" / "lexiscope" / "studies"
BEGIN, END = "<!-- papers: written by docs/make_counts.py -->\n", "<!-- end of papers -->\n"
#: statistics that no study computes: what was planned, and facts about models
SETTINGS = ("setting(", "model_property(")
#: study -> its paper, its page, its command
PAPERS = {
    "saw_c": (
        "Rivière, Beatty-Martínez & Trott 2025 (SAW-C) and Trott & Bergen 2021 (RAW-C)",
        "saw-c",
        "lexiscope study saw_c --out saw_c_run",
    ),
    "context_bias": (
        "Liu, McCarthy & Korhonen 2022 (context–word bias)",
        "context-bias",
        "lexiscope study context_bias --out bias_run",
    ),
    "synonymy": (
        "Ivan, Ramisch & Nasr 2025 (synonymy)",
        "synonymy",
        "lexiscope study synonymy --out synonymy_run",
    ),
    "ambistory": (
        "Gehring & Roth 2025 (AmbiStory)",
        "ambistory",
        "lexiscope study ambistory --out ambistory_run",
    ),
    "sense_induction": (
        "Guo, Iyyer & Boyd-Graber 2018 (GASI)",
        "gasi",
        "lexiscope study sense_induction --subject gasi:FOLDER --out senses_run",
    ),
}


def counts(study: str) -> tuple[int, int, int, int]:
    """Return the printed results of a paper, those that can be computed, its printed settings, and its claims."""
    printed, claims = (_rows(STUDIES / study / name) for name in ("printed.csv", "claims.csv"))
    results = [row for row in printed if not row["statistic"].startswith(SETTINGS)]
    computable = sum(not row["unavailable"] for row in results)
    return len(results), computable, len(printed) - len(results), len(claims)


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as table:
        return list(csv.DictReader(table))


def papers_table(folder: str) -> str:
    """Return the table; *folder* leads from the page to the pages of the papers."""
    missing = {path.parent.name for path in STUDIES.glob("*/printed.csv")} - PAPERS.keys()
    if missing:
        raise SystemExit(f"PAPERS has no entry for: {', '.join(sorted(missing))}")
    lines = [
        "| paper | command | printed results | computable | printed settings | claims |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for study, (paper, page, command) in PAPERS.items():
        numbers = " | ".join(map(str, counts(study)))
        lines.append(f"| [{paper}]({folder}{page}.md) | `{command}` | {numbers} |")
    return "\n".join(lines) + "\n"


PAGES = {ROOT / "README.md": "docs/papers/", ROOT / "docs" / "papers" / "index.md": ""}


def pages() -> dict[Path, str]:
    """Return each page with its table as it must be."""
    texts = {}
    for path, folder in PAGES.items():
        table = BEGIN + papers_table(folder) + END
        pattern = re.escape(BEGIN) + r".*?" + re.escape(END)
        texts[path], replaced = re.subn(pattern, lambda _, table=table: table, path.read_text("utf-8"), flags=re.DOTALL)
        if replaced != 1:
            raise SystemExit(f"{path} has {replaced} tables between {BEGIN.strip()} and {END.strip()}; expected 1")
    return texts


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
