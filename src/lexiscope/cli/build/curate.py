"""``lexiscope build curate``, ``sheet``, ``read-sheet``, ``compare`` and ``merge``: decisions of curators."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lexiscope.analysis.accuracy import wilson_interval
from lexiscope.analysis.agreement.choices import cohen_kappa
from lexiscope.build.minimal_pairs.alternatives import Alternative
from lexiscope.build.minimal_pairs.build_folder import synonym_items
from lexiscope.build.minimal_pairs.candidates import Context
from lexiscope.build.minimal_pairs.curation import (
    REASONS,
    VERDICTS,
    CuratorComparison,
    CuratorDisagreement,
    Decision,
    compare_decisions,
    is_changed,
    merge_decisions,
)
from lexiscope.build.minimal_pairs.curation_bench import (
    CurationBench,
    append_new_decisions,
    now,
    read_curation_sheet,
    write_curation_sheet,
)
from lexiscope.build.minimal_pairs.decision_log import (
    DecisionLog,
    build_language,
    disputed_proposals,
    latest_decisions,
    read_finished_proposals,
)
from lexiscope.cli import options
from lexiscope.cli.output import print_json, print_table, quoted, remark, say
from lexiscope.cli.verb import Verb, existing_file
from lexiscope.core.errors import InputError, Place, StatisticError
from lexiscope.items.choice_sets.collection_file import write_collection
from lexiscope.items.tables.spreadsheet import write_sheet

# -- curators -------------------------------------------------------------------------------------------------------
# ``lexiscope build sheet``, ``read-sheet``, ``compare`` and ``merge``: what curators decide, and what comes of it.


CURATOR = click.option("--curator", required=True, metavar="NAME", help="Code of the curator, in lower case.")
PAIR: Callable[..., Any] = click.option(
    "--settle",
    nargs=2,
    metavar="NAME NAME",
    default=None,
    help="Show only the proposals on which these two curators disagree.",
)
"""The option that keeps only the proposals on which two curators disagree."""


@click.command("sheet", cls=Verb)
@click.argument("folder", type=click.Path(path_type=Path))
@CURATOR
@PAIR
@options.path("--out", metavar="FILE.csv", about="The sheet.", required=True)
def sheet(folder: Path, *, curator: str, settle: tuple[str, str] | None, out: Path) -> None:
    """Write a sheet in which a curator decides with a spreadsheet.

    Each row is a proposal, with the earlier decision of the curator. Fill in or change the columns verdict, reason,
    note, context, synonym and distractor, then run read-sheet.
    """
    proposals = read_finished_proposals(folder)
    before = DecisionLog(folder, curator).latest(proposals)
    only = disputed_proposals(folder, settle) if settle is not None else None
    shown = [proposal for proposal in proposals if only is None or proposal.proposal_id in only]
    write_curation_sheet(out, shown, before, language=build_language(folder))
    say(f"Saved {out} ({len(shown)} proposals, {sum(proposal.proposal_id in before for proposal in shown)} decided)")
    remark(f"verdict: {' or '.join(VERDICTS)}; reason of a rejection: {', '.join(REASONS)} (other needs a note)")
    remark(f"next: lexiscope build read-sheet {quoted(folder)} {quoted(out)} --curator {quoted(curator)}")


@click.command("read-sheet", cls=Verb)
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("file", metavar="FILE.csv", type=click.Path(path_type=Path))
@click.option("--curator", required=True, metavar="NAME", help="Name that the sheet was written for.")
@options.as_json
def read_sheet(folder: Path, file: Path, *, curator: str, as_json: bool) -> None:
    """Record the decisions of a filled-in sheet.

    If a row is wrong, no decision is recorded. A row that repeats an earlier decision changes nothing. Earlier
    decisions are kept; the latest is used.
    """
    proposals = read_finished_proposals(folder)
    log = DecisionLog(folder, curator)
    decisions = read_curation_sheet(existing_file(file), proposals, curator=curator, at=now())
    n_new = append_new_decisions(log, decisions, proposals)
    if as_json:
        decided = len(log.latest(proposals))
        counts = {"decisions": len(decisions), "new": n_new, "decided": decided, "proposals": len(proposals)}
        print_json({"curator": curator, "log": str(log.path)} | counts)
        return
    say(f"{len(decisions)} decisions in the sheet, {n_new} of them new; saved in {log.path}")
    say(f"{curator} has decided {len(log.latest(proposals))} of {len(proposals)} proposals")


@click.command("compare", cls=Verb)
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("first", metavar="NAME")
@click.argument("second", metavar="NAME")
@options.path("--out", metavar="FILE.csv", about="Write the disagreements as CSV.")
@options.as_json
def compare_curators(folder: Path, first: str, second: str, *, out: Path | None, as_json: bool) -> None:
    """Report the agreement of two curators and list their disagreements.

    Agreement and Cohen's kappa compare accept and reject, for proposals that both decided. For proposals that both
    accepted, the number with the same context and words is also given.
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
        say(f"Saved {out}")
    remark(f"To let a third curator decide: lexiscope build curate {folder} --curator NAME --settle {first} {second}")


