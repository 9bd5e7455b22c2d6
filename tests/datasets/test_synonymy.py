"""The synonymy collection: 200 items in eight suites, rebuilt letter by letter, and three models' outcomes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from lexiscope.core.dataset import Dataset
from lexiscope.core.errors import DataError, InputError
from lexiscope.datasets.synonymy import CARD, SUBJECTS, collection, load, read_collection, read_outcomes
from lexiscope.items.choice_sets.minimal_pairs import SynonymItem, choice_sets, suite_lines
from lexiscope.items.choice_sets.templates import Template, synonymy_templates

pytestmark = pytest.mark.published

# characters of the released test files, line ends included; the repository of the study
RELEASED = {
    "T7": 116_354,
    "T8": 92_354,
    "T9": 113_954,
    "T11": 550_435,
    "T12": 473_227,
    # 12 lines of item 64 have "[bathroom]" for "toilet" in these three
    "T13": 503_436 + 12 * (len("[bathroom]") - len("toilet")),
    "T14": 526_435 + 48,
    "T15": 548_035 + 48,
}
# texts that the clean mode changes: of synonym and distractor (400), of synonym and random nouns (2,200)
CHANGED = {
    "T7": (1, 0),
    "T8": (1, 0),
    "T9": (1, 0),
    "T11": (13, 56),
    "T12": (1, 0),
    # as T11, and the 2 controlled and 11 random texts of item 64
    "T13": (13 + 2, 56 + 11),
    "T14": (13 + 2, 56 + 11),
    "T15": (13 + 2, 56 + 11),
}


@pytest.fixture(scope="module")
def items(published: Path) -> tuple[SynonymItem, ...]:
    return collection(published)


@pytest.fixture(scope="module")
def dataset(published: Path) -> Dataset:
    return load(published)


@pytest.mark.parametrize("template", synonymy_templates(), ids=lambda template: template.name)
def test_the_released_files_are_rebuilt(items: tuple[SynonymItem, ...], template: Template) -> None:
    """Published mode: 2,400 lines a suite, with as many characters as the released file."""
    lines = suite_lines(items, template, mode="published")
    assert len(lines) == 200 * (1 + 1 + 10)
    assert sum(len(line.text_line()) for line in lines) == RELEASED[template.name]


@pytest.mark.parametrize("template", synonymy_templates(), ids=lambda template: template.name)
def test_what_the_clean_mode_changes(items: tuple[SynonymItem, ...], template: Template) -> None:
    """Clean mode differs in the texts that the flaws account for, and in no other."""
    pairs = zip(suite_lines(items, template, mode="published"), suite_lines(items, template), strict=True)
    changed = [flawed.flag for flawed, clean in pairs if flawed.text != clean.text]
    assert (len([f for f in changed if f != 0]), len([f for f in changed if f != 1])) == CHANGED[template.name]


def test_articles_by_sound(published: Path, items: tuple[SynonymItem, ...]) -> None:
    """By sound one article of the 2,400 differs from the letter's: "a urochordate"."""
    (substitution,) = (template for template in synonymy_templates() if template.substitutes)
    by_sound = suite_lines(collection(published, article="sound"), substitution)
    differing = [a.word for a, b in zip(by_sound, suite_lines(items, substitution), strict=True) if a.text != b.text]
    assert differing == ["urochordate"]


def test_plurals_of_the_reference_suite(items: tuple[SynonymItem, ...]) -> None:
    """*These* stands before the synonym or the distractor in items 5, 31, 105, 121 and 199, in both modes."""
    (reference,) = (template for template in synonymy_templates() if template.suite == "reference")
    for mode in ("clean", "published"):
        lines = suite_lines(items, reference, mode=mode)  # type: ignore[arg-type]
        assert [line.item for line in lines if line.flag and " These " in line.text] == [5, 31, 105, 121, 199]


def test_clean_contexts_do_not_differ(items: tuple[SynonymItem, ...]) -> None:
    """In clean mode the words of a choice set differ in nothing but the word and *This* or *These*."""
    for item in choice_sets(items, suites=["relation", "reference"], conditions=["random"]):
        before = {usage.text[: usage.start].replace(" These ", " This ") for usage in item.usages}
        assert len(before) == 1


def test_the_collection(items: tuple[SynonymItem, ...]) -> None:
    """182 distinct sentences (15 serve two or three items, 33 in all), 173 targets, 110 files of SemCor."""
    sentences = Counter(item.sentence_id for item in items)
    shared = [n for n in sentences.values() if n > 1]
    assert (len(items), len(sentences), len(shared), sum(shared)) == (200, 182, 15, 33)
    assert len({item.target for item in items}) == 173
    assert len({item.sentence_id.partition("/")[0] for item in items}) == 110
    assert all(item.synonym in item.synset and item.distractor not in item.synset for item in items)
    assert all(dict(item.extra)["token_delta"].lstrip("-").isdecimal() for item in items)


