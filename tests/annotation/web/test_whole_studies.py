"""Two whole studies on published items: set up by commands, served, answered by simulated people, exported, analysed.

The items are published; every answer here is made by the simulation. The whole studies run under the marker ``soak``.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from lexiscope.analysis.agreement.raters import leave_one_out
from lexiscope.analysis.ratings import Ratings
from lexiscope.annotation.export.package import write_export
from lexiscope.annotation.rehearsal.answers import Population
from lexiscope.annotation.rehearsal.through_server import ServerRun, rehearse_through_server
from lexiscope.annotation.study_file.assignment import plan_trials
from lexiscope.annotation.study_file.definition import Codes, KnownQuestion, Payment, RatingsSection
from lexiscope.annotation.study_file.definition_file import definition_yaml, read_definition
from lexiscope.annotation.study_file.study_folder import StudyOnDisk, read_study
from lexiscope.cli.main import cli

pytestmark = pytest.mark.published

Run = Callable[..., Result]
#: written for this test; the study is not one that anybody ran
CONSENT = "Participa usted en un estudio sobre el significado de las palabras.\n\nAcepto participar.\n"
RULES = ["failed_catch", "too_slow", "low_agreement", "self_report"]
HIGH = {
    "target": "crane",
    "precontext": "The lake lay still.",
    "sentence": "He watched the crane.",
    "ending": "It flew off.",
    "sense": "a large bird with long legs",
    "example": "A crane stood in the water.",
}
LOW = HIGH | {"sense": "a machine with a long arm", "example": "A crane set the roof on the hall."}


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run the command in an empty folder; unexpected errors are raised."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object) -> Result:
        return CliRunner().invoke(cli, [str(argument) for argument in arguments], catch_exceptions=False)

    return call


def complete(path: Path, **changes: object) -> None:
    """Write what a researcher has to write."""
    draft = read_definition(path).definition
    wanted: dict[str, object] = {
        "texts": draft.texts.model_copy(update={"consent": CONSENT}),
        "ethics": "Approved by nobody: this is a test.",
        "codes": Codes(completion="AAA", screen_out="BBB", no_consent="CCC", full="DDD"),
        "payment": Payment(amount=2.5, currency="EUR", minutes=15),
    }
    path.write_text(definition_yaml(draft.model_copy(update=wanted | changes)), encoding="utf-8")


# -- SAW-C: ten lists, a catch trial, four exclusion rules, Spanish ------------------------------------------------


def sawc_study(run: Run, published: Path, tmp_path: Path, n: int | None) -> StudyOnDisk:
    """The study as `init` drafts it on the published pairs (the first *n*), with what a researcher writes."""
    lines = (published / "sawc" / "sawc_sentence_pairs.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "pairs.csv").write_text("".join(lines[: None if n is None else n + 1]), encoding="utf-8")
    done = run("annotate", "init", "--items", "pairs.csv", "--language", "es", "--name", "sawc", "--out", "sawc.yaml")
    assert done.exit_code == 0, done.output
    complete(tmp_path / "sawc.yaml", **({} if n is None else {"ratings": RatingsSection(per_item=4)}))
    assert run("annotate", "check", "sawc.yaml").exit_code == 0
    return read_study(Path("sawc.yaml"))


def check_sawc(run: Run, made: ServerRun, study: StudyOnDisk, folder: Path) -> None:
    """Every pair has its valid ratings; `agree`, `study saw_c` and the statistics read the export as it is."""
    write_export(made.collected, folder)
    with (folder / "sawc_judgments.csv").open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    counts = Counter(row["Tag"] for row in rows)
    assert len(counts) == len(study.items)
    assert min(counts.values()) >= study.definition.ratings.per_item
    people = {row["Participant"] for row in rows}
    assert len(people) == made.valid
    agreed = run("agree", folder / "sawc_judgments.csv", "--json")
    assert agreed.exit_code == 0, agreed.output
    shown = {row["rater"]: row["leave_one_out"] for row in json.loads(agreed.stdout)["raters"]}
    ours = leave_one_out(Ratings.from_table(made.collected.item_answers, measure="rating"), resamples=0)
    assert shown == pytest.approx(dict(zip(ours.rater_ids, ours.values.tolist(), strict=True)))


def test_a_slice_of_sawc_through_its_server(run: Run, published: Path, tmp_path: Path) -> None:
    """24 pairs, 4 ratings each: init, check, serve to simulated people, export, agree."""
    study = sawc_study(run, published, tmp_path, 24)
    assert [rule.partition("(")[0] for rule in study.definition.exclusions] == RULES
    made = rehearse_through_server(study, population=Population(noise=0.4), seed=1)
    assert made.complete
    check_sawc(run, made, study, tmp_path / "exported")


@pytest.mark.soak
def test_the_whole_of_sawc_through_its_server(run: Run, published: Path, tmp_path: Path) -> None:
    """812 pairs in ten lists, until every pair has ten valid ratings; saw_c's own statistics read the export."""
    study = sawc_study(run, published, tmp_path, None)
    made = rehearse_through_server(study, seed=1)
    assert made.complete
    assert made.ratings[0] >= 10
    assert len(made.collected.design.lists) == 10
    check_sawc(run, made, study, tmp_path / "exported")
    studied = run("study", "saw_c", "--items", tmp_path / "exported" / "sawc_judgments.csv", "--out", tmp_path / "run")
    assert studied.exit_code == 0, studied.output


# -- AmbiStory: 130 groups × 30, no two variants of a story, qualification, attention check ------------------------


