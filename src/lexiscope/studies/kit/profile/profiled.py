"""A profile: models asked the lines of a battery, each once; families, pairs of models, and all numbers as records.

The answers are kept in a cache by their content: a second profile of a model makes no request and loads no weights.
People's side of a line is computed once for all models.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypedDict

from lexiscope.analysis.attainable.model_pairs import ModelPairs, model_pairs
from lexiscope.analysis.attainable.shares import Share, mean_share
from lexiscope.collect import CollectProgress, in_wordings, kept_answers, takes_wordings
from lexiscope.collect.costs import CollectionCost, collection_costs
from lexiscope.core import catalog
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import (
    CapabilityError,
    DataError,
    InputError,
    LexiscopeError,
    RunError,
    SpecError,
    StatisticError,
)
from lexiscope.core.prompt import Converses
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Record, statistic_name
from lexiscope.core.simulated import COLLECTED
from lexiscope.core.spec import SubjectSpec, plain_name, without_option
from lexiscope.core.subject import Scores, Subject, capabilities
from lexiscope.resources.fetch import cache_folder
from lexiscope.studies.kit.languages import other_language
from lexiscope.studies.kit.profile.battery import (
    DEFAULT,
    FAMILIES,
    Battery,
    BatteryLine,
    Family,
    PrintedFigure,
    load_battery,
)
from lexiscope.studies.kit.profile.lines import (
    AskedLine,
    Measured,
    NoNumber,
    Outcome,
    ask_line,
    measure_line,
    recorded_answers,
)

PEOPLE = "people"


class LinePlace(TypedDict):
    """The place of a number in a profile: fields that the records of a line share."""

    dataset: str
    condition: str
    view: str


class OutcomePlace(LinePlace):
    """The same with the model that was asked."""

    subject: str


@dataclass(frozen=True, slots=True, eq=False)
class ProfiledModel:
    """A model of a profile: its id, what is known of it, its outcomes by line, and its families."""

    id: str
    facts: SubjectFacts
    outcomes: Mapping[str, Outcome]
    families: Mapping[Family, Share]

    @property
    def title(self) -> str:
        """The name for readers: that of its card, otherwise the last part of its id."""
        return self.facts.title or plain_name(self.id).rstrip("/").rpartition("/")[2].rpartition(":")[2]


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """The profiles of models on a battery.

    ``asked`` are the lines whose items could be loaded; ``unasked`` has the reason for the others. ``pairs`` are those
    of the lines that several models answered.
    """

    battery: Battery
    seed: int
    asked: Mapping[str, AskedLine]
    unasked: Mapping[str, NoNumber]
    models: tuple[ProfiledModel, ...]
    pairs: Mapping[str, ModelPairs]

    def outcome(self, model: str, line: str) -> Outcome:
        """Return what a model reached on a line, or why there is no number. Errors: :class:`SpecError`."""
        for known in self.models:
            if known.id == model and line in known.outcomes:
                return known.outcomes[line]
        raise SpecError(
            f"this profile has no {line!r} of {model!r}",
            hint=f"models: {', '.join(known.id for known in self.models)}; lines: {', '.join(self.lines)}",
        )

    @property
    def lines(self) -> tuple[str, ...]:
        """The names of the lines."""
        return tuple(line.line for line in self.battery.lines)

    def records(self) -> tuple[Record, ...]:
        """Return every number of the profile, as ``results.json`` holds them."""
        people = (record for line in self.asked.values() for record in _people_records(line))
        models = (record for model in self.models for record in self._records_of(model))
        pairs = (record for name, of in self.pairs.items() for record in _pair_records(self.asked[name], of))
        return (*people, *models, *pairs)

    def _records_of(self, model: ProfiledModel) -> Iterator[Record]:
        for name, outcome in model.outcomes.items():
            line = next(line for line in self.battery.lines if line.line == name)
            about: OutcomePlace = {
                "subject": model.id, "dataset": line.data, "condition": f"line={name}", "view": line.view
            }  # fmt: skip
            yield from _outcome_records(line, outcome, about)
        for family, share in model.families.items():
            n = sum(isinstance(o, Measured) and o.share is not None for o in self._of_family(model, family))
            name = statistic_name("mean_share_of_attainable", family=family)
            yield Record(
                name, share.value, model.id, low=share.low, high=share.high, interval=_JOINT, n=n, unit="share",
                note=f"mean of {n} of {len(self._of_family(model, family))} lines",
            )  # fmt: skip

    def _of_family(self, model: ProfiledModel, family: Family) -> list[Outcome]:
        return [model.outcomes[line.line] for line in self.battery.lines if line.family == family]

    def __repr__(self) -> str:
        names = ", ".join(model.title for model in self.models)
        return f"Profile({names}: {self.battery.name}, {len(self.asked)} of {len(self.battery.lines)} lines)"


def profile_models(
    models: Sequence[Subject | str] | Subject | str,
    *,
    battery: Battery | Path | str = DEFAULT,
    cache: Path | None = None,
    any_language: bool = False,
    seed: int = 0,
    progress: CollectProgress | None = None,
) -> Profile:
    """Ask models the lines of a battery, and return what they reach.

    A model is a subject, its spec (``encoder:minilm``), or the name of a model whose answers were published with the
    data (``gpt-4``). *cache* is where answers are kept (by default the user's cache). A model that declares other
    languages than that of a line is not asked, unless *any_language*.
    Errors: those of the battery; :class:`SpecError` for a spec that names no subject, and for a name under which none
    of the data has answers; :class:`RunError` for a damaged cache.
    """
    listed = (models,) if isinstance(models, str | Subject) else tuple(models)
    if not listed:
        raise InputError("no model to profile", hint="name one, such as encoder:minilm")
    chosen = battery if isinstance(battery, Battery) else load_battery(battery)
    subjects = [_subject_of(model) for model in listed]
    asked, unasked = _ask_lines(chosen, seed)
    home = cache or _default_cache()
    profiled = tuple(
        _profiled(chosen, subject, asked, unasked, home, any_language, seed, progress) for subject in subjects
    )
    names = [model.id for model in profiled]
    if len(set(names)) < len(names):
        raise InputError(f"the same model is named twice: {', '.join(names)}")
    return Profile(chosen, seed, asked, unasked, profiled, _pairs(chosen, profiled))


def profile_costs(
    models: Sequence[Subject | str],
    *,
    battery: Battery,
    cache: Path | None = None,
    any_language: bool = False,
    seed: int = 0,
) -> list[CollectionCost]:
    """Return what a profile would still cost, per model and line, without asking; see :func:`collection_costs`.

    A line that a model is not asked costs nothing and has no entry, nor has a model whose answers were published.
    """
    asked, _ = _ask_lines(battery, seed)
    home = cache or _default_cache()
    costs: list[CollectionCost] = []
    for subject in (_subject_of(model) for model in models):
        for line in asked.values():
            if isinstance(subject, str) or _refusal(line, subject, any_language) is not None:
                continue
            ways: list[Subject | str] = [subject, *_other_wordings(line.line, subject).values()]
            for way in ways:
                # what is refused before anything is asked makes a line without a number, which costs nothing
                with contextlib.suppress(CapabilityError, InputError, SpecError):
                    worded = catalog.subject(way) if isinstance(way, str) else way
                    costs += collection_costs(
                        line.items, [worded], line.line.task, (line.line.view,), seed=seed, cache=home
                    )
    return costs


def _ask_lines(battery: Battery, seed: int) -> tuple[dict[str, AskedLine], dict[str, NoNumber]]:
    """Load the items of every line; give the reason if there are none."""
    asked, unasked = dict[str, AskedLine](), dict[str, NoNumber]()
    for line in battery.lines:
        try:
            asked[line.line] = ask_line(line, seed=seed)
        except DataError:
            unasked[line.line] = NoNumber(
                "not asked", f"the data are not here: lexiscope data get {plain_name(line.data)}"
            )
        except StatisticError as error:
            unasked[line.line] = NoNumber("no number", error.what)
    return asked, unasked


def _default_cache() -> Path:
    return cache_folder().parent / "answers"


def _other_wordings(line: BatteryLine, subject: Subject) -> dict[str, str]:
    """Return the specs of a subject in the other wordings of a line, by wording.

    The wordings of a line are those of models that score texts: a chat model has prompts, which have other names. A
    subject whose spec names its wording is asked in no other.
    """
    spec, task = subject.subject_id, catalog.task(line.task)
    if not line.wordings or isinstance(subject, Converses) or without_option(spec, "variant")[1]:
        return {}
    if not (takes_wordings(subject.kind, task) and catalog.has("subjects", subject.kind)):
        return {}
    worded = zip(line.wordings, in_wordings([spec], line.wordings, task), strict=True)
    return {wording: other for wording, other in worded if other != spec}


def _subject_of(model: Subject | str) -> Subject | str:
    """The subject that a spec names; the name itself where it is that of published answers."""
    if isinstance(model, Subject):
        return model
    try:
        SubjectSpec.parse(model)
    except SpecError:
        return model
    return catalog.subject(model)


def _profiled(
    battery: Battery,
    subject: Subject | str,
    asked: Mapping[str, AskedLine],
    unasked: Mapping[str, NoNumber],
    cache: Path,
    any_language: bool,
    seed: int,
    progress: CollectProgress | None,
) -> ProfiledModel:
    outcomes: dict[str, Outcome] = {}
    facts = SubjectFacts(subject) if isinstance(subject, str) else subject.facts
    for line in battery.lines:
        if line.line in unasked:
            outcomes[line.line] = unasked[line.line]
            continue
        of_line = asked[line.line]
        if isinstance(subject, str):
            answers = recorded_answers(of_line, subject)
            outcomes[line.line] = (
                NoNumber(
                    "not asked", f"no answers of {subject} were published with {of_line.card.title.partition(':')[0]}"
                )
                if not len(answers)
                else measure_line(of_line, answers, {}, seed=seed)
            )
            facts = next((known for known in of_line.facts if known.subject_id == subject), facts)
            continue
        refusal = _refusal(of_line, subject, any_language)
        if refusal is not None:
            outcomes[line.line] = refusal
            continue
        outcomes[line.line], kept = _live(of_line, subject, cache, seed, progress)
        facts = kept or facts
    if isinstance(subject, str) and all(isinstance(outcome, NoNumber) for outcome in outcomes.values()):
        known = sorted({name for line in asked.values() for name in _published_models(line)})
        raise SpecError(
            f"{subject!r} is not a subject, and the data of this battery hold no answers of it",
            hint=f"write kind:name, such as encoder:minilm; answers are published of: {', '.join(known) or 'none'}",
        )
    families = {}
    for family in FAMILIES:
        own = [outcomes[line.line] for line in battery.lines if line.family == family]
        shares = [outcome.share for outcome in own if isinstance(outcome, Measured) and outcome.share is not None]
        if shares:
            families[family] = mean_share(shares)
    name = subject if isinstance(subject, str) else subject.subject_id
    return ProfiledModel(name, facts, outcomes, families)


def _published_models(line: AskedLine) -> set[str]:
    ids, kinds = line.answers.column("subject_id").tolist(), line.answers.column("subject_kind").tolist()
    return {name for name, kind in zip(ids, kinds, strict=True) if kind not in COLLECTED}


def _refusal(asked: AskedLine, subject: Subject, any_language: bool) -> NoNumber | None:
    """Why a subject is not asked a line, before anything is asked."""
    task = catalog.task(asked.line.task)
    offers = ", ".join(capabilities(subject)) or "nothing"
    if asked.line.statistic == "spread" and not isinstance(subject, Scores):
        return NoNumber("cannot answer", f"needs Scores (the probability of each point); this model offers {offers}")
    try:
        task.answer_function(subject)
    except (CapabilityError, SpecError) as error:
        # recorded answers can be given to any task: what a model needs is the rest
        needs = " or ".join([name for name, _ in task.answers if name != "Judges"] or ["Judges"])
        why = f"needs {needs}; this model offers {offers}" if isinstance(error, CapabilityError) else error.what
        return NoNumber("cannot answer", why)
    spoken, language = other_language(subject.facts, asked.items)
    if spoken and not any_language:
        return NoNumber("not asked", f"the model declares {spoken}, the items are in {language}")
    return None


def _live(
    asked: AskedLine, subject: Subject, cache: Path, seed: int, progress: CollectProgress | None
) -> tuple[Outcome, SubjectFacts | None]:
    line, task = asked.line, catalog.task(asked.line.task)
    keep = partial(kept_answers, cache=cache, view=line.view, seed=seed, progress=progress)
    try:
        answers, about = keep(asked.items, subject, task)
        others: dict[str, ResponseTable] = {}
        for wording, worded in _other_wordings(line, subject).items():
            others[wording], _ = keep(asked.items, worded, task)
    except RunError:
        raise
    except LexiscopeError as error:
        # one item that a model cannot read must not lose the other lines
        return NoNumber("no number", str(error).splitlines()[0]), None
    known: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in about["facts"].items()
    }
    facts = SubjectFacts(**known)
    # a file of recorded answers may have answers of people, too
    kinds = [kind for kind in answers.unique("subject_kind") if kind not in COLLECTED]
    return measure_line(asked, answers.where(subject_kind=tuple(kinds)), others, seed=seed), facts


def _pairs(battery: Battery, models: Sequence[ProfiledModel]) -> dict[str, ModelPairs]:
    made: dict[str, ModelPairs] = {}
    for line in battery.lines:
        reached = {
            model.id: outcome.reached for model in models if isinstance(outcome := model.outcomes[line.line], Measured)
        }
        try:
            made[line.line] = model_pairs(reached)
        except StatisticError:
            continue
    return made


# -- records --------------------------------------------------------------------------------------------------------

_JOINT = statistic_name("joint", words="resampled", raters="jackknife", level="0.95")
_STATISTICS = {
    "spearman": ("spearman", {"with": "norms"}),
    "spread": ("spearman", {"with": "spread"}),
    "accuracy": ("accuracy", {}),
    "auc": ("sense_separation", {"measure": "auc"}),
}


def statistic_of(line: BatteryLine, *, layered: bool = False, threshold: bool = False) -> str:
    """Return the printed name of the statistic of a line; with the layer and the threshold of other words."""
    name, params = _STATISTICS[line.statistic]
    more = ({"threshold": "other_words"} if threshold else {}) | ({"layer": "other_words"} if layered else {})
    return statistic_name(name, **(params | more))


def _people_records(asked: AskedLine) -> Iterator[Record]:
    line = asked.line
    about: LinePlace = {"dataset": line.data, "condition": f"line={line.line}", "view": line.view}
    plain = _STATISTICS[line.statistic][0]
    yield Record(statistic_name("chance", of=plain, rule="independent"), asked.chance, n=asked.n_items, **about)
    if asked.rated is not None:
        halves = asked.rated.halves
        for estimate in (asked.rated.person, asked.rated.mean, asked.rated.attainable, halves):
            yield from (
                Record(
                    record.statistic, record.value, PEOPLE, low=record.low, high=record.high, n=record.n,
                    interval=record.interval, note=record.note, **about,
                )
                for record in estimate.records()
            )  # fmt: skip
    printed = [line.ceiling] if isinstance(line.ceiling, PrintedFigure) else []
    for figure in (*printed, *line.figures):
        note = figure.name + ("" if figure in printed else "; no ceiling")
        name = statistic_name("printed_figure", of=plain)
        yield Record(name, figure.value, PEOPLE, source=figure.source, note=note, **about)


def _outcome_records(line: BatteryLine, outcome: Outcome, about: OutcomePlace) -> Iterator[Record]:
    if isinstance(outcome, NoNumber):
        yield Record(statistic_of(line), None, note=f"{outcome.kind}: {outcome.why}", **about)
        return
    reached, share = outcome.reached, outcome.share
    threshold = line.statistic == "accuracy" and not outcome.measure.startswith(("choice", "correct"))
    threshold = threshold and catalog.task(line.task).truth
    name = statistic_of(line, layered=bool(reached.layers), threshold=threshold)
    low, high = value_interval(outcome)
    method = statistic_name("standard_error", resampled="words", level="0.95", resamples=len(reached.draws))
    yield Record(
        name, reached.value, low=low, high=high, interval=method, n=reached.n, note=reached.note, **about
    )  # fmt: skip
    shared = statistic_name("share_of_attainable", of=_STATISTICS[line.statistic][0])
    if share is None:
        yield Record(shared, None, note=f"undefined: {outcome.no_share}", **about)
    else:
        raters = f"{100 * share.of_raters:.0f} % of the variance comes from the raters" if share.deviations else ""
        note = raters or "words resampled only"
        yield Record(
            shared, share.value, low=share.low, high=share.high, interval=_JOINT, n=reached.n, unit="share", note=note,
            **about,
        )  # fmt: skip
    if outcome.needed is not None:
        for record in outcome.needed.records():
            yield Record(
                record.statistic, record.value, low=record.low, high=record.high, interval=record.interval,
                n=record.n, unit="people", note=record.note, **about,
            )  # fmt: skip
    yield Record("refusals", float(outcome.refused), n=outcome.asked, **about)
    for variant in outcome.variants:
        if not variant.declared:
            named = statistic_name(
                _STATISTICS[line.statistic][0], variant=variant.name.replace("=", ":").replace(",", ";")
            )
            yield Record(named, variant.value, n=reached.n, note="a variant", **about)


def value_interval(outcome: Measured) -> tuple[float, float]:
    """Return the interval of what a model reaches: words resampled, t standard errors of the resamples."""
    share = mean_share([Share(outcome.reached.value, 0, 0, outcome.reached.draws, {}, outcome.reached.n_words)])
    return share.low, share.high


def _pair_records(asked: AskedLine, pairs: ModelPairs) -> Iterator[Record]:
    line, plain = asked.line, _STATISTICS[asked.line.statistic][0]
    about: LinePlace = {"dataset": line.data, "condition": f"line={line.line}", "view": line.view}
    method = statistic_name("max_t", pairs=len(pairs.pairs), level="0.95")
    yield Record(statistic_name("critical_value", of=plain), pairs.critical, n=len(pairs.pairs), **about)
    name = statistic_name(f"{plain}_difference", **_STATISTICS[line.statistic][1])
    for pair in pairs.pairs:
        subject = f"{pair.first} − {pair.second}"
        yield Record(name, pair.difference, subject, low=pair.low, high=pair.high, interval=method, **about)
