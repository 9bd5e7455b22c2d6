"""The data of the study: choice sets made of a collection or read from a file, and the decisions of each subject."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np

from lexiscope.analysis.bootstrap import FloatArray
from lexiscope.analysis.choice_design import CONTROLLED, Cell, ChoiceDesign
from lexiscope.analysis.design_answers import Kind, SubjectAnswers, subject_answers
from lexiscope.collect import CollectProgress, collect, live_subjects, scoring_routes
from lexiscope.core import catalog
from lexiscope.core.dataset import DatasetCard, SubjectFacts, own_card
from lexiscope.core.errors import CapabilityError, DataError, InputError, SpecError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Record, Result
from lexiscope.core.run import sha256_of
from lexiscope.core.showing import counted
from lexiscope.core.study import Question
from lexiscope.core.subject import Generates, Judges, Scores, Subject
from lexiscope.items.choice_set_file import is_collection, read_designed
from lexiscope.items.collection_file import read_collection
from lexiscope.items.flagged import FLAGGED_WORDS, flagged_sentences, read_words
from lexiscope.items.gap_filling import gap_items, gap_template
from lexiscope.items.minimal_pairs import SynonymItem, choice_sets
from lexiscope.items.surface import is_english
from lexiscope.items.tabular import is_item_table
from lexiscope.items.templates import Template, read_templates, synonymy_templates
from lexiscope.items.turned import turned_sets
from lexiscope.report.part import Remark, told_apart
from lexiscope.report.sections import flagged_table, licences_table, scoring_table
from lexiscope.report.tables import INTEGER, Table, columns
from lexiscope.resources.cards import SEMCOR, WORDNET
from lexiscope.studies.kit.data import with_models
from lexiscope.studies.kit.run_data import RunData
from lexiscope.studies.synonymy.design import Design, label_of, ordered
from lexiscope.studies.synonymy.settings import SynonymySettings

TASK, GAP_TASK = "minimal_pair", "gap_filling"
BASELINE = "baseline:frequency"
SUITES, NO_CATEGORIES = "Suites other than substitution", "Error categories of gap filling"
NO_BASELINE = "The word-frequency baseline"
"""Names under which a run says that they do not apply to it."""

OWN_QUESTIONS = {
    "Q1": "Do models prefer the right word to the wrong one, and to random words?",
    "Q2": "Do they know the relation of two words without any context?",
    "Q3": "Do they produce the right word when they are asked for it?",
    "Q6": "Which expression of the relation works best, and does it work in both directions?",
}
"""The questions put to relations of the user's own, which no paper has asked."""


