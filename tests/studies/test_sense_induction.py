"""The study of induced senses on vectors drawn at random and on text made by rule: figures follow from answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lexiscope.analysis.senses.disagreeing_orders import compare_every
from lexiscope.core.errors import CapabilityError, InputError, SpecError
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.result import Record, find_record, read_records
from lexiscope.core.usage import Usage
from lexiscope.datasets.mini_relatedness import load
from lexiscope.items.tables.tabular import write_items
from lexiscope.report.part import Omission, short_titles
from lexiscope.report.parts.sense_parts import Compared
from lexiscope.resources import fetch
from lexiscope.resources.corpora.running_text import words_of
from lexiscope.resources.vectors.sense_vectors import LOG, LogRow, SenseVectors, log_text, read_sense_vectors
from lexiscope.resources.vectors.word2vec import write_word2vec
from lexiscope.studies.sense_induction import study as sense_induction
from lexiscope.studies.sense_induction.data import SenseData, subjects_with_senses
from lexiscope.studies.sense_induction.settings import SenseInductionSettings
from lexiscope.studies.sense_induction.similarity import READING, SIMILARITY, contrast
from lexiscope.subjects.senses.gasi import Gasi, expand_folders
from lexiscope.training.gasi.settings import GasiSettings
from lexiscope.training.gasi.train import write_senses

MINI = SenseInductionSettings(dataset="mini_relatedness", synset="", words=(), n_bootstrap=20)
WORDS = sorted({word for item in load("en").items for usage in item.usages for word in words_of(usage.text)})


def made_folder(folder: Path, *, beta: float = 0.4, seed: int = 0, one_sense: Sequence[str] = ()) -> Path:
    """Vectors drawn at random, two senses a word, as if they had been trained with β; nothing was learnt."""
    folder.mkdir(parents=True)
    rng = np.random.default_rng(seed)
    senses, contexts = rng.normal(size=(len(WORDS), 2, 8)), rng.normal(size=(len(WORDS), 8))
    mask = np.array([[True, word not in one_sense] for word in WORDS])
    counts = np.arange(len(WORDS), 0, -1)
    vectors = SenseVectors(tuple(WORDS), counts, senses.astype(np.float32), contexts.astype(np.float32), mask)
    log = [LogRow(1, 1000 * n, 0.01, 3 - n / 10, 0.6, 0.5, 0.1, n / 10, beta) for n in range(1, 6)]
    (folder / LOG).write_text(log_text(log))
    settings = GasiSettings(beta=beta, senses=2, dimensions=8).deciding_values()
    write_senses(folder, vectors, {"settings": settings, "seed": seed, "corpus": {}}, (LOG,))
    return folder


def records_of(settings: SenseInductionSettings, out: Path) -> tuple[Record, ...]:
    sense_induction.run(settings, out)
    return read_records(out / "results.json")


def left_out(out: Path) -> str:
    return (out / "tables" / "left_out.csv").read_text(encoding="utf-8")


# -- the whole run ----------------------------------------------------------------------------------------------


def test_the_same_sense_is_counted_from_the_answers(tmp_path: Path) -> None:
    """Accuracy over all and over decided pairs, and each kind of random answer, follow from responses.parquet."""
    folder = made_folder(tmp_path / "a", one_sense=("bank", "bark"))
    found = records_of(replace(MINI, subjects=(f"gasi:{folder}",)), tmp_path / "run")
    gold = {item.item_id: "t" if item.conditions["same_sense"] else "f" for item in load("en").items}
    rows = ResponseTable.read_parquet(tmp_path / "run" / "responses.parquet")
    chosen = rows.where(measure="choice")
    right = [
        gold[item_id] == option
        for item_id, option in zip(chosen.column("item_id"), chosen.column("option"), strict=True)
    ]
    random = rows.where(measure="flag_random_answer").column("value") == 1
    assert len(right) == 180
    assert random.sum() == 12  # the six pairs of each of two words with one sense
    assert find_record(found, "percent_right(of=all)").value == pytest.approx(100 * np.mean(right))
    assert find_record(found, "percent_right(of=decided)").value == pytest.approx(
        100 * np.mean(np.array(right)[~random])
    )
    half = (np.array(right)[~random].sum() + 0.5 * 12) / 180
    assert find_record(found, "expected_accuracy").value == pytest.approx(100 * half)
    assert find_record(found, "n_random(reason=one_sense)").value == 12
    assert find_record(found, "share_same").value == pytest.approx(100 / 3)


def test_a_finished_run_is_left_alone_and_a_new_one_is_the_same(tmp_path: Path) -> None:
    """The second call computes nothing; another folder gets the same report and records, byte for byte."""
    settings = replace(MINI, subjects=(f"gasi:{made_folder(tmp_path / 'a')}",))
    sense_induction.run(settings, tmp_path / "one")
    before = (tmp_path / "one" / "report.html").stat().st_mtime_ns
    again = sense_induction.run(settings, tmp_path / "one")
    assert "finished before" in again.remarks[0]
    assert (tmp_path / "one" / "report.html").stat().st_mtime_ns == before
    sense_induction.run(settings, tmp_path / "two")
    for name in ("results.json", "report.html", "responses.parquet"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_vectors_that_were_trained_again_are_another_run(tmp_path: Path) -> None:
    """A folder with other vectors under the same name is not taken for the finished run."""
    folder = made_folder(tmp_path / "a")
    settings = replace(MINI, subjects=(f"gasi:{folder}",))
    sense_induction.run(settings, tmp_path / "run")
    first = json.loads((tmp_path / "run" / "run.json").read_text())["given"]
    made_folder(tmp_path / "b", seed=5)
    for path in (tmp_path / "b").iterdir():
        path.replace(folder / path.name)
    sense_induction.run(settings, tmp_path / "other")
    assert json.loads((tmp_path / "other" / "run.json").read_text())["given"] != first


def test_figures_show_maps_noise_and_frequency(tmp_path: Path) -> None:
    """Figures 2, 3 and 4 of a training: two senses on the map, the log's numbers, the words by their senses."""
    folder = made_folder(tmp_path / "a", one_sense=WORDS[100:])
    sense_induction.run(replace(MINI, subjects=(f"gasi:{folder}",), words=(WORDS[0],)), tmp_path / "run")
    figures = tmp_path / "run" / "figures"
    noise = (figures / "noise.csv").read_text().splitlines()
    assert noise[1:] == [f"a,{1000.0 * n},0.1,{n / 10},0.4" for n in range(1, 6)]
    assert len((figures / "map_1.csv").read_text().splitlines()) == 1 + 2 * 10
    curve = (figures / "senses_by_frequency.csv").read_text().splitlines()
    assert curve[0].split(",")[2] == "decile"
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "at the last decile" in page
    found = read_records(tmp_path / "run" / "results.json")
    assert find_record(found, "noise_sd").value == pytest.approx(0.4)
    assert find_record(found, "senses_per_word").value is not None
    shares = (figures / "senses_by_frequency_1.csv").read_text().splitlines()
    first = [line for line in shares if line.lstrip('"').startswith("1–")]
    assert [float(line.rsplit(",", 1)[1]) for line in first] == [0.0, 100.0]


