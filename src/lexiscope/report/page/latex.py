"""Tables in LaTeX, with the rules of the booktabs package."""

from __future__ import annotations

from lexiscope.report.tables import Printed, Table, layout

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "\n": " ",
    "−": r"\ensuremath{-}",
    "—": "---",
    "–": "--",
    "…": r"\dots{}",
    "×": r"\ensuremath{\times}",
    "·": r"\ensuremath{\cdot}",
    "±": r"\ensuremath{\pm}",
    "≤": r"\ensuremath{\leq}",
    "≥": r"\ensuremath{\geq}",
    "≈": r"\ensuremath{\approx}",
    "→": r"\ensuremath{\rightarrow}",
    "∞": r"\ensuremath{\infty}",
    "²": r"\textsuperscript{2}",
    "³": r"\textsuperscript{3}",
    "\u00a0": "~",
    "\u202f": r"\,",
}
_GREEK = {
    "α": "alpha",
    "β": "beta",
    "γ": "gamma",
    "δ": "delta",
    "ε": "varepsilon",
    "η": "eta",
    "θ": "theta",
    "κ": "kappa",
    "λ": "lambda",
    "μ": "mu",
    "π": "pi",
    "ρ": "rho",
    "σ": "sigma",
    "τ": "tau",
    "φ": "varphi",
    "χ": "chi",
    "ω": "omega",
    "Δ": "Delta",
    "Σ": "Sigma",
}
_ESCAPES = str.maketrans(_SPECIAL | {letter: rf"\ensuremath{{\{name}}}" for letter, name in _GREEK.items()})


def escape(text: str) -> str:
    r"""Return *text* so that LaTeX prints it as it stands; letters of any alphabet stay themselves (UTF-8).

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
    # braces keep a leading bracket from being read as the optional argument of the row end before it
    return " & ".join(f"{{{escape(cell.text)}}}{_superscript(cell.mark)}" for cell in cells) + r" \\"


def _superscript(mark: str) -> str:
    return rf"\textsuperscript{{{mark}}}" if mark else ""
