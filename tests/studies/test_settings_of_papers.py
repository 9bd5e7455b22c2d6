"""What the papers set in advance: defaults of the package that are a paper's have the printed value."""

from __future__ import annotations

import inspect

from lexiscope.build.sense_tests.intrusion import IntrusionRules
from lexiscope.build.sense_tests.polysemous_nouns import NounSource
from lexiscope.build.sense_tests.selection_of_senses import SelectionRules
from lexiscope.core import catalog
from lexiscope.training.gasi.pruning import pruning_threshold
from lexiscope.training.gasi.settings import GasiSettings
from lexiscope.training.lora_settings import LoraSettings


def default(owner: object, name: str) -> float:
    return float(inspect.signature(owner).parameters[name].default)  # type: ignore[arg-type]


def settings_of(name: str) -> dict[str, float]:
    """The printed settings of a paper by their statistic; of the paper's own, not of other vectors."""
    rows = [row for rows in catalog.study(name).PUBLISHED.values() for row in rows if not row.subject]
    return {row.statistic: float(row.printed) for row in rows if row.statistic.startswith("setting(")}


def test_training_adapters_begins_with_the_settings_of_ambistory() -> None:
    """§5.3.1: dropout, rate, batch, rank, alpha, epochs and patience are the defaults of ``train lora``."""
    printed = settings_of("ambistory")
    for name in ("dropout", "learning_rate", "effective_batch", "r", "alpha", "epochs", "patience"):
        assert default(LoraSettings, name) == printed[f"setting(of={name})"]


def test_inducing_senses_and_testing_them_begins_with_the_settings_of_the_paper() -> None:
    """§3, §4 and appendices B, C.1: K, width, rates of the training; words, pages, judgments of the tests; pruning."""
    printed = settings_of("sense_induction")
    trained = ("senses", "dimensions", "temperature", "window", "learning_rate", "epochs", "batch", "negatives")
    for name in (*trained, "subsampling"):
        assert default(GasiSettings, name) == printed[f"setting(of={name})"]
    ours = {
        "setting(of=neighbours)": default(IntrusionRules, "n_words"),
        "setting(of=intruders_per_sense)": default(IntrusionRules, "n_intruders"),
        "setting(of=words)": default(SelectionRules, "n_nouns"),
        "setting(of=sentences_per_word)": default(SelectionRules, "n_sentences"),
        "setting(of=sentences_per_word,summary=min)": default(NounSource, "min_sentences"),
        "setting(of=pruning_words)": default(pruning_threshold, "n_words"),
        "setting(of=pruning_neighbours)": default(pruning_threshold, "nearest"),
    }
    assert ours == {name: printed[name] for name in ours}
    for task in ("word_intrusion", "sense_choice"):
        assert catalog.screen(task).habit.per_item == printed["setting(of=judgments_per_question)"]