def test_text_made_by_rule_tells_the_variants_apart(tmp_path: Path) -> None:
    """GASI-β recovers what was planted better than SASI does; one vector for a word recovers nothing."""
    settings = SenseInductionSettings(planted="made_up", n_bootstrap=50)
    found = records_of(settings, tmp_path / "run")
    recovered = {r.subject: r.value or 0.0 for r in found if r.statistic == "planted_accuracy"}
    assert recovered["made_up/gasi_beta"] > 0.95
    assert (
        recovered["made_up/skip_gram"]
        == find_record(found, "planted_majority", subject="made_up/gasi_beta").value
        == 0.5
    )
    assert recovered["made_up/sasi"] < recovered["made_up/gasi_beta"]
    rows = ResponseTable.read_parquet(tmp_path / "run" / "responses.parquet").where(subject_id="made_up/gasi_beta")
    assert len(rows) == 12 * 2 * 30
    assert "No vectors were given" in left_out(tmp_path / "run")
    # what is missing is said once
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "<p>Not answered: the run has no rated pairs of words.</p>" in page


# -- what is compared -------------------------------------------------------------------------------------------


def test_a_folder_of_trainings_stands_for_all_of_them(tmp_path: Path) -> None:
    """A grid folder is each folder in it; a training is itself, and other kinds of subject are left as they are."""
    for name in ("b", "a"):
        made_folder(tmp_path / "grid" / name)
    specs = expand_folders([f"gasi:{tmp_path / 'grid'}", f"gasi:{tmp_path / 'grid' / 'a'}", "encoder:minilm"])
    assert specs == (f"gasi:{tmp_path / 'grid' / 'a'}", f"gasi:{tmp_path / 'grid' / 'b'}", "encoder:minilm")


