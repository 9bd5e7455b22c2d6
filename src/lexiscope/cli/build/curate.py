"""``lexiscope build curate``: the curation bench in the terminal, one key for each step."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lexiscope.build.minimal_pairs.alternatives import Alternative
from lexiscope.build.minimal_pairs.candidates import Context
from lexiscope.build.minimal_pairs.curation import REASONS, Decision, is_changed
from lexiscope.build.minimal_pairs.curation_bench import CurationBench
from lexiscope.build.minimal_pairs.decision_log import (
    DecisionLog,
    build_language,
    disputed_proposals,
    read_finished_proposals,
)
from lexiscope.cli.build.curators import CURATOR, PAIR
from lexiscope.cli.output import remark, say
from lexiscope.cli.verb import Verb
from lexiscope.core.errors import InputError

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

    Every decision is on the disk before the next item is shown; stop at any time, the same command goes on. What two
    curators decide is best decided apart: see compare and merge.
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
    run_bench(bench, Console(highlight=False), read_key=click.getchar, read_line=_ask, others=others)
    say(f"{curator}: {bench.n_decided} of {len(bench.proposals)} decided, in {log.path}")
    if bench.n_decided < len(bench.proposals):
        remark("the same command goes on where you stopped")


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
        return f"{key!r} is none of the keys below" if key.isprintable() else ""
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
    number = 1 + [alternative.context_id for alternative in candidate.contexts].index(context.context_id)
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


def _ask(prompt: str) -> str:
    return str(click.prompt(f" {prompt}", default="", show_default=False))
