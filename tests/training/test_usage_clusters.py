"""Senses that are clusters of usages: what is written, what the subject reads, and the tests that it goes through."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from lexiscope.cli.main import cli
from lexiscope.core import catalog
from lexiscope.core.errors import CapabilityError, InputError, SubjectError
from lexiscope.core.usage import Usage
from lexiscope.senses.examples import draw_usages
from lexiscope.subjects.senses.usage_clusters import UsageClusters
from lexiscope.training.usage_clusters import ClusterSettings, make_usage_clusters

FRUIT = ("ripe", "sweet", "fresh", "yellow", "soft", "sour")
HOUSE = ("locked", "wooden", "heavy", "painted", "broken", "creaking")
EATING = ("She ate the {} {} for breakfast .", "A {} {} lay in the bowl with apples .", "He peeled a {} {} slowly .")
ENTERING = ("He closed the {} {} behind him .", "Somebody knocked on the {} {} .", "The {} {} of the room opened .")
PLANTED = {"banana": (EATING, FRUIT), "door": (ENTERING, HOUSE)}
"""Texts in which *bananador* is a banana or a door."""


def lines(word: str = "") -> list[tuple[str, str]]:
    """Each text with the word that was planted in it; *word* stands there, or the planted one itself."""
    return [
        (planted, frame.format(adjective, word or planted))
        for planted, (frames, adjectives) in PLANTED.items()
        for frame in frames
        for adjective in adjectives
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus, and the senses that the verb made of it."""
    folder = tmp_path_factory.mktemp("induced")
    texts = [text for _, text in (*lines("bandoor"), *lines())]
    (folder / "corpus.txt").write_text("\n".join(texts) + "\n")
    (folder / "words.txt").write_text("bandoor\nbanana\ndoor\nunheard\n")
    command = ["senses", "induce", "encoder:minilm", "--words", folder / "words.txt", "--corpus"]
    command += [folder / "corpus.txt", "--fewest", 15, "--layer", 3, "--out", folder / "senses", "--quiet"]
    done = CliRunner().invoke(cli, [str(word) for word in command])
    assert done.exit_code == 0, done.output
    return folder


def test_as_many_senses_as_were_planted(folder: Path) -> None:
    """The pseudo-word has several senses, each of one planted word; the table says how many, and what each reached."""
    rows = {row["word"]: row for row in csv.DictReader((folder / "senses" / "senses.csv").open())}
    assert set(rows) == {"bandoor", "banana", "door"}
    assert {word: int(row["n_usages"]) for word, row in rows.items()} == {"bandoor": 36, "banana": 18, "door": 18}
    senses = catalog.subject(f"usage_clusters:{folder / 'senses'}")
    assert isinstance(senses, UsageClusters)
    assert int(rows["bandoor"]["n_senses"]) == senses.sense_count(Usage("bandoor", 0, 7)) >= 2
    texts = [(s, Usage(t, t.index("bandoor"), t.index("bandoor") + 7)) for s, t in lines("bandoor")]
    chosen = senses.sense_distribution([usage for _, usage in texts]).argmax(axis=1)
    by_sense = {k: {s for (s, _), own in zip(texts, chosen, strict=True) if own == k} for k in set(chosen.tolist())}
    assert all(len(planted) == 1 for planted in by_sense.values())


def test_senses_are_shown_with_their_shares_and_in_a_sentence(folder: Path) -> None:
    """`senses show`: shares are those of the 36 usages of the pseudo-word in their clusters; in a sentence the whole
    text chooses; a word with fewer senses than another has lost none."""
    command = ["senses", "show", f"usage_clusters:{folder / 'senses'}", "--json", "--sentence"]
    text = "She ate the ripe bandoor for breakfast ."
    told = json.loads(CliRunner().invoke(cli, [*command, text, "bandoor"]).stdout)
    senses = catalog.subject(command[2])
    assert isinstance(senses, UsageClusters)
    shares = [sense["prior"] for sense in told["senses"]]
    assert sum(shares) == pytest.approx(1, abs=1e-6)
    assert all(36 * share == pytest.approx(round(36 * share), abs=1e-3) for share in shares)
    (own,) = senses.sense_distribution([Usage(text, 17, 24)])
    assert told["usages"][0]["probabilities"] == pytest.approx(own[: len(shares)].tolist(), abs=1e-6)
    few = min(("banana", "door"), key=lambda word: senses.sense_count(Usage(word, 0, len(word))))
    done = CliRunner().invoke(cli, ["senses", "show", command[2], few])
    assert "pruned" not in done.output