def test_vectors_of_another_program_stand_beside_a_training(tmp_path: Path) -> None:
    """Exported vectors answer the same questions; what needs a log is left out, with the reason."""
    folder = made_folder(tmp_path / "a")
    write_word2vec(tmp_path / "vectors.txt", read_sense_vectors(folder), "text")
    specs = (f"gasi:{folder}", f"sense_embedding:ego_network:{tmp_path / 'vectors.txt'}")
    found = records_of(replace(MINI, subjects=specs, words=("bank",)), tmp_path / "run")
    for spec in specs:
        assert find_record(found, "n_random(reason=out_of_vocabulary)", subject=spec).value == 0
    assert [r.subject for r in found if r.statistic == "n_senses"] == [specs[0]]
    assert "Training log, senses by frequency,vectors.txt" in left_out(tmp_path / "run").replace('"', "")
    assert len((tmp_path / "run" / "figures" / "map_2.csv").read_text().splitlines()) == 21


def test_short_names_tell_subjects_apart(tmp_path: Path) -> None:
    """Tables name a training by its folder, by more of its path where two folders are called alike."""
    folders = [made_folder(tmp_path / name) for name in ("one/a", "two/a", "b")]
    subjects = subjects_with_senses([Gasi(str(folder)) for folder in folders])
    assert list(short_titles(each.subject_id for each in subjects).values()) == ["one/a", "two/a", "b"]
    files = [f"sense_embedding:muse:{tmp_path}/{name}.txt,{tmp_path}/index.tsv" for name in ("x", "y")]
    assert list(short_titles(files).values()) == ["x.txt", "y.txt"]


def test_the_overview_needs_no_intervals(tmp_path: Path) -> None:
    """Without resampling every figure is printed all the same, but for shares of answers that are all random."""
    one, several = made_folder(tmp_path / "one", one_sense=WORDS), made_folder(tmp_path / "several")
    subjects = (f"gasi:{one}", f"gasi:{several}")
    found = records_of(replace(MINI, subjects=subjects, n_bootstrap=0), tmp_path / "run")
    expected = find_record(found, "expected_accuracy", subject=subjects[1])
    assert expected.low is None
    assert sense_induction.overview_maker is not None
    printed = sense_induction.overview_maker(found, MINI).rows
    assert [row[0] for row in printed] == list(subjects)
    assert [row[1] for row in printed] == [None, expected.value]


