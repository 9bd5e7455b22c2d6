"""``lexiscope gaps``: gap filling, from its items to answers that people have coded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import click

from lexiscope.analysis.accuracy import PairedDecisions
from lexiscope.analysis.bootstrap import GroupOf
from lexiscope.analysis.choices.gap_answers import (
    GapHits,
    category_shares,
    coder_agreement,
    gap_accuracy,
    gap_contrast,
    gap_hits,
)
from lexiscope.analysis.families import TITLES, AdjustedFamily, adjusted_family
from lexiscope.build.gap_filling.categories import CATEGORIES
from lexiscope.build.gap_filling.coding_sheet import (
    GapAnswer,
    answers_to_code,
    code_completions,
    proposed_codes,
    read_codes,
    write_coding_sheet,
)
from lexiscope.build.gap_filling.gaps import MEASURE, SUITE, Answers, gap_items, sentences_of
from lexiscope.build.gap_filling.matching import AnswerRule, mark_completions
from lexiscope.cli import options
from lexiscope.cli.output import print_table, quoted, remark, say
from lexiscope.cli.results.shown import kappa_text, percent, with_interval
from lexiscope.cli.verb import Verb, existing_file
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import parse_statistic
from lexiscope.core.sealed import RESPONSES
from lexiscope.core.showing import p_text
from lexiscope.items.choice_sets.collection_file import open_collection
from lexiscope.items.choice_sets.surface import Mode
from lexiscope.items.choice_sets.templates import read_templates, synonymy_templates
from lexiscope.items.read.item_source import load_items
from lexiscope.items.tables.tabular import write_items
from lexiscope.resources.lexicons.lexicon import Lexicon
from lexiscope.resources.lexicons.wn_lexicon import open_lexicon

_NAMED = 5
_items = click.option("--items", required=True, metavar="FILE", help="The items that were asked.")
_lexicon = click.option(
    "--lexicon", default="wordnet", show_default=True, metavar="SPEC", help="wordnet, wordnet:FOLDER, wn:…, none."
)


@click.group()
def gaps() -> None:
    """Create gap-filling items, find accepted answers, and code answers."""


@gaps.command("items", cls=Verb)
@click.argument("collection", metavar="COLLECTION")
@options.path("--out", metavar="FILE.csv", about="The items.", required=True)
@click.option("--templates", default="", metavar="FILE.yaml", help="Your templates.")
@click.option("--template", default="T11", show_default=True, metavar="NAME", help="The one that is cut at its word.")
@options.of_arguments(gap_items, "mode")
@options.quiet
def make_items(collection: str, *, out: Path, templates: str, template: str, mode: Mode, quiet: bool) -> None:
    """Write the items of gap filling of a collection.

    COLLECTION is a file of synonym pairs, or a dataset: synonymy. Each item has its prompt, the sentence and "T is a
    synonym of", and its accepted answers.
    """
    known = {entry.name: entry for entry in (read_templates(templates) if templates else synonymy_templates())}
    if template not in known:
        raise click.BadParameter(f"{template!r} is not one of {', '.join(known)}", param_hint="--template")
    name = Path(collection).stem
    items = gap_items(open_collection(collection), template=known[template], mode=mode, dataset=name)
    write_items(items, out)
    say(f"Saved {out} ({len(items)} items)")
    remark(f"next: lexiscope collect --items {quoted(out)} --task {SUITE} --subject SPEC --out RUN", quiet=quiet)


@gaps.command("found", cls=Verb)
@click.argument("run", type=click.Path(path_type=Path))
@_items
@options.of_settings(AnswerRule)
@_lexicon
def count_found(run: Path, *, items: str, lexicon: str, **given: Any) -> None:
    """Count the gaps filled with an accepted answer.

    RUN is a folder that collect wrote. An answer is found as whole words, in any case. If an item has several
    predictions, one correct prediction suffices. Both criteria are shown: the curated synonym, and all of the synset.
    """
    asked = load_items(items, task=SUITE).items
    table = _read_responses(run)
    criteria: tuple[Answers, ...] = ("curated", "synset")
    rules = [options.change_settings(AnswerRule(answers), given) for answers in criteria]
    base_forms = partial(open_lexicon(lexicon).base_forms, pos="n") if rules[0].forms == "inflected" else None
    marked = ResponseTable.concat([mark_completions(table, asked, rule, base_forms=base_forms) for rule in rules])
    clusters = GroupOf(sentences_of(asked), "sentences")
    parts = [
        (
            subject,
            view,
            measure,
            [gap_hits(marked.where(view=view), rule.measure(measure), subject=subject) for rule in rules],
        )
        for subject, view, measure in _measured_parts(table)
    ]
    # the comparisons of all parts are read together: their p values are adjusted for how many they are
    contrasts = [gap_contrast(hits[0], hits[1], clusters=clusters) for *_, hits in parts]
    for (subject, view, measure, hits), of_criteria in zip(parts, _contrast_lines(contrasts), strict=True):
        say(f"\n{subject}, {view or 'full'}, {_decoding_name(measure, hits[0].n_predictions)}")
        _print_hits(hits, clusters)
        say(of_criteria)


@gaps.command("sheet", cls=Verb)
@click.argument("run", type=click.Path(path_type=Path))
@_items
@options.path("--out", metavar="FILE.csv", about="The sheet.", required=True)
@_lexicon
@click.option("--blind", is_flag=True, help="Leave out what the lexicon proposes.")
@options.quiet
def write_sheet(run: Path, *, items: str, out: Path, lexicon: str, blind: bool, quiet: bool) -> None:
    """Write the answers to gaps as a sheet on which people code them.

    RUN is a folder that collect wrote. The same text of an item is coded once. A category is proposed for each from the
    lexicon; for an agreement with the proposals that means something, let coders work --blind.
    """
    asked = load_items(items, task=SUITE).items
    words = None if blind else _find_lexicon(lexicon)
    coded = answers_to_code(_read_responses(run), asked, lexicon=words)
    if words is not None:
        _remark_unproposed(coded, words.name, quiet=quiet)
    write_coding_sheet(out, coded, proposals="hidden" if blind else "shown")
    say(f"Saved {out} ({len(coded)} answers)")
    remark(f"code: one of {', '.join(CATEGORIES)}", quiet=quiet)
    remark(
        f"next: lexiscope gaps read-sheet {quoted(run)} NAME={quoted(out)} --items {quoted(items)} --out codes.csv",
        quiet=quiet,
    )


@gaps.command("read-sheet", cls=Verb)
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("sheets", nargs=-1, required=True, metavar="NAME=FILE.csv...")
@_items
@options.path("--out", metavar="FILE.csv", about="Write the codes here.")
@_lexicon
@click.option("--unfinished", is_flag=True, help="Take a sheet in which codes are missing.")
def read_sheets(
    run: Path, *, sheets: tuple[str, ...], items: str, out: Path | None, lexicon: str, unfinished: bool
) -> None:
    """Read coded sheets: shares of categories and agreement.

    RUN and --items are those of which the sheet was made; NAME is a code for the coder. The proposals of the lexicon
    are compared as one more coder. Nothing is written where a row of any sheet is wrong.
    """
    words, table = _find_lexicon(lexicon), _read_responses(run)
    asked = load_items(items, task=SUITE).items
    coded = answers_to_code(table, asked, lexicon=words)
    rest: Literal["kept", "refused"] = "kept" if unfinished else "refused"
    read = [read_codes(path, coded, coder=name, unfinished=rest) for name, path in options.read_named(sheets).items()]
    if words is not None and any(answer.proposal for answer in coded):
        read.append(proposed_codes(coded, lexicon_name=words.name))
    codes = ResponseTable.concat(read)
    _print_shares(table, codes, asked)
    sentences = sentences_of(asked)
    _print_agreement(codes, {answer.answer_id: sentences[answer.item.item_id] for answer in coded})
    if out is not None:
        codes.write_csv(out)
        say(f"Saved {out} ({len(codes)} rows)")


def _remark_unproposed(coded: Sequence[GapAnswer], lexicon: str, *, quiet: bool) -> None:
    """Name the items to whose answers no category was proposed."""
    without = list(dict.fromkeys(answer.item.item_id for answer in coded if answer.proposal is None))
    if without:
        n, items = sum(answer.proposal is None for answer in coded), f"{len(without)} items"
        named = ", ".join(without[:_NAMED]) + (f" and {len(without) - _NAMED} more" if len(without) > _NAMED else "")
        why = f"the sense of the target is not known to {lexicon} (a sense key in the collection names it)"
        remark(f"no category is proposed for {n} answers of {items}, {named}: {why}", quiet=quiet)


def _read_responses(run: Path) -> ResponseTable:
    table = ResponseTable.read_parquet(existing_file(run / RESPONSES))
    return table.where(task=SUITE)


def _find_lexicon(lexicon: str) -> Lexicon | None:
    return None if lexicon == "none" else open_lexicon(lexicon)


def _measured_parts(table: ResponseTable) -> list[tuple[str, str | None, str]]:
    """Each subject, view and measure of completions, in order of first appearance."""
    columns = (table.column(name).tolist() for name in ("subject_id", "view", "measure"))
    parts = dict.fromkeys(zip(*columns, strict=True))
    return [part for part in parts if parse_statistic(part[2])[0] == MEASURE]


def _decoding_name(measure: str, n: int) -> str:
    method = parse_statistic(measure)[1].get("method", "written")
    return method if n == 1 else f"{method}, any of {n}"


def _print_hits(hits: Sequence[GapHits], clusters: Mapping[str, str]) -> None:
    rows = []
    for criterion, of_rule in zip(("curated", "synset"), hits, strict=True):
        share = gap_accuracy(of_rule, clusters=clusters)
        of_all = of_rule.share_of_predictions
        shown = with_interval(share.value / 100, share.interval.times(0.01))
        rows.append((criterion, int(of_rule.hit.sum()), share.n, shown, percent(of_all), of_rule.n_missing))
    print_table(("accepted", "right", "items", "share", "of predictions", "excluded"), rows, right=("right", "items"))


def _contrast_lines(contrasts: Sequence[PairedDecisions]) -> list[str]:
    """The tests of curated against synset of each part as text; the t tests are one family, the exact ones another."""
    t_tests = adjusted_family("criteria", [both.t.p for both in contrasts if both.t])
    exact = adjusted_family("criteria_exact", [both.exact.p for both in contrasts if both.exact])
    lines = []
    for both in contrasts:
        if both.t is None or both.exact is None:
            lines.append(f"curated against synset: {both.note}")
            continue
        t = f"t({both.t.df[0]:.0f}) = {both.t.statistic:.2f}, {_p_in_family(both.t.p, t_tests)}"
        lines.append(f"curated against synset: {t}; exact McNemar {_p_in_family(both.exact.p, exact)}")
    return lines


def _p_in_family(p: float, family: AdjustedFamily) -> str:
    """A p with the one adjusted for its family; alone where the family has one test."""
    adjusted = f" ({p_text(family.of[p])} adjusted for {family.n} tests, {TITLES[family.method]})"
    return f"{p_text(p)}{adjusted if family.n > 1 else ''}"


def _print_shares(table: ResponseTable, codes: ResponseTable, items: Sequence[Item]) -> None:
    clusters = GroupOf(sentences_of(items), "sentences")
    for coder in codes.unique("subject_id"):
        for subject, view, measure in _measured_parts(table):
            completions = code_completions(table.where(view=view, measure=measure), codes, coder=coder)
            (name,) = completions.unique("measure")
            shares = category_shares(completions, name, CATEGORIES, subject=subject, clusters=clusters)
            n = shares[0].n
            say(f"\n{subject}, {_decoding_name(measure, 1)}, coded by {coder} ({n} answers)")
            rows = [
                (category, round(n * share.value / 100), with_interval(share.value / 100, share.interval.times(0.01)))
                for category, share in zip(CATEGORIES, shares, strict=True)
            ]
            print_table(("category", "n", "share"), rows, right=("n",))


def _print_agreement(codes: ResponseTable, clusters: Mapping[str, str]) -> None:
    for first, second in combinations(codes.unique("subject_id"), 2):
        same, kappa = coder_agreement(codes, first, second, CATEGORIES, clusters=clusters)
        say(f"\n{first} and {second}, {same.n} answers that both coded")
        say(f"  same category: {with_interval(same.value, same.clustered)}")
        say(f"  Cohen's kappa: {kappa_text(kappa)}")
