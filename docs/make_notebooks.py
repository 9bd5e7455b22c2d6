"""Execute the notebooks of the docs and store their outputs: ``python docs/make_notebooks.py``.

The site shows the stored outputs; a test executes the notebooks again and compares their texts with them.
"""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

DOCS = Path(__file__).parent
NOTEBOOKS = tuple(sorted(DOCS.glob("*/notebook.ipynb")))


def executed(path: Path) -> nbformat.NotebookNode:
    """Return a notebook with the outputs that it has now, executed in an empty folder.

    Errors: :class:`nbclient.exceptions.CellExecutionError` if a cell fails.
    """
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": folder}}).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            # warnings of libraries name files of this machine
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    # the kernel of another machine has another version
    notebook.metadata.pop("language_info", None)
    return notebook


def texts(notebook: nbformat.NotebookNode) -> list[str]:
    """Return the outputs of a notebook as texts: HTML without its tags, printed lines, no figures."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    shown = []
    for output in outputs:
        data = output.get("data", {})
        text = output.get("text") or data.get("text/html") or data.get("text/plain") or ""
        text = re.sub(r"<svg.*?</svg>|<style.*?</style>", "", text, flags=re.DOTALL)
        shown.append(" ".join(re.sub(r"<[^>]+>", " ", text).split()))
    return shown


def main() -> None:
    """Execute every notebook and keep its outputs."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    for path in NOTEBOOKS:
        nbformat.write(executed(path), path)


if __name__ == "__main__":
    main()