def test_sets_that_are_not_at_hand_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a fresh machine: the embedded pairs are asked, every published set is in the table with the reason."""
    monkeypatch.delenv("LEXISCOPE_DATA", raising=False)
    monkeypatch.setattr(fetch, "cache_folder", lambda: tmp_path / "cache")
    settings = replace(MINI, dataset="", subjects=(f"gasi:{made_folder(tmp_path / 'a')}",), synset="bond.n.02")
    found = records_of(settings, tmp_path / "run")
    computed = {r.dataset for r in found if r.statistic == "expected_accuracy" and r.status != "not reproducible"}
    assert computed == {"mini_relatedness"}
    listed = left_out(tmp_path / "run")
    assert all(name in listed for name in ("scws", "wordsim?set=simlex999", "wordsim?set=rw2k", "wic"))
    assert listed.count("Not available") == 12
    # each question is answered once, although others look at its results
    rows = len(listed.splitlines()) - 1
    assert json.loads((tmp_path / "run" / "run.json").read_text())["counts"]["left_out"] == rows


def test_what_cannot_be_compared_is_refused(tmp_path: Path) -> None:
    """No vectors, a subject without senses, a set without ratings, a file that is not there: each by name."""
    with pytest.raises(InputError, match="needs vectors with induced senses"):
        sense_induction.run(replace(MINI, dataset=""), tmp_path / "a")
    with pytest.raises(CapabilityError, match="baseline:random has no induced senses"):
        sense_induction.run(replace(MINI, subjects=("baseline:random",)), tmp_path / "b")
    folder = made_folder(tmp_path / "vectors")
    with pytest.raises(SpecError, match="mini_synonymy has no pairs that people rated"):
        sense_induction.run(replace(MINI, dataset="mini_synonymy", subjects=(f"gasi:{folder}",)), tmp_path / "c")
    with pytest.raises(InputError, match=r"nowhere\.csv: .*no such file"):
        sense_induction.run(replace(MINI, planted=str(tmp_path / "nowhere.csv")), tmp_path / "d")


@pytest.mark.published
@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"synset": "bond"}, "names no synset"),
        ({"synset": "bond.n.99"}, "no sense 99"),
        ({"people": ("a.csv",)}, "E471"),
    ],
)
def test_what_is_wrong_is_found_before_anybody_is_asked(
    wrong: dict[str, Any], says: str, published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A synset that is none, a file without answers of people: no pair was asked, no answer lies in the folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    settings = replace(MINI, subjects=(f"gasi:{made_folder(tmp_path / 'vectors')}",), **wrong)
    with pytest.raises(InputError, match=says):
        sense_induction.run(settings, tmp_path / "run")
    assert not (tmp_path / "run" / "collected").exists()


@pytest.mark.published
def test_similarity_is_the_rank_correlation_of_the_rows(published: Path, tmp_path: Path) -> None:
    """SCWS: rho of the stored AvgSimC with the mean ratings, over covered pairs, and with 0 for the others."""
    vectors = f"gasi:{made_folder(tmp_path / 'a')}"
    found = records_of(replace(MINI, dataset="scws", subjects=(vectors,)), tmp_path / "run")
    rows = ResponseTable.read_parquet(tmp_path / "run" / "responses.parquet").where(measure="avg_sim_c")
    lines = (published / "scws" / "ratings.txt").read_text(encoding="utf-8").splitlines()
    ratings = np.array([np.mean([float(cell) for cell in line.split("\t")[8:]]) for line in lines])
    similarity = rows.column("value")
    covered = np.isfinite(similarity)
    assert 3 < covered.sum() < 2003
    assert find_record(found, "n_pairs", dataset="scws").status == "reproduced"
    assert find_record(found, "coverage").value == pytest.approx(100 * covered.mean())
    for name, x, y in (
        ("spearman_x100(similarity=avg_sim_c)", similarity[covered], ratings[covered]),
        ("spearman_x100(similarity=avg_sim_c,uncovered=0)", np.where(covered, similarity, 0.0), ratings),
    ):
        rho = find_record(found, name, subject=vectors)
        assert rho.value == pytest.approx(100 * np.corrcoef(_ranks(x), _ranks(y))[0, 1])


@pytest.mark.published
def test_a_grid_of_beta_is_chosen_by_scws(published: Path, tmp_path: Path) -> None:
    """The chosen β has the highest AvgSimC; a grid that differs in more than β says so."""
    for number, beta in enumerate((0.1, 0.9)):
        made_folder(tmp_path / "grid" / f"b{beta:g}", beta=beta, seed=number, one_sense=WORDS[:number])
    settings = replace(MINI, dataset="scws", subjects=(f"gasi:{tmp_path / 'grid'}",))
    found = records_of(settings, tmp_path / "run")
    values = {r.subject[-3:]: r.value for r in found if r.statistic == "spearman_x100(similarity=avg_sim_c)"}
    best = max(values, key=lambda name: values[name] or 0.0)
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert f"β = {best} is best by AvgSimC on SCWS" in page
    assert "differ in more than β: seed, n_senses" in page


def _ranks(values: np.ndarray) -> np.ndarray:
    """Average ranks; values that differ in their last bits only are equal."""
    _, codes, counts = np.unique(values.round(10), return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (ends - (counts - 1) / 2)[codes]


# -- planted senses and people ------------------------------------------------------------------------------------


def test_planted_usages_of_a_file(tmp_path: Path) -> None:
    """A file of usages: recovery by the senses that the vectors choose; who knows no pseudo-word is left out."""
    usages = [usage for item in load("en").items for usage in item.usages if item.word in ("bank", "bark")]
    distinct = {usage.key: usage for usage in usages}.values()
    items = [Item(f"p{n}", "planted", (usage,)) for n, usage in enumerate(distinct)]
    write_items(items, tmp_path / "planted.csv")
    folder = made_folder(tmp_path / "a")
    settings = replace(MINI, subjects=(f"gasi:{folder}",), planted=str(tmp_path / "planted.csv"))
    found = records_of(settings, tmp_path / "run")
    assert find_record(found, "planted_majority").value == 0.5  # two sentences of each of two senses
    assert (
        0.5
        <= (find_record(found, "planted_accuracy").value or 0)
        <= (find_record(found, "planted_purity").value or 0)
        <= 1
    )
    write_items([Item("x", "planted", (Usage("a zzz", 2, 5, lemma="zzz", sense="z"),))], tmp_path / "none.csv")
    sense_induction.run(replace(settings, planted=str(tmp_path / "none.csv")), tmp_path / "none")
    assert "fewer than two of the pseudo-words" in left_out(tmp_path / "none")
    write_items([Item("x", "planted", (Usage("a zzz", 2, 5),))], tmp_path / "bad.csv")
    with pytest.raises(InputError, match="a planted usage is one usage"):
        sense_induction.run(replace(settings, planted=str(tmp_path / "bad.csv")), tmp_path / "bad")


def planted_folder(folder: Path, gold: Sequence[tuple[str, str]], *, senses: int = 1) -> SenseInductionSettings:
    """Vectors of two topics, a and b, and two pseudo-words that were planted in them; usages of what *gold* says.

    *senses* is how many senses the reference has for each word. Every usage stands beside words of its own topic.
    """
    rng = np.random.default_rng(0)
    near = {"a": rng.normal([4, 0, 0], 0.3, (12, 3)), "b": rng.normal([0, 4, 0], 0.3, (12, 3))}
    words = [f"{topic}{n}" for topic in "ab" for n in range(12)]
    vectors = np.concatenate([near["a"], near["b"]]).astype(np.float32)
    # ab and ef have a sense among either topic's words; cd has two among those of a
    both, one = [near["a"][0], near["b"][0]], [near["a"][1], near["a"][2]]
    made = np.stack([np.array(both), np.array(one), np.array(both)]).astype(np.float32)
    single = np.stack([vectors, vectors], axis=1)
    mask = np.array([[True, False]] * 24 + [[True, True]] * 3)
    contexts = np.concatenate([vectors, np.zeros((3, 3), np.float32)])
    learnt = SenseVectors((*words, "ab", "cd", "ef"), np.full(27, 9), np.concatenate([single, made]), contexts, mask)
    about = {"settings": GasiSettings(senses=2, dimensions=3).deciding_values()}
    for name in ("learnt", "planted/reference"):
        (folder / name).mkdir(parents=True)
    write_senses(folder / "learnt", learnt, about)
    plain = np.stack([vectors] * senses, axis=1)
    reference = SenseVectors(tuple(words), np.full(24, 9), plain, vectors, np.ones((24, senses), bool))
    write_senses(folder / "planted" / "reference", reference, about)
    usages = [
        Usage(f"{' '.join(f'{sense[0]}{n}' for n in range(3, 6))} {word}", 9, 11, lemma=word, sense=sense)
        for word, sense in gold
    ]
    write_items(
        [Item(f"p{n}", "planted", (each,)) for n, each in enumerate(usages)], folder / "planted" / "planted.csv"
    )
    return replace(MINI, subjects=(f"gasi:{folder / 'learnt'}",), planted=str(folder / "planted"))


def check_probabilities(found: Sequence[Record], vectors: SenseVectors, subject: str) -> None:
    """P by neighbours and one to one, Brier, calibration error: softmax(c̄·s) of each usage of GOLD, written out.

    Every usage has its topic's words 3 to 5 around it. ab has a sense for each topic; both senses of cd look like a1.
    """
    p = {}
    for word, sense in GOLD:
        mean = np.mean([vectors.contexts[vectors.index[f"{sense[0]}{n}"]] for n in (3, 4, 5)], axis=0)
        powers = np.exp((own := vectors.senses[vectors.index[word]] @ mean) - own.max())
        p[sense] = powers / powers.sum()
    looks = ((p["a0"][0] + p["b0"][1]) / 2 + (1 + 0) / 2) / 2
    assert find_record(found, "planted_probability", subject=subject).value == pytest.approx(looks, abs=1e-6)
    # of cd one to one: the sense chosen beside a's words is a1's, the other one b1's, or b1 has none
    chosen = [int(p[sense].argmax()) for sense in ("a1", "b1")]
    of_b = p["b1"][1 - chosen[0]] if chosen[0] != chosen[1] else 0.0
    of_a = p["a1"][chosen[0]]
    fitted = ((p["a0"][0] + p["b0"][1]) / 2 + (of_a + of_b) / 2) / 2
    record = find_record(found, "planted_probability(senses=one_to_one)", subject=subject)
    assert record.value == pytest.approx(fitted, abs=1e-6)
    assert record.note == "no interval: it needs at least 3 values"
    # by neighbours all four answers are sure: of cd's usages beside b's words the wrong one
    answers = [p["a0"][0], p["b0"][1], 1.0, 1.0]
    over = find_record(found, "planted_overconfidence(senses=neighbours)", subject=subject)
    assert over.value == pytest.approx(np.mean(answers) - 3 / 4, abs=1e-6)
    brier = [2 * (1 - p["a0"][0]) ** 2, 2 * (1 - p["b0"][1]) ** 2, 0, 2]
    assert find_record(found, "planted_brier(senses=neighbours)", subject=subject).value == pytest.approx(
        np.mean(brier), abs=1e-6
    )


GOLD = (("ab", "a0"), ("ab", "b0"), ("cd", "a1"), ("cd", "b1"))


def test_planted_senses_by_what_they_look_like(tmp_path: Path) -> None:
    """With vectors of the text before planting, each sense looks like the planted word that its neighbours are near."""
    settings = planted_folder(tmp_path, GOLD)
    write_word2vec(tmp_path / "vectors.txt", read_sense_vectors(tmp_path / "learnt"))
    subjects = (*settings.subjects, f"sense_embedding:ego_network:{tmp_path / 'vectors.txt'}")
    found = records_of(replace(settings, subjects=subjects), tmp_path / "run")
    # both usages of ab are right; of cd the one that stands for a's word is: (1 + 1/2) / 2; whoever wrote the vectors
    for subject in subjects:
        assert find_record(found, "planted_selection", subject=subject).value == pytest.approx(0.75)
        assert find_record(found, "planted_seen", subject=subject).value == pytest.approx((2 + 1) / 2)
    check_probabilities(found, read_sense_vectors(tmp_path / "learnt"), settings.subjects[0])
    assert "Planted senses by their neighbours" not in left_out(tmp_path / "run")


@pytest.mark.parametrize("gold", [(("ef", "a2"), ("ef", "a2")), (("ef", "a2"), ("ef", "beyond"))])
def test_pseudo_words_without_two_known_words_are_not_judged_by_looks(
    gold: tuple[tuple[str, str], ...], tmp_path: Path
) -> None:
    """One planted word alone would always look right, one that the reference does not know never: neither counts."""
    found = records_of(planted_folder(tmp_path, (*GOLD, *gold)), tmp_path / "run")
    selection = find_record(found, "planted_selection")
    assert (selection.value, selection.n) == (pytest.approx(0.75), len(GOLD))
    assert find_record(found, "planted_accuracy").n == len(GOLD) + len(gold)
    assert "1 of 3 pseudo-words" in left_out(tmp_path / "run")


def test_too_few_pseudo_words_for_looks(tmp_path: Path) -> None:
    """With one pseudo-word that can be judged by its neighbours nothing is, and the report says so."""
    settings = planted_folder(tmp_path, (*GOLD[:2], ("cd", "a1"), ("cd", "a1")))
    found = records_of(settings, tmp_path / "run")
    assert not [each for each in found if each.statistic == "planted_selection"]
    assert "knows fewer than two of the pseudo-words whose" in left_out(tmp_path / "run")


def test_a_reference_with_several_senses_is_refused(tmp_path: Path) -> None:
    """Which of a word's senses says what the word means would be a guess."""
    with pytest.raises(InputError, match="one sense for each word"):
        sense_induction.run(planted_folder(tmp_path, GOLD, senses=2), tmp_path / "run")