@dataclass(frozen=True, eq=False)
class SynonymyData(RunData[SynonymySettings]):
    """What the questions see.

    ``items`` are the choice sets, ``choices`` what was decided or scored in them, ``gaps`` the completions of the
    ``gap_items``, whose template is ``gap``; ``deltas`` are the token deltas that came with the collection; ``states``
    the ids of the subjects that are states of a model in training, with how far each was; ``left_out`` the analyses
    that do not apply, each with its reason.
    """

    settings: SynonymySettings
    card: DatasetCard
    items: tuple[Item, ...]
    checksums: Mapping[str, str]
    gap_items: tuple[Item, ...] = ()
    gap: Template | None = None
    choices: ResponseTable = field(default_factory=ResponseTable.empty)
    gaps: ResponseTable = field(default_factory=ResponseTable.empty)
    facts: Mapping[str, SubjectFacts] = field(default_factory=dict)
    deltas: FloatArray | None = None
    routes: tuple[Mapping[str, Any], ...] = ()
    states: Mapping[str, float] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)

    # -- what there is ----------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name of the dataset."""
        return self.card.name

    @property
    def own(self) -> bool:
        """Whether items or templates are the user's."""
        return bool(self.settings.items or self.settings.templates)

    @property
    def responses(self) -> ResponseTable:
        """All answers of the run: outcomes, scores, counts and completions."""
        return ResponseTable.concat([self.choices, self.gaps])

    @property
    def counts(self) -> Mapping[str, int]:
        """Items, sentences, choice sets, responses, subjects."""
        asked = {
            "items": len(self.sets.numbers),
            "sentences": len(set(self.sets.sentences)),
            "choice_sets": len(self.items),
        }
        return asked | {"responses": len(self.responses), "subjects": len(self.answers)}

    @property
    def record(self) -> Mapping[str, Any]:
        """How live subjects scored."""
        return {"scoring": [dict(route) for route in self.routes]}

    def has(self, what: str) -> bool:
        """Say whether there are ``completions of gaps``, or ``choices without context``."""
        alone = any(cell.is_alone for cell in self.cells)
        given = {"completions of gaps": bool(len(self.gaps)), "choices without context": alone}
        return given[what] if what in given else super().has(what)

    def asks(self, question: Question) -> Question:
        """Return a question; of a relation of the user's own it names no synonyms."""
        text = question.text if self.design.is_papers else OWN_QUESTIONS.get(question.question_id, question.text)
        return replace(question, text=text)

    @cached_property
    def sets(self) -> ChoiceDesign:
        """The choice sets by cell."""
        return ChoiceDesign(self.items, resamples=self.settings.n_bootstrap, seed=self.settings.seed)

    @cached_property
    def answers(self) -> tuple[SubjectAnswers, ...]:
        """What each subject decided, in the order of their answers."""
        ids, per = self.choices.unique("subject_id"), self.settings.per
        titles = ["word frequency" if name.startswith(BASELINE) else self._title(name) for name in ids]
        return tuple(
            subject_answers(self.sets, self.choices, subject=name, title=title, per=per, order=ordered)
            for name, title in zip(ids, told_apart(titles, ids), strict=True)
        )

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """All cells that any subject has decisions in."""
        return ordered(cell for answers in self.answers for cell in answers.outcomes)

    @cached_property
    def design(self) -> Design:
        """What is compared with what: the plan over these cells."""
        return Design(self.cells)

    @property
    def baseline(self) -> SubjectAnswers | None:
        """The word-frequency baseline, where it could be computed."""
        return next(iter(self.of_kind("baseline")), None)

    def of_kind(self, *kinds: Kind) -> tuple[SubjectAnswers, ...]:
        """Return the answers of these kinds of subject."""
        return tuple(answers for answers in self.answers if answers.kind in kinds)

    @property
    def models(self) -> tuple[SubjectAnswers, ...]:
        """The recorded and live subjects: all but the baseline."""
        return self.of_kind("recorded", "live")

    def in_words(self, values: Iterable[str]) -> Mapping[str, str]:
        """Return what ids of subjects and names of cells are called, also those of a contrast (*a vs b*)."""
        known = {subject: self._title(subject) for subject in self.facts}
        known |= {answers.subject: answers.title for answers in self.answers}
        known |= {cell.name: label_of(cell) for cell in self.cells}
        return {value: " vs. ".join(known.get(one, one) for one in value.split(" vs ")) for value in values}

    def _title(self, subject: str) -> str:
        return (self.facts[subject].title if subject in self.facts else "") or subject

    def named(self, results: Iterable[Record | Result]) -> Mapping[str, str]:
        """Return what the subjects and conditions of results are called."""
        return self.in_words(text for each in results for text in (each.subject, each.condition))


# -- where it comes from ----------------------------------------------------------------------------------------------


