"""LaTeX tables: what LaTeX would read as a command is escaped, booktabs rules are in place."""

from __future__ import annotations

import pytest

from lexiscope.report.page.stored import escape, to_latex
from lexiscope.report.tables import Table


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        (r"\input{/etc/passwd}", r"\textbackslash{}input\{/etc/passwd\}"),
        ("50 % & more_of #1", r"50 \% \& more\_of \#1"),
        ("a^b~c $x$", r"a\textasciicircum{}b\textasciitilde{}c \$x\$"),
        ("−.60 — ρ", r"\ensuremath{-}.60 --- \ensuremath{\rho}"),
        ("señal, compás, ¿qué?", "señal, compás, ¿qué?"),
        ("< .001", r"\textless{} .001"),
    ],
)
def test_text_is_escaped(text: str, escaped: str) -> None:
    """Special characters print as themselves; Spanish letters stay UTF-8."""
    assert escape(text) == escaped


def test_the_table_is_a_booktabs_table(table: Table) -> None:
    """Caption, label, one alignment letter per column, three rules, a row per line, notes below."""
    text = to_latex(table)
    for part in (r"\caption{Agreement with people}", r"\label{tab:models}", r"\begin{tabular}{lrrl}"):
        assert part in text
    assert [text.count(rule) for rule in (r"\toprule", r"\midrule", r"\bottomrule")] == [1, 1, 1]
    assert text.count(r" \\") == 1 + len(table.rows)
    assert r"\textsuperscript{b} own rating included" in text


def test_braces_and_environments_balance(table: Table) -> None:
    """Every brace that opens closes again, escaped ones aside; every environment ends."""
    text = to_latex(table).replace(r"\{", "").replace(r"\}", "")
    assert text.count("{") == text.count("}")
    assert text.count(r"\begin") == text.count(r"\end{")
