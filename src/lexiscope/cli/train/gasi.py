"""``lexiscope train gasi``: induced senses from running text; ``gasi_prune`` and ``gasi_export`` use the result."""

from __future__ import annotations

import math
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from lexiscope.cli import options
from lexiscope.cli.output import print_json, print_table, progress_bar, quoted, remark, say
from lexiscope.cli.senses.report_table import print_senses_by_frequency
from lexiscope.cli.verb import Verb, check_output
from lexiscope.resources.corpora.running_text import TOKENISATIONS, corpus_files, words_of
from lexiscope.resources.vectors.sense_vectors import read_sense_vectors
from lexiscope.resources.vectors.word2vec import Form, write_word2vec
from lexiscope.training.gasi.pruning import prune_senses, senses_by_frequency
from lexiscope.training.gasi.settings import GasiSettings
from lexiscope.training.gasi.shards import Shards, make_shards
from lexiscope.training.gasi.train import SHARDS, TrainedSenses, check_out_folder, mask_of, train_gasi
from lexiscope.training.gasi.vocabulary import VocabularyLimits

_SHOWN_ROWS = 10
_BINS = 10
_NAMED = 3
# of the highest entropy that there can be
_EVEN = 0.99


@click.command(cls=Verb)
@options.path(
    "--corpus",
    metavar="FILE|FOLDER",
    about="Text in UTF-8, one sentence or paragraph per line; .gz, .xz and .bz2 too. May be given several times.",
    required=True,
    multiple=True,
)
@options.path("--out", metavar="FOLDER", about="The sense vectors.", required=True)
@options.path(
    "--senses-of",
    metavar="FOLDER",
    about="Give each word the senses that it has in this folder, pruned ones for instance.",
)
@click.option(
    "--tokens",
    "tokenisation",
    type=click.Choice(TOKENISATIONS),
    default="own",
    show_default=True,
    help="own: words are cut and put in lower case. given: white space separates the words already.",
)
@options.of_settings(VocabularyLimits)
@options.of_settings(GasiSettings)
@options.of_arguments(train_gasi, "seed")
@options.path(
    "--shards",
    "shard_folder",
    metavar="FOLDER",
    about="Keep the corpus as numbers here, for other trainings. Default: in OUT/shards.",
)
@options.as_json
@options.quiet
def gasi(**given: Any) -> None:
    """Learn several vectors for each word from running text, one for each of its senses.

    The context of a word chooses among its senses, in training and after it. The folder loads as gasi:FOLDER. The
    training's log is OUT/training_log.csv: loss, entropy of the choice, and the strength of its noise and signal.
    The same command again does nothing if the training is finished and resumes it if it was interrupted.
    """
    settings = options.make_settings(GasiSettings, given)
    more = "" if settings.threads == 1 else "; no two runs are equal to the bit with more than one"
    remark(f"threads: {settings.threads}{more}", quiet=given["quiet"])
    check_out_folder(given["out"], given["corpus"])
    with progress_bar("train", quiet=given["quiet"]) as report:
        shards = make_shards(
            corpus_files(given["corpus"]),
            given["shard_folder"] or given["out"] / SHARDS,
            limits=options.make_settings(VocabularyLimits, given),
            tokenisation=given["tokenisation"],
            progress=report,
        )
        if told := _lost_words_text(shards, given["tokenisation"]):
            remark(told, quiet=given["quiet"])
        mask = mask_of(given["senses_of"], shards) if given["senses_of"] else None
        trained = train_gasi(
            shards,
            out=given["out"],
            settings=settings,
            seed=given["seed"],
            mask=mask,
            command=["lexiscope", *sys.argv[1:]],
            progress=report,
        )
    _print_training(trained, as_json=given["as_json"], quiet=given["quiet"])