def gather(settings: SynonymySettings, folder: Path, progress: CollectProgress | None = None) -> SynonymyData:
    """Load the collection and the recorded outcomes, and let the live subjects answer.

    Their answers are kept under ``collected`` and ``gaps`` of the folder, so that a broken run continues.
    Errors: those of the readers; :class:`SpecError` for a dataset without a collection, and for templates together with
    finished choice sets or with recorded outcomes; :class:`InputError` if no subject answers anything.
    """
    data = _opened(settings)
    specs = tuple(dict.fromkeys((*settings.subjects, *(spec for spec, _ in settings.checkpoints))))
    live = live_subjects(specs, settings)
    for subject in live:
        if not isinstance(subject, Scores | Judges | Generates):
            what = f"{subject.subject_id} can neither score texts nor judge choice sets nor generate"
            raise CapabilityError(what, hint="use for instance causal_lm:FOLDER")

    def asked(items: Sequence[Item], able: Sequence[Subject], task: str, place: str) -> ResponseTable:
        if not items or not able:
            return ResponseTable.empty()
        return collect(items, able, task, out=folder / place, seed=settings.seed, progress=progress)

    recorded = with_models(data.choices, settings.recorded, data.choices.unique("subject_id"), data.name)
    answered = asked(data.items, [each for each in live if isinstance(each, Scores | Judges)], TASK, "collected")
    baseline, why = _frequencies(data, live)
    writers, no_gaps = [each for each in live if isinstance(each, Generates)], ""
    if settings.gap_filling == "no":
        no_gaps = "It was not asked for (gap_filling: no)."
    elif not writers:
        no_gaps = "No live subject generates texts."
    reasons = {NO_BASELINE: why, "Gap filling": no_gaps if data.gap_items else ""}
    # a spec may name options that are no part of the id (device, threads): what a spec became is known here alone
    ids = {spec: subject.subject_id for spec, subject in zip(specs, live, strict=True)}
    made = replace(
        data,
        choices=ResponseTable.concat([recorded, answered, baseline]),
        gaps=asked(data.gap_items, () if no_gaps else writers, GAP_TASK, "gaps"),
        facts={**data.facts, **{each.subject_id: each.facts for each in live}},
        routes=scoring_routes(folder / "collected"),
        states={ids[spec]: seen for spec, seen in settings.checkpoints},
        left_out={**data.left_out, **{analysis: why for analysis, why in reasons.items() if why}},
    )
    if not made.models and not len(made.gaps):
        what = f"{made.name} has no recorded outcomes, and no subject was asked"
        raise InputError(what, hint="name a model: --subject causal_lm:FOLDER")
    return made


def _frequencies(data: SynonymyData, live: Sequence[Subject]) -> tuple[ResponseTable, str]:
    """The word-frequency baseline, or why there is none."""
    counts = data.settings.frequency
    if not counts and not all(is_english(item.usages[0].language) for item in data.items):
        # every word would have the count 0 and every choice be a tie
        return ResponseTable.empty(), "The word-frequency baseline needs counts of this language: --frequency FILE."
    spec = BASELINE + (f"?table={counts}" if counts else "")
    if any(subject.subject_id == spec for subject in live):
        return ResponseTable.empty(), ""
    subject = catalog.subject(spec)
    assert isinstance(subject, Judges)
    try:
        return subject.judge(data.items, TASK), ""
    except DataError as error:
        return ResponseTable.empty(), (
            "The word-frequency baseline was not computed: WordNet's tag counts are not at hand "
            f"({error.what}). `lexiscope data get wordnet` gets them; --frequency FILE names other counts."
        )


def _opened(settings: SynonymySettings) -> SynonymyData:
    """The items that the settings name: a dataset or a file, with the paper's templates or the user's."""
    path = Path(settings.items)
    if settings.items and (is_item_table(path) or not is_collection(path)):
        return _ready(settings, path)
    if settings.items:
        collection = read_collection(path, language=_language(settings))
        card = own_card(path, task=TASK, language=collection[0].language)
        return _made(collection, SynonymyData(settings, card, (), {path.name: sha256_of(path)}))
    module = catalog.module("datasets", settings.dataset)
    if not hasattr(module, "collection"):
        what = f"{settings.dataset} is no collection of synonyms"
        raise SpecError(what, hint="use synonymy, mini_synonymy, or --items FILE")
    collection = cast(Callable[[], tuple[SynonymItem, ...]], module.collection)()
    dataset = catalog.dataset(settings.dataset)
    data = SynonymyData(settings, dataset.card, (), dict(dataset.checksums))
    if settings.templates and settings.recorded:
        what = "recorded outcomes were made with the paper's templates, not with yours"
        raise SpecError(what, hint="leave out recorded, or templates")
    if not settings.templates:
        data = replace(data, choices=dataset.responses, facts={fact.subject_id: fact for fact in dataset.subjects})
    return _made(collection, data)


