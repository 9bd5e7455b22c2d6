"""A study file reads back what was written, and a mistake in it is shown where it stands."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexiscope.core import catalog
from lexiscope.core.errors import InputError
from lexiscope.core.settings import Settings
from lexiscope.resources.tables.yaml_source import parse_yaml
from lexiscope.studies.context_bias.settings import ContextBiasSettings
from lexiscope.studies.kit.settings_file import (
    meanings,
    parse_settings,
    read_study_file,
    schema,
    study_yaml,
    write_study_file,
)
from lexiscope.studies.saw_c.settings import SawCSettings

KNOWN = {"studies": ("context_bias", "saw_c"), "datasets": ("mini_en", "raw_c", "saw_c"), "tasks": (), "subjects": ()}


def parse_study(text: str, *, path: str = "study.yaml") -> Settings:
    return parse_settings(parse_yaml(text, path=path))


@pytest.fixture(autouse=True)
def _known_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "names", lambda kind: KNOWN[kind])


def test_schema_is_the_settings() -> None:
    """The schema of a study's file has its settings, in their order, with their defaults, and each has a meaning."""
    for name, kind in (("saw_c", SawCSettings), ("context_bias", ContextBiasSettings)):
        names = [field.name for field in fields(kind)]
        assert list(schema(kind).model_fields) == names == list(meanings(kind))
        assert all(meanings(kind).values())
        assert parse_study(f"study: {name}\n") == kind()


FULL = SawCSettings(
    items="my items.csv",
    scale=(0.0, 0.1),
    language="es",
    subjects=("encoder:minilm", "chat:small@http://127.0.0.1:8000/v1"),
    recorded=("beto", "123", "true", "- # [x] {y}", "1.5"),
    views=("full", "full+final_stop"),
    seed=0,
    n_bootstrap=0,
    starts=9,
    mixed_models="maximal",
    min_ratings=3,
    threads=2,
    device="cuda:0",
    analyses=(("RQ1", "exploratory"), ("RQ 2: size?", "exploratory")),
    exclusions=("failed_catch(items=c1|c2,expected=5)",),
    title='A "title": with\ttab',
    ethics="One line.\nAnother: über ñ — 語\u2028end \\ \x07 ",
    outputs=(),
)


@pytest.mark.parametrize("given_settings", [FULL, SawCSettings(), SawCSettings(dataset="raw_c")])
def test_round_trip_is_exact(given_settings: Settings, tmp_path: Path) -> None:
    """Settings → YAML → settings → YAML changes nothing, through a file as through a text."""
    text = study_yaml(given_settings)
    assert parse_study(text) == given_settings
    assert study_yaml(parse_study(text)) == text
    write_study_file(given_settings, tmp_path / "study.yaml")
    assert read_study_file(tmp_path / "study.yaml") == given_settings


@settings(max_examples=60, deadline=None)
@given(
    text=st.text(st.characters(exclude_categories=("Cs",))),
    listed=st.lists(st.text(st.characters(exclude_categories=("Cs",)), max_size=8), max_size=3),
)
def test_any_text_survives(text: str, listed: list[str]) -> None:
    """Whatever a user writes into a text field comes back letter for letter."""
    wanted = replace(SawCSettings(), ethics=text, recorded=tuple(listed))
    assert parse_study(study_yaml(wanted)) == wanted


def test_every_setting_is_spelled_out_under_a_comment() -> None:
    """A written file holds every field on its own line, each below its comment."""
    lines = study_yaml(SawCSettings()).splitlines()
    for field in fields(SawCSettings):
        number = next(i for i, line in enumerate(lines) if line.startswith(f"{field.name}:"))
        assert lines[number - 1] == f"# {meanings(SawCSettings)[field.name]}"


def test_a_study_file_is_not_overwritten(tmp_path: Path) -> None:
    """Writing where a file stands is refused."""
    (tmp_path / "study.yaml").write_text("mine")
    with pytest.raises(InputError, match="E615"):
        write_study_file(SawCSettings(), tmp_path / "study.yaml")
    assert (tmp_path / "study.yaml").read_text() == "mine"


