"""A table as files: JSON that is read back, LaTeX, and a Word document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from io import BytesIO
from typing import Any
from xml.sax.saxutils import escape as escape_xml
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from lexiscope.core.errors import InputError
from lexiscope.core.result import AtMost
from lexiscope.report.tables import Cell, Column, Format, IntervalCell, Layout, Missing, Noted, Printed, Table, layout


def table_to_json(table: Table) -> dict[str, Any]:
    """Return a table as JSON values, nothing lost."""
    return {
        "name": table.name,
        "number": table.number,
        "title": table.title,
        "columns": [asdict(column) for column in table.columns],
        "rows": [[_cell_to_json(cell) for cell in row] for row in table.rows],
        "notes": list(table.notes),
        **({"people": table.people} if table.people else {}),
    }


def table_from_json(content: Mapping[str, Any]) -> Table:
    """Read a table back from :func:`table_to_json`."""
    columns = tuple(Column(**{**column, "format": Format(**column["format"])}) for column in content["columns"])
    rows = tuple(tuple(_cell_from_json(cell) for cell in row) for row in content["rows"])
    notes, people = tuple(content["notes"]), content.get("people", "")
    return Table(content["name"], content["number"], content["title"], columns, rows, notes, people)


def _cell_to_json(cell: Cell) -> object:
    if isinstance(cell, Missing):
        return {"missing": cell.reason}
    if isinstance(cell, Noted):
        return {"text": cell.text, "note": cell.note}
    if isinstance(cell, AtMost):
        return {"at_most": float(cell)}
    if isinstance(cell, IntervalCell):
        return {"low": cell.low, "high": cell.high, "value": cell.value}
    return cell


def _cell_from_json(cell: object) -> Cell:
    match cell:
        case {"missing": str(reason)}:
            return Missing(reason)
        case {"text": str(text), "note": str(note)}:
            return Noted(text, note)
        case {"at_most": float(p)}:
            return AtMost(p)
        case {"low": float(low), "high": float(high), "value": float() | None as value}:
            return IntervalCell(low, high, value)
        case None | str() | bool() | int() | float():
            return cell
    raise InputError(f"a stored table cell cannot be {cell!r}")


# -- tables in LaTeX, with the rules of the booktabs package --------------------------------------------------------


_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': "''", "\n": " ", "\u00a0": "~", "\u202f": r"\,", "—": "---", "–": "--", "…": r"\dots{}",
    "²": r"\textsuperscript{2}", "³": r"\textsuperscript{3}",
}  # fmt: skip
_SYMBOLS = {
    "−": "-", "×": r"\times", "·": r"\cdot", "±": r"\pm", "≤": r"\leq", "≥": r"\geq", "≈": r"\approx",
    "→": r"\rightarrow", "∞": r"\infty", "α": r"\alpha", "β": r"\beta", "γ": r"\gamma", "δ": r"\delta",
    "ε": r"\varepsilon", "η": r"\eta", "θ": r"\theta", "κ": r"\kappa", "λ": r"\lambda", "μ": r"\mu", "π": r"\pi",
    "ρ": r"\rho", "σ": r"\sigma", "τ": r"\tau", "φ": r"\varphi", "χ": r"\chi", "ω": r"\omega", "Δ": r"\Delta",
    "Σ": r"\Sigma",
}  # fmt: skip
_ESCAPES = str.maketrans(_SPECIAL | {sign: rf"\ensuremath{{{name}}}" for sign, name in _SYMBOLS.items()})


def escape(text: str) -> str:
    r"""Return *text* so that LaTeX prints it unchanged; letters of any alphabet stay themselves (UTF-8).

    >>> print(escape("señal_1 & R² > 50 %"))
    señal\_1 \& R\textsuperscript{2} \textgreater{} 50 \%
    """
    return text.translate(_ESCAPES)


def to_latex(table: Table) -> str:
    r"""Return the table as a floating ``table`` with caption, label ``tab:<name>``, booktabs rules, notes below.

    The document needs ``\usepackage{booktabs}`` and, before 2018, ``\usepackage[utf8]{inputenc}``.
    """
    laid = layout(table)
    align = "".join("r" if column.right else "l" for column in table.columns)
    notes = [rf"\textsuperscript{{{letter}}} {escape(text)}" for letter, text in laid.lettered]
    notes += [escape(note) for note in laid.notes]
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}[tbp]",
        r"\centering",
        rf"\caption{{{escape(table.title)}}}",
        rf"\label{{tab:{table.name}}}",
        rf"\begin{{tabular}}{{{align}}}",
        r"\toprule",
        _line(laid.headers),
        r"\midrule",
        *(_line(row) for row in laid.rows),
        r"\bottomrule",
        r"\end{tabular}",
        *(rf"\par\smallskip{{\footnotesize {note}\par}}" for note in notes),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _line(cells: tuple[Printed, ...]) -> str:
    marks = [rf"\textsuperscript{{{cell.mark}}}" if cell.mark else "" for cell in cells]
    # braces keep a leading bracket from being read as the optional argument of the row end before it
    return " & ".join(f"{{{escape(cell.text)}}}{mark}" for cell, mark in zip(cells, marks, strict=True)) + r" \\"


# -- tables as Word documents: the parts of Office Open XML that a table needs, with APA's three rules ----------------


_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_MAIN_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
_CONTENT_TYPES = (
    f'<Types xmlns="{_PACKAGE}/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    f'<Override PartName="/word/document.xml" ContentType="{_MAIN_TYPE}"/>'
    "</Types>"
)
_RELATIONS = (
    f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1" Target="word/document.xml" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"/></Relationships>'
)
_DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'


def to_docx(table: Table) -> bytes:
    """Return the table as a Word document: caption, horizontal rules only, notes; identical files each time."""
    laid = layout(table)
    number = f"Table {table.number}. " if table.number else ""
    notes = [f"{letter} {text}" for letter, text in laid.lettered] + list(laid.notes)
    body = _paragraph(f"{number}{table.title}", bold=True) + _word_table(table, laid)
    body += "".join(_paragraph(note, size=18) for note in notes) + "<w:sectPr/>"
    parts = {
        "[Content_Types].xml": _CONTENT_TYPES,
        "_rels/.rels": _RELATIONS,
        "word/document.xml": f'<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>',
    }
    buffer = BytesIO()
    with ZipFile(buffer, "w") as package:
        for name, text in parts.items():
            # a fixed date: a table is the same bytes whenever it is written
            entry = ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = ZIP_DEFLATED
            package.writestr(entry, f"{_DECLARATION}{text}")
    return buffer.getvalue()


def _word_table(table: Table, laid: Layout) -> str:
    rows = [laid.headers, *laid.rows]
    texts = []
    for index, row in enumerate(rows):
        top = '<w:top w:val="single" w:sz="8"/>' if index == 0 else ""
        bottom = '<w:bottom w:val="single" w:sz="6"/>' if index in (0, len(rows) - 1) else ""
        border = f"<w:tcPr><w:tcBorders>{top}{bottom}</w:tcBorders></w:tcPr>"
        cells = (
            f"<w:tc>{border}{_paragraph(cell.text, mark=cell.mark, right=column.right)}</w:tc>"
            for cell, column in zip(row, table.columns, strict=True)
        )
        texts.append(f"<w:tr>{''.join(cells)}</w:tr>")
    grid = "<w:gridCol/>" * len(table.columns)
    return f"<w:tbl><w:tblPr/><w:tblGrid>{grid}</w:tblGrid>{''.join(texts)}</w:tbl>"


def _paragraph(text: str, *, mark: str = "", bold: bool = False, right: bool = False, size: int = 20) -> str:
    align = '<w:pPr><w:jc w:val="right"/></w:pPr>' if right else ""
    look = f'<w:rPr>{"<w:b/>" if bold else ""}<w:sz w:val="{size}"/></w:rPr>'
    run = f'<w:r>{look}<w:t xml:space="preserve">{escape_xml(text)}</w:t></w:r>'
    raised = (
        f'<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>{escape_xml(mark)}</w:t></w:r>' if mark else ""
    )
    return f"<w:p>{align}{run}{raised}</w:p>"