def _made(collection: Sequence[SynonymItem], data: SynonymyData) -> SynonymyData:
    """The choice sets that templates make of a collection; without random nouns the controlled ones only."""
    settings = data.settings
    english = all(is_english(item.language) for item in collection)
    templates = read_templates(settings.templates) if settings.templates else synonymy_templates()
    if not english and not settings.templates:
        # the words of the paper's templates are English; the substitution has none
        templates = tuple(each for each in templates if each.substitutes)
    has_nouns, gap = all(item.random_nouns for item in collection), gap_template(templates)
    conditions = None if has_nouns else [CONTROLLED]
    # the token deltas that came with the collection, where it has them
    deltas = [dict(item.extra).get("token_delta", "") for item in sorted(collection, key=lambda item: item.number)]
    reasons = {
        SUITES: "" if english or settings.templates else _OTHER_LANGUAGE,
        "Random conditions, best of several and both": _NO_NOUNS if not has_nouns else "",
        "The relation turned round": "" if any(each.turned_round for each in templates) else _NOT_TURNED,
        "Gap filling": "" if gap else "No template has {context} in front and only the target before its {word}.",
        "Gap filling by synset": _NO_SYNSETS if gap and not any(item.synset for item in collection) else "",
        NO_CATEGORIES: _NOT_PROPOSED if gap and (settings.templates or not english) else "",
    }
    mode, name = settings.mode, data.name
    sets = choice_sets(collection, templates, conditions=conditions, mode=mode, dataset=name)
    return replace(
        data,
        items=(*sets, *turned_sets(collection, templates, mode=mode, dataset=name)),
        gap_items=gap_items(collection, template=gap, mode=mode, dataset=name) if gap else (),
        gap=gap,
        deltas=np.array([float(text) for text in deltas]) if all(deltas) else None,
        left_out={analysis: why for analysis, why in reasons.items() if why},
    )


_NO_NOUNS = "An item has no random nouns (random_nouns)."
_NOT_TURNED = "No template has a text for it (turned)."
_NO_SYNSETS = "No item names the lemmas of its synset (synset)."
_NOT_PROPOSED = "They are those of errors in synonymy, proposed from the English WordNet."
_OTHER_LANGUAGE = (
    "The items are not in English, and the texts of the paper's other suites and of gap filling are: --templates FILE "
    "gives them in the language of the items."
)


def _ready(settings: SynonymySettings, path: Path) -> SynonymyData:
    if settings.templates:
        what = "these are choice sets, whose texts are made: templates have nothing to do"
        raise SpecError(what, hint="leave out templates, or give a collection (target, synonym, distractor, sentence)")
    items = read_designed(path, language=_language(settings))
    card = own_card(path, task=TASK, language=items[0].usages[0].language)
    left_out = {"Gap filling": "The items are choice sets: they name no answer to a gap."}
    return SynonymyData(settings, card, items, {path.name: sha256_of(path)}, left_out=left_out)


def _language(settings: SynonymySettings) -> str:
    """The language of items whose file does not name it: the setting, or else that of the templates."""
    if settings.language != SynonymySettings().language:
        return settings.language
    return read_templates(settings.templates)[0].language if settings.templates else "en"


# -- what the report says of it ---------------------------------------------------------------------------------------