def test_probabilities_are_shares_times_densities(folder: Path) -> None:
    """Bayes' rule written out, on the vectors of the encoder itself; a sense that a word has not has none."""
    senses = catalog.subject(f"usage_clusters:{folder / 'senses'}")
    assert isinstance(senses, UsageClusters)
    text = "He peeled a bandoor ."
    usage = Usage(text, 12, 19)
    vector = np.asarray(catalog.subject("encoder:minilm").embed([usage])[0, 3], np.float64)  # type: ignore[attr-defined]
    number = senses.vectors.index["bandoor"]
    spread, shares = float(senses.clusters["spread"][number]), np.asarray(senses.clusters["shares"][number], np.float64)
    away = (
        vector - np.asarray(senses.clusters["mean"], np.float64) - np.asarray(senses.vectors.senses[number], np.float64)
    )
    weights = shares * np.exp((-(away**2).sum(axis=1) + (away**2).sum(axis=1).min()) / (2 * spread**2))
    assert senses.sense_distribution([usage])[0] == pytest.approx(weights / weights.sum(), abs=1e-4)
    with pytest.raises(InputError, match="unheard"):
        senses.sense_distribution([Usage("unheard", 0, 7)])
    with pytest.raises(CapabilityError, match="by the whole text"):
        senses.distributions(0, [[1]])


def test_the_senses_go_through_the_same_tests(folder: Path) -> None:
    """Neighbours by the verb of any senses; another version of the encoder, another kind of subject: refused."""
    spec = f"usage_clusters:{folder / 'senses'}"
    told = json.loads(CliRunner().invoke(cli, ["senses", "show", spec, "bandoor", "--json"]).stdout)
    assert {near["word"] for sense in told["senses"] for near in sense["neighbours"]} == {"banana", "door"}
    record = folder / "senses" / "settings.json"
    kept = record.read_text()
    try:
        record.write_text(kept.replace('"encoder_revision": "', '"encoder_revision": "x'))
        with pytest.raises(SubjectError, match="another version"):
            catalog.subject(spec).sense_distribution([Usage("door", 0, 4)])  # type: ignore[attr-defined]
    finally:
        record.write_text(kept)
    with pytest.raises(SubjectError, match="another kind"):
        catalog.subject(f"gasi:{folder / 'senses'}").about  # type: ignore[attr-defined]  # noqa: B018


def test_a_hidden_target_is_hidden_from_both(folder: Path, tmp_path: Path) -> None:
    """With --masked the vectors are of the context: two words in one sentence have one distribution."""
    usages = {word: [Usage(text, text.index(word), text.index(word) + len(word)) for _, text in lines(word)]
              for word in ("bandoor", "zorp")}  # fmt: skip
    settings = ClusterSettings(masked=True, n_senses=2)
    encoder = catalog.subject("encoder:minilm")
    made = make_usage_clusters(encoder, usages, out=tmp_path / "s", settings=settings)
    assert made.clusters["zorp"].labels.tolist() == made.clusters["bandoor"].labels.tolist()
    senses = catalog.subject(f"usage_clusters:{tmp_path / 's'}")
    assert isinstance(senses, UsageClusters)
    shares = [senses.sense_distribution(own) for own in usages.values()]
    np.testing.assert_allclose(shares[0], shares[1], atol=1e-4)
    assert shares[0].argmax(axis=1).tolist() == made.clusters["bandoor"].labels.tolist()


def test_usages_are_drawn_evenly_and_once(tmp_path: Path) -> None:
    """Of a hundred lines each is equally likely; a sentence that comes again is one; other words change no draw."""
    texts = [f"The bank number {n} opened ." for n in range(100)]
    (tmp_path / "c.txt").write_text("\n".join([*texts, *texts, "A Bark ."]))
    (tmp_path / "d.txt").write_text("No word of interest .\n")
    files = (tmp_path / "c.txt", tmp_path / "d.txt")
    drawn = [draw_usages(["bank", "bark"], files, per_word=10, seed=seed) for seed in range(60)]
    assert draw_usages(["bank"], files, per_word=10, seed=5)["bank"] == drawn[5]["bank"]
    assert all(len({usage.text for usage in own["bank"]}) == 10 for own in drawn)
    assert all(usage.target == "bank" for own in drawn for usage in own["bank"])
    assert [usage.target for usage in drawn[0]["bark"]] == ["Bark"]
    numbers = [int(usage.text.split()[3]) for own in drawn for usage in own["bank"]]
    # mean of 600 draws of 0 to 99: 49.5, standard error 1.2
    assert np.mean(numbers) == pytest.approx(49.5, abs=5)


def test_what_cannot_be_clustered_is_refused(tmp_path: Path) -> None:
    """A subject without vectors, a layer that it has not, no word with enough usages."""
    usages = {"door": [Usage("A door .", 2, 6)] * 3}
    with pytest.raises(CapabilityError, match="gives no vectors"):
        make_usage_clusters(catalog.subject("baseline:random"), usages, out=tmp_path / "a")
    encoder = catalog.subject("encoder:minilm")
    with pytest.raises(InputError, match="no layer 99"):
        make_usage_clusters(encoder, usages, out=tmp_path / "a", settings=ClusterSettings(layer=99))
    with pytest.raises(InputError, match="no word has 20 usages"):
        make_usage_clusters(encoder, usages, out=tmp_path / "a")
    assert not (tmp_path / "a").exists()