def write_stories(published: Path, path: Path, n_setups: int | None) -> None:
    """The published samples as an item file: six consecutive samples are one setup; *n_setups*: of different forms."""
    samples = []
    for name in ("train", "dev", "test"):
        found = json.loads((published / "ambistory" / f"{name}.json").read_text(encoding="utf-8"))
        samples += list(found.values())
    setups = [samples[start : start + 6] for start in range(0, len(samples), 6)]
    if n_setups is not None:
        setups = list({setup[0]["homonym"].casefold(): setup for setup in setups[:20]}.values())[:n_setups]
    rows = [
        story_row(sample, number, variant)
        for number, setup in enumerate(setups)
        for variant, sample in enumerate(setup)
    ]
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def story_row(sample: dict[str, str], setup: int, variant: int) -> dict[str, object]:
    """One sample as a line of an item file, its target by its place in the sentence."""
    form = sample["homonym"]
    # the one released sentence that lost its form
    form = "denotations" if form == "denominations" and "denotations" in sample["sentence"] else form
    found = re.search(rf"(?<!\w){re.escape(form)}(?!\w)", sample["sentence"], re.IGNORECASE)
    assert found is not None, sample
    return {
        "item_id": sample["sample_id"],
        "sentence": sample["sentence"],
        "target": found[0],
        "start": found.start(),
        "end": found.end(),
        "homonym": sample["homonym"].casefold(),
        "setup": f"s{setup}",
        "meaning": ("first", "second")[variant % 2],
        "ending_kind": ("a", "b", "open")[variant // 2],
        "precontext": sample["precontext"].strip(),
        "ending": sample["ending"],
        "sense": sample["judged_meaning"],
        "example": sample["example_sentence"],
    }


def ambistory_study(run: Run, published: Path, tmp_path: Path, n_setups: int | None) -> StudyOnDisk:
    """The study as `init` drafts it, with a qualification, an attention check, and the exclusion by it."""
    write_stories(published, tmp_path / "stories.csv", n_setups)
    done = run(
        *("annotate", "init", "--task", "plausibility", "--items", "stories.csv"),
        *("--language", "en", "--name", "ambistory", "--out", "ambistory.yaml"),
    )
    assert done.exit_code == 0, done.output
    draft = read_definition(tmp_path / "ambistory.yaml").definition
    lists = 130 if n_setups is None else 6
    complete(
        tmp_path / "ambistory.yaml",
        design=draft.design.model_copy(update={"lists": lists}),
        ratings=RatingsSection(per_item=5 if n_setups is None else 2),
        qualification=(
            KnownQuestion(id="q1", shows=HIGH, accept=(4, 5)),
            KnownQuestion(id="q2", shows=LOW, accept=(1, 2)),
        ),
        attention=(KnownQuestion(id="a1", shows=HIGH | {"ending": "It flapped its wings."}, accept=(4, 5)),),
        exclusions=("attention_check()",),
    )
    checked = run("annotate", "check", "ambistory.yaml")
    assert checked.exit_code == 0, checked.output
    return read_study(Path("ambistory.yaml"))


def check_ambistory(run: Run, made: ServerRun, study: StudyOnDisk, folder: Path) -> None:
    """Every sample has its valid ratings, one attention check stands in the middle, the release form is whole."""
    write_export(made.collected, folder)
    samples = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    assert len(samples) == len(study.items)
    assert min(len(one["choices"]) for one in samples.values()) >= study.definition.ratings.per_item
    assert all(set(one["choices"]) <= {1, 2, 3, 4, 5} for one in samples.values())
    assert {row["homonym"] for row in samples.values()} <= {item.usages[0].target for item in study.items} | {
        str(item.conditions["homonym"]) for item in study.items
    }
    per_person = Counter(row["participant_id"] for row in made.collected.rows if row["kind"] == "attention")
    assert set(per_person.values()) == {1}
    assert run("agree", folder / "responses.csv", "--json").exit_code == 0


def test_a_slice_of_ambistory_through_its_server(run: Run, published: Path, tmp_path: Path) -> None:
    """Six setups in six groups, two ratings of each sample, with qualification and attention check."""
    study = ambistory_study(run, published, tmp_path, 6)
    made = rehearse_through_server(study, population=Population(careless=0.1), seed=2)
    assert made.complete
    check_ambistory(run, made, study, tmp_path / "exported")


def test_nobody_meets_two_variants_of_a_story(run: Run, published: Path, tmp_path: Path) -> None:
    """Over 1,000 places in the 130 groups of all 3,798 samples: one variant of a setup, one setup of a form (S18)."""
    made = ambistory_study(run, published, tmp_path, None).freeze()
    assert len(made.design.lists) == 130
    assert {len(items) for items in made.design.lists} == {29, 30}
    for number in range(1000):
        trials = plan_trials(made.definition, made.design, list_number=number % 130, number=number)
        real = [trial.item for trial in trials if trial.kind == "item"]
        for condition in ("setup", "homonym"):
            assert len({item.conditions[condition] for item in real}) == len(real)
        (check,) = (trial.position for trial in trials if trial.kind == "attention")
        assert 0 < check < len(trials) - 1


@pytest.mark.soak
def test_the_whole_of_ambistory_through_its_server(run: Run, published: Path, tmp_path: Path) -> None:
    """3,798 samples in 130 groups of 30, five valid ratings of each."""
    study = ambistory_study(run, published, tmp_path, None)
    made = rehearse_through_server(study, seed=1)
    assert made.complete
    assert made.ratings[0] >= 5
    check_ambistory(run, made, study, tmp_path / "exported")
