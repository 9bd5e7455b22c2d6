"""``lexiscope build sheet``, ``read-sheet``, ``compare`` and ``merge``: what curators decide, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from lexiscope.analysis.accuracy import wilson_interval
from lexiscope.analysis.agreement.choices import cohen_kappa
from lexiscope.build.minimal_pairs.assembly import synonym_items
from lexiscope.build.minimal_pairs.curation import (
    REASONS,
    VERDICTS,
    CuratorComparison,
    CuratorDisagreement,
    compare_decisions,
    merge_decisions,
)
from lexiscope.build.minimal_pairs.curation_bench import now
from lexiscope.build.minimal_pairs.curation_sheet import append_new_decisions, read_curation_sheet, write_curation_sheet
from lexiscope.build.minimal_pairs.decision_log import (
    DecisionLog,
    build_language,
    disputed_proposals,
    latest_decisions,
    read_finished_proposals,
)
from lexiscope.cli import options
from lexiscope.cli.output import print_json, print_table, remark, say
from lexiscope.cli.verb import Verb, existing_file
from lexiscope.core.errors import InputError, Place, StatisticError
from lexiscope.items.choice_sets.collection_file import write_collection
from lexiscope.items.tables.spreadsheet import write_sheet

CURATOR = click.option("--curator", required=True, metavar="NAME", help="Who decides: a code, in small letters.")
PAIR: Callable[..., Any] = click.option(
    "--settle",
    nargs=2,
    metavar="NAME NAME",
    default=None,
    help="Only what these two disagree on: for a third who decides.",
)
"""The option that keeps only the proposals on which two curators disagree."""


# -- sheet and read-sheet: curation with a spreadsheet --------------------------------------------------------------


@click.command("sheet", cls=Verb)
@click.argument("folder", type=click.Path(path_type=Path))
@CURATOR
@PAIR
@options.path("--out", metavar="FILE.csv", about="The sheet.", required=True)
def sheet(folder: Path, *, curator: str, settle: tuple[str, str] | None, out: Path) -> None:
    """Write a sheet in which a curator decides with a spreadsheet.

    A row is a proposal; what the curator decided before stands in it. The columns verdict, reason, note, context,
    synonym and distractor are filled in or changed; read-sheet takes them in.
    """
    proposals = read_finished_proposals(folder)
    before = DecisionLog(folder, curator).latest(proposals)
    only = disputed_proposals(folder, settle) if settle is not None else None
    shown = [proposal for proposal in proposals if only is None or proposal.proposal_id in only]
    write_curation_sheet(out, shown, before, language=build_language(folder))
    say(f"written: {out} ({len(shown)} proposals, {sum(proposal.proposal_id in before for proposal in shown)} decided)")
    remark(f"verdict: {' or '.join(VERDICTS)}; reason of a rejection: {', '.join(REASONS)} (other needs a note)")
    remark(f"next: lexiscope build read-sheet {folder} {out} --curator {curator}")


@click.command("read-sheet", cls=Verb)
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("file", metavar="FILE.csv", type=click.Path(path_type=Path))
@click.option("--curator", required=True, metavar="NAME", help="Who decided: the name that the sheet was written for.")
def read_sheet(folder: Path, file: Path, *, curator: str) -> None:
    """Take in the decisions of a sheet that came back.

    Nothing is taken in where a row is wrong; a row that says what was decided before changes nothing. Decisions that
    the sheet changes stay on record; the latest counts.
    """
    proposals = read_finished_proposals(folder)
    log = DecisionLog(folder, curator)
    decisions = read_curation_sheet(existing_file(file), proposals, curator=curator, at=now())
    n_new = append_new_decisions(log, decisions, proposals)
    say(f"{len(decisions)} decisions in the sheet, {n_new} of them new; written: {log.path}")
    say(f"{curator} has decided {len(log.latest(proposals))} of {len(proposals)} proposals")


# -- compare and merge: what two curators agree on, and the collection ----------------------------------------------


@click.command("compare", cls=Verb)
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("first", metavar="NAME")
@click.argument("second", metavar="NAME")
@options.path("--out", metavar="FILE.csv", about="Write the disagreements as CSV.")
@options.as_json
def compare_curators(folder: Path, first: str, second: str, *, out: Path | None, as_json: bool) -> None:
    """Say how far two curators agree, and where they do not.

    Agreement and Cohen's kappa are over accept and reject, of the proposals that both decided; among those that both
    accepted it is counted how many have the same context and words.
    """
    proposals = read_finished_proposals(folder)
    language = build_language(folder)
    comparison = compare_decisions(proposals, *(latest_decisions(folder, name, proposals) for name in (first, second)))
    if out is not None:
        write_disagreements(out, comparison, language=language)
    differences = [_difference_row(disagreement, language) for disagreement in comparison.disagreements]
    if as_json:
        print_json(summary(comparison) | {"disagreements": differences})
        return
    for name, value in summary(comparison).items():
        # a statistic keeps the name that parses back
        label = name if "(" in name else name.replace("_", " ")
        say(f"{label}: {value if not isinstance(value, float) else f'{value:.3f}'}")
    if comparison.disagreements:
        columns = ("proposal", "word", "differ in", first, second)
        rows = [_short_row(disagreement) for disagreement in comparison.disagreements]
        print_table(columns, rows, title="Disagreements", whole=("word",))
    if out is not None:
        say(f"written: {out}")
    remark(f"a third decides: lexiscope build curate {folder} --curator NAME --settle {first} {second}")


@click.command("merge", cls=Verb)
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("names", nargs=-1, required=True, metavar="NAME [NAME]")
@click.option("--third", metavar="NAME", help="Who decides where the two disagree.")
@options.path("--out", metavar="FILE.csv", about="The collection.", required=True)
def merge_curators(folder: Path, names: tuple[str, ...], *, third: str | None, out: Path) -> None:
    """Write the collection of what the curators accepted.

    Of one curator, what they accepted; of two, what both accepted with the same context and words. What they disagree
    on is left out unless a third decided it. What is left out is listed beside the collection.
    """
    if len(names) > 2 or (third is not None and len(names) != 2):
        raise click.UsageError("name one curator, or two and with --third who decides between them")
    proposals = read_finished_proposals(folder)
    decisions = [latest_decisions(folder, name, proposals) for name in names]
    settled = latest_decisions(folder, third, proposals) if third is not None else None
    merged = merge_decisions(proposals, decisions[0], decisions[1] if len(decisions) == 2 else None, settled)
    say(", ".join(f"{number} {name}" for name, number in merged.counts.items()))
    left_out = out.with_name(f"{out.stem}_left_out.csv")
    language = build_language(folder)
    rows = [
        [proposal.proposal_id, proposal.candidate.word, proposal.context.bracketed_text(language=language), why]
        for proposal, why in merged.excluded
    ]
    write_sheet(left_out, ("proposal", "word", "sentence", "why"), rows)
    say(f"written: {left_out}")
    if not merged.items:
        raise InputError("no item was accepted: there is no collection to write", code="E469", place=Place(str(folder)))
    write_collection(synonym_items(merged.items, language=language), out)
    say(f"written: {out} ({len(merged.items)} items)")
    remark(f"next: lexiscope build minimal-pairs --collection {out} --out FOLDER")


def summary(comparison: CuratorComparison) -> dict[str, Any]:
    """Return the numbers of a comparison by name; kappa is missing, and says why, where it is undefined."""
    n, n_same = len(comparison.verdicts), sum(first == second for first, second in comparison.verdicts)
    interval = wilson_interval(n_same, n)
    numbers: dict[str, Any] = {
        "proposals": comparison.n_proposals,
        **{f"decided_by_{name}": n for name, n in zip(comparison.curators, comparison.n_decided, strict=True)},
        "decided_by_both": n,
        "same_verdict": n_same,
        "agreement": n_same / n,
        "agreement_95%": f"{interval.low:.3f} to {interval.high:.3f}",
        "accepted_by_both": comparison.n_both_accepted,
        "same_context_and_words": comparison.n_same_choice,
        "disagreements": len(comparison.disagreements),
    }
    first, second = zip(*comparison.verdicts, strict=True)
    try:
        kappa = cohen_kappa(first, second, categories=VERDICTS)
        numbers[kappa.name] = kappa.value
    except StatisticError as error:
        numbers["cohen_kappa"] = f"undefined: {error.what}"
    return numbers


def write_disagreements(path: Path, comparison: CuratorComparison, *, language: str = "en") -> None:
    """Write the disagreements as a sheet: what each of the two decided."""
    rows = [list(_difference_row(disagreement, language).values()) for disagreement in comparison.disagreements]
    names = [f"{what}_{name}" for name in comparison.curators for what in _COMPARED]
    write_sheet(path, ("proposal", "word", "differ_in", "sentence", *names), rows)


_COMPARED = ("verdict", "context", "synonym", "distractor", "reason", "note")


def _difference_row(disagreement: CuratorDisagreement, language: str) -> dict[str, str]:
    row = {
        "proposal": disagreement.proposal.proposal_id,
        "word": disagreement.proposal.candidate.word,
        "differ_in": disagreement.kind,
        "sentence": disagreement.proposal.context.bracketed_text(language=language),
    }
    for decision in (disagreement.first, disagreement.second):
        given = asdict(decision) | {"context": decision.context_id}
        row |= {f"{what}_{decision.curator}": given[what] for what in _COMPARED}
    return row


def _short_row(disagreement: CuratorDisagreement) -> tuple[str, ...]:
    choices = (
        f"reject: {decision.reason}"
        if decision.verdict == "reject"
        else f"{decision.synonym} / {decision.distractor} ({decision.context_id})"
        for decision in (disagreement.first, disagreement.second)
    )
    return (disagreement.proposal.proposal_id, disagreement.proposal.candidate.word, disagreement.kind, *choices)