@click.command("merge", cls=Verb)
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("names", nargs=-1, required=True, metavar="NAME [NAME]")
@click.option("--third", metavar="NAME", help="Curator who settles disagreements.")
@options.path("--out", metavar="FILE.csv", about="The collection.", required=True)
@options.as_json
def merge_curators(folder: Path, names: tuple[str, ...], *, third: str | None, out: Path, as_json: bool) -> None:
    """Write the collection of accepted proposals.

    With one curator, these are the accepted proposals; with two, those that both accepted with the same context and
    words. Proposals on which they disagree are excluded unless a third curator decided. A second file lists the
    excluded proposals.
    """
    if len(names) > 2 or (third is not None and len(names) != 2):
        raise click.UsageError("name one curator, or two and with --third who decides between them")
    proposals = read_finished_proposals(folder)
    decisions = [latest_decisions(folder, name, proposals) for name in names]
    settled = latest_decisions(folder, third, proposals) if third is not None else None
    merged = merge_decisions(proposals, decisions[0], decisions[1] if len(decisions) == 2 else None, settled)
    if not as_json:
        say(", ".join(f"{number} {name}" for name, number in merged.counts.items()))
    left_out = out.with_name(f"{out.stem}_left_out.csv")
    language = build_language(folder)
    rows = [
        [proposal.proposal_id, proposal.candidate.word, proposal.context.bracketed_text(language=language), why]
        for proposal, why in merged.excluded
    ]
    write_sheet(left_out, ("proposal", "word", "sentence", "why"), rows)
    if not as_json:
        say(f"Saved {left_out}")
    if not merged.items:
        raise InputError("no item was accepted: there is no collection to write", code="E469", place=Place(str(folder)))
    write_collection(synonym_items(merged.items, language=language), out)
    if as_json:
        print_json(
            {"counts": dict(merged.counts), "items": len(merged.items), "out": str(out), "excluded": str(left_out)}
        )
        return
    say(f"Saved {out} ({len(merged.items)} items)")
    remark(f"next: lexiscope build minimal-pairs --collection {quoted(out)} --out FOLDER")