@click.command(cls=Verb)
@click.argument("folder", type=click.Path(path_type=Path))
@options.path("--out", metavar="FOLDER", about="What is left.", required=True)
@options.of_arguments(prune_senses, "threshold", "seed")
@options.as_json
@options.quiet
def gasi_prune(folder: Path, *, out: Path, as_json: bool, quiet: bool, **how: Any) -> None:
    """Drop senses that are duplicates of another sense of their word.

    λ lies halfway between the mean distance of duplicates and that of neighbours, over 100 words. The vectors in OUT
    are those of FOLDER; train again with --senses-of OUT for vectors that were learnt without the duplicates.
    """
    pruned = prune_senses(folder, out=out, **how, command=["lexiscope", *sys.argv[1:]])
    rows = senses_by_frequency(vectors := read_sense_vectors(out), bins=min(_BINS, len(vectors.words)))
    if as_json:
        told = asdict(pruned) | {"folder": str(pruned.folder), "senses_by_frequency": [asdict(row) for row in rows]}
        print_json(told)
        return
    print_senses_by_frequency(rows)
    say(f"threshold {pruned.threshold:.4f}: {pruned.n_before:,} senses, {pruned.n_after:,} are left")
    say(f"Saved {out}")
    remark(f"next: lexiscope train gasi … --senses-of {quoted(out)}", quiet=quiet)


@click.command(cls=Verb)
@click.argument("folder", type=click.Path(path_type=Path))
@options.path("--out", metavar="FILE", about="The file of vectors.", required=True)
@options.of_arguments(write_word2vec, "form")
def gasi_export(folder: Path, *, out: Path, form: Form) -> None:
    """Write sense vectors in a format of word2vec: word#1, word#2 … for the senses of a word."""
    check_output(out, folder)
    count = write_word2vec(out, read_sense_vectors(folder), form)
    say(f"{count:,} vectors written: {out}")


def _lost_words_text(shards: Shards, tokenisation: str) -> str:
    """List the words of a tokenized text that no sentence can show, because sentences are tokenized by ``own``."""
    if tokenisation == "own":
        return ""
    words, counts = shards.vocabulary.words, shards.vocabulary.counts
    # between two others, where a clitic is cut off as it is in running text
    lost = [number for number, word in enumerate(words) if words_of(f"x {word} x") != ["x", word, "x"]]
    if not lost:
        return ""
    share = 100 * float(counts[lost].sum() / counts.sum())
    named = ", ".join(repr(words[number]) for number in lost[:_NAMED])
    return (
        f"{len(lost):,} of {len(words):,} words ({share:.1f} % of the text), {named} for instance, are written "
        "otherwise by the tokeniser that reads sentences after the training: examples and tests will not find them"
    )


def _print_training(trained: TrainedSenses, *, as_json: bool, quiet: bool) -> None:
    if as_json:
        print_json([asdict(row) for row in trained.log])
        return
    step = max(1, len(trained.log) // _SHOWN_ROWS)
    rows = [
        (row.epoch, f"{row.tokens:,}", row.loss, row.entropy, row.entropy_without_noise, row.signal_sd, row.noise_sd)
        for row in trained.log[::-1][::step][::-1]
    ]
    columns = ("epoch", "tokens", "loss", "entropy", "without noise", "signal SD", "noise SD")
    print_table(columns, rows, right=columns)
    if trained.tokens_per_second is not None:
        remark(f"{trained.tokens_per_second:,.0f} tokens of the corpus a second", quiet=quiet)
    say(f"{trained.n_senses:,} senses of {trained.n_words:,} words")
    say(f"Saved {trained.folder}")
    if told := _undecided_text(trained):
        remark(told, quiet=quiet)
    remark(f"next: lexiscope train gasi_prune {quoted(trained.folder)} --out …", quiet=quiet)


def _undecided_text(trained: TrainedSenses) -> str:
    """Say that a context decides nothing where, at the end, all senses of a word are nearly equally probable."""
    senses, some_pruned = divmod(trained.n_senses, trained.n_words)
    # where words have different numbers of senses, no one entropy is the highest
    most = 0.0 if some_pruned else math.log(senses)
    entropy = trained.log[-1].entropy_without_noise if trained.log else 0.0
    if not most or entropy < _EVEN * most:
        return ""
    return (
        f"the senses hardly differ: in any context all are nearly equally probable (entropy {entropy:.3f} of at most "
        f"{most:.3f}); give more text, more --epochs, or a larger --learning-rate"
    )
