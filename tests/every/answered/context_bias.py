"""context_bias with an answer to each question: planted bias, senses of the mini nouns, simulated participants."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.datasets import planted_bias
from lexiscope.items.tables.tabular import write_items
from lexiscope.studies.context_bias.data import LOOK_UP
from lexiscope.studies.context_bias.settings import ContextBiasSettings

SENSES = Path(__file__).parents[2] / "simulated" / "senses.py"
GUESS = "lantern"


def settings(folder: Path) -> ContextBiasSettings:
    """Write the answers of simulated participants, and four guessed words, into the folder."""
    asked = [item for item in planted_bias.load().items if item.conditions["split"] == "test"][:40]
    ResponseTable.from_rows(_answers(asked)).write_csv(folder / "people.csv")
    write_items([_guessed(item) for item in asked[:4]], folder / "guessed.csv")
    return ContextBiasSettings(
        datasets=("planted_bias", str(SENSES)),
        encoders=(LOOK_UP,),
        attribution="leave_one_out",
        people=(str(folder / "people.csv"), str(folder / "guessed.csv")),
    )


def _answers(items: Sequence[Item]) -> Iterator[Response]:
    """Two simulated participants a view: right with the whole input, else t; those of the context guess a word."""
    for place, view in enumerate(("full", "context", "word")):
        for who in (f"simulated-{place}-a", f"simulated-{place}-b"):
            for number, item in enumerate(items):
                of_item = (who, "simulated", item.item_id, "same_sense")
                yield Response(*of_item, "choice", option=item.gold if view == "full" else "t", view=view)
                if view == "context" and number < 4:
                    yield Response(*of_item, "guessed_word", raw=GUESS, view=view)
                    yield Response(*of_item, "revealed_choice", option="f", view="full")


def _guessed(item: Item) -> Item:
    """The item with a guess that somebody judged to fit, as the sheet of guessed words gives it."""
    conditions = {"guess_of": item.item_id, "guess": GUESS, "guess_fits": True}
    forms = {"guessed_word_1": GUESS, "guessed_word_2": GUESS}
    return replace(item, item_id=f"{item.item_id}/{GUESS}", gold=None, conditions=item.conditions | conditions | forms)
