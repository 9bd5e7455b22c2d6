"""A build: from a corpus and a lexicon to candidates, a collection and suites, as a folder with a record."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Literal, cast

from lexiscope.build.minimal_pairs.alternatives import FilterCount, Rules
from lexiscope.build.minimal_pairs.automatic import Proposal, choose_proposals
from lexiscope.build.minimal_pairs.candidates import CandidateSet, find_candidates
from lexiscope.build.minimal_pairs.occurrences import open_corpus, open_named_lexicon, read_nouns
from lexiscope.build.minimal_pairs.tables import write_candidates, write_proposals
from lexiscope.build.minimal_pairs.word_counts import lexicon_frequencies, read_frequencies, with_random_nouns
from lexiscope.core.code_file import existing_file
from lexiscope.core.errors import InputError, Place, RunError, SpecError
from lexiscope.core.run import folder_lock, sha256_of, versions, write_atomically
from lexiscope.core.sealed import check_run, seal_run, write_machine
from lexiscope.core.settings import option
from lexiscope.items.check.rows import FLAGGED_WORDS, read_words
from lexiscope.items.choice_sets.collection_file import open_collection, write_collection
from lexiscope.items.choice_sets.minimal_pairs import SynonymItem, choice_sets, fitting_templates, suite_lines
from lexiscope.items.choice_sets.surface import Mode
from lexiscope.items.choice_sets.templates import Template, choose_templates, read_templates, synonymy_templates
from lexiscope.items.tables.spreadsheet import write_sheet
from lexiscope.items.tables.tabular import write_items
from lexiscope.resources.lexicons.lexicon import POS_NAMES, Lexicon, plain_lemmas

_N_NOUNS = 10_000
_POS_NAMED = {name: pos for pos, name in POS_NAMES.items()}


@dataclass(frozen=True, slots=True)
class PairBuildSettings:
    """What determines a build; ``run.json`` holds it."""

    corpus: str = option("semcor", "tagged sentences", metavar="semcor|FOLDER|FILE")
    collection: str = option(
        "", "make suites of this collection, without a search for candidates", metavar="FILE|DATASET"
    )
    lexicon: str = option(
        "wordnet",
        "the words and their senses: wordnet, a folder or archive of WordNet's files, or wn:SPECIFIER",
        flag="--lexicon --wordnet",
        metavar="SPEC",
    )
    pos: tuple[Literal["noun", "verb", "adjective"], ...] = option(("noun",), "part of speech of the targets")
    controls: int = option(0, "items drawn as controls, whose targets have one sense, of each part of speech", least=0)
    language: str = option("", "language of the sentences; empty: the lexicon's", metavar="TAG")
    templates: str = option("", "your templates", metavar="FILE.yaml")
    suites: tuple[str, ...] = option((), "only this suite", flag="--suite")
    mode: Mode = option("clean", "how texts are written")
    n_items: int = option(200, "items drawn, of each part of speech; 0: one for every word", least=0)
    sentences_per_word: int = option(1, "at most", least=1)
    min_tokens: int = option(10, "length of a sentence", least=1)
    capitals: bool = option(False, "words may have capitals (nouns of German)")
    nouns: str = option("", "the random nouns (verbs …), one per line; empty: the lexicon's", metavar="FILE")
    n_random: int = option(10, "random nouns (verbs …) per item; 0: none", least=0)
    match_frequency: str = option(
        "",
        "draw all random nouns again, about as frequent as the synonym: by a table (word, count), or the lexicon",
        metavar="FILE|lexicon",
    )
    flag_words: str = option("", "more words to flag in contexts, one per line", metavar="FILE")
    leave_out_flagged: bool = option(False, "propose no context with a flagged word")
    seed: int = option(0, "seed of every draw", least=0)


def make_build(
    out: Path,
    settings: PairBuildSettings,
    *,
    command: str,
    show: Callable[[CandidateSet], None] = lambda _: None,
    say: Callable[[str], None] = lambda _: None,
) -> Mapping[str, int] | None:
    """Write a build into a folder and return what it counts; ``None`` where the folder holds this very build already.

    *show* is told what was found in the corpus, *say* what a reader should look at, both before anything is drawn.
    Errors: :class:`RunError` where the folder holds another build; those of the corpus, the lexicon and the templates.
    """
    started = time.monotonic()
    with folder_lock(out):
        if _is_finished(out, settings):
            return None
        made = _build(out, settings, show, say)
        written = [path.relative_to(out).as_posix() for path in sorted(out.rglob("*")) if path.is_file()]
        names = [name for name in written if not Path(name).name.startswith(".")]
        seal_run(out, made | {"command": command}, names)
        write_machine(out, time.monotonic() - started)
    return cast("dict[str, int]", made["counts"])


def _build(
    out: Path, settings: PairBuildSettings, show: Callable[[CandidateSet], None], say: Callable[[str], None]
) -> dict[str, Any]:
    """Write everything but ``run.json``, and return what is there."""
    templates = read_templates(existing_file(settings.templates)) if settings.templates else synonymy_templates()
    chosen = choose_templates(templates, settings.suites or None)
    lexicon, checksums = open_named_lexicon(settings.lexicon)
    language = settings.language or lexicon.language
    check_templates(chosen, language)
    about: dict[str, Any] = {}
    if settings.collection:
        items, checksums = open_collection(settings.collection), {**checksums, **_checksums(settings.collection)}
    else:
        items, about = _from_corpus(out, settings, lexicon, language, show, say)
        checksums = {**checksums, **about.pop("checksums")}
    items = _with_nouns(items, settings, lexicon)
    chosen, unfit = fitting_templates(items, chosen)
    if unfit and settings.suites:
        what, why = next(iter(unfit.items()))
        raise SpecError(f"{what} cannot be made of these items", why=why, hint="leave out --suite, or build each part")
    for what, why in unfit.items():
        say(f"{what} is excluded: {why}")
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
    parts = dict.fromkeys(item.pos for item in wanting)
    if settings.nouns and len(parts) > 1:
        named = " and ".join(POS_NAMES[pos] for pos in parts)
        raise SpecError(f"--nouns needs items of one part of speech; these have several: {named}")
    read = read_frequencies(existing_file(matched)) if matched not in ("", "lexicon") else None
    by_id: dict[str, SynonymItem] = {}
    for pos in parts:
        own = [item for item in wanting if item.pos == pos]
        words = read_nouns(Path(settings.nouns)) if settings.nouns else plain_lemmas(lexicon, pos, _N_NOUNS)
        counts: Mapping[str, float] | None = read
        if matched == "lexicon":
            counts = lexicon_frequencies(lexicon, [*words, *(item.synonym for item in own)], pos)
        drawn = with_random_nouns(
            own, words, lexicon=lexicon, frequencies=counts, seed=settings.seed, n=settings.n_random
        )
        by_id |= {item.item_id: item for item in drawn}
    return tuple(by_id.get(item.item_id, item) for item in items)


def _checksums(name: str) -> dict[str, str]:
    """The sha256 of a file that a setting names; none for a dataset, the lexicon or an empty setting."""
    file = Path(name)
    return {file.name: sha256_of(file)} if name and file.is_file() else {}


def _from_corpus(
    out: Path,
    settings: PairBuildSettings,
    lexicon: Lexicon,
    language: str,
    show: Callable[[CandidateSet], None],
    say: Callable[[str], None],
) -> tuple[tuple[SynonymItem, ...], dict[str, Any]]:
    """Find candidates, write them, and return the automatic choice as items, with what run.json says of it."""
    first, *others = [_POS_NAMED[name] for name in settings.pos]
    corpus = open_corpus(settings.corpus, first)
    if settings.controls and not settings.n_random:
        what = "controls have no distractor: without random nouns they have only one option"
        raise SpecError(what, hint="leave out --controls, or --n-random 0")
    flagged = FLAGGED_WORDS | (read_words(Path(settings.flag_words)) if settings.flag_words else frozenset())
    rules = Rules(
        min_tokens=settings.min_tokens,
        lower_case=not settings.capitals,
        leave_out_flagged=settings.leave_out_flagged,
    )
    plan = [(replace(rules, pos=pos), settings.n_items) for pos in (first, *others)]
    plan += [(replace(own, senses="one"), settings.controls) for own, _ in plan if settings.controls]
    # a corpus is read once: of several parts of speech its words are kept
    occurrences = corpus.occurrences if len(plan) == 1 else tuple(corpus.occurrences)
    sets, proposals = [], list[Proposal]()
    for own, n_items in plan:
        made = find_candidates(occurrences, lexicon, rules=own, flagged=flagged)
        sets.append(made if len(plan) == 1 else made.staged(own))
        proposals += choose_proposals(
            made.candidates,
            seed=settings.seed,
            sentences_per_word=settings.sentences_per_word,
            n_items=n_items or None,
            used=[proposal.context.sentence_id for proposal in proposals],
        )
    candidates = CandidateSet(
        tuple(chain.from_iterable(part.candidates for part in sets)),
        tuple(chain.from_iterable(part.counts for part in sets)),
    )
    show(candidates)
    write_candidates(out, candidates.candidates)
    write_filters(out / "filters.csv", candidates.counts)
    write_proposals(out, proposals, language=language)
    n_flagged = sum(bool(proposal.context.flagged) for proposal in proposals)
    if n_flagged:
        say(f"{n_flagged} proposed contexts hold a flagged word: look at them (proposals.csv)")
    about = {
        "corpus": {"name": corpus.name, "licence": corpus.licence},
        "filters": [asdict(count) for count in candidates.counts],
        "candidates": {
            "senses": len(candidates.candidates),
            "contexts": candidates.n_contexts,
            "words": candidates.n_words,
        },
        "proposals": {"n": len(proposals), "flagged": n_flagged},
        "checksums": dict(corpus.checksums),
    }
    return synonym_items(proposals, language=language), about


def write_filters(path: Path, counts: Sequence[FilterCount]) -> None:
    """Write the count of every filter as CSV."""
    rows = [
        [count.stage, count.name, str(count.n_in), str(count.n_out), str(count.n_in - count.n_out)] for count in counts
    ]
    write_sheet(path, ("stage", "filter", "in", "out", "fell"), rows)


def _is_finished(out: Path, settings: PairBuildSettings) -> bool:
    """Whether the folder holds this very build.

    Errors: :class:`RunError` where it holds another one: decisions of curators would lose what they are about.
    """
    if not (out / "run.json").is_file():
        return False
    there: dict[str, Any] = dict(check_run(out).get("settings", {}))
    asked = asdict(settings) | {"suites": list(settings.suites), "pos": list(settings.pos)}
    # builds of earlier versions have nouns and no controls
    there = {"pos": ["noun"], "controls": 0} | there
    different = sorted(name for name in asked if there.get(name) != asked[name])
    if different:
        raise RunError(
            "this folder holds another build",
            place=Place(str(out)),
            why=f"these settings differ: {', '.join(different)}",
            hint="name another folder with --out",
        )
    return True


# -- assembly -------------------------------------------------------------------------------------------------------
# From proposals to suites: the collection, its random nouns, and the files that subjects are asked with.


COLLECTION, ITEMS, LINES = "collection.csv", "items.csv", "lines"


def synonym_items(proposals: Sequence[Proposal], *, language: str = "en") -> tuple[SynonymItem, ...]:
    """Return the items of a collection, numbered from 1; ``extra`` has the proposal's id and the flagged words.

    Ids are the numbers, as wide as the largest, so that they sort.
    """
    width = max(3, len(str(len(proposals))))
    return tuple(
        _item(proposal, number, f"{number:0{width}}", language) for number, proposal in enumerate(proposals, start=1)
    )


def check_templates(templates: Sequence[Template], language: str) -> None:
    """Check that the texts of templates are in the items' language; substitution has no text.

    Errors: :class:`SpecError` naming the first that is not.
    """
    main = language.partition("-")[0].lower()
    for template in templates:
        if not template.substitutes and template.language.partition("-")[0].lower() != main:
            named = f"the template {template.name!r} ({template.suite})"
            raise SpecError(
                f"{named} is in {template.language!r}, the items are in {language!r}",
                hint="give templates in this language (--templates FILE.yaml), or only the suite substitution",
            )


def write_suites(
    folder: Path,
    items: Sequence[SynonymItem],
    templates: Sequence[Template],
    *,
    mode: Mode = "clean",
    dataset: str = "synonymy",
    conditions: Collection[str] | None = None,
) -> dict[str, int]:
    """Write the collection, its choice sets and, where items have random nouns, plain lines; return what was counted.

    ``collection.csv`` is the collection, ``items.csv`` the choice sets as items of the task ``minimal_pair``,
    ``lines/<template>.tsv`` one text a line in the form of the published files.
    Errors: :class:`InputError` E002 for no items; those of
    :func:`~lexiscope.items.choice_sets.minimal_pairs.choice_sets`.
    """
    if not items:
        raise InputError("there are no items to make suites of", code="E002", hint="loosen the filters, or accept some")
    sets = choice_sets(items, templates, conditions=conditions, mode=mode, dataset=dataset)
    write_collection(items, folder / COLLECTION)
    write_items(sets, folder / ITEMS)
    counts = {
        "items": len(items),
        "choice_sets": len(sets),
        "texts": len({usage.text for item in sets for usage in item.usages}),
    }
    if conditions is None:
        for template in templates:
            lines = suite_lines(items, template, mode=mode)
            write_atomically(folder / LINES / f"{template.name}.tsv", "".join(line.text_line() for line in lines))
            counts["lines"] = counts.get("lines", 0) + len(lines)
    return counts


def _item(proposal: Proposal, number: int, item_id: str, language: str) -> SynonymItem:
    context = proposal.context
    return SynonymItem(
        item_id=item_id,
        target=context.target,
        synonym=proposal.synonym,
        distractor=proposal.distractor,
        sentence=context.text,
        start=context.start,
        end=context.end,
        number=number,
        tokenised=context.tokenised,
        language=language,
        sentence_id=context.sentence_id,
        sense_key=proposal.candidate.sense,
        synset=proposal.candidate.synset,
        pos=proposal.candidate.pos,
        n_senses=proposal.candidate.n_senses,
        extra=(("proposal", proposal.proposal_id), ("flagged", " ".join(context.flagged))),
    )
