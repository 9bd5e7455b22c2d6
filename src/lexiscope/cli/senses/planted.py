"""``lexiscope senses planted``: are planted senses separated, and are the probabilities of senses calibrated?"""

from __future__ import annotations

from pathlib import Path

import click

from lexiscope.cli import options
from lexiscope.cli.output import print_json, remark
from lexiscope.cli.senses.report_table import print_report_table
from lexiscope.cli.senses.subject import read_subject
from lexiscope.cli.verb import Verb, existing_file
from lexiscope.core.errors import InputError, Place
from lexiscope.report.parts.sense_parts import calibration_tables, planted_table
from lexiscope.training.gasi.planted import PlantedSenses, planted_files, read_planted_folder


@click.command("planted", cls=Verb)
@click.argument("subject", metavar="SUBJECT")
@options.path(
    "--planted",
    metavar="FILE|FOLDER",
    about="Usages of pseudo-words (planted.csv), or a folder with it and vectors of the text before planting.",
    required=True,
)
@options.of_arguments(PlantedSenses.calibrations, "bins", "resamples", "seed")
@options.as_json
@options.quiet
def planted(subject: str, *, planted: Path, bins: int, resamples: int, seed: int, as_json: bool, quiet: bool) -> None:
    """Report how well planted senses are separated, and how well the probabilities of senses are calibrated.

    SUBJECT is gasi:FOLDER or sense_embedding:FORMAT:FILES, trained on text in which two words are written as one. The
    tables have the share of usages that are right; P, the probability of what is right (the paper's measure); and its
    calibration, bin by bin of confidence. A sense stands for a planted word by the usages, one to one at best, and by
    its neighbours where the folder has reference vectors. Intervals resample words.
    """
    for path in planted_files(str(planted)):
        existing_file(path)
    asked = read_subject(subject)
    items, reference = read_planted_folder(planted)
    usages = PlantedSenses(planted.name, items, (asked,), reference=reference)
    if asked.subject_id not in usages.answers:
        what, hint = "these vectors know fewer than two of the pseudo-words", "train them on the planted text"
        raise InputError(what, code="E715", place=Place(str(planted)), hint=hint)
    how = {"resamples": resamples, "seed": seed}
    results = [result.about(subject=asked.subject_id) for result in usages.recovery(asked, bins=bins, **how)]
    if as_json:
        print_json([record.content() for result in results for record in result.records()])
        return
    words = {asked.subject_id: len({item.usages[0].lemma for item in usages.answers[asked.subject_id][0]})}
    titles = {asked.subject_id: asked.subject_id}
    print_report_table(planted_table(results, words, titles, where=usages.title))
    own = usages.calibrations(asked, bins=bins, **how)
    for table in calibration_tables({asked.subject_id: own}, titles, where=usages.title):
        print_report_table(table)
    if reference is None:
        remark("by neighbours: it needs vectors of the text before planting in the folder's reference/", quiet=quiet)
