"""Templates are data: the eight suites, a user's own relations and languages, errors at their line."""

from __future__ import annotations

from pathlib import Path

import pytest

from lexiscope.core.errors import InputError, SpecError
from lexiscope.items.choice_sets.surface import Placed
from lexiscope.items.choice_sets.templates import (
    CHOICES,
    Template,
    choose_templates,
    read_templates,
    synonymy_templates,
)

OWN = """\
language: es
templates:
  - name: opuesto
    suite: relation
    expression: es lo contrario de
    pattern: "{context} {Target} es lo contrario de {word}."
  - name: suelto
    suite: relation_no_context
    expression: es lo contrario de
    pattern: "{Target} es lo contrario de {word}."
    conditions: [controlled]
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "templates.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_eight_suites() -> None:
    """T7–T9 and T11–T15 with the suites, expressions and conditions of the study."""
    found = {each.name: each for each in synonymy_templates()}
    assert list(found) == ["T7", "T8", "T9", "T11", "T12", "T13", "T14", "T15"]
    expressions = ["is a synonym of", "means", "is the same as"]
    assert [found[name].expression for name in ("T7", "T8", "T9")] == expressions
    assert [found[name].expression for name in ("T11", "T14", "T15")] == expressions
    in_context = {name for name, each in found.items() if "{context}" in each.pattern or each.substitutes}
    assert [name for name in found if name not in in_context] == ["T7", "T8", "T9"]
    assert [name for name, each in found.items() if each.truncated] == ["T13"]
    assert found["T12"].substitutes
    assert all(each.conditions == (CHOICES[:2] if name in in_context else CHOICES[2:]) for name, each in found.items())


def test_other_relations_and_languages(tmp_path: Path) -> None:
    """A file of one's own needs no code."""
    with_context, alone = read_templates(written(tmp_path, OWN))
    assert (with_context.language, alone.language) == ("es", "es")
    assert with_context.key == "relation/es_lo_contrario_de"
    assert with_context.conditions == ("controlled", "random")
    assert alone.conditions == ("controlled",)
    filled = alone.fill({"Target": "Noche"}, Placed("día", 0, 3))
    assert filled == Placed("Noche es lo contrario de día.", 25, 28)


@pytest.mark.parametrize(
    ("old", "new", "line", "code", "what"),
    [
        ('{word}."\n  - name: suelto', '{wrod}."\n  - name: suelto', 6, "E612", r"did you mean \{word\}"),
        (
            "es lo contrario de {word}.",
            "es lo contrario.",
            6,
            "E612",
            r"needs \{word\}, \{Word\} or \{substituted\}, once",
        ),
        ("{context} {Target}", "{substituted} {Target}", 6, "E612", "once"),
        ("{context} {Target}", "{context {Target}", 6, "E612", "no slot|brace"),
        ("{context} {Target}", "{determiner} {Target}", 6, "E612", "needs its forms"),
        ("suite: relation\n", "suite: Relation 1\n", 4, "E612", "names no suite"),
        ("    suite: relation\n", "", 3, "E613", "'suite' is missing"),
        (
            'expression: es lo contrario de\n    pattern: "{context}',
            'expresion: x\n    pattern: "{context}',
            5,
            "E611",
            "did you mean 'expression'",
        ),
        ("suite: relation\n", "suite: relation\n    turned: '{Word} no es'\n", 5, "E612", "exchanges target and word"),
        ("suite: relation\n", "suite: relation\n    turned: '{target} es {wrd}'\n", 5, "E612", r"mean \{word\}"),
        ("[controlled]", "[controled]", 11, "E612", "conditions are missing or unknown: controled"),
        ("[controlled]", "controlled", 11, "E612", "is a list"),
        ("name: suelto", "name: 7", 7, "E612", "quotation marks"),
        ("name: suelto", "name: opuesto", 7, "E440", "two templates"),
        ("suite: relation_no_context", "suite: relation", 7, "E440", "same ids"),
        ("language: es\n", "langage: es\n", 1, "E611", "did you mean 'language'"),
    ],
)
def test_faults_name_their_line(tmp_path: Path, old: str, new: str, line: int, code: str, what: str) -> None:
    """Every fault names file, line and code, and says what to do."""
    assert old in OWN
    path = written(tmp_path, OWN.replace(old, new, 1))
    with pytest.raises(InputError, match=rf"templates\.yaml:{line}:(?s:.*)\[{code}\](?s:.*)({what})"):
        read_templates(path)


def test_a_file_without_templates(tmp_path: Path) -> None:
    """An empty list is no set of templates."""
    with pytest.raises(InputError, match="E612"):
        read_templates(written(tmp_path, "templates: []\n"))
    with pytest.raises(InputError, match="'templates' is missing"):
        read_templates(written(tmp_path, "language: en\n"))


def test_the_constructor_checks_too() -> None:
    """A template that is made in Python follows the same rules."""
    with pytest.raises(SpecError, match="once"):
        Template("x", "relation", "{Target} means nothing.")


def test_choosing() -> None:
    """By suite, by template, by key; an unknown name is refused with the nearest one."""
    templates = synonymy_templates()
    assert [each.name for each in choose_templates(templates, ["relation"])] == ["T11", "T14", "T15"]
    assert [each.name for each in choose_templates(templates, ["T13", "relation/means"])] == ["T13", "T14"]
    assert choose_templates(templates, None) == templates
    with pytest.raises(SpecError, match="did you mean 'relation'"):
        choose_templates(templates, ["relations"])