def simulated_people(folder: Path, models: Sequence[str], *, right: Sequence[int]) -> tuple[str, str]:
    """Simulated answers, nobody's judgment: of two items of each model, so many of three find the intruder."""
    items, rows = [], []
    for model, hits in zip(models, right, strict=True):
        for word in ("bank", "bark"):
            item = Item(
                f"{model}/{word}", "test", (Usage(word, 0, 4, lemma=word),), ("a", "b", "c"), gold="c",
                conditions={"word": word, "model": model},
            )  # fmt: skip
            items.append(item)
            for person in range(3):
                option = "c" if person < hits else "a"
                rows.append(
                    Response(f"sim{person}", "participant", item.item_id, "word_intrusion", "choice", option=option)
                )
    write_items(items, folder / "items.csv")
    ResponseTable.from_rows(rows).write_csv(folder / "answers.csv")
    return (str(folder / "items.csv"), str(folder / "answers.csv"))


def test_people_and_similarity_may_disagree(tmp_path: Path) -> None:
    """Intruders found, by model; planted senses beside them; where the orders differ, the report says so."""
    folders = [made_folder(tmp_path / name, seed=n) for n, name in enumerate(("a", "b"))]
    specs = tuple(f"gasi:{folder}" for folder in folders)
    people = simulated_people(tmp_path, specs, right=(3, 1))
    found = records_of(replace(MINI, subjects=specs, people=people), tmp_path / "run")
    for spec, senses, judgments in ((specs[0], 100, 100), (specs[1], 0, 100 / 3)):
        assert find_record(found, "intrusion_accuracy(of=senses)", subject=spec).value == senses
        assert find_record(found, "intrusion_accuracy(of=judgments)", subject=spec).value == pytest.approx(judgments)
    printed = find_record(found, "intrusion_accuracy(of=senses)", subject="GASI-β (paper)")
    assert (printed.published, printed.value, printed.status) == (71.33, None, "not reproducible")
    assert "Similarity against interpretability" in left_out(tmp_path / "run")


