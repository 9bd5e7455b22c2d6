"""A language that the package lacks: one file of words, from the participants' pages to a study with a chat model."""

from __future__ import annotations

import codecs
import csv
import html
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.subjects.fake_chat import FakeChat, serving

from lexiscope.annotation.export.package import write_export
from lexiscope.annotation.rehearsal.answers import Population
from lexiscope.annotation.rehearsal.through_server import rehearse_through_server
from lexiscope.annotation.study_file.definition import Codes, RatingsSection
from lexiscope.annotation.study_file.definition_file import definition_yaml, read_definition
from lexiscope.annotation.study_file.freeze import freeze
from lexiscope.annotation.study_file.items import study_items
from lexiscope.annotation.study_file.page_texts import participants_texts
from lexiscope.annotation.study_file.study_folder import read_study
from lexiscope.annotation.web.pages import Pages
from lexiscope.annotation.web.preview import preview_pages
from lexiscope.cli.main import cli
from lexiscope.core import catalog
from lexiscope.core.result import read_records

Run = Callable[..., Result]
_KEPT = re.compile(r"(\{[^}]*\}|\$\w+|%\(\w+\)[sd])")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run the command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(cli, [str(argument) for argument in arguments])


def said(text: str) -> str:
    """The text in the made-up language of this test: every letter thirteen further, names to fill in kept."""
    return "".join(part if _KEPT.fullmatch(part) else codecs.encode(part, "rot13") for part in _KEPT.split(text))


def fill_in(template: str) -> str:
    """Fill in a file of words as a translator does: each text from the comment above it, or from its English name."""
    filled, comment = [], list[str]()
    for line in template.splitlines():
        empty = re.fullmatch(r'( +)(\w+|"(?:[^"\\]|\\.)*"): (""|\|)', line)
        if line.lstrip().startswith("# "):
            comment.append(line.split("# ", 1)[1])
        elif line.strip() == "#":
            comment.append("")
        elif empty:
            margin, name, kind = empty.groups()
            text = "\n".join(comment) if comment else name.strip('"')
            lines = [f"{margin}  {said(told)}" if told else "" for told in text.split("\n")]
            quoted = '"' + said(text).replace("\\", "\\\\").replace('"', '\\"') + '"'
            filled.append(f"{margin}{name}: " + ("|\n" + "\n".join(lines) if kind == "|" else quoted))
            comment = []
        else:
            filled.append(line)
            comment = comment if line.strip().startswith("- point") else []
    return "\n".join(filled) + "\n"


def written_items(path: Path) -> None:
    """Six pairs of made sentences of three words."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(("item_id", "word", "sentence_1", "sentence_2", "same_sense"))
        for number, word in enumerate(["kaa", "panda", "paka"] * 2):
            texts = (f"Hapa {word} namba {number}", f"Pale {word} ya aina {number}")
            writer.writerow((f"i{number}", word, *texts, "true" if number % 2 else "false"))


def test_people_and_a_chat_model_in_a_language_of_ones_own(run: Run, tmp_path: Path) -> None:
    """words, init, check, pages, answers, export, study: every word that is read comes from the one file."""
    written_items(tmp_path / "items.csv")
    assert run("annotate", "words", "relatedness", "--language", "sw", "--out", "sw.yaml").exit_code == 0
    (tmp_path / "sw.yaml").write_text(fill_in((tmp_path / "sw.yaml").read_text(encoding="utf-8")), encoding="utf-8")
    begun = run("annotate", "init", "--items", "items.csv", "--words", "sw.yaml", "--out", "study.yaml")
    assert begun.exit_code == 0, begun.output
    draft = read_definition(tmp_path / "study.yaml").definition
    complete = {
        "texts": draft.texts.model_copy(update={"consent": said("I take part.")}),
        "ethics": "Approved by nobody: this is a test.",
        "codes": Codes(completion="AAA", screen_out="BBB", no_consent="CCC", full="DDD"),
        "ratings": RatingsSection(per_item=3),
    }
    (tmp_path / "study.yaml").write_text(definition_yaml(draft.model_copy(update=complete)), encoding="utf-8")
    checked = run("annotate", "check", "study.yaml")
    assert checked.exit_code == 0, checked.output
    study = read_study(Path("study.yaml"))
    frozen = study.freeze()
    # no page has an English word of the package: question, ends of the scale, guidelines, buttons are the file's
    shown = html.unescape(" ".join(page.html for page in preview_pages(frozen, Pages(own=frozen.page_texts))))
    english = ["How related are the meanings of", "not related at all", "the same meaning", "How old are you?"]
    for text in (*english, "Judge the word, not the sentences.", "Progress", "I consent and take part"):
        assert said(text) in shown
    longer = [text for text in (*english, *participants_texts()) if " " in text and not _KEPT.search(text)]
    assert [text for text in longer if text in shown] == []
    made = rehearse_through_server(study, population=Population(noise=0.4), seed=1)
    assert made.complete
    write_export(made.collected, tmp_path / "exported")
    # the chat model: the same question and guidelines in its prompt, in the same file
    endpoint = FakeChat()
    with serving(endpoint) as url:
        done = run(
            *(
                "study",
                "saw_c",
                "--items",
                "items.csv",
                "--language",
                "sw",
                "--bootstrap",
                "0",
                "--mixed",
                "none",
                "--out",
                "run",
            ),
            *("--ratings", "exported/ratings.csv", "--subject", f"chat:m@{url}", "--wording", "sw.yaml"),
        )
    assert done.exit_code == 0, done.output
    sent: list[dict[str, Any]] = endpoint.received[0]["messages"]
    assert said("how related the meanings of the\nword are") in sent[0]["content"]
    assert sent[-1]["content"].startswith(said("Word: $target").replace("$target", "kaa"))
    assert len(endpoint.received) == 6
    records = read_records(tmp_path / "run" / "results.json")
    assert {record.subject for record in records if "chat" in record.subject} == {f"chat:m@{url}?variant=sw.yaml"}


def test_a_choice_with_arms_in_a_language_of_ones_own(run: Run, tmp_path: Path) -> None:
    """Same sense in context: question and guidelines of the view, options, the field for the guess: all the file's."""
    written_items(tmp_path / "items.csv")
    assert run("annotate", "words", "same_sense", "--language", "sw", "--out", "sw.yaml").exit_code == 0
    (tmp_path / "sw.yaml").write_text(fill_in((tmp_path / "sw.yaml").read_text(encoding="utf-8")), encoding="utf-8")
    given = ("--task", "same_sense", "--items", "items.csv", "--words", "sw.yaml", "--out", "study.yaml")
    begun = run("annotate", "init", *given)
    assert begun.exit_code == 0, begun.output
    draft = read_definition(tmp_path / "study.yaml").definition.model_copy(update={"views": ("context",)})
    frozen = freeze(draft, study_items(draft))
    shown = html.unescape(" ".join(page.html for page in preview_pages(frozen, Pages(own=frozen.page_texts))))
    english = catalog.screen("same_sense").words("en")
    for key in ("question_context", "option_t", "option_f", "option_undecided", "guess", "fold_guidelines"):
        assert said(english[key]) in shown
        assert english[key] not in shown
    assert said(english["question"]) not in shown
    assert said("Try to guess the word first") in shown
