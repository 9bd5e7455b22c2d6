"""The synonymy study on relations and languages of one's own: what fits is analysed, the rest has a reason."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from lexiscope.analysis.choices.design import Cell
from lexiscope.build.gap_filling.gaps import gap_items
from lexiscope.core.errors import InputError, SpecError
from lexiscope.core.result import Record, find_record, read_records
from lexiscope.core.run import read_json
from lexiscope.items.choice_sets.collection_file import read_collection
from lexiscope.items.choice_sets.minimal_pairs import choice_sets
from lexiscope.items.choice_sets.templates import read_templates
from lexiscope.items.tables.tabular import write_items
from lexiscope.studies.synonymy import study
from lexiscope.studies.synonymy.design import RunDesign, ordered_cells
from lexiscope.studies.synonymy.settings import SynonymySettings

# hyponymy in German: every sentence is ours; the first and the third item share one
KINDS = """\
target,synonym,distractor,sentence,sentence_id,random_nouns
Amsel,Vogel,Fisch,Im Garten sang eine Amsel unter der Eiche.,s1,Lampe|Wolke|Brief
Lachs,Fisch,Vogel,Wir kochten den Lachs mit Kräutern.,s2,Lampe|Wolke|Brief
Eiche,Baum,Blume,Im Garten sang eine Amsel unter der Eiche.,s1,Lampe|Wolke|Brief
Tulpe,Blume,Baum,Sie stellte eine Tulpe auf den Tisch.,s3,Lampe|Wolke|Brief
Hammer,Werkzeug,Möbel,Er suchte den Hammer im Keller.,s4,Lampe|Wolke|Brief
Sessel,Möbel,Werkzeug,Der Sessel steht am Fenster.,s5,Lampe|Wolke|Brief
"""
TEMPLATES = """\
language: de
templates:
  - name: art
    suite: hyponymy
    expression: ist eine Art
    pattern: "{context} {Target} ist eine Art {word}."
  - name: zaehlt
    suite: hyponymy
    expression: gehört zur Gruppe
    pattern: "{context} {Target} gehört zur Gruppe {word}."
  - name: verweis
    suite: reference
    pattern: "{context} So ein {word}"
  - name: allein
    suite: hyponymy_alone
    expression: ist eine Art
    pattern: "{Target} ist eine Art {word}."
    conditions: [correct_vs_random, incorrect_vs_random]
"""
SPANISH = """\
target,synonym,distractor,sentence,language
barco,buque,tren,El barco salió del puerto.,es
coche,auto,avión,Dejó el coche en la calle.,es
rostro,semblante,zapato,Miró el rostro de la niña.,es
"""
SPANISH_TEMPLATES = """\
language: es
templates:
  - name: sustituye
    suite: substitution
    pattern: "{substituted}"
  - name: igual
    suite: relation
    expression: es lo mismo que
    pattern: "{context} {Target} es lo mismo que {word}."
    turned: "{context} {Word} es lo mismo que {target}."