def test_people_choose_the_senses_of_a_model(tmp_path: Path) -> None:
    """Sense selection: simulated answers, nobody's judgment. Consistency, P of the choice, and the words one by one."""
    items, rows = [], []
    for word, choices in (("bank", "112"), ("bark", "111"), ("bat", "222")):
        text = f"the {word} ."
        conditions = {"word": word, "model": "m", "model_choice": "1", "p_1": 0.8, "p_2": 0.2}
        groups = {"group_1": "a|b", "group_2": "c|d"}
        usage = Usage(text, 4, 4 + len(word), lemma=word)
        items.append(Item(f"s/{word}", "test", (usage,), ("1", "2"), conditions=conditions | groups))
        answers = enumerate(choices)
        rows += [
            Response(f"sim{n}", "participant", f"s/{word}", "sense_choice", "choice", option=o) for n, o in answers
        ]
    write_items(items, tmp_path / "items.csv")
    ResponseTable.from_rows(rows).write_csv(tmp_path / "answers.csv")
    people = (str(tmp_path / "items.csv"), str(tmp_path / "answers.csv"))
    settings = replace(MINI, subjects=(f"gasi:{made_folder(tmp_path / 'a')}",), people=people)
    found = records_of(settings, tmp_path / "run")
    assert find_record(found, "selection_accuracy(of=questions)", subject="m").value == pytest.approx(100 * 2 / 3)
    assert find_record(found, "selection_accuracy(of=judgments)", subject="m").value == pytest.approx(100 * 5 / 9)
    assert find_record(found, "model_probability", subject="m").value == pytest.approx((0.8 + 0.8 + 0.2) / 3)
    # agreement 2/3, 1, 1 and consistency 2/3, 1, 0: ranks 1 2.5 2.5 and 2 3 1
    assert find_record(found, "spearman(of=agreement,with=consistency)").value == pytest.approx(0.0, abs=1e-9)
    words = (tmp_path / "run" / "figures" / "agreement_1.csv").read_text().splitlines()
    assert [line.split(",")[0] for line in words] == ["word", "bank", "bark", "bat"]


