"""DESIGN §6, rule 12: two things that look alike become one."""

from __future__ import annotations

import ast

#: What reads delimited text elsewhere, with the reason.
OTHER_READERS = {
    "core/response.py": "responses have types of Arrow; a table has millions of rows",
    "core/run.py": "writes CSV; it reads none",
    "analysis/mixed/r_script.py": "the output of a program, in lines of several kinds",
    "resources/vectors/multi_sense/clusters.py": "an inventory may be compressed and is read line by line",
    "training/gasi/vocabulary.py": "a vocabulary may be compressed and is read line by line",
}


def test_delimited_text_is_read_in_one_place(nodes: dict[str, list[ast.AST]]) -> None:
    """Only `resources/tables` imports `csv` or Arrow's reader of CSV, or cuts lines at tabs."""
    readers = {path for path, own in nodes.items() for node in own if "csv" in _imported(node) or _cuts_at(node, "\t")}
    assert {path for path in readers if not path.startswith("resources/tables/")} == set(OTHER_READERS)


def test_options_of_a_spec_are_read_in_one_place(nodes: dict[str, list[ast.AST]]) -> None:
    """Only `core/spec.py` cuts a text at `?` and `&`: a subject, a dataset and an address have one grammar."""
    readers = {path for path, own in nodes.items() for node in own if _cuts_at(node, "?", "&")}
    assert readers == {"core/spec.py"}


#: What writes a table for a spreadsheet without a form: it is never read back.
WRITTEN_ONLY = {"items/tables/findings.py", "build/minimal_pairs/build_folder.py", "cli/build/curate.py"}


def test_a_sheet_is_a_list_of_columns(nodes: dict[str, list[ast.AST]]) -> None:
    """Sheets that people fill in are written and read by `SheetForm`, which is given their columns."""
    writers = {
        path
        for path, own in nodes.items()
        for node in own
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "write_sheet"
    }
    assert writers - WRITTEN_ONLY == {"items/sheets/form.py"}


def test_a_whole_folder_is_written_in_one_place(nodes: dict[str, list[ast.AST]]) -> None:
    """Only `core/run.py` makes a neighbour folder that is renamed when it is finished."""
    makers = {
        path
        for path, own in nodes.items()
        for node in own
        if isinstance(node, ast.Attribute) and node.attr == "mkdtemp"
    }
    # an export for download: a folder of the system, removed when it is sent
    assert makers - {"annotation/web/admin/export_pages.py"} == {"core/run.py"}


def _imported(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Import):
        return {part for alias in node.names for part in alias.name.split(".")}
    if isinstance(node, ast.ImportFrom) and not (node.module or "").startswith("lexiscope"):
        return {*(node.module or "").split("."), *(alias.name for alias in node.names)}
    return set()


def _cuts_at(node: ast.AST, *signs: str) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("split", "rsplit", "partition")
        and any(isinstance(each, ast.Constant) and each.value in signs for each in node.args)
    )