"""


CROSSED = ("hyponymy/ist eine Art/controlled", "hyponymy/gehört zur Gruppe/random")


def files(folder: Path, items: str, templates: str) -> SynonymySettings:
    """The two files of a user, and settings that name them."""
    (folder / "own.csv").write_text(items, encoding="utf-8")
    (folder / "own.yaml").write_text(templates, encoding="utf-8")
    return SynonymySettings(
        items=str(folder / "own.csv"), templates=str(folder / "own.yaml"), n_bootstrap=50, outputs=()
    )


def left_out(run: Path) -> dict[str, str]:
    """What the report says does not apply, and why."""
    with (run / "tables" / "left_out.csv").open(encoding="utf-8") as stream:
        return {analysis: why for analysis, _, why in list(csv.reader(stream))[1:]}


@pytest.fixture(scope="module")
def german(
    learn_by_heart: Callable[..., list[Path]], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, str, tuple[Record, ...]]:
    """A toy model that knows the texts “X ist eine Art Y” by heart, asked everything; the run, its id, its records."""
    folder = tmp_path_factory.mktemp("german")
    settings = files(folder, KINDS, TEMPLATES)
    collection = read_collection(settings.items, language="de")
    asked = choice_sets(collection, read_templates(settings.templates), dataset="own")
    right = [item for item in asked if item.item_id.endswith("hyponymy/ist_eine_art/controlled")]
    [model] = learn_by_heart(right, asked, folder / "toy", steps=(80,))
    counts = folder / "counts.csv"
    words = ("Vogel", "Fisch", "Baum", "Blume", "Werkzeug", "Möbel")
    counts.write_text("word,count\n" + "".join(f"{word},{n}\n" for n, word in enumerate(words, 1)), encoding="utf-8")
    spec = f"causal_lm:{model}?self_test=no"
    asked = replace(settings, subjects=(spec,), frequency=str(counts), consistency=(CROSSED,))
    study.run(asked, folder / "run")
    return folder / "run", f"causal_lm:{model}", read_records(folder / "run" / "results.json")


def test_without_resamples_a_scoring_model_has_values_without_intervals(
    german: tuple[Path, str, tuple[Record, ...]], tmp_path: Path
) -> None:
    """``--bootstrap 0``: the values of the run with resamples, one-by-one comparisons too, and no interval drawn."""
    _, subject, records = german
    settings = files(tmp_path, KINDS, TEMPLATES)
    study.run(replace(settings, subjects=(f"{subject}?self_test=no",), n_bootstrap=0), tmp_path / "run")
    bare = read_records(tmp_path / "run" / "results.json")
    drawn, own = (
        {(r.statistic, r.condition): r.value for r in every if (r.subject, r.statistic[:9]) == (subject, "pairwise_")}
        for every in (records, bare)
    )
    assert own == drawn
    assert own
    assert not [r for r in bare if "bootstrap" in r.interval]


def test_parts_of_speech_and_controls_are_compared(tmp_path: Path) -> None:
    """Of the table of counts the more frequent word wins: of the nouns *invoice* (one of three), of the others none.

    *invoice* 1, all other words 0: a tie is wrong. Controls are in no accuracy but their own.
    """
    counts = tmp_path / "counts.csv"
    counts.write_text("word,count\ninvoice,1\nbike,3\ncarpet,2\n", encoding="utf-8")
    items = Path(__file__).parents[1] / "data" / "synonyms_by_part_of_speech.csv"
    asked = SynonymySettings(
        items=str(items), subjects=("baseline:random",), frequency=str(counts), n_bootstrap=20, outputs=()
    )
    study.run(asked, tmp_path / "run")
    records = read_records(tmp_path / "run" / "results.json")
    [words] = {record.subject for record in records if record.subject.startswith("baseline:frequency")}

    def of_words(statistic: str, condition: str = "substitution/random") -> float | None:
        return value(records, statistic, words, condition)

    shares = {
        group: of_words(f"accuracy_by_group(of=accuracy,group={group},per=option)")
        for group in ("noun", "verb", "adjective", "several_senses", "one_sense")
    }
    assert shares == pytest.approx(
        {"noun": 100 / 3, "verb": 0, "adjective": 0, "several_senses": 100 / 9, "one_sense": 100 / 3}
    )
    name = "group_difference(of=accuracy,first=several_senses,second=one_sense,per=option)"
    assert of_words(name) == pytest.approx(100 / 9 - 100 / 3)
    # in the study's own accuracies there are the nine items with a distractor
    assert find_record(records, "percent_right(per=option)", subject=words, condition="substitution/random").n == 9
    assert left_out(tmp_path / "run")["The suite reference"].startswith("Its texts are for a noun")


def value(records: Sequence[Record], statistic: str, subject: str, condition: str) -> float | None:
    return find_record(records, statistic, subject=subject, condition=condition).value


def test_accuracy_best_of_two_of_several_and_of_both(german: tuple[Path, str, tuple[Record, ...]]) -> None:
    """Chance: 1/2, 1 of 4 words, best of 5, the best two of 5; what was learned by heart is right in all items."""
    _, toy, records = german
    learned = "hyponymy/ist eine Art"
    assert value(records, "percent_right(per=token)", toy, f"{learned}/controlled") == 100.0
    assert value(records, "percent_right(per=token)", toy, f"{learned}/random") == 100.0
    alone = "hyponymy_alone/ist eine Art"
    chances = {
        f"{learned}/controlled": 50.0,
        f"{learned}/random": 25.0,
        f"{learned}/controlled_and_random": 20.0,
        f"{alone}/correct_vs_random": 25.0,
        f"{alone}/both_vs_random": 10.0,
        "reference/controlled": 50.0,
    }
    for condition, chance in chances.items():
        assert value(records, "chance(of=percent_right,per=token)", toy, condition) == pytest.approx(chance, abs=1e-9)


def test_word_frequency_stands_beside(german: tuple[Path, str, tuple[Record, ...]]) -> None:
    """The table counts Vogel 1 … Möbel 6: the right word wins in Fisch/Vogel, Blume/Baum, Möbel/Werkzeug, 3 of 6."""
    _, toy, records = german
    base = next(r.subject for r in records if r.subject.startswith("baseline:frequency"))
    cell = "hyponymy/ist eine Art/controlled"
    assert value(records, "percent_right(per=option)", base, cell) == 50.0
    # the random nouns were never counted: every right word is more frequent
    assert value(records, "percent_right(per=option)", base, "hyponymy/ist eine Art/random") == 100.0
    assert value(records, "above_baseline", toy, cell) == 50.0
    assert value(records, "accuracy_by_frequency(counts=baseline,synonym=less_frequent)", toy, cell) == 100.0


def test_nothing_of_the_paper_is_said_of_own_items(
    german: tuple[Path, str, tuple[Record, ...]], assert_own: Callable[[Path], None]
) -> None:
    """No plan, sample or place of a paper; all analyses are exploratory."""
    run, _, records = german
    assert_own(run)
    assert {record.analysis for record in records if record.question} == {"exploratory"}


def test_every_analysis_that_fits_is_there(german: tuple[Path, str, tuple[Record, ...]]) -> None:
    """Contrasts of suites, conditions, context and expressions, consistency, tokens, the best expression, gaps."""
    run, toy, records = german
    learned, other = "hyponymy/ist eine Art", "hyponymy/gehört zur Gruppe"
    contrasts = {r.condition for r in records if r.statistic == "paired_t" and r.subject == toy}
    assert contrasts >= {
        f"{learned}/controlled vs reference/controlled",
        f"{learned}/controlled vs {learned}/random",
        f"{learned}/random vs hyponymy_alone/ist eine Art/correct_vs_random",
        f"{learned}/controlled vs {other}/controlled",
    }
    difference = find_record(
        records, "percent_right_difference", subject=toy, condition=f"{learned}/controlled vs {other}/controlled"
    )
    assert difference.interval, "an interval that resamples sentences"
    # right in the second where right in the first, and the counts of all 6 items
    pair = f"{learned}/controlled vs {learned}/random"
    assert value(records, "given(a=1,b=1)", toy, pair) == 1.0
    assert value(records, "n_consistent(a=1,b=1)", toy, pair) == 6
    # a pair that the plan does not have: all 6 are right in the first, so that the share is the second's accuracy
    right = value(records, "percent_right(per=token)", toy, CROSSED[1])
    assert value(records, "given(a=1,b=1)", toy, " vs ".join(CROSSED)) == pytest.approx((right or 0) / 100, abs=1e-9)
    # each word is one token of this tokenizer: delta 0 in all three controlled suites of an item, of two suites here
    assert value(records, "n_by_delta(delta=0)", toy, "own token deltas") == 12
    best = find_record(records, "best_expression", subject=toy, condition="hyponymy/controlled")
    assert best.value == 100.0
    assert "ist eine Art" in best.note
    page = (run / "report.html").read_text(encoding="utf-8")
    assert "Do models prefer the right word to the wrong one" in page
    assert "Table 5" not in page


def test_gaps_are_filled_with_the_users_own_prompt(german: tuple[Path, str, tuple[Record, ...]]) -> None:
    """The first template with a context is cut before its word; what was learned by heart is completed."""
    run, toy, records = german
    [gap] = {r.condition for r in records if r.statistic == "gap_accuracy(answers=curated,n=1)"}
    assert gap.startswith("greedy")
    assert find_record(records, "gap_accuracy(answers=curated,n=1)", subject=toy).value == 100.0
    assert not [r for r in records if "synset" in r.statistic or r.statistic.startswith("gap_category")]
    collection = read_collection(run.parent / "own.csv", language="de")
    [first, *_] = gap_items(collection, template=read_templates(run.parent / "own.yaml")[0], dataset="own")
    assert first.conditions["prompt"] == "Amsel ist eine Art"
    assert "“T ist eine Art”" in (run / "report.html").read_text(encoding="utf-8")


def test_what_does_not_apply_is_said_with_its_reason(german: tuple[Path, str, tuple[Record, ...]]) -> None:
    """Nothing of the paper is compared; hyponymy holds one way only; no synsets, no categories."""
    run, _, records = german
    said = left_out(run)
    assert set(said) == {
        "Comparison with the paper's numbers",
        "The relation turned round",
        "Gap filling by synset",
        "Error categories of gap filling",
    }
    assert not any(record.status or record.published is not None for record in records)
    assert not [record for record in records if record.statistic == "same_both_ways"]
    about = read_json(run / "run.json")
    assert about["given"].keys() == {
        str(run.parent / "own.yaml"),
        str(run.parent / "counts.csv"),
    }


def test_a_relation_that_holds_both_ways_in_spanish(tmp_path: Path) -> None:
    """Without random nouns: controlled cells alone; the template's turned text is asked; a baseline guesses."""
    settings = replace(files(tmp_path, SPANISH, SPANISH_TEMPLATES), subjects=("baseline:random",))
    summary = study.run(settings, tmp_path / "run")
    records = read_records(tmp_path / "run" / "results.json")
    asked = {r.condition for r in records if r.statistic.startswith("percent_right(")}
    both = ("relation/es lo mismo que/controlled", "relation_turned/es lo mismo que/controlled")
    assert asked == {"substitution/controlled", *both}
    assert find_record(records, "same_both_ways", condition=both[0]).n == 3
    said = left_out(tmp_path / "run")
    assert {
        "Random conditions, best of several and both",
        "The word-frequency baseline",
        "The effect of tokens",
    } <= set(said)
    assert "--frequency" in said["The word-frequency baseline"]
    assert len(summary.overview.rows) == 2