def test_similarity_and_people_may_choose_other_vectors() -> None:
    """Two vectors in opposite orders by AvgSimC and by intruders found, their intervals apart: clearly so, and said."""
    subjects = ("a", "b")

    def records(*found: float, margin: float) -> list[Record]:
        names = (("spearman_x100(similarity=avg_sim_c)", "scws"), ("intrusion_accuracy(of=senses)", "word_intrusion"))
        values = [(subject, name, value) for name, pair in zip(names, (found[:2], found[2:]), strict=True)
                  for subject, value in zip(subjects, pair, strict=True)]  # fmt: skip
        return [
            Record(name, value, who, dataset, low=value - margin, high=value + margin)
            for who, (name, dataset), value in values
        ]

    def orders(*values: float, margin: float) -> Compared:
        return compare_every(records(*values, margin=margin), SIMILARITY, READING)

    found = orders(60, 50, 40, 80, margin=3)
    pair = ("AvgSimC", "Intruders found")
    assert list(found) == [pair]
    assert (found[pair].disagreeing, found[pair].clear) == ((("a", "b"),), (("a", "b"),))
    assert orders(60, 50, 40, 80, margin=6)[pair].clear == ()
    assert orders(60, 50, 80, 40, margin=3)[pair].same_best
    assert compare_every(records(60, 50, 40, 80, margin=3)[:2], SIMILARITY, READING) == {}
    nothing = contrast(SenseData(MINI))
    assert isinstance(nothing, Omission)
    assert "two vectors with a similarity" in nothing.reason


