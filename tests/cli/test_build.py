"""``lexiscope build``: from a corpus and a lexicon to suites, and curation by two people and a third."""

from __future__ import annotations

import csv
import importlib
import json
import os
import pty
import re
import select
import shlex
import shutil
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from lexiscope.build.minimal_pairs.curation_bench import CurationBench
from lexiscope.build.minimal_pairs.decision_log import DecisionLog, disputed_proposals
from lexiscope.build.minimal_pairs.tables import read_proposals
from lexiscope.cli.build.curate import run_bench
from lexiscope.cli.main import cli
from lexiscope.items.choice_sets.collection_file import read_collection
from lexiscope.items.tables.tabular import read_items

Run = Callable[..., Result]

PAGE = Path(__file__).parents[2] / "docs" / "datasets" / "minimal-pairs.md"

#: a wordnet of two made-up languages in WN-LMF: aa has supersenses and counts, bb (with capitals) has neither
LEXICONS = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE LexicalResource SYSTEM "http://globalwordnet.github.io/schemas/WN-LMF-1.1.dtd">
<LexicalResource xmlns:dc="https://globalwordnet.github.io/schemas/dc/">
{lexicons}</LexicalResource>
"""
#: synset -> (supersense, which begins with the part of speech, gloss, lemmas)
AA = {
    1: ("noun.artifact", "a seat for several", ("bench", "pew", "settle")),
    2: ("noun.group", "those who judge", ("bench", "judiciary", "court")),
    3: ("noun.location", "where ships lie", ("harbor", "haven", "port")),
    4: ("noun.state", "being safe", ("harbor", "shelter")),
    5: (
        "noun.plant",
        "plants",
        ("ash", "beech", "birch", "cedar", "elm", "fir", "hazel", "larch", "oak", "pine", "yew"),
    ),
    6: ("verb.motion", "go away", ("leave", "depart")),
    7: ("verb.possession", "give by a will", ("leave", "bequeath")),
    8: ("verb.creation", "work", ("bake", "brew", "carve", "cook", "draw", "knit", "mow", "paint", "sew", "weave")),
    9: ("adj.all", "not easy", ("hard", "difficult")),
    10: ("adj.all", "not soft", ("hard", "firm")),
    11: ("adj.all", "colours", ("black", "blue", "brown", "green", "grey", "pink", "red", "tan", "teal", "white")),
    12: ("noun.person", "one who heals", ("physician", "doctor")),
}
BB = {
    1: ("", "ein grosses Haus", ("Schloss", "Palast")),
    2: ("", "schliesst eine Tuer", ("Schloss", "Riegel")),
}
SENTENCES = (
    ("They carried the old bench out to the garden before the rain.", "bench", 1),
    ("We sat on a bench by the gate and waited there for the boat.", "bench", 1),
    ("At noon the bench rose and left the room without saying a word.", "bench", 2),
    ("In the storm each boat made for the harbor as fast as it could.", "harbor", 3),
    ("Two ships of the line lay in the harbor all through the damn winter.", "harbor", 3),
    ("Short is the harbor.", "harbor", 3),
)
THREE_PARTS = """sentence,lemma,sense,pos
We have to leave before the last bus of the evening is gone.,leave,aa-leave-6,VERB
It was a hard winter for the birds and for the old mill.,hard,aa-hard-9,ADJ
The physician asked her to come back on the Monday after Easter.,physician,aa-physician-12,NOUN
"""


def lexicon_xml(name: str, synsets: dict[int, tuple[str, str, tuple[str, ...]]]) -> str:
    kinds = {key: supersense[:1] or "n" for key, (supersense, _, _) in synsets.items()}
    words = sorted({(lemma, kinds[key]) for key, (_, _, lemmas) in synsets.items() for lemma in lemmas})
    entries = ""
    for number, (lemma, kind) in enumerate(words):
        senses = "".join(
            f'<Sense id="{name}-{lemma}-{key}" synset="{name}-{key}"><Count>{len(lemma)}</Count></Sense>'
            for key, (_, _, lemmas) in synsets.items()
            if lemma in lemmas and kinds[key] == kind
        )
        word = f'<Lemma writtenForm="{lemma}" partOfSpeech="{kind}"/>'
        entries += f'<LexicalEntry id="{name}-e{number}">{word}{senses}</LexicalEntry>'
    for key, (supersense, gloss, _) in synsets.items():
        about = f'id="{name}-{key}" ili="" partOfSpeech="{kinds[key]}"'
        lexfile = f' lexfile="{supersense}"' if supersense else ""
        entries += f"<Synset {about}{lexfile}><Definition>{gloss}</Definition></Synset>"
    language = "en" if name == "aa" else "de"
    about = f'id="{name}" label="{name}" language="{language}" email="a@example.org" license="CC0" version="1"'
    return f"<Lexicon {about}>{entries}</Lexicon>\n"


@pytest.fixture(scope="module", autouse=True)
def _wordnets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The two lexicons in a database of these tests' own."""
    wn = importlib.import_module("wn")
    folder = tmp_path_factory.mktemp("wn")
    xml = LEXICONS.format(lexicons=lexicon_xml("aa", AA) + lexicon_xml("bb", BB))
    (folder / "two.xml").write_text(xml, encoding="utf-8")
    before = wn.config.data_directory
    wn.config.data_directory = folder / "database"
    wn.add(folder / "two.xml", progress_handler=None)
    yield
    wn.config.data_directory = before