def test_the_papers_items_with_templates_of_ones_own(tmp_path: Path) -> None:
    """A dataset and templates: recorded outcomes belong to other texts: they do not stand there."""
    (tmp_path / "own.yaml").write_text(
        "templates:\n  - {name: t, suite: near, expression: is near, pattern: '{context} {Target} is near {word}.'}\n",
        encoding="utf-8",
    )
    settings = replace(study.MINI, templates=str(tmp_path / "own.yaml"), n_bootstrap=10, outputs=())
    study.run(settings, tmp_path / "run")
    records = read_records(tmp_path / "run" / "results.json")
    conditions = {r.condition for r in records if r.statistic.startswith("percent_right(")}
    assert conditions == {f"near/is near/{each}" for each in ("controlled", "random", "controlled_and_random")}
    with pytest.raises(SpecError, match="recorded outcomes were made with the paper's templates"):
        study.run(replace(settings, recorded=("a",)), tmp_path / "other")


@pytest.mark.parametrize(
    ("nouns", "told"),
    [
        (("Lamp|Cloud|Letter",) * 2, "against 3 random nouns (1/4). Without context"),
        (("Lamp|Cloud|Letter",) * 2, "the two best of 5 for “both” (1/10)."),
        (("", ""), "Controlled: the synonym of the target's sense against a synonym of another sense (chance 1/2)."),
    ],
)
def test_the_method_counts_the_random_nouns_of_these_items(nouns: tuple[str, str], told: str, tmp_path: Path) -> None:
    """With the paper's templates too: 3 nouns and a word are 4 options, 1/4; the best two of 5 are 1/10. The paper's
    1/11 and 1/66 are of ten nouns."""
    (tmp_path / "own.csv").write_text(
        "target,synonym,distractor,sentence,random_nouns\n"
        f"bench,pew,judiciary,They carried the old bench out to the garden.,{nouns[0]}\n"
        f"bank,shore,lender,We sat on the bank of the river.,{nouns[1]}\n",
        encoding="utf-8",
    )
    settings = SynonymySettings(
        items=str(tmp_path / "own.csv"), subjects=("baseline:random",), n_bootstrap=20, outputs=()
    )
    study.run(settings, tmp_path / "run")
    page = unescape((tmp_path / "run" / "report.html").read_text(encoding="utf-8"))
    assert told in page
    assert "1/11" not in page
    assert "1/66" not in page
    assert "Tables 7, 8" not in page
    if not nouns[0]:
        assert "against ten" not in page