def summary(comparison: CuratorComparison) -> dict[str, Any]:
    """Return the numbers of a comparison by name; an undefined kappa is replaced by the reason."""
    n, n_same = len(comparison.verdicts), sum(first == second for first, second in comparison.verdicts)
    interval = wilson_interval(n_same, n)
    numbers: dict[str, Any] = {
        "proposals": comparison.n_proposals,
        **{f"decided_by_{name}": count for name, count in zip(comparison.curators, comparison.n_decided, strict=True)},
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


# ---------------------------------------------------------------------------------------------------------------------


WIDTH = 100
LOW = 32
QUIT = ("q", "\x03", "\x04", "\x1b")
_WHAT = {"s": "synonym", "d": "distractor that goes with this synonym", "c": "context", "n": "item"}
ReadKey = Callable[[], str]
ReadLine = Callable[[str], str]
Row = tuple[str, str, Text]


@click.command("curate", cls=Verb)
@click.argument("folder", type=click.Path(path_type=Path))
@CURATOR
@PAIR
def curate(folder: Path, *, curator: str, settle: tuple[str, str] | None) -> None:
    """Accept, change or reject proposed items in the terminal.

    Every decision is saved before the next item is shown. You can stop at any time; the same command continues. Two
    curators should decide independently: see compare and merge.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        hint = f"with a spreadsheet: lexiscope build sheet {folder} --curator {curator} --out sheet.csv"
        raise InputError("the curation bench needs a terminal", hint=hint)
    proposals = read_finished_proposals(folder)
    log = DecisionLog(folder, curator)
    if log.torn_line:
        remark("the last decision was cut off while it was written: it is asked for again")
    only = None if settle is None else sorted(disputed_proposals(folder, settle))
    bench = CurationBench(proposals, log, only=only, language=build_language(folder))
    others = {} if settle is None else {name: DecisionLog(folder, name).latest(proposals) for name in settle}
    run_bench(
        bench,
        Console(highlight=False),
        read_key=click.getchar,
        read_line=lambda prompt: str(click.prompt(f" {prompt}", default="", show_default=False)),
        others=others,
    )
    say(f"{curator}: {bench.n_decided} of {len(bench.proposals)} decided, in {log.path}")
    if bench.n_decided < len(bench.proposals):
        remark("To continue, run the same command again.")


def run_bench(
    bench: CurationBench,
    console: Console,
    *,
    read_key: ReadKey,
    read_line: ReadLine,
    others: dict[str, dict[str, Decision]] | None = None,
) -> None:
    """Show proposal after proposal and do what the keys say, until all is decided or the curator stops.

    *others* are the decisions of the two curators between which this curator decides; they are shown.
    """
    message = ""
    while True:
        _print_proposal(bench, console, message, others or {})
        try:
            key = read_key()
        except (KeyboardInterrupt, EOFError):
            return
        if key in QUIT:
            return
        message = _apply_key(bench, key, console, read_key, read_line)


def _apply_key(bench: CurationBench, key: str, console: Console, read_key: ReadKey, read_line: ReadLine) -> str:
    """Do what a key says; return what to tell the curator."""
    if key == "u":
        first = bench.position == 0
        bench.back()
        return "this is the first one" if first else ""
    if bench.is_finished:
        return "everything is decided: u looks at the last one again, q stops"
    if key == "a":
        proposal = bench.proposal
        decision = bench.accept()
        return f"accepted{' as changed' if is_changed(decision, proposal) else ''}: {_pair_text(decision)}"
    if key == "r":
        return _ask_and_reject(bench, console, read_key, read_line)
    steps: dict[str, Callable[[], None]] = {
        "s": bench.switch_synonym,
        "S": lambda: bench.switch_synonym(-1),
        "d": bench.switch_distractor,
        "D": lambda: bench.switch_distractor(-1),
        "c": bench.switch_context,
        "C": lambda: bench.switch_context(-1),
        "n": bench.skip,
    }
    if key not in steps:
        return f"{key!r} is not one of the keys below" if key.isprintable() else ""
    before = (bench.position, bench.context, bench.synonym, bench.distractor)
    steps[key]()
    if before == (bench.position, bench.context, bench.synonym, bench.distractor):
        return f"there is no other {_WHAT[key.lower()]}"
    return ""


def _ask_and_reject(bench: CurationBench, console: Console, read_key: ReadKey, read_line: ReadLine) -> str:
    console.print("\n Why? Any other key goes back.")
    numbered = dict(zip("1234", REASONS, strict=True))
    for number, reason in numbered.items():
        console.print(Text.assemble("  ", (number, "bold cyan"), f"  {REASONS[reason]}"))
    reason = numbered.get(read_key(), "")
    if not reason:
        return "not rejected"
    note = read_line("The reason") if reason == "other" else ""
    if reason == "other" and not note.strip():
        return "not rejected: another reason has to be named"
    return _decision_text(bench.reject(reason, note))


def _print_proposal(
    bench: CurationBench, console: Console, message: str, others: dict[str, dict[str, Decision]]
) -> None:
    console.clear()
    n = len(bench.proposals)
    place = "all decided" if bench.is_finished else f"item {bench.position + 1} of {n}"
    console.print(Text(f" {place} · {bench.n_decided} of {n} decided · curator {bench.log.curator}", "dim"))
    console.print(Text(f" {message}", "green"))
    if not bench.is_finished:
        grid = Table.grid(padding=(0, 1))
        for _ in range(3):
            grid.add_column(overflow="fold")
        for key, label, text in [*_item_rows(bench), *_decision_rows(bench, others)]:
            # in a low window the lines between are left out, so that nothing scrolls away
            if console.height < LOW and not text:
                continue
            grid.add_row(Text(f" {key}", "bold cyan"), Text(label, "dim"), text)
        console.print(grid, width=min(WIDTH, console.width))
    console.print(_keys_text(bench))


def _item_rows(bench: CurationBench) -> list[Row]:
    candidate, context = bench.candidate, bench.context
    distractor = next(alternative for alternative in bench.possible_distractors if alternative.word == bench.distractor)
    number = 1 + [possible.context_id for possible in candidate.contexts].index(context.context_id)
    rows: list[Row] = [
        ("", "sentence", _sentence_text(context, context.target, "bold yellow", bench.language)),
        ("", "", Text()),
        ("", "right", _sentence_text(context, bench.synonym, "bold green", bench.language)),
        ("", "", Text()),
        ("", "wrong", _sentence_text(context, bench.distractor, "bold red", bench.language)),
        ("", "", Text()),
        ("", "sense here", Text(f"{candidate.gloss} (sense {candidate.sense_number} of {candidate.n_senses})")),
        ("", "other sense", Text(distractor.gloss)),
        ("", "", Text()),
        ("s", "synonym", _alternatives_text(bench.possible_synonyms, bench.synonym)),
        ("d", "distractor", _alternatives_text(bench.possible_distractors, bench.distractor)),
        ("c", "context", Text(f"{number} of {len(candidate.contexts)} ({context.context_id})")),
    ]
    if context.flagged:
        rows.append(("", "flagged", Text(", ".join(context.flagged), "bold magenta")))
    return rows


def _decision_rows(bench: CurationBench, others: dict[str, dict[str, Decision]]) -> list[Row]:
    """Return the earlier decisions about this proposal: of this curator, or of the two who disagree."""
    key = bench.proposal.proposal_id
    known = {name: decisions[key] for name, decisions in others.items() if key in decisions}
    if bench.previous_decision is not None:
        known["you, before"] = bench.previous_decision
    return [("", name, Text(_decision_text(decision))) for name, decision in known.items()]


def _decision_text(decision: Decision) -> str:
    if decision.verdict == "reject":
        return f"rejected: {decision.note if decision.reason == 'other' else REASONS[decision.reason]}"
    return f"accepted: {_pair_text(decision)} in {decision.context_id}"


def _sentence_text(context: Context, word: str, style: str, language: str) -> Text:
    """The sentence as subjects will read it, with a word in the target's place."""
    placed = context.with_word(word, language=language)
    return Text.assemble(placed.text[: placed.start], (f"[{placed.word}]", style), placed.text[placed.end :])


def _alternatives_text(words: Sequence[Alternative], chosen: str) -> Text:
    """All words with their counts in the sense, the chosen one marked."""
    text = Text()
    for number, alternative in enumerate(words):
        text.append("   " if number else "")
        text.append(
            f"{'>' if alternative.word == chosen else ''}{alternative.word}",
            "bold" if alternative.word == chosen else "",
        )
        text.append(f" {alternative.count}", "dim")
    return text


def _pair_text(decision: Decision) -> str:
    return f"{decision.synonym} / {decision.distractor}"


def _keys_text(bench: CurationBench) -> Text:
    names = {"u": "back", "q": "stop"}
    if not bench.is_finished:
        names = {"a": "accept", "r": "reject", "s d c": "change (capital: back)", "n": "next"} | names
    text = Text("\n ")
    if not bench.is_finished:
        text.append("The numbers count uses of a word in the sense that it shares with the target.\n ", "dim")
    for key, name in names.items():
        text.append(key, "bold cyan")
        text.append(f" {name}" + ("" if key == "q" else "  "))
    return text