def test_answers_of_another_test_are_refused(tmp_path: Path) -> None:
    """A table of something else, another task, and an answer to an item that was not given are named."""
    settings = replace(MINI, subjects=(f"gasi:{made_folder(tmp_path / 'a')}",))
    items, answers = simulated_people(tmp_path, ("m",), right=(3,))
    with pytest.raises(InputError, match="it answers 2 items of no file of items"):
        sense_induction.run(replace(settings, people=(answers,)), tmp_path / "run")
    (tmp_path / "other.csv").write_text("x,y\n1,2\n")
    with pytest.raises(InputError, match="not a table of responses: its columns are x, y"):
        sense_induction.run(replace(settings, people=(items, str(tmp_path / "other.csv"))), tmp_path / "run2")
    rated = ResponseTable.from_rows([Response("p", "participant", "m/bank", "same_sense", "choice", option="t")])
    rated.write_csv(tmp_path / "rated.csv")
    with pytest.raises(InputError, match="'same_sense', which is not a test of senses"):
        sense_induction.run(replace(settings, people=(items, str(tmp_path / "rated.csv"))), tmp_path / "run3")


# -- the senses of words ----------------------------------------------------------------------------------------


def test_the_senses_of_a_word_are_shown_with_examples(tmp_path: Path) -> None:
    """Each subject has a section, and a page with a search box beside the report; examples are of the corpus."""
    folders = [made_folder(tmp_path / name, seed=seed) for seed, name in enumerate("ab")]
    text = tmp_path / "text.txt"
    text.write_text("the river ran along the bank of grass\n", encoding="utf-8")
    asked = replace(MINI, subjects=tuple(f"gasi:{each}" for each in folders), words=("bank",), corpus=(str(text),))
    sense_induction.run(asked, tmp_path / "run")
    report = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert report.count("Senses of bank") >= 2
    for name in ("senses_1.html", "senses_2.html"):
        page = (tmp_path / "run" / name).read_text(encoding="utf-8")
        assert name in report
        assert "along the" in page
        assert 'type="search"' in page
    assert "example sentences" not in left_out(tmp_path / "run")


def test_without_a_corpus_or_a_known_word_it_is_said(tmp_path: Path) -> None:
    """What the explorer cannot show is listed with its reason; a corpus that is not there is refused."""
    folder = made_folder(tmp_path / "a")
    for words, reason in ((("bank",), "No corpus was named"), (("zyzzyva",), "knows none of the words")):
        out = tmp_path / words[0]
        sense_induction.run(replace(MINI, subjects=(f"gasi:{folder}",), words=words), out)
        assert reason in left_out(out)
    absent = replace(MINI, subjects=(f"gasi:{folder}",), corpus=(str(tmp_path / "absent.txt"),))
    with pytest.raises(InputError, match="no such file"):
        sense_induction.run(absent, tmp_path / "no")
    assert not (tmp_path / "no").exists()