FAULTS = [
    # text of the file, place, code and first words of the message, what it advises
    ("study: saw_c\nseeds: 3\n", "2:1", "E611", "unknown name 'seeds'", "did you mean 'seed'?"),
    (
        "study: saw_c\nsplit: dev\n",
        "2:1",
        "E611",
        "unknown name 'split'",
        "its own settings: items, language, ratings, scale, ",
    ),
    ("study: context_bias\nbudgt: 1h\n", "2:1", "E611", "unknown name 'budgt'", "did you mean 'budget'? its own"),
    ("study: context_bias\ndatasets: [saw_c]\ndataset: saw_c\n", "2:1", "E612", "a study takes several", "keep one"),
    ("study: saw_c\nseed: '3'\n", "2:7", "E612", "seed: must be a whole number, not '3'", "seed of"),
    ("study: saw_c\nseed: true\n", "2:7", "E612", "seed: must be a whole number", "seed of"),
    ("study: saw_c\nstarts: 2.5\n", "2:9", "E612", "starts: must be a whole number", "starting"),
    ("study: saw_c\nn_bootstrap: -1\n", "2:14", "E612", "n_bootstrap: must be greater", "bootstrap"),
    ("study: saw_c\nsubjects: encoder:minilm\n", "2:11", "E612", "subjects: must be a list", "[encoder:minilm]"),
    ("study: saw_c\nsubjects:\n  - encoder:minilm\n  - minilm\n", "4:5", "E614", "'minilm' does not", "kind:name"),
    ("study: saw_c\nrecorded: [beto, 12]\n", "2:18", "E612", "recorded.1: must be a text", "quotation"),
    ("study: saw_c\nmixed_models: papre\n", "2:15", "E612", "mixed_models", "did you mean 'paper'?"),
    ("study: saw_c\nanalyses:\n  Q1: exploratry\n", "3:7", "E612", "analyses.Q1", "'exploratory'?"),
    ("study: saw_c\nanalyses:\n  Q1: confirmatory\n", "3:7", "E612", "analyses.Q1", "'exploratory'"),
    ("study: saw_c\nanalyses: [Q1]\n", "2:11", "E612", "analyses: must be", "question id"),
    ("study: saw_d\n", "1:8", "E614", "Unknown study 'saw_d'.", "did you mean 'saw_c'?"),
    (
        "study: context_bias\ndatasets: [saw_c, raw_d]\n",
        "2:19",
        "E614",
        "Unknown dataset 'raw_d'.",
        "did you mean 'raw_c'?",
    ),
    ("study: saw_c\ndataset: rawc\n", "2:10", "E614", "Unknown dataset 'rawc'", "did you mean 'raw_c'?"),
    ("study: saw_c\ndataset: raw_c\nitems: a.csv\n", "3:1", "E612", "a study takes a dataset or", "keep one"),
    ("title: x\n", "1:1", "E613", "'study' is missing", "lexiscope list studies"),
    ("study: saw_c\nseed: 1\nseed: 2\n", "3:1", "E607", "'seed' is given twice, first in line 2", "keep one"),
    ("study: [saw_c\nseed: 2\n", "2:5", "E603", "this is not YAML", "brackets"),
    ("study: saw_c\n\tseed: 2\n", "2:1", "E603", "this is not YAML", "indentation"),
    ("study: a: b\n", "1:9", "E603", "this is not YAML: mapping values", "colons"),
    ("- saw_c\n", "1", "E606", "the file holds lines", ""),
    ("", "1", "E606", "the file holds lines", ""),
    ("study: saw_c\n1: x\n", "2:1", "E606", "a name must be a text", "quote it"),
    ("study: !!python/object/apply:os.system [x]\n", "1:8", "E604", "anchors", "write the value out"),
    ("study: &a saw_c\ntitle: *a\n", "1:8", "E604", "anchors", "write the value out"),
    ("a: " + "[" * 30 + "]" * 30 + "\n", "1:13", "E605", "nested deeper", ""),
    ("study: saw_c\nscale: [1, 5, 7]\n", "2:8", "E612", "scale: needs at most 2", "lowest"),
    ("study: saw_c\nscale: [1, .inf]\n", "2:12", "E612", "scale.1: must be a finite number", "lowest"),
    ("study: saw_c\nexclusions:\n  - catch\n", "3:5", "E614", "no exclusion rule 'catch'", "failed_catch"),
    ('study: saw_c\ntitle: "\\ud800"\n', "2:8", "E601", "half of a surrogate pair", "write the letter"),
    ("study: saw_c\n? [a, b]\n: 3\n", "2:3", "E606", "a name must be a text", "quote it"),
    ("study: saw_c\ndevice: 2024-01-01\n", "2:9", "E612", "device: must be a text", "where live models run"),
    ("study: saw_c\nseed: 1\n---\nseed: 2\n", "3:1", "E603", "this is not YAML", ""),
    ("study: \u0007\n", "", "E603", "this is not YAML", ""),
]


@pytest.mark.parametrize(("text", "place", "code", "what", "advice"), FAULTS)
def test_a_fault_is_shown_where_it_stands(text: str, place: str, code: str, what: str, advice: str) -> None:
    """An error names file, line and column, shows the line with a caret under the fault, and says what to do."""
    with pytest.raises(InputError) as caught:
        parse_study(text, path="s.yaml")
    message = str(caught.value)
    assert message.startswith(f"{':'.join(['s.yaml', place]) if place else 's.yaml'}: [{code}] {what}")
    assert advice in message
    line, colon, column = place.partition(":")
    if colon:
        shown, carets = message.splitlines()[1:3]
        assert shown == f"    {text.splitlines()[int(line) - 1]}"
        assert carets.index("^") == 4 + int(column) - 1


def test_an_alias_bomb_is_refused_before_it_unfolds() -> None:
    """Nested aliases that would stand for 10^9 entries are refused at their first anchor."""
    bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n"
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    )
    with pytest.raises(InputError, match=r"s\.yaml:1:4: \[E604\]"):
        parse_study(bomb, path="s.yaml")


def test_a_file_in_another_encoding_is_refused(tmp_path: Path) -> None:
    """Bytes that are not UTF-8 are an error with line and column, never a wrong letter."""
    path = tmp_path / "latin.yaml"
    path.write_bytes("study: saw_c\ntitle: ñandú\n".encode("latin-1"))
    with pytest.raises(InputError, match=r"latin\.yaml:2:8: \[E601\] byte 0xf1 is not UTF-8"):
        read_study_file(path)


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    """A file that an editor saved with a byte-order mark reads as one without."""
    path = tmp_path / "bom.yaml"
    path.write_bytes(b"\xef\xbb\xbfstudy: saw_c\r\nseed: 4\r\n")
    assert read_study_file(path) == SawCSettings(seed=4)