def write_corpus(path: Path) -> Path:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["sentence", "lemma", "sense"])
        writer.writerows([text, lemma, f"aa-{lemma}-{key}"] for text, lemma, key in SENTENCES)
    return path


ARGUMENTS = ("--lexicon", "wn:aa:1", "--sentences-per-word", "3", "--n-items", "0", "--seed", "4")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, _wordnets: None) -> Path:
    """One build of the made-up corpus for all tests: every context is proposed."""
    folder = tmp_path_factory.mktemp("built")
    corpus = write_corpus(folder / "mine.csv")
    words = ["build", "minimal-pairs", "--corpus", str(corpus), *ARGUMENTS, "--out", str(folder / "made")]
    done = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return folder


@pytest.fixture
def build(built: Path, run: Run, tmp_path: Path) -> Path:
    """A copy of the build in the folder in which the commands run."""
    shutil.copytree(built, tmp_path, dirs_exist_ok=True)
    return tmp_path / "made"


def test_from_a_table_to_suites(build: Path, run: Run) -> None:
    """Candidates, filters, proposals, collection, choice sets, lines and how they came about; then nothing to do."""
    with (build / "filters.csv").open(encoding="utf-8-sig", newline="") as stream:
        fell = {row["filter"]: int(row["fell"]) for row in csv.DictReader(stream) if row["stage"] == "occurrence"}
    assert fell["sentence of at least 10 tokens"] == 1
    assert sum(fell.values()) == 1
    items = read_collection(build / "collection.csv")
    assert [(one.target, one.synonym, one.distractor) for one in items] == [
        ("bench", "settle", "judiciary"),
        ("bench", "settle", "judiciary"),
        ("bench", "judiciary", "settle"),
        ("harbor", "haven", "shelter"),
        ("harbor", "haven", "shelter"),
    ]
    assert all(len(set(one.random_nouns)) == 10 for one in items)
    assert not {"pew", "settle", "court"} & set(items[0].random_nouns)
    sets = read_items(build / "items.csv")
    # 5 suites with context x 2 conditions, 3 without x 2
    assert len(sets) == 5 * (5 * 2 + 3 * 2)
    by_id = {one.item_id: one for one in sets}
    assert by_id["synonymy/001/substitution/controlled"].usages[0].text == SENTENCES[0][0].replace("bench", "settle")
    lines = (build / "lines" / "T12.tsv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 5 * 12
    about = json.loads((build / "run.json").read_text(encoding="utf-8"))
    assert about["lexicon"]["licence"] == "CC0"
    assert about["counts"]["lines"] == 8 * 5 * 12
    assert about["proposals"] == {"n": 5, "flagged": 1}
    assert set(about["checksums"]) == {"mine.csv"}
    assert len(about["filters"]) == len(fell) + 8
    corpus = about["settings"]["corpus"]
    again = run("build", "minimal-pairs", "--corpus", corpus, *ARGUMENTS, "--out", "made")
    as_json = run("build", "minimal-pairs", "--corpus", corpus, *ARGUMENTS, "--out", "new", "--json")
    content = json.loads(as_json.stdout)
    assert (content["out"], content["finished_before"]) == ("new", False)
    assert content["counts"]["items"] > 0
    assert "already complete" in again.output
    other = run("build", "minimal-pairs", "--corpus", corpus, *ARGUMENTS, "--seed", 5, "--out", "made")
    assert other.exit_code == 1
    assert "these settings differ: seed" in other.output


def test_the_same_seed_gives_the_same_bytes(run: Run, tmp_path: Path) -> None:
    """Two builds with one seed are equal; flagged contexts can be left out, and are counted."""
    write_corpus(tmp_path / "mine.csv")
    for name in ("one", "two"):
        run("build", "minimal-pairs", "--corpus", "mine.csv", "--lexicon", "wn:aa:1", "--out", name, "--quiet")
    files = [path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*.?sv")]
    # candidates, contexts, filters, proposals, collection, items; eight suites
    assert len(files) == 6 + 8
    assert [
        name for name in files if (tmp_path / "one" / name).read_bytes() != (tmp_path / "two" / name).read_bytes()
    ] == []
    done = run(
        *("build", "minimal-pairs", "--corpus", "mine.csv", "--lexicon", "wn:aa:1", "--out", "three"),
        "--leave-out-flagged",
    )
    assert [line.split()[-3:] for line in done.output.splitlines() if "no flagged word" in line] == [["5", "1", "4"]]


def test_nouns_matched_in_frequency(build: Path, run: Run) -> None:
    """A table of counts brings nouns about as frequent as the synonym, also where a collection has nouns already."""
    rows = [f"common_{number},{1000 + number}" for number in range(60)] + [f"rare_{number},1" for number in range(60)]
    words = [row.partition(",")[0] for row in rows]
    Path("nouns.txt").write_text("\n".join(words), encoding="utf-8")
    table = "\n".join(["word,count", *rows, "settle,1000", "judiciary,1", "haven,1"])
    Path("counts.csv").write_text(table + "\n", encoding="utf-8")
    given = ("--collection", "made/collection.csv", "--lexicon", "wn:aa:1", "--nouns", "nouns.txt")
    done = run("build", "minimal-pairs", *given, "--match-frequency", "counts.csv", "--out", "matched")
    assert done.exit_code == 0, done.output
    items = read_collection(Path("matched/collection.csv"))
    kinds = {one.synonym: {noun.partition("_")[0] for noun in one.random_nouns} for one in items}
    assert kinds == {"settle": {"common"}, "judiciary": {"rare"}, "haven": {"rare"}}
    about = json.loads(Path("matched/run.json").read_text(encoding="utf-8"))
    assert {"collection.csv", "nouns.txt", "counts.csv"} <= set(about["checksums"])
    kept = run("build", "minimal-pairs", *given, "--out", "kept")
    assert kept.exit_code == 0, kept.output
    assert read_collection(Path("kept/collection.csv")) == read_collection(Path("made/collection.csv"))
    refused = run(
        *("build", "minimal-pairs", *given, "--match-frequency", "counts.csv", "--n-random", 0, "--out", "none")
    )
    assert "wants none" in refused.output


def test_a_collection_of_the_catalog(run: Run, build: Path) -> None:
    """A collection is also named as a dataset; its own nouns stay."""
    words = ("--collection", "mini_synonymy", "--lexicon", "wn:aa:1", "--suite", "substitution", "--out", "mini")
    done = run("build", "minimal-pairs", *words)
    assert done.exit_code == 0, done.output
    assert len(read_collection(Path("mini/collection.csv"))) == 40


def test_another_language(run: Run, tmp_path: Path) -> None:
    """Words with capitals, no supersenses, no random nouns: substitution alone; English templates are refused."""
    text = "Am Abend sahen wir von weitem das Schloss auf dem hohen Berg."
    (tmp_path / "de.csv").write_text(f"sentence,lemma,sense\n{text},Schloss,bb-Schloss-1\n", encoding="utf-8")
    words = ("build", "minimal-pairs", "--corpus", "de.csv", "--lexicon", "wn:bb:1", "--capitals", "--n-random", 0)
    refused = run(*words, "--out", "a")
    assert refused.exit_code == 1
    assert "is in 'en', the items are in 'de'" in refused.output
    done = run(*words, "--suite", "substitution", "--out", "b")
    assert done.exit_code == 0, done.output
    (made,) = read_items(tmp_path / "b" / "items.csv")
    assert [usage.text for usage in made.usages] == [text.replace("Schloss", word) for word in ("Palast", "Riegel")]
    assert made.usages[0].language == "de"
    assert not (tmp_path / "b" / "lines").exists()


def test_a_corpus_in_the_unified_layout(run: Run, tmp_path: Path) -> None:
    """A folder with one corpus: its tokens are joined, and an article follows the inserted word."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    words = "We sat for an hour on a [bench] by the gate , and waited ."
    tokens = "".join(f'<wf lemma="{word.lower()}" pos="X">{word}</wf>\n' for word in words.split(" "))
    bench = '<instance id="d0.s0.t0" lemma="bench" pos="NOUN">bench</instance>'
    tokens = tokens.replace('<wf lemma="[bench]" pos="X">[bench]</wf>', bench)
    text = f'<text id="d0" source="x"><sentence id="d0.s0">{tokens}</sentence></text>'
    (folder / "made.data.xml").write_text(f'<corpus lang="en" source="x">{text}</corpus>', encoding="utf-8")
    (folder / "made.gold.key.txt").write_text("d0.s0.t0 aa-bench-2\n", encoding="utf-8")
    done = run("build", "minimal-pairs", "--corpus", folder, "--lexicon", "wn:aa:1", "--out", "made")
    assert done.exit_code == 0, done.output
    by_id = {one.item_id: one for one in read_items("made/items.csv")}
    pair = by_id["synonymy/001/substitution/controlled"]
    assert pair.options == ("judiciary", "settle")
    assert pair.usages[1].text == "We sat for an hour on a settle by the gate, and waited."
    assert pair.condition("sentence") == "d0.s0"
    random = by_id["synonymy/001/substitution/random"]
    for usage in random.usages:
        article = "an" if usage.target[0] in "aeo" else "a"
        assert usage.text == f"We sat for an hour on {article} {usage.target} by the gate, and waited."
    about = json.loads(Path("made/run.json").read_text(encoding="utf-8"))
    assert set(about["checksums"]) == {"made.data.xml", "made.gold.key.txt"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--corpus", "absent.csv"), "there is no such file"),
        (("--corpus", "."), "not one of each"),
        (("--corpus", "mine.csv", "--lexicon", "wn:zz:1"), "no lexicon"),
        (("--corpus", "mine.csv", "--lexicon", "nonsense"), "names no lexicon"),
        (("--corpus", "mine.csv", "--lexicon", "wn:aa:1", "--min-tokens", "99"), "no items to make suites of"),
        (("--corpus", "mine.csv", "--lexicon", "wn:aa:1", "--n-random", "30"), "E444"),
    ],
)
def test_what_cannot_be_built(run: Run, tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    """A missing corpus, lexicon, items or nouns: status 1, said plainly, and no run.json."""
    write_corpus(tmp_path / "mine.csv")
    extra = () if "--lexicon" in arguments else ("--lexicon", "wn:aa:1")
    done = run("build", "minimal-pairs", *arguments, *extra, "--out", "x")
    assert done.exit_code == 1
    assert said in done.output
    assert not (tmp_path / "x" / "run.json").exists()


def keys(text: str) -> Callable[[], str]:
    """Return what gives one key after the other; then the curator stops."""
    rest = iter([*text, "q"])
    return lambda: next(rest)


def at_bench(folder: Path, curator: str, pressed: str, *, only: list[str] | None = None, typed: str = "") -> str:
    """Press keys at the bench and return all that the terminal showed."""
    bench = CurationBench(read_proposals(folder), DecisionLog(folder, curator), only=only)
    console = Console(width=100, height=50)
    with console.capture() as shown:
        run_bench(bench, console, read_key=keys(pressed), read_line=lambda prompt: typed)
    return shown.get()


def test_the_bench_in_the_terminal(build: Path) -> None:
    """Keys accept, change, reject with a reason, go back and stop; what is shown is what subjects will read."""
    shown = at_bench(build, "ann", "asdar2r4xuu", typed=" too dull ")
    decisions = DecisionLog(build, "ann").read()
    assert [(one.verdict, one.synonym, one.distractor, one.reason, one.note) for one in decisions] == [
        ("accept", "settle", "judiciary", "", ""),
        ("accept", "pew", "court", "", ""),
        ("reject", "judiciary", "settle", "collocation", ""),
        ("reject", "haven", "shelter", "other", "too dull"),
    ]
    for text in (
        "They carried the old [settle] out",
        "They carried the old [judiciary] out",
        "accepted as changed: pew / court",
        "rejected: too dull",
        "'x' is not one of the keys below",
        "a seat for several (sense 1 of 2)",
        "item 5 of 5 · 4 of 5 decided",
        "flagged     damn",
        "you, before rejected: the word is part",
    ):
        assert text in shown, text
    finished = at_bench(build, "ann", "aa")
    assert "all decided · 5 of 5 decided" in finished
    assert "everything is decided" in finished
    assert len(DecisionLog(build, "ann").read()) == 5


def test_keys_that_lead_nowhere_decide_nothing(build: Path) -> None:
    """A reason that is none, a reason that is not named, other words where there are none, end of input."""
    shown = at_bench(build, "ann", "r9r4nnncn", typed="")
    for text in ("not rejected", "another reason has to be named", "context     2 of 2"):
        assert text in shown, text
    assert DecisionLog(build, "ann").read() == ()
    bench = CurationBench(read_proposals(build), DecisionLog(build, "ben"))

    def stopped() -> str:
        raise KeyboardInterrupt

    with Console(width=90).capture():
        run_bench(bench, Console(width=90), read_key=stopped, read_line=lambda prompt: "")
    assert bench.n_decided == 0


def test_without_a_terminal_the_bench_says_what_to_do(build: Path, run: Run) -> None:
    """The error names the sheet."""
    done = run("build", "curate", build, "--curator", "ann")
    assert done.exit_code == 1
    assert "lexiscope build sheet" in done.output


def test_two_curators_a_sheet_and_a_third(build: Path, run: Run) -> None:
    """One at the bench, one with a sheet; compared, settled by a third, merged, and made into suites."""
    at_bench(build, "ann", "aaar1a")
    assert run("build", "sheet", build, "--curator", "ben", "--out", "ben.csv").exit_code == 0
    with open("ben.csv", encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    for row, filled in zip(
        rows,
        (
            {"verdict": "accept"},
            {"verdict": "accept", "synonym": "pew"},
            {"verdict": "reject", "reason": "inventory"},
            {"verdict": "reject", "reason": "context"},
            {"verdict": "accept"},
        ),
        strict=True,
    ):
        row.update(filled)
    with open("ben.csv", "w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    taken = run("build", "read-sheet", build, "ben.csv", "--curator", "ben")
    assert "5 decisions in the sheet, 5 of them new" in taken.output
    assert "0 of them new" in run("build", "read-sheet", build, "ben.csv", "--curator", "ben").output
    known = json.loads(run("build", "read-sheet", build, "ben.csv", "--curator", "ben", "--json").stdout)
    assert (known["curator"], known["decisions"], known["new"], known["decided"]) == ("ben", 5, 0, 5)

    compared = json.loads(run("build", "compare", build, "ann", "ben", "--json").stdout)
    assert (compared["decided_by_both"], compared["same_verdict"]) == (5, 4)
    # a table of 3 both accept, 1 ann only, 1 both reject: (4/5 - .56) / (1 - .56)
    expected = (4 / 5 - (4 * 3 + 1 * 2) / 25) / (1 - (4 * 3 + 1 * 2) / 25)
    assert compared["cohen_kappa(weights=none)"] == pytest.approx(expected)
    assert [one["differ_in"] for one in compared["disagreements"]] == ["synonym", "verdict"]
    table = run("build", "compare", build, "ann", "ben", "--out", "differ.csv").output
    assert "agreement: 0.800" in table
    assert "reject: inventory" in table

    disputed = [one["proposal"] for one in compared["disagreements"]]
    at_bench(build, "cat", "ar3", only=disputed)
    third_sheet = run("build", "sheet", build, "--curator", "cat", "--settle", "ann", "ben", "--out", "cat.csv")
    assert "(2 proposals, 2 decided)" in third_sheet.output
    merged = run("build", "merge", build, "ann", "ben", "--third", "cat", "--out", "curated.csv")
    assert "3 accepted, 2 rejected" in merged.output
    as_json = run("build", "merge", build, "ann", "ben", "--third", "cat", "--out", "curated.csv", "--json")
    assert json.loads(as_json.stdout)["counts"] == {"accepted": 3, "rejected": 2}
    items = read_collection("curated.csv")
    assert [(one.target, one.synonym) for one in items] == [
        ("bench", "settle"),
        ("bench", "settle"),
        ("harbor", "haven"),
    ]
    done = run("build", "minimal-pairs", "--collection", "curated.csv", "--lexicon", "wn:aa:1", "--out", "suites")
    assert done.exit_code == 0, done.output
    assert len(read_items("suites/items.csv")) == 3 * 16
    with open("curated_left_out.csv", encoding="utf-8-sig", newline="") as stream:
        assert [row["why"] for row in csv.DictReader(stream)] == ["rejected", "rejected"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("compare", "made", "ann", "ben"), "'ben' has made no decision here"),
        (("merge", "made", "ben", "--out", "c.csv"), "those who have: ann"),
        (("merge", "made", "ann", "--third", "cat", "--out", "c.csv"), "name one curator, or two"),
        (("sheet", "made", "--curator", "Ann!", "--out", "s.csv"), "E466"),
        (("sheet", ".", "--curator", "ann", "--out", "s.csv"), "E468"),
        (("read-sheet", "made", "mine.csv", "--curator", "ann"), "this is not a curation sheet"),
    ],
)
def test_what_cannot_be_merged(build: Path, run: Run, arguments: tuple[str, ...], said: str) -> None:
    """Curators who have not decided, wrong names, wrong folders and wrong files are named."""
    at_bench(build, "ann", "a")
    done = run("build", *arguments)
    assert done.exit_code in (1, 2)
    assert said in done.output
    assert not Path("c.csv").exists()


def test_a_build_that_was_broken_off_is_not_curated(build: Path, run: Run) -> None:
    """Its proposals may yet change: the sheet is not written."""
    (build / "run.json").unlink()
    done = run("build", "sheet", build, "--curator", "ann", "--out", "s.csv")
    assert done.exit_code == 1
    assert "this build was not finished" in done.output
    assert not Path("s.csv").exists()


def test_where_nothing_was_accepted_there_is_no_collection(build: Path, run: Run) -> None:
    """What was left out is still written; kappa of two who rejected all is undefined and says so."""
    for name in ("ann", "ben"):
        at_bench(build, name, "r1" * 5)
    done = run("build", "merge", build, "ann", "ben", "--out", "c.csv")
    assert done.exit_code == 1
    assert "no item was accepted" in done.output
    assert Path("c_left_out.csv").exists()
    assert "kappa: undefined" in run("build", "compare", build, "ann", "ben").output
    refused = run("build", "sheet", build, "--curator", "cat", "--settle", "ann", "ben", "--out", "s.csv")
    assert "have no disagreements" in refused.output


def test_help_names_the_verbs_and_imports_little(imported: Callable[..., set[str]]) -> None:
    """``build --help`` lists its verbs and loads neither pandas nor scipy nor a lexicon."""
    assert imported(["build", "--help"], ("pandas", "scipy", "wn", "torch", "rich")) == set()
    shown = CliRunner().invoke(cli, ["build", "--help"]).output
    for verb in ("minimal-pairs", "curate", "sheet", "read-sheet", "compare", "merge"):
        assert verb in shown
        assert CliRunner().invoke(cli, ["build", verb, "--help"]).exit_code == 0


def page_commands() -> list[list[str]]:
    """The commands of the how-to page that begin with ``lexiscope build``, as words."""
    blocks = re.findall(r"^```console\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    lines = (line.removeprefix("$ lexiscope ") for block in blocks for line in block.splitlines())
    return [shlex.split(line) for line in lines if line.startswith("build ")]


def accept_all(path: Path) -> None:
    """Do with a sheet what a curator does who likes everything."""
    with path.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(row | {"verdict": "accept"} for row in rows)


def test_the_page_runs(build: Path, run: Run) -> None:
    """The commands of the how-to page in their order, on the made-up build; keys are pressed where a person is."""
    build.rename("pairs")
    first, *rest, other_language = page_commands()
    assert first == ["build", "minimal-pairs", "--seed", "1", "--out", "pairs"]
    assert other_language[:4] == ["build", "minimal-pairs", "--corpus", "mine.csv"]
    for words in rest:
        if words[1] == "curate":
            curator = words[words.index("--curator") + 1]
            # ann takes another distractor in the first item, so that there is something to settle
            only = sorted(disputed_proposals(Path("pairs"), ("ann", "ben"))) if "--settle" in words else None
            at_bench(Path("pairs"), curator, "daaaaa", only=only)
            continue
        if words[1] == "read-sheet":
            accept_all(Path("ben.csv"))
        if "synonymy" in words or "--pos" in words:
            # the published collection and other parts of speech have tests of their own
            continue
        done = run(*words, *(("--lexicon", "wn:aa:1") if words[1] == "minimal-pairs" else ()))
        assert done.exit_code == 0, f"{words}\n{done.output}"
    assert len(read_collection("suites/collection.csv")) == 5
    assert [words[1] for words in rest] == [
        "minimal-pairs",
        *("curate", "sheet", "read-sheet", "compare", "curate", "merge", "minimal-pairs", "minimal-pairs"),
    ]


def test_three_parts_of_speech_of_the_page(run: Run, tmp_path: Path) -> None:
    """The page's command on a table with a noun of one sense, a verb and an adjective: two items and a control."""
    (words,) = (each for each in page_commands() if "--pos" in each)
    (tmp_path / "three.csv").write_text(THREE_PARTS, encoding="utf-8")
    done = run(*words, "--corpus", "three.csv", "--lexicon", "wn:aa:1", "--n-items", 0)
    assert done.exit_code == 0, done.output
    items = read_collection("three_parts/collection.csv")
    assert [(one.target, one.pos, one.synonym, one.distractor, one.n_senses) for one in items] == [
        ("leave", "v", "depart", "bequeath", 2),
        ("hard", "a", "difficult", "firm", 2),
        ("physician", "n", "doctor", "", 1),
    ]
    assert {word for one in items[:2] for word in one.random_nouns} == {*AA[8][2], *AA[11][2]}


@pytest.mark.published
@pytest.mark.usefixtures("published", "build")
def test_the_published_collection_of_the_page(run: Run) -> None:
    """The page's command that draws nouns anew for the published items."""
    (words,) = (each for each in page_commands() if "synonymy" in each)
    done = run(*words, "--lexicon", "wn:aa:1")
    assert done.exit_code == 0, f"{words}\n{done.output}"
    assert len(read_collection("matched/collection.csv")) == 200


def test_the_page_shows_the_bench(build: Path) -> None:
    """The screen in the how-to page is what the bench shows."""
    (block,) = re.findall(r"^```text\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    shown = {line.rstrip() for line in at_bench(build, "ann", "").splitlines()}
    assert len(block.splitlines()) > 12
    assert [line for line in block.splitlines() if line.rstrip() not in shown] == []


def test_a_low_window_shows_all_of_an_item(build: Path) -> None:
    """In 80 columns and 24 lines nothing scrolls away: not the last message, not the keys."""
    bench = CurationBench(read_proposals(build), DecisionLog(build, "ann"))
    console = Console(width=80, height=24)
    with console.capture() as shown:
        run_bench(bench, console, read_key=keys(""), read_line=lambda prompt: "")
    lines = shown.get().splitlines()
    assert len(lines) <= 24
    assert "item 1 of 5" in lines[0]
    assert lines[-1].endswith("q stop")


def press(folder: Path, pressed: bytes, *, kill: bool = False) -> tuple[int, str]:
    """Run the bench in a terminal of its own, press keys, end it by *q* or by force; return its status and output."""
    code = "from lexiscope.cli.main import main; main()"
    words = [sys.executable, "-c", code, "build", "curate", str(folder), "--curator", "ann"]
    ours, theirs = pty.openpty()
    shown = b""
    with subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True) as process:
        os.close(theirs)
        for key in (*(bytes([byte]) for byte in pressed), b"" if kill else b"q"):
            # a key is pressed once the screen has been drawn: its last line ends in "stop"
            shown += read_until(ours, b"stop")
            wait_for_keys(ours)
            os.write(ours, key)
        if kill:
            process.kill()
        shown += read_until(ours, b"decided, in")
        status = process.wait(timeout=30)
    os.close(ours)
    return status, shown.decode("utf-8", "replace")


def wait_for_keys(terminal: int) -> None:
    """Wait until the other side reads single keys: what is typed before that is thrown away, for safety."""
    end = time.monotonic() + 20
    while termios.tcgetattr(terminal)[3] & termios.ICANON and time.monotonic() < end:
        time.sleep(0.01)


def read_until(terminal: int, end: bytes) -> bytes:
    """Read from a terminal until *end* comes, nothing comes for long, or the other side is gone."""
    found = b""
    while end not in found and select.select([terminal], [], [], 20)[0]:
        try:
            found += os.read(terminal, 1 << 16)
        except OSError:
            break
    return found


def test_the_bench_in_a_real_terminal(build: Path) -> None:
    """Single keys, without Enter; the process is killed after a decision, which stays; then it goes on and stops."""
    status, _ = press(build, b"a", kill=True)
    assert status == -9
    assert len(DecisionLog(build, "ann").read()) == 1
    status, shown = press(build, b"da")
    assert status == 0
    assert "item 2 of 5" in shown
    assert "ann: 2 of 5 decided" in shown
    assert [one.distractor for one in DecisionLog(build, "ann").read()] == ["judiciary", "court"]
