"""``lexiscope annotate``: draft, check, design and rehearse a study from the command line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from lexiscope.annotation.study_file.definition import Codes, KnownQuestion, Payment
from lexiscope.annotation.study_file.definition_file import definition_yaml, read_definition
from lexiscope.datasets.mini_relatedness import load

Run = Callable[..., Result]
HEAVY = ("torch", "pandas", "scipy", "statsmodels", "matplotlib")

#: written for this test; the study is not one that anybody ran
CONSENT = "A test study. I agree.\n"


@pytest.fixture
def items_file(tmp_path: Path) -> Path:
    """The mini items as an item file."""
    rows = ["item_id,sentence_1,sentence_2,target,same_sense"]
    for item in load("en").items[:36]:
        first, second = item.usages
        same = str(item.conditions["same_sense"]).lower()
        rows.append(f'{item.item_id},"{first.text}","{second.text}",{first.target},{same}')
    (tmp_path / "items.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return tmp_path / "items.csv"


@pytest.fixture
def drafted(run: Run, items_file: Path) -> Path:
    """A draft as ``init`` writes it."""
    done = run("annotate", "init", "--items", items_file.name, "--language", "en", "--out", "study.yaml")
    assert done.exit_code == 0, done.output
    return items_file.parent / "study.yaml"


def complete(path: Path, **changes: object) -> None:
    """Write what a researcher has to write."""
    draft = read_definition(path).definition
    codes = Codes(completion="AAA", no_consent="CCC")
    wanted: dict[str, object] = {
        "texts": draft.texts.model_copy(update={"consent": CONSENT}),
        "ethics": "Approved by nobody: this is a test.",
        "codes": codes,
        "payment": Payment(amount=3, currency="EUR", minutes=15),
        "contact": "team@example.org",
        "retention": draft.retention.model_copy(update={"answers": "Kept for ten years."}),
    }
    path.write_text(definition_yaml(draft.model_copy(update=wanted | changes)), encoding="utf-8")


def test_a_draft_takes_what_its_task_shows_for_conditions(run: Run, tmp_path: Path) -> None:
    """A column `sense` is what a plausibility page shows, and no sense id: the file is drafted as it is."""
    (tmp_path / "stories.csv").write_text(
        "item_id,setup,precontext,sentence,target,ending,sense,example\n"
        "s1,a,It rained.,They met at the bank.,bank,,where money is kept,Pay at the bank.\n"
        "s2,b,It rained.,They met at the seal.,seal,,an animal of the sea,A seal swam by.\n",
        encoding="utf-8",
    )
    options = ("--task", "plausibility", "--language", "en", "--out", "stories.yaml")
    done = run("annotate", "init", "--items", "stories.csv", *options)
    assert done.exit_code == 0, done.output
    assert "Saved stories.yaml (2 items, " in done.output


def test_init_writes_every_setting(run: Run, drafted: Path) -> None:
    """The draft names its items, its one list and every default; a second draft does not overwrite it."""
    text = drafted.read_text(encoding="utf-8")
    assert "items: items.csv" in text
    assert "# minutes without a saved answer" in text
    assert "not related at all" in text
    again = run("annotate", "init", "--items", "items.csv", "--language", "en", "--out", "study.yaml")
    assert again.exit_code == 1
    assert "E615" in again.output


def test_a_template_has_the_questions_of_a_study(run: Run, tmp_path: Path) -> None:
    """The file says TEMPLATE, lists the questions as blanks, and replaces no other file."""
    done = run("annotate", "template", "--study", "saw_c", "--out", str(tmp_path / "plan.md"))
    assert done.exit_code == 0, done.output
    text = (tmp_path / "plan.md").read_text(encoding="utf-8")
    assert text.startswith("# TEMPLATE: pre-registration\n")
    assert "- Q1: Do people rate two uses of the same sense" in text
    again = run("annotate", "template", "--out", str(tmp_path / "plan.md"))
    assert again.exit_code == 1
    assert "E615" in again.output
    assert (tmp_path / "plan.md").read_text(encoding="utf-8") == text
    assert run("annotate", "template", "--study", "saw_d", "--out", str(tmp_path / "other.md")).exit_code == 1
    assert not (tmp_path / "other.md").exists()


def test_init_asks_for_the_language(run: Run, items_file: Path) -> None:
    """No language is guessed for the texts of participants."""
    done = run("annotate", "init", "--items", items_file.name, "--out", "study.yaml")
    assert done.exit_code == 2
    assert "--language" in done.output
    assert not (items_file.parent / "study.yaml").exists()


def test_init_names_an_unknown_task_and_a_missing_file(run: Run, items_file: Path) -> None:
    """A wrong name is an error with the names that there are, and nothing is written."""
    common = ("annotate", "init", "--language", "en", "--out", "study.yaml")
    done = run(*common, "--items", items_file.name, "--task", "relatednes")
    assert (done.exit_code, "relatedness" in done.output) == (1, True)
    missing = run(*common, "--items", "nothing.csv")
    assert (missing.exit_code, "E001" in missing.output) == (1, True)


def test_init_maps_columns(run: Run, items_file: Path) -> None:
    """Columns of unusual names are mapped once, and the study file keeps the map."""
    text = items_file.read_text(encoding="utf-8").replace("sentence_1,", "Frase,", 1)
    items_file.write_text(text, encoding="utf-8")
    mapped = ("--map", "sentence_1=Frase")
    done = run("annotate", "init", "--items", "items.csv", "--language", "en", "--out", "s.yaml", *mapped)
    assert done.exit_code == 0, done.output
    assert run("annotate", "design", "s.yaml").exit_code == 0


def test_check_refuses_a_draft_at_its_lines(run: Run, drafted: Path) -> None:
    """Without consent, ethics and codes the exit status is 1, each problem at its line with a caret."""
    done = run("annotate", "check", "study.yaml")
    assert done.exit_code == 1
    lines = drafted.read_text(encoding="utf-8").splitlines()
    consent = next(number for number, line in enumerate(lines, 1) if line.startswith("  consent:"))
    assert f"study.yaml:{consent}:12: [E621] The text 'consent' is empty." in done.output
    assert "[E622] The ethics statement is empty." in done.output
    assert "Not ready: 4 errors to fix." in done.output
    assert "3 warnings (they do not block the launch)." in done.output
    # four problems and three warnings, each at its place
    assert done.output.count("^^") == 4 + 3


def test_check_passes_a_complete_study(run: Run, drafted: Path) -> None:
    """A complete study is ready; pay per hour is printed, and no hashes."""
    complete(drafted)
    done = run("annotate", "check", "study.yaml")
    assert done.exit_code == 0, done.output
    assert "Ready: 36 items, 1 list, 12.00 EUR per hour." in done.output
    assert not re.search(r"\b[0-9a-f]{12}\b", done.output)
    assert run("annotate", "check", "study.yaml", "--json").output.strip() == "[]"


def test_check_warns_and_refuses_nothing(run: Run, drafted: Path) -> None:
    """Nobody paid, nobody to write to, rows that are one item together: said apart from errors, exit status 0."""
    complete(drafted, payment=Payment(), contact="")
    lines = (drafted.parent / "items.csv").read_text(encoding="utf-8").splitlines()
    rows = [lines[0] + ",wave", *(line + ",1" for line in lines[1:]), lines[-1] + ",2"]
    (drafted.parent / "items.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    done = run("annotate", "check", "study.yaml")
    assert done.exit_code == 0, done.output
    assert [f"[{code}]" in done.output for code in ("W630", "W631", "W632", "W634")] == [True, True, False, True]
    assert "37 rows → 36 items; columns that vary within an item: wave" in done.output
    assert "3 warnings (they do not block the launch)." in done.output
    assert "Ready: 36 items" in done.output
    found = json.loads(run("annotate", "check", "study.yaml", "--json").output)
    assert {problem["severity"] for problem in found} == {"warning"}


def test_init_says_what_became_of_rows(run: Run, tmp_path: Path) -> None:
    """Rows that are one item together are told, with the columns that are left out."""
    text = "word,sentence_1,sentence_2,wave\n" + "".join(f"bat,The bat slept.,A bat broke.,{n}\n" for n in (1, 2))
    (tmp_path / "pairs.csv").write_text(text + "bat,Two bats and a bat.,The bat.,1\n", encoding="utf-8")
    done = run("annotate", "init", "--items", "pairs.csv", "--language", "en", "--out", "pairs.yaml")
    assert done.exit_code == 0, done.output
    assert "3 rows → 2 items; columns that vary within an item: wave" in done.output


def test_check_finds_a_search_list_that_is_not_there(run: Run, tmp_path: Path) -> None:
    """What participants search is read before the launch, not when the study is served."""
    (tmp_path / "mentions.csv").write_text("word,sentence\nCambridge,Cambridge froze.\n", encoding="utf-8")
    options = ("--task", "entity_link", "--language", "en", "--out", "mentions.yaml")
    assert run("annotate", "init", "--items", "mentions.csv", *options).exit_code == 0
    complete(tmp_path / "mentions.yaml", search="pages.tsv")
    done = run("annotate", "check", "mentions.yaml")
    assert (done.exit_code, "[E619] pages.tsv:" in done.output) == (1, True)
    (tmp_path / "pages.tsv").write_text("title\nCambridge\n", encoding="utf-8")
    assert run("annotate", "check", "mentions.yaml").exit_code == 0


PEOPLE = [
    # lists × views × answers an item
    ("same_sense", 1, "2 valid answers per item in each of 2 views (full, context): 4 participants, plus"),
    ("plausibility", 1, "1 valid answer per item: 1 participant, plus"),
    # four words at two a person are two writers
    ("ambiguous_sentence", 1, "2 participants with 2 answers each, plus"),
]


@pytest.mark.parametrize(("task", "per_item", "said"), PEOPLE)
def test_design_says_how_many_people(run: Run, tmp_path: Path, task: str, per_item: int, said: str) -> None:
    """People are lists × arms × answers an item; where items are drawn, those that the study opens at first."""
    rows = {
        "same_sense": ["word,sentence_1,sentence_2", *(f"w{n},A w{n}.,The w{n}." for n in range(4))],
        "plausibility": ["word,precontext,sentence,ending,sense,example", *(f"w{n},P.,A w{n}.,,s,e" for n in range(4))],
        "ambiguous_sentence": ["word,sense_1,example_1,sense_2,example_2", *(f"w{n},a,b,c,d" for n in range(4))],
    }[task]
    (tmp_path / "items.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    options = ("--task", task, "--language", "en", "--out", "s.yaml")
    assert run("annotate", "init", "--items", "items.csv", *options).exit_code == 0
    if task == "plausibility":
        text = (tmp_path / "s.yaml").read_text(encoding="utf-8").replace("  per_item: 5\n", f"  per_item: {per_item}\n")
        (tmp_path / "s.yaml").write_text(text, encoding="utf-8")
    done = run("annotate", "design", "s.yaml")
    assert done.exit_code == 0, done.output
    assert said in " ".join(done.output.split())


def test_check_as_json(run: Run, drafted: Path) -> None:
    """Programs get the code, the setting and the place of each problem."""
    found = json.loads(run("annotate", "check", "study.yaml", "--json").output)
    assert [problem["setting"] for problem in found][:2] == ["texts.consent", "ethics"]
    assert all(problem["line"] and problem["what_to_do"] for problem in found)


def test_a_mistake_is_shown_with_a_caret(run: Run, drafted: Path) -> None:
    """Every verb shows a mistake in the file where it stands."""
    text = drafted.read_text(encoding="utf-8").replace("  lists: 1\n", "  lists: one\n")
    drafted.write_text(text, encoding="utf-8")
    for verb in ("check", "design", "simulate"):
        done = run("annotate", verb, "study.yaml")
        assert done.exit_code == 1
        assert "[E612] design.lists" in done.output
        assert "      lists: one\n             ^^^" in done.output


def test_design_prints_the_lists(run: Run, drafted: Path) -> None:
    """A line per list; JSON has the items of each list."""
    text = drafted.read_text(encoding="utf-8").replace("  lists: 1\n", "  lists: 4\n")
    drafted.write_text(text, encoding="utf-8")
    done = run("annotate", "design", "study.yaml")
    assert done.exit_code == 0, done.output
    assert [line.split()[:3] for line in done.output.splitlines()[1:5]] == [[str(k), "9", "1"] for k in (1, 2, 3, 4)]
    assert "40 participants" in done.output
    lists = json.loads(run("annotate", "design", "study.yaml", "--json").output)["lists"]
    assert len({item for each in lists for item in each["items"]}) == 36


def test_an_impossible_design_is_refused(run: Run, drafted: Path) -> None:
    """More lists than items cannot be, and the message stands at the design of the file."""
    text = drafted.read_text(encoding="utf-8").replace("  lists: 1\n", "  lists: 37\n")
    drafted.write_text(text, encoding="utf-8")
    for verb in ("design", "simulate"):
        done = run("annotate", verb, "study.yaml")
        assert done.exit_code == 1
        assert "[E407] 36 items cannot be divided into 37 lists" in done.output
        assert "study.yaml:" in done.output


def test_simulate_prints_and_gives_json(run: Run, drafted: Path) -> None:
    """A draft can be rehearsed before its texts are written; the same seeds give the same numbers."""
    done = run("annotate", "simulate", "study.yaml", "--seeds", 2)
    assert done.exit_code == 0, done.output
    for said in (
        "simulated participants paid",
        "2 rehearsals, 2 complete",
        "failed_catch",
        "(no rule)",
        "significant at .05",
    ):
        assert said in done.output
    assert "Not ready to launch: 4 errors to fix." in done.output
    found, again = (
        json.loads(run("annotate", "simulate", "study.yaml", "--seeds", 2, "--json").output) for _ in range(2)
    )
    assert found == again
    assert [each["seed"] for each in found["runs"]] == [1, 2]
    assert found["fewest_ratings"] >= 10
    assert found["n_complete"] == 2


def test_simulate_refuses_rules_that_cannot_be_judged(run: Run, drafted: Path) -> None:
    """A rule about a question that nobody asks stops the rehearsal at its line."""
    complete(drafted, about_you=())
    done = run("annotate", "simulate", "study.yaml", "--seeds", 1)
    assert done.exit_code == 1
    assert "[E626] No question about the participant is named 'native_speaker'." in done.output


def test_simulate_refuses_impossible_shares(run: Run, drafted: Path) -> None:
    """A share above 1 is wrong usage; shares that add up to more than 1 are an error."""
    assert run("annotate", "simulate", "study.yaml", "--careless", "1.2").exit_code == 2
    done = run("annotate", "simulate", "study.yaml", "--careless", "0.8", "--slow", "0.8", "--seeds", "1")
    assert done.exit_code == 1
    assert "add up to more than 1" in done.output


def test_setting_up_needs_no_heavy_library(drafted: Path, imported: Callable[..., set[str]]) -> None:
    """Help, check and design start without the libraries that only an analysis needs."""
    complete(drafted)
    assert imported(["annotate", "--help"], HEAVY) == set()
    for verb in ("check", "design"):
        # Arrow itself loads pandas where it is installed, to tell which of a column's values are missing
        assert imported(["annotate", verb, str(drafted)], HEAVY) <= {"pandas"}


@pytest.mark.published
def test_a_sawc_study_in_spanish(run: Run, tmp_path: Path, published: Path) -> None:
    """812 pairs → ten lists, catch trial, four rules, Spanish throughout; an example of the material is refused."""
    source = published / "sawc" / "sawc_sentence_pairs.csv"
    done = run("annotate", "init", "--items", source, "--language", "es", "--name", "sawc", "--out", "sawc.yaml")
    assert done.exit_code == 0, done.output
    path = tmp_path / "sawc.yaml"
    complete(path)
    checked = run("annotate", "check", "sawc.yaml")
    assert checked.exit_code == 0, checked.output
    study = read_definition(path).definition
    assert len(study.exclusions) == 4
    assert [anchor.text for anchor in study.scale.anchors] == ["totalmente sin relación", "mismo significado"]
    assert "oraciones" in study.texts.instructions
    design = run("annotate", "design", "sawc.yaml")
    assert [line.split()[1:4] for line in design.output.splitlines()[1:3]] == [["82", "1", "3"], ["81", "1", "3"]]

    shows = {"target": "aceite", "sentence_1": "Hay aceite.", "sentence_2": "Falta aceite."}
    complete(path, examples=(KnownQuestion(id="e", shows=shows),))
    refused = run("annotate", "check", "sawc.yaml")
    assert refused.exit_code == 1
    assert "[E623] The example word 'aceite' is a target of the study." in refused.output