def test_choice_sets_that_are_ready(tmp_path: Path) -> None:
    """A table of minimal pairs is one suite, a row an item; a table of items keeps its suites; neither fills gaps."""
    pairs = tmp_path / "pairs.csv"
    pairs.write_text(
        "item_id,correct,incorrect_1\na,Der Hund bellt.,Der Hund bellen.\nb,Die Katze schläft.,Die Katze schlafen.\n",
        encoding="utf-8",
    )
    settings = SynonymySettings(
        items=str(pairs), language="de", subjects=("baseline:random",), n_bootstrap=10, outputs=()
    )
    study.run(settings, tmp_path / "run")
    records = read_records(tmp_path / "run" / "results.json")
    assert {r.condition for r in records if r.statistic.startswith("percent_right(")} == {"pairs/controlled"}
    said = left_out(tmp_path / "run")
    assert "name no answer" in said["Gap filling"]
    assert "one test" in said["Consistency of two tests"]
    own = files(tmp_path, KINDS, TEMPLATES)
    collection = read_collection(own.items, language="de")
    write_items(choice_sets(collection, read_templates(own.templates), dataset="own"), tmp_path / "items.csv")
    study.run(replace(settings, items=str(tmp_path / "items.csv")), tmp_path / "again")
    again = read_records(tmp_path / "again" / "results.json")
    assert "hyponymy/gehört zur Gruppe/random" in {r.condition for r in again}
    with pytest.raises(SpecError, match="templates have no effect"):
        study.run(replace(settings, templates=own.templates), tmp_path / "third")


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        ("a,x y,x z,,1\nb,u v,u w,u t,2\n", "2 and of 3 options"),
        ("a,x y,x z,,first\nb,u v,u w,,2\n", "whole number, not 'first'"),
    ],
)
def test_choice_sets_that_fill_no_design_are_refused(tmp_path: Path, rows: str, what: str) -> None:
    """One chance level for a cell, and numbers for items."""
    pairs = tmp_path / "pairs.csv"
    lines = ["item_id,correct,incorrect_1,incorrect_2,item,condition"] + [f"{row},c" for row in rows.splitlines()]
    pairs.write_text("\n".join(lines) + "\n", encoding="utf-8")
    settings = SynonymySettings(items=str(pairs), subjects=("baseline:random",), n_bootstrap=10)
    with pytest.raises(InputError, match=what):
        study.run(settings, tmp_path / "run")