def collection(run: SynonymyData) -> object:
    """Return counts of the collection, the cells of the design, what does not apply, and texts with flagged words."""
    words = run.settings.word_list
    flagged = flagged_sentences(run.items, read_words(Path(words)) if words else FLAGGED_WORDS)
    n_items, n_sentences = len(run.sets.numbers), len(set(run.sets.sentences))
    clusters = (
        f"{counted(n_items, 'item')} in {counted(n_sentences, 'distinct sentence')}; intervals resample sentences."
    )
    if not run.own:
        flaws = ": the published texts repaired." if run.settings.mode == "clean" else ", flaws included."
        clusters += f" Texts are in the mode {run.settings.mode!r}{flaws}"
    heads = columns("Cell", ("Choice sets", INTEGER), ("Options", INTEGER), "Example: the right option's text")
    asked = [(cell, run.sets.sets[cell]) for cell in ordered(run.sets.sets)]
    rows = [(label_of(cell), len(items), run.sets.n_options(cell), items[0].usages[0].text) for cell, items in asked]
    numbers = {"n_items": n_items, "n_sentences": n_sentences, "n_choice_sets": len(run.items)}
    return (
        [run.number(name, n) for name, n in {**numbers, "n_flagged": len(flagged)}.items()],
        Table("design_cells", "", "What was asked: the cells of the design", heads, tuple(rows)),
        _left_out_table(run) if run.own else None,
        flagged_table(flagged, Path(words).name) if flagged else None,
        clusters,
    )


_NO_PAIRS = {
    "contrasts_suites": ("Contrasts between suites", "No two suites have a condition in common."),
    "contrasts_conditions": ("Contrasts between conditions", "Every suite has one condition."),
    "contrasts_context": (
        "With context against without",
        "No relation is asked with context (random) and, under the same expression, without (correct_vs_random).",
    ),
    "contrasts_expressions": ("Which expression works best", "No suite has two expressions of its relation."),
}


def _left_out_table(run: SynonymyData) -> Table:
    """Which analyses do not apply to a user's own items or templates, and why."""
    compared = ("Comparison with the paper's numbers", "The items or the templates are not the paper's.")
    rows, cells = [compared, *run.left_out.items()], set(run.cells)
    rows += [_NO_PAIRS[family.name] for family in run.design.families if not any(map(cells.issuperset, family.pairs))]
    if not any(cells.issuperset(pair) for _, *pair in run.design.consistency):
        rows.append(("Consistency of two tests", "There is one test."))
    if not any(answers.deltas for answers in run.of_kind("live")):
        rows.append(("The effect of tokens", "No subject told how many tokens the words have in their texts."))
    heads = columns("Analysis", "Why it is left out")
    return Table("left_out", "", "What does not apply to these items", heads, tuple(rows))


def subjects(run: SynonymyData) -> object:
    """Return who answered, with policy, tokens, route and self-test, and the licences."""
    texts = [f"{answers.title}: decided by {answers.measure}." for answers in run.of_kind("live", "baseline")]
    if run.of_kind("recorded"):
        texts.append(
            "Recorded outcomes were decided by the authors, on the published texts: mean log-probability over tokens "
            "2 to n of the whole text, no beginning-of-sequence token (the policy `published`)."
        )
    # without other suites or a baseline the user should know it before the numbers
    remarks = [Remark(why) for analysis, why in run.left_out.items() if analysis in (SUITES, NO_BASELINE)]
    # the released collection was made of two more resources
    made_of = (WORDNET, SEMCOR) if run.name == "synonymy" else ()
    licences = {run.card.title: run.card.licence, **{each.title: each.licence for each in made_of}}
    models = {each.title: run.facts.get(each.subject, SubjectFacts(each.subject)) for each in run.of_kind("live")}
    return _registry(run), _scoring(run) if run.routes else None, licences_table(licences, models), texts, remarks


def _registry(run: SynonymyData) -> Table:
    numbers = (("Parameters", INTEGER), ("Layers", INTEGER))
    rows = []
    for answers in run.answers:
        fact = run.facts.get(answers.subject, SubjectFacts(answers.subject))
        known = (fact.n_parameters or None, fact.n_layers, fact.revision[:12])
        rows.append((answers.title, answers.kind, *known, len(answers.outcomes)))
    heads = columns("Subject", "Kind", *numbers, "Revision", ("Cells answered", INTEGER))
    return Table("subjects", "", "Who answered", heads, tuple(rows))


def _scoring(run: SynonymyData) -> Table:
    titles = {answers.subject: answers.title for answers in run.answers}
    tested: dict[str, str] = {}
    for row in run.choices.where(measure="self_test_margin").rows():
        if row.raw:
            tested.setdefault(row.subject_id, row.raw)
    return scoring_table(run.routes, titles, tested)