def test_the_published_texts_of_the_dataset(published: Path) -> None:
    """The published mode keeps the comma of item 122 and the leaked answer of item 64; ids do not change."""
    flawed, clean = load(published, mode="published"), load(published)
    assert [item.item_id for item in flawed.items] == [item.item_id for item in clean.items]
    assert flawed.responses == clean.responses
    by_id = {item.item_id: item for item in flawed.items}
    assert by_id["synonymy/122/relation/means/controlled"].options == ("region", "portion,")
    assert "[bathroom]" in by_id["synonymy/064/relation/means/random"].usages[0].text
    assert "[bathroom]" not in by_id["synonymy/064/relation/is_a_synonym_of/random"].usages[0].text


def test_outcomes(dataset: Dataset) -> None:
    """3 models × 16 conditions × 200 items; the joint outcome is the product, so it is not stored."""
    table = dataset.responses
    assert len(table) == 3 * 16 * 200
    assert table.unique("measure") == ("correct",)
    assert table.unique("subject_id") == tuple(facts.subject_id for facts in SUBJECTS)


def test_accuracies_of_the_paper(dataset: Dataset) -> None:
    """Table 5, OLMo-1B: 85.0 controlled substitution, 67.5 reference, 77.0 relation with context (is a synonym of)."""
    about = {item.item_id: item.conditions for item in dataset.items}
    rows = list(dataset.responses.where(subject_id="allenai/OLMo-1B").rows())

    def accuracy(suite: str, condition: str, expression: str) -> float:
        wanted = (suite, condition, expression)
        named = (((c := about[row.item_id])["suite"], c["condition"], c["expression"], row.value) for row in rows)
        right = [value for *where, value in named if tuple(where) == wanted]
        assert len(right) == 200
        return 100 * sum(value or 0 for value in right) / 200

    assert accuracy("substitution", "controlled", "") == 85.0
    assert accuracy("reference", "controlled", "") == 67.5
    assert accuracy("relation", "controlled", "is a synonym of") == 77.0


def _changed(path: Path, old: str, new: str, target: Path) -> Path:
    text = path.read_text(encoding="utf-8")
    assert old in text
    target.write_text(text.replace(old, new, 1), encoding="utf-8")
    return target


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("controlled_and_random,eval1,1,1", "controlled_and_random,eval1,1,0", "must be 1 where both"),
        ("controlled,eval3,1,1", "controlled,eval3,1,2", "0 or 1 is needed here"),
        ("T12,substitution,,controlled,eval3,7,", "T12,substitution,,controlled,eval3,8,", "already in line"),
        ("T12,substitution,,random", "T12,reference,,random", "not those of one of"),
    ],
)
def test_broken_outcomes_are_refused(
    dataset: Dataset, published: Path, tmp_path: Path, old: str, new: str, message: str
) -> None:
    """A value that is no outcome, a joint one that is not the product, and mixed-up rows name file and line."""
    broken = _changed(published / "synonymy/outcomes.csv", old, new, tmp_path / "outcomes.csv")
    with pytest.raises(InputError, match=rf"outcomes\.csv:\d+(?s:.*){message}"):
        read_outcomes(broken, dataset.items)


def test_an_item_that_is_not_the_published_one(published: Path, tmp_path: Path) -> None:
    """A derived file that contradicts the publisher's is refused at its line."""
    folder = published / "synonymy"
    broken = _changed(folder / "items.csv", "\n1,soil,dirt,", "\n1,soil,earth,", tmp_path / "items.csv")
    with pytest.raises(InputError, match=r"items\.csv:2(?s:.*)'dirt'"):
        read_collection(folder / "curated_200.tsv", broken, folder / "negatives.csv")


def test_a_folder_without_the_files(tmp_path: Path) -> None:
    """What is missing is named, and how to obtain it: not by a download, which there is none of."""
    with pytest.raises(DataError, match=r"curated_200\.tsv") as caught:
        load(tmp_path)
    assert caught.value.hint == CARD.how_to_obtain
    assert "data get" not in str(caught.value)
    assert "ioana-ivan/bm-semlex" in CARD.how_to_obtain


def test_conditions_are_columns(dataset: Dataset) -> None:
    """Every choice set has the columns of the design, two or eleven options, and the right word first."""
    names = ["suite", "expression", "condition", "mode", "item", "target", "synonym", "distractor", "sentence"]
    names += ["part_of_speech", "senses"]
    for item in dataset.items:
        assert (item.conditions["part_of_speech"], item.conditions["senses"]) == ("noun", "several")
        assert list(item.conditions) == names
        assert len(item.options) == len(item.usages) == (2 if item.conditions["condition"] == "controlled" else 11)
        assert item.gold == item.options[0]
        assert tuple(usage.target for usage in item.usages) == item.options
