"""``lexiscope build minimal-pairs``: from a corpus and a lexicon to candidates, a collection and suites."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import click

from lexiscope.build.minimal_pairs.alternatives import FilterCount, Rules
from lexiscope.build.minimal_pairs.assembly import (
    COLLECTION,
    ITEMS,
    LINES,
    check_templates,
    synonym_items,
    write_suites,
)
from lexiscope.build.minimal_pairs.automatic import choose
from lexiscope.build.minimal_pairs.candidates import FoundCandidates, find_candidates
from lexiscope.build.minimal_pairs.random_nouns import with_random_nouns
from lexiscope.build.minimal_pairs.sources import open_corpus, open_named_lexicon, read_nouns
from lexiscope.build.minimal_pairs.tables import write_candidates, write_proposals
from lexiscope.build.minimal_pairs.word_counts import lexicon_frequencies, read_frequencies
from lexiscope.cli import options
from lexiscope.cli.output import print_table, remark, say
from lexiscope.cli.verb import Verb, existing_file
from lexiscope.core.errors import Place, RunError, SpecError
from lexiscope.core.lock import locked
from lexiscope.core.run import sha256_of, versions
from lexiscope.core.sealed import check_run, seal_run, write_machine
from lexiscope.items.check.flagged import FLAGGED_WORDS, read_words
from lexiscope.items.choice_sets.collection_file import open_collection
from lexiscope.items.choice_sets.minimal_pairs import SynonymItem
from lexiscope.items.choice_sets.surface import MODES, Mode
from lexiscope.items.choice_sets.templates import choose_templates, read_templates, synonymy_templates
from lexiscope.items.tables.spreadsheet import write_sheet
from lexiscope.resources.lexicons.lexicon import Lexicon, plain_lemmas

_N_NOUNS = 10_000


@dataclass(frozen=True, slots=True)
class PairBuildSettings:
    """What determines a build; ``run.json`` holds it."""

    corpus: str
    collection: str
    lexicon: str
    language: str
    templates: str
    suites: tuple[str, ...]
    mode: Mode
    n_items: int
    sentences_per_word: int
    min_tokens: int
    capitals: bool
    nouns: str
    n_random: int
    match_frequency: str
    flag_words: str
    leave_out_flagged: bool
    seed: int


@click.command("minimal-pairs", cls=Verb)
@click.option("--corpus", default="semcor", show_default=True, metavar="semcor|FOLDER|FILE", help="Tagged sentences.")
@click.option(
    "--collection",
    default="",
    metavar="FILE|DATASET",
    help="Make suites of this collection; no candidates are looked for.",
)
@click.option(
    "--lexicon",
    "--wordnet",
    "lexicon",
    default="wordnet",
    show_default=True,
    metavar="SPEC",
    help="wordnet, a folder or archive of WordNet's files, or wn:SPECIFIER.",
)
@click.option("--language", default="", metavar="TAG", help="Language of the sentences.  [default: the lexicon's]")
@click.option("--templates", default="", metavar="FILE.yaml", help="Templates of your own.")
@click.option("--suite", "suites", multiple=True, help="Only this suite. May be repeated.")
@click.option("--mode", type=click.Choice(MODES), default="clean", show_default=True, help="How texts are written.")
@click.option(
    "--n-items", type=click.IntRange(min=0), default=200, show_default=True, help="Items drawn; 0: one for every word."
)
@click.option("--sentences-per-word", type=click.IntRange(min=1), default=1, show_default=True, help="At most.")
@click.option("--min-tokens", type=click.IntRange(min=1), default=10, show_default=True, help="Length of a sentence.")
@click.option("--capitals", is_flag=True, help="Words may have capitals (nouns of German).")
@click.option("--nouns", default="", metavar="FILE", help="The random nouns, one a line.  [default: the lexicon's]")
@click.option(
    "--n-random", type=click.IntRange(min=0), default=10, show_default=True, help="Random nouns per item; 0: none."
)
@click.option(
    "--match-frequency",
    default="",
    metavar="FILE|lexicon",
    help="Draw all random nouns anew, about as frequent as the synonym: by a table (word, count), or the lexicon.",
)
@click.option("--flag-words", default="", metavar="FILE", help="More words to flag in contexts, one a line.")
@click.option("--leave-out-flagged", is_flag=True, help="Propose no context with a flagged word.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of every draw.")
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="FOLDER", help="Where all is written.")
@options.quiet
def minimal_pairs(*, out: Path, quiet: bool, **given: Any) -> None:
    """Make synonym pairs: candidates, an automatic choice, suites.

    Words that have a synonym in their sense and one in another are looked for in a corpus that is tagged with the
    senses of a lexicon; of each word the most frequent synonym and distractor are taken. candidates.csv, contexts.csv
    and filters.csv say what was found, proposals.csv what is proposed to curators; collection.csv, items.csv (for
    lexiscope collect --task minimal_pair) and lines/ are the suites; run.json says how they came about.
    """
    settings = PairBuildSettings(**given)
    started = time.monotonic()
    with locked(out):
        if _is_finished(out, settings):
            say(f"{out} is finished: nothing to do")
            return
        made = _build(out, settings, quiet=quiet)
        written = [path.relative_to(out).as_posix() for path in sorted(out.rglob("*")) if path.is_file()]
        names = [name for name in written if not Path(name).name.startswith(".")]
        seal_run(out, made | {"command": shlex.join(["lexiscope", *sys.argv[1:]])}, names)
        write_machine(out, time.monotonic() - started)
    counts = cast("dict[str, int]", made["counts"])
    say(", ".join(f"{number} {name.replace('_', ' ')}" for name, number in counts.items()))
    say(f"written: {out / COLLECTION}, {out / ITEMS}" + (f", {out / LINES}" if "lines" in counts else ""))
    remark(f"next: lexiscope collect --items {out / ITEMS} --task minimal_pair --subject …", quiet=quiet)
    if not settings.collection:
        remark(f"or look at each first: lexiscope build curate {out} --curator NAME", quiet=quiet)


def _build(out: Path, settings: PairBuildSettings, *, quiet: bool) -> dict[str, Any]:
    """Write everything but ``run.json``, and return what stands there."""
    templates = read_templates(existing_file(settings.templates)) if settings.templates else synonymy_templates()
    chosen = choose_templates(templates, settings.suites or None)
    lexicon, checksums = open_named_lexicon(settings.lexicon)
    language = settings.language or lexicon.language
    check_templates(chosen, language)
    about: dict[str, Any] = {}
    if settings.collection:
        items, checksums = open_collection(settings.collection), {**checksums, **_checksums(settings.collection)}
    else:
        items, about = _from_corpus(out, settings, lexicon, language, quiet=quiet)
        checksums = {**checksums, **about.pop("checksums")}
    items = _with_nouns(items, settings, lexicon)
    conditions = None if settings.n_random else ("controlled",)
    counts = write_suites(out, items, chosen, mode=settings.mode, conditions=conditions)
    return about | {
        "verb": "build minimal-pairs",
        "versions": versions(),
        "settings": asdict(settings),
        "language": language,
        "lexicon": {"name": lexicon.name, "licence": lexicon.licence, "citation": lexicon.citation},
        "templates": [template.name for template in chosen],
        "checksums": {**checksums, **_checksums(settings.nouns), **_checksums(settings.match_frequency)},
        "counts": counts,
    }


def _with_nouns(items: Sequence[SynonymItem], settings: PairBuildSettings, lexicon: Lexicon) -> tuple[SynonymItem, ...]:
    """The items with random nouns: those that have some keep them, unless nouns matched in frequency are asked for."""
    matched = settings.match_frequency
    if matched and not settings.n_random:
        raise SpecError(
            "--match-frequency draws random nouns and --n-random 0 wants none", hint="leave one of them out"
        )
    wanting = [item for item in items if settings.n_random and (matched or not item.random_nouns)]
    if not wanting:
        return tuple(items)
    nouns = read_nouns(Path(settings.nouns)) if settings.nouns else plain_lemmas(lexicon, "n", _N_NOUNS)
    counts = _frequencies(matched, lexicon, [*nouns, *(item.synonym for item in wanting)])
    drawn = with_random_nouns(
        wanting, nouns, lexicon=lexicon, frequencies=counts, seed=settings.seed, n=settings.n_random
    )
    by_id = {item.item_id: item for item in drawn}
    return tuple(by_id.get(item.item_id, item) for item in items)


def _frequencies(source: str, lexicon: Lexicon, words: Sequence[str]) -> Mapping[str, float] | None:
    if not source:
        return None
    return lexicon_frequencies(lexicon, words) if source == "lexicon" else read_frequencies(existing_file(source))


def _checksums(name: str) -> dict[str, str]:
    """The sha256 of a file that a setting names; of a dataset, of the lexicon or of nothing, none."""
    file = Path(name)
    return {file.name: sha256_of(file)} if name and file.is_file() else {}


def _from_corpus(
    out: Path, settings: PairBuildSettings, lexicon: Lexicon, language: str, *, quiet: bool
) -> tuple[tuple[SynonymItem, ...], dict[str, Any]]:
    """Find candidates, write them, and return the automatic choice as items, with what run.json says of it."""
    corpus = open_corpus(settings.corpus)
    flagged = FLAGGED_WORDS | (read_words(Path(settings.flag_words)) if settings.flag_words else frozenset())
    rules = Rules(
        min_tokens=settings.min_tokens,
        lower_case=not settings.capitals,
        leave_out_flagged=settings.leave_out_flagged,
    )
    found = find_candidates(corpus.occurrences, lexicon, rules=rules, flagged=flagged)
    _show(found, quiet=quiet)
    proposals = choose(
        found.candidates,
        seed=settings.seed,
        sentences_per_word=settings.sentences_per_word,
        n_items=settings.n_items or None,
    )
    write_candidates(out, found.candidates)
    write_filters(out / "filters.csv", found.counts)
    write_proposals(out, proposals, language=language)
    n_flagged = sum(bool(one.context.flagged) for one in proposals)
    if n_flagged:
        remark(f"{n_flagged} proposed contexts hold a flagged word: look at them (proposals.csv)", quiet=quiet)
    about = {
        "corpus": {"name": corpus.name, "licence": corpus.licence},
        "filters": [asdict(count) for count in found.counts],
        "candidates": {"senses": len(found.candidates), "contexts": found.n_contexts, "words": found.n_words},
        "proposals": {"n": len(proposals), "flagged": n_flagged},
        "checksums": dict(corpus.checksums),
    }
    return synonym_items(proposals, language=language), about


def write_filters(path: Path, counts: Sequence[FilterCount]) -> None:
    """Write the count of every filter as CSV."""
    rows = [[one.stage, one.name, str(one.n_in), str(one.n_out), str(one.n_in - one.n_out)] for one in counts]
    write_sheet(path, ("stage", "filter", "in", "out", "fell"), rows)


def _show(found: FoundCandidates, *, quiet: bool) -> None:
    if not quiet:
        rows = [(one.stage, one.name, one.n_in, one.n_in - one.n_out, one.n_out) for one in found.counts]
        numbers = ("in", "fell", "out")
        print_table(("of", "filter", *numbers), rows, title="What passed each filter", right=numbers)
    say(f"{found.n_contexts} contexts of {len(found.candidates)} senses of {found.n_words} words are candidates")


def _is_finished(out: Path, settings: PairBuildSettings) -> bool:
    """Whether the folder holds this very build.

    Errors: :class:`RunError` where it holds another one: decisions of curators would lose what they are about.
    """
    if not (out / "run.json").is_file():
        return False
    there: Mapping[str, Any] = check_run(out).get("settings", {})
    asked = asdict(settings) | {"suites": list(settings.suites)}
    different = sorted(name for name in asked if there.get(name) != asked[name])
    if different:
        raise RunError(
            "this folder holds another build",
            place=Place(str(out)),
            why=f"these settings differ: {', '.join(different)}",
            hint="name another folder with --out",
        )
    return True
