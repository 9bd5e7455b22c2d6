"""synonymy with an answer to each question: items of several kinds, a subject by rule that fills gaps, a baseline,
and simulated people who choose on the same pages."""

from __future__ import annotations

from pathlib import Path

from lexiscope.items.choice_sets.collection_file import read_collection
from lexiscope.items.sheets.choice_sheet import human_sheet
from lexiscope.studies.synonymy.settings import SynonymySettings

TESTS = Path(__file__).parents[2]


def settings(folder: Path) -> SynonymySettings:
    """Return the settings; the choices of simulated people are written into the folder."""
    rule = f"{TESTS / 'simulated' / 'rules.py'}:base"
    counts = str(TESTS / "golden" / "own" / "counts.csv")
    items = TESTS / "data" / "synonyms_by_part_of_speech.csv"
    pages = human_sheet(read_collection(items), dataset=items.stem)
    rows = [
        f"simulated-{person},{page.item_id},{page.options[number % (person + 1) % 2]}"
        for person in (1, 2)
        for number, page in enumerate(pages)
    ]
    people = folder / "people.csv"
    people.write_text("\n".join(["participant,item_id,answer", *rows]) + "\n", encoding="utf-8")
    return SynonymySettings(
        items=str(items), subjects=(rule, "baseline:random"), frequency=counts, people=(str(people),)
    )
