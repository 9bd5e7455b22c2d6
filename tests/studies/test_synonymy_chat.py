"""Chat models in the synonymy study: forced choices and gaps, in the words that people read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.subjects.fake_chat import FakeChat, serving

from lexiscope.build.choice_items import choice_items
from lexiscope.core.errors import DataError
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Record, find_record, read_records
from lexiscope.datasets import mini_synonymy
from lexiscope.resources.lexicons import wordnet
from lexiscope.studies.synonymy import study
from lexiscope.studies.synonymy.settings import SynonymySettings

MINI = replace(study.MINI, n_bootstrap=20)
WORDS = "task: gap_filling\nlanguage: en\nprompt:\n  user: |\n    {mark} $sentence $prompt\n"
ASKED = choice_items(mini_synonymy.collection(), dataset="mini_synonymy")
GAPS = {item.usages[0].text: item for item in ASKED.gap_items}
PAGES = {page.usages[0].text: page for page in ASKED.pages}
RIGHT = set(list(GAPS)[:10])
"""The sentences whose gap the model fills with the curated synonym."""
CHOSEN = set(list(PAGES)[:25])
"""The sentences in which it chooses the right word; in the others, the word that stands first."""


def says(body: dict[str, Any]) -> str:
    """The synonym in ten sentences, nothing of it elsewhere; in the words of ``long.yaml`` nowhere.

    Of two words: the right one in 25 sentences, the first one in the others.
    """
    told = body["messages"][-1]["content"]
    if "\n1: " in told:
        sentence = next(line for line in told.splitlines() if line.startswith("Sentence: "))
        page = PAGES[sentence.removeprefix("Sentence: ").replace("[", "").replace("]", "")]
        lines = [line for line in told.splitlines() if line[:2] in ("1:", "2:")]
        right = next(line[0] for line in lines if f"[{page.gold}]" in line)
        return right if page.usages[0].text in CHOSEN else "1"
    sentence = next(text for text in GAPS if text in told.replace("*", ""))
    return str(GAPS[sentence].gold) if sentence in RIGHT and not told.startswith("LONG") else "nothing of it"


def no_wordnet() -> None:
    raise DataError("WordNet is not available in this test")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, FakeChat, str, tuple[Record, ...]]:
    """The study on the embedded collection, with a chat model in three wordings."""
    folder, endpoint = tmp_path_factory.mktemp("chat"), FakeChat(says=says)
    for name in ("short", "long"):
        (folder / f"{name}.yaml").write_text(WORDS.format(mark=name.upper()), encoding="utf-8")
    with serving(endpoint) as url, pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(wordnet, "load", no_wordnet)
        wordings = ("guidelines", "short.yaml", "long.yaml")
        study.run(replace(MINI, subjects=(f"chat:m@{url}",), wordings=wordings), folder / "run")
    return folder / "run", endpoint, f"chat:m@{url}", read_records(folder / "run" / "results.json")


def test_gaps_are_filled_without_log_probabilities(run: tuple[Path, FakeChat, str, tuple[Record, ...]]) -> None:
    """Ten sentences have the synonym: the accuracy of gaps is their share, in the words of the package and in short."""
    folder, _, chat, records = run
    share = 100 * sum(item.usages[0].text in RIGHT for item in GAPS.values()) / len(GAPS)
    for subject, value in ((chat, share), (f"{chat}?variant=short.yaml", share), (f"{chat}?variant=long.yaml", 0)):
        own = [r for r in records if r.subject == subject and r.statistic.startswith("gap_accuracy(answers=curated")]
        assert [record.value for record in own] == [pytest.approx(value)]
    table = ResponseTable.read_parquet(folder / "responses.parquet").where(subject_id=chat)
    assert set(table.unique("task")) == {"gap_filling", "minimal_pair", "substitution"}
    assert set(table.where(measure="completion").column("raw").tolist()) == {
        "nothing of it",
        *(str(GAPS[text].gold) for text in RIGHT),
    }


def test_it_chooses_between_the_words_of_a_minimal_pair(run: tuple[Path, FakeChat, str, tuple[Record, ...]]) -> None:
    """25 of 40 right by the sentence; of the 15 others it takes the first word, which is the right one in some."""
    folder, endpoint, chat, records = run
    table = ResponseTable.read_parquet(folder / "responses.parquet").where(subject_id=chat)
    pages = table.where(task="substitution", measure="choice")
    golds = {page.item_id: page.gold for page in PAGES.values()}
    right = sum(row.option == golds[row.item_id] for row in pages.rows())
    assert (len(pages), right >= 25) == (40, True)
    own = find_record(records, "percent_right(per=option)", subject=chat, condition="substitution/controlled")
    assert own.value == pytest.approx(100 * right / 40)
    assert own.n == 40
    first = find_record(records, "first_chosen", subject=chat)
    asked = [body["messages"][-1]["content"] for body in endpoint.received]
    right_first = sum(
        f"[{page.gold}]" in next(line for line in told.splitlines() if line.startswith("1: "))
        for told in asked
        if "\n1: " in told
        for page in [PAGES[told[told.index("Sentence: ") + 10 :].split("\n")[0].replace("[", "").replace("]", "")]]
    )
    # the order is drawn, and the right word stands first on half of the pages
    assert right_first == 20
    assert first.value is not None
    assert first.value > 50
    assert first.low is not None


def test_wordings_have_an_interval(run: tuple[Path, FakeChat, str, tuple[Record, ...]]) -> None:
    """The share in two wordings, 0 in the third: the mean is two thirds of it, with an interval over wordings."""
    folder, _, chat, records = run
    own = [
        record
        for record in records
        if record.statistic.startswith("wording_mean(of=gap_accuracy") and "curated" in record.statistic
    ]
    share = find_record(records, own[0].statistic, subject=chat)
    right = 100 * sum(item.usages[0].text in RIGHT for item in GAPS.values()) / len(GAPS)
    assert share.value == pytest.approx(2 * right / 3)
    assert share.low is not None
    assert "Wordings of the prompt" in (folder / "report.html").read_text(encoding="utf-8")


def test_finished_texts_are_asked_as_they_are(tmp_path: Path) -> None:
    """The model reads two texts, the right one first on half of the pages, and always takes the first: half right.

    What it chose is an outcome of the study, and what was collected is one too as recorded answers.
    """
    file = tmp_path / "pairs.csv"
    lines = [
        f"They sold {word} keys.,They sold {word} key.,u{n}" for n, word in enumerate(("two", "six", "all", "both"))
    ]
    file.write_text("\n".join(["sentence_good,sentence_bad,UID", *lines]) + "\n", encoding="utf-8")
    endpoint = FakeChat(says=lambda body: "1")
    with serving(endpoint) as url:
        settings = SynonymySettings(items=str(file), subjects=(f"chat:m@{url}",), n_bootstrap=20)
        study.run(settings, tmp_path / "run")
    told = [body["messages"][-1]["content"] for body in endpoint.received]
    assert sum("\n1: They sold" in text and "keys.\n2:" in text for text in told) == 2
    assert all(text.startswith("Which text is better?\n") and "[" not in text for text in told)
    about = {"subject": f"chat:m@{url}"}
    records = read_records(tmp_path / "run" / "results.json")
    right = find_record(records, "percent_right(per=option)", condition="pairs/controlled", **about)
    first = find_record(records, "first_chosen", condition="minimal_pair", **about)
    assert (right.value, first.value) == (50.0, 100.0)
    table = ResponseTable.read_parquet(tmp_path / "run" / "responses.parquet").where(
        measure="choice", subject_id=f"chat:m@{url}"
    )
    assert sorted(map(str, table.column("option").tolist())) == ["key", "key", "keys", "keys"]
    table.write_csv(tmp_path / "told.csv")
    again = SynonymySettings(items=str(file), subjects=(f"recorded:{tmp_path / 'told.csv'}",), n_bootstrap=20)
    study.run(again, tmp_path / "again")
    records = read_records(tmp_path / "again" / "results.json")
    assert find_record(records, "percent_right(per=option)", condition="pairs/controlled", **about).value == 50.0