def test_the_plan_for_suites_of_ones_own() -> None:
    """The first suite against the others in shared conditions; cells keep the order in which they were given."""
    given = [Cell(suite, "", condition) for suite in ("b", "a") for condition in ("random", "controlled")]
    assert [cell.name for cell in ordered_cells(given)] == ["b/controlled", "b/random", "a/controlled", "a/random"]
    families = {family.name: family.pairs for family in RunDesign(ordered_cells(given)).families}
    assert [(one.name, other.name) for one, other in families["contrasts_suites"]] == [
        ("b/controlled", "a/controlled"),
        ("b/random", "a/random"),
    ]
    assert len(families["contrasts_conditions"]) == 2
    assert families["contrasts_context"] == families["contrasts_expressions"] == ()


def test_a_chat_model_that_nothing_asks_is_refused_with_the_reason(tmp_path: Path) -> None:
    """Neither a forced choice nor a gap follows from these templates: the error says what each would need."""
    settings = files(tmp_path, KINDS, TEMPLATES.replace("{context} {Target}", "{Target}, {context}:"))
    chat = replace(settings, subjects=("chat:m@http://127.0.0.1:9/v1?language=en",), language="de")
    with pytest.raises(InputError, match="cannot be asked of a chat model") as caught:
        study.run(chat, tmp_path / "run")
    assert caught.value.why.startswith("No template of the suite substitution")
    assert "No template has {context} in front" in caught.value.why
    with pytest.raises(InputError, match="cannot be asked of a chat model") as caught:
        study.run(replace(chat, gap_filling="no"), tmp_path / "run")
    assert caught.value.why.endswith("It was not asked for (gap_filling: no).")
