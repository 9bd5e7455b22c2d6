"""The data of a study: what its data function yields (pairs of usages, ratings), or a file of the user's own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lexiscope.analysis.norms.predictions import Predictor
from lexiscope.analysis.norms.variants import DescribedSubject, Variants
from lexiscope.collect import CollectProgress, collect, in_wordings, subject_files, takes_wordings
from lexiscope.core import catalog
from lexiscope.core.code_file import existing_file
from lexiscope.core.dataset import DataFile, Dataset, DatasetCard, own_card
from lexiscope.core.errors import CapabilityError, InputError, Place, SpecError
from lexiscope.core.item import Condition, Item
from lexiscope.core.prompt import Converses
from lexiscope.core.response import Response, ResponseTable, holds_simulated
from lexiscope.core.run import sha256_of
from lexiscope.core.scale import Scale
from lexiscope.core.settings import ItemSettings, RatedItemSettings, ReadingOptions, Settings, settings_of
from lexiscope.core.simulated import COLLECTED, PARTICIPANT, SIMULATED
from lexiscope.core.study import exported_plan
from lexiscope.core.subject import Subject, SubjectSpec
from lexiscope.core.task import Task
from lexiscope.core.usage import Usage, locate
from lexiscope.items.read.item_source import catch_remark, column_map, load_items, real_items, unrated_remark
from lexiscope.items.tables.tabular import is_item_table
from lexiscope.items.tables.understood import reading_remark
from lexiscope.resources.platforms.durel import PROGRAM as DUREL
from lexiscope.resources.platforms.lexiscope import is_export
from lexiscope.resources.platforms.opened import open_file
from lexiscope.resources.tables.delimited import read_csv
from lexiscope.studies.kit.ratings_file import COMPLETE, has_texts, read_ratings, responses_in
from lexiscope.studies.kit.repeated_ratings import counted_ratings, settled_repeats
from lexiscope.tasks.kit.words_file import is_words_file, words_task


def pair(
    item_id: str,
    first: str,
    second: str,
    target: str | tuple[str, str],
    *,
    lemma: str = "",
    language: str = "en",
    **conditions: Condition,
) -> Item:
    """Return two usages of one word as an item. *target* is the wordform, or the two wordforms, as the texts have it.

    Errors: :class:`SpanError` where the target does not occur in a text, or more than once: then give the usages with
    their spans (:class:`~lexiscope.core.item.Item`).

    >>> pair("bank/1", "They sat on the bank.", "The bank was closed.", "bank", same_sense=False).word
    'bank'
    """
    forms = (target, target) if isinstance(target, str) else target
    word = lemma or forms[0].casefold()
    usages = tuple(
        Usage(text, *locate(text, form, place=Place(item_id=item_id, text=text)), lemma=word, language=language)
        for text, form in zip((first, second), forms, strict=True)
    )
    return Item(item_id, "", usages, conditions=conditions)


def rating(
    subject: str, item: str, value: float | None, *, kind: str = PARTICIPANT, repeat: int = 0, raw: str | None = None
) -> Response:
    """Return one rating of one item. *kind* is who rated: a participant, or a kind of model (``chat``, ``causal_lm``).

    A *value* of ``None`` is an answer that is not a rating; *raw* is its text.

    >>> rating("p01", "bank/1", 4).value
    4.0
    """
    number = None if value is None else float(value)
    return Response(subject, kind, item, "", "rating", number, view="full", repeat=repeat, raw=raw)


def dataset_of(
    given: Iterable[Item | Response], card: DatasetCard, files: tuple[tuple[DataFile, str], ...] = ()
) -> Dataset:
    """Return what a data function yields as a dataset: ids begin with its name, every rating is checked.

    Errors: :class:`InputError` for a rating of an item that does not exist, or that its scale does not have.
    """
    items, rows = [], []
    for entry in given:
        if isinstance(entry, Item):
            items.append(replace(entry, item_id=f"{card.name}/{entry.item_id}", dataset=card.name))
        elif isinstance(entry, Response):
            rows.append(replace(entry, item_id=f"{card.name}/{entry.item_id}", task=card.task))
        else:
            what = f"the data function of {card.name} yields {type(entry).__name__}"
            raise InputError(what, hint="yield pair(…) or rating(…), or an Item or a Response")
    if not items:
        raise InputError(f"the data function of {card.name} yields no item", hint="yield pair(…), or an Item")
    for item in items:
        for name, value in item.conditions.items():
            if not isinstance(value, str | int | float):
                what = f"the condition {name!r} is a {type(value).__name__}"
                raise InputError(what, place=Place(item_id=item.item_id), hint="give a text, a number, True or False")
    known, scales = {item.item_id for item in items}, {item.item_id: item.scale or card.scale for item in items}
    for row in rows:
        if row.item_id not in known:
            raise InputError("a rating of an item that the data do not have", place=Place(item_id=row.item_id))
        scale = scales[row.item_id]
        if scale is not None and row.value is not None and not scale.contains(row.value):
            what = f"{row.subject_id} gave the rating {row.value:g}, which is not on the scale {scale}"
            raise InputError(what, code="E301", place=Place(item_id=row.item_id))
    checksums = tuple((file.path, sha256) for file, sha256 in files)
    return Dataset(card, tuple(items), ResponseTable.from_rows(rows), checksums)


def own_dataset(
    path: Path | str,
    columns: Mapping[str, str] | None = None,
    *,
    task: str,
    language: str = "",
    scale: Scale | None = None,
    ratings: Sequence[str] = (),
    options: ReadingOptions | None = None,
    any_scale: bool = False,
) -> Dataset:
    """Return an item file of the user's own as a dataset: its items without catch trials, and the answers to them.

    The answers are those in the file, or those in the files *ratings*: ``ratings.csv`` of an export, another table of
    responses, or any table with a row per rating, whose column of items has the ids of the item file. Of the ratings of
    an export (``ratings.csv``) the items are those of ``items.csv`` next to it. *options* are what the user said of how
    the files are written. With *any_scale*, ratings need not be on the scale of the task where no *scale* is named.

    Errors: those of :func:`~lexiscope.items.read.item_source.load_items` and, for *ratings*, of
    :func:`~lexiscope.studies.kit.ratings_file.read_ratings`; :class:`InputError` for a file of catch trials, for
    ratings in both places, and for a rating of an item that the item file does not have.
    """
    path, options = Path(path), options or ReadingOptions()
    items_of_export = _items_of_export(path, options) if not ratings else None
    if items_of_export is not None:
        data = own_dataset(
            items_of_export, task=task, language=language, scale=scale, ratings=(str(path),), any_scale=any_scale
        )
        said = f"The ratings are those of {path}, the items those of {items_of_export.name} next to it."
        return replace(data, card=replace(data.card, remarks=(said, *data.card.remarks)))
    # a file may have a name that a dataset could have: a path tells the two apart
    name = os.path.join(".", path) if path.is_file() else str(path)
    # items of no stated language are in any
    language = "" if language == "und" else language
    source = load_items(
        name, column_map(columns), task=task, language=language, scale=scale, options=options, any_scale=any_scale
    )
    if not path.is_file():
        raise InputError(f"{path} is not an item file", hint="name a dataset, or a file with its suffix")
    items = real_items(source.items)
    if not items:
        raise InputError("every row of the file is a catch trial", place=Place(str(path)), hint="add items to compare")
    card = own_card(path, task=task, language=items[0].usages[0].language, scale=scale or items[0].scale)
    read = reading_remark(source.imported.opened if source.imported is not None else None)
    card = replace(card, remarks=(*card.remarks, *read, *catch_remark(len(source.items) - len(items))))
    imported = source.imported
    from_durel = imported is not None and imported.opened is not None and imported.opened.program == DUREL
    meant = imported is not None and (imported.repeats_meant or from_durel)
    responses, repeated = settled_repeats(source.responses, options.repeats, meant=meant, path=str(path))
    card = replace(card, remarks=(*card.remarks, *repeated))
    if ratings:
        if len(responses):
            what = f"{path} holds ratings itself, and ratings were given in {ratings[0]}"
            raise InputError(what, hint="keep one of them: --ratings, or the columns of ratings in the item file")
        asked = {item.item_id: item for item in source.items}
        tables = [
            _given_ratings(name, asked, str(path), task=task, scale=scale, options=options, any_scale=any_scale)
            for name in ratings
        ]
        responses = ResponseTable.concat(tables)
        holds_simulated(responses)
    responses = responses.where(item_id=tuple(item.item_id for item in items))
    card = replace(card, remarks=(*card.remarks, *unrated_remark(items, responses)))
    return Dataset(card, items, responses, tuple(source.checksums.items()))


def rated_source(settings: RatedItemSettings, *, task: str, scale: Scale | None = None) -> Dataset:
    """Return the dataset that settings name, or their item file with its ratings. Errors: as :func:`own_dataset`."""
    if not settings.items:
        return catalog.dataset(settings.dataset)
    asked, ratings = settings.language, settings.ratings
    return own_dataset(settings.items, task=task, language=asked, scale=scale, ratings=ratings, options=settings)


def _items_of_export(path: Path, options: ReadingOptions) -> Path | None:
    """The items of an export that a file of it holds the ratings of; ``None`` for a file that has its own items.

    Errors: :class:`InputError` for responses without items.
    """
    if not path.is_file():
        return None
    if responses_in(path, options) is None:
        if not is_export(path.parent) or is_item_table(path) or path.name == _EXPORTED_ITEMS:
            return None
        opened = open_file(path, options)
        if opened.program != "Lexiscope" and has_texts(opened):
            return None
    items = path.parent / _EXPORTED_ITEMS
    if is_export(path.parent) and items.is_file():
        return items
    hint = f"add the items: --items FILE --ratings {path}"
    raise InputError("This file has answers and no sentences.", code="E006", place=Place(str(path)), hint=hint)


_EXPORTED_ITEMS = "items.csv"


def _given_ratings(
    name: str,
    asked: Mapping[str, Item],
    items_file: str,
    *,
    task: str,
    scale: Scale | None,
    options: ReadingOptions,
    any_scale: bool,
) -> ResponseTable:
    """Return the ratings in a file of these items. Errors: as :func:`own_dataset`."""
    used = next((item.scale for item in asked.values() if item.scale is not None), scale)
    used = used or (None if any_scale else catalog.task(task).scale)
    # columns that were named are those of either file
    named = set(open_file(name, replace(options, columns=(), where=())).header) if options.columns else set()
    own = replace(options, columns=tuple(pair for pair in options.columns if pair.partition("=")[2] in named))
    read = read_ratings(name, scale=used, options=own)
    if COMPLETE in read.remarks:
        hint = "give ratings.csv of the same export: real items and valid participants only"
        raise InputError(COMPLETE, place=Place(name), hint=hint)
    if read.options:
        raise InputError("the file holds choices, and this study needs ratings", place=Place(name))
    unknown = [item for item in dict.fromkeys(read.items) if item not in asked]
    if unknown:
        what = f"a rating of an item that {items_file} does not have"
        hint = "both files need the same ids: a column item_id in the item file, a column item or item_id here"
        raise InputError(what, place=Place(name, item_id=unknown[0]), hint=hint)
    table = responses_in(name, options)
    if table is not None:
        return counted_ratings(table.where(subject_kind=COLLECTED, measure="rating"), read.repeats)
    kind = SIMULATED if read.simulated else PARTICIPANT
    about = {"subject_id": read.raters, "subject_kind": [kind] * len(read.items), "item_id": read.items}
    said = {"task": [task] * len(read.items), "measure": ["rating"] * len(read.items), "value": read.values}
    lists = [asked[item].list_id for item in read.items]
    said |= {"repeat": read.repeat, "list_id": lists, "scale": [str(used) if used else None] * len(read.items)}
    return counted_ratings(ResponseTable.from_columns(about | said), read.repeats)


def askable(subjects: Sequence[Subject], items: Sequence[Item], task: str) -> tuple[list[Subject], dict[str, str]]:
    """Return the subjects that can be asked, and for each other one why not: a prompt that its language does not have.

    One chat model without a prompt does not stop a study of others. Errors: the :class:`InputError` E616 if no subject
    is left.
    """
    asks = catalog.task(task).asks
    first = {item.usages[0].language: item for item in reversed(items)}
    unasked: dict[str, str] = {}
    for subject in subjects:
        if asks is None or not isinstance(subject, Converses):
            continue
        how = subject.prompting
        try:
            for item in first.values():
                asks(item, language=how.language, variant=how.variant, shots=how.shots)
        except InputError as error:
            if error.code != "E616" or len(unasked) + 1 == len(subjects):
                raise
            hint = "ask it in a language that the task has (chat:MODEL@URL?language=en), or with --wording FILE"
            unasked[subject.subject_id] = f"{error.what}: {hint}"
    return [subject for subject in subjects if subject.subject_id not in unasked], unasked


def n_chats(settings: Settings) -> int:
    """Return how many of the named subjects are chat models, each counted once for all of its wordings."""
    return sum(takes_wordings(SubjectSpec.parse(spec).kind) for spec in settings.subjects)


def chat_models(
    live: Sequence[Subject], asked: Mapping[str, tuple[str, Sequence[Item]]], *, instead: str = "", why: str = ""
) -> tuple[dict[str, list[Subject]], list[str]]:
    """Return which chat models are asked which items, and why others are not, as text.

    *live* are the subjects of a run, each in each wording; *asked* the task and the items of each set, by its name. A
    wording in a file of words is one of its task alone. Subjects that do not converse are asked nothing here; a study
    that takes no others says what to name *instead*.
    Errors: :class:`CapabilityError` for such a subject; those of :func:`askable` if a model is asked nothing, and of a
    file of words of none of the tasks; :class:`InputError` if *asked* is empty and a chat model is there.
    """
    chats = [subject for subject in live if isinstance(subject, Converses)]
    if instead and len(chats) < len(live):
        other = next(subject.subject_id for subject in live if not isinstance(subject, Converses))
        raise CapabilityError(f"{other} is not a chat model, and this study asks chat models alone", hint=instead)
    if chats and not asked:
        hint = "leave --subject out, or name other items"
        raise InputError("these items cannot be asked of a chat model", why=why, hint=hint)
    by_name: dict[str, list[Subject]] = {}
    unasked: list[str] = []
    faults: dict[str, InputError] = {}
    for name, (task, items) in asked.items():
        by_name[name] = []
        for subject in chats:
            own = words_task(subject.prompting.variant) if is_words_file(subject.prompting.variant) else task
            # a file of a task that nobody asks is refused where it is read
            if own != task and own in {other for other, _ in asked.values()}:
                continue
            try:
                by_name[name] += askable([subject], items, task)[0]
            except InputError as error:
                if error.code != "E616":
                    raise
                faults[subject.subject_id] = error
                unasked.append(f"{subject.subject_id} was not asked {name}: {error.what}.")
    answering = {subject.subject_id for several in by_name.values() for subject in several}
    for subject_id, fault in faults.items():
        if subject_id not in answering:
            raise fault
    return by_name, unasked


def chat_answers(
    live: Sequence[Subject],
    asked: Mapping[str, Sequence[Item]],
    out: Path,
    *,
    seed: int,
    progress: CollectProgress | None = None,
    tasks: Mapping[str, Task] | None = None,
    why: str = "",
) -> tuple[ResponseTable, list[str]]:
    """Return what chat models answer to the items of each task, and who was not asked what, as text.

    *tasks* are those that are asked in another way than by default, by name; *why* is the reason where no task has
    items.
    Answers are kept below *out*, a folder for each task, so that a broken run continues. Errors: those of
    :func:`chat_models` and of the endpoints.
    """
    by_task, unasked = chat_models(live, {task: (task, items) for task, items in asked.items() if items}, why=why)
    tables = [
        collect(asked[task], models, (tasks or {}).get(task, task), out=out / task, seed=seed, progress=progress)
        for task, models in by_task.items()
        if models
    ]
    return ResponseTable.concat(tables), unasked


_DESCRIBED = ("subject", "model", "shots", "base", "parameters")


def described_subjects(path: Path, predictors: Sequence[Predictor]) -> dict[str, DescribedSubject]:
    """Return what a table says of subjects, by their ids: columns subject, model, shots, base, parameters.

    ``subject`` is an id or a title, ``base`` and ``parameters`` may be empty.
    Errors: :class:`InputError` with the line of a subject that is not in the run or is there twice, and of a number
    that is none.
    """
    by_subject: dict[str, DescribedSubject] = {}
    for place, row in read_csv(path, _DESCRIBED).rows():
        try:
            subject = Variants(predictors, {}).named(row["subject"]).subject
            size = float(row["parameters"]) if row["parameters"] else None
            about = DescribedSubject(row["model"], int(row["shots"]), row["base"], size)
        except (SpecError, ValueError) as error:
            hint = error.hint if isinstance(error, SpecError) else "shots is a whole number, parameters a number"
            raise InputError(str(getattr(error, "what", error)), place=place, hint=hint) from error
        if subject in by_subject or not about.model or about.shots < 0:
            what = f"{row['subject']!r} is there twice, has no model, or fewer than no worked examples"
            raise InputError(what, place=place)
        by_subject[subject] = about
    return by_subject


def with_models(responses: ResponseTable, named: Sequence[str], models: Sequence[str], dataset: str) -> ResponseTable:
    """Return recorded answers without those of recorded models that are not *named*; all if none is named.

    *models* are the ids of the recorded models; the answers of all others (people) stay.
    Errors: :class:`SpecError` for a name that no recorded model of the dataset has.
    """
    if not named:
        return responses
    unknown = sorted(set(named) - set(models))
    if unknown:
        raise SpecError(f"{dataset} has no recorded subject {unknown[0]!r}", hint=f"there are {models}")
    others = [subject for subject in responses.unique("subject_id") if subject not in models]
    return responses.where(subject_id=(*others, *named))


def given_files(settings: Settings) -> dict[str, str]:
    """Return the sha256 of the files that settings name, other than the items: with another content it is another run.

    These are the values of settings that are files, and the files of subjects (recorded answers, sense vectors, words).
    Errors: :class:`InputError` for a file that does not exist or is empty; :class:`SpecError` for wordings without
    subjects.
    """
    if not settings.subjects:
        # some runs ask no subjects at all: a wording would be ignored there
        in_wordings((), settings.wordings)
    # the checksum of the items is that of the data
    data = {setting.name for setting in settings_of(ItemSettings)}
    paths: list[Path] = []
    for setting in settings_of(type(settings)):
        if setting.option.file and setting.name not in data:
            value = getattr(settings, setting.name)
            paths += map(existing_file, value if setting.many else filter(None, (value,)))
    paths += [path for path in subject_files(settings.subjects, settings.wordings) if path.is_file()]
    plan = exported_plan(settings)
    return {str(path): sha256_of(path) for path in (*paths, *((plan[1],) if plan else ()))}


def joined_responses(
    answered: Iterable[tuple[str, ResponseTable]], items: Mapping[str, tuple[str, Sequence[Item]]]
) -> ResponseTable:
    """Return the answers to several datasets in one table, each to an item id that is unique among them.

    *answered* are tables with the name of their dataset; *items* the task and the items of each dataset. Two variants
    of one dataset may number their items alike: if datasets of one task share ids, the name of the dataset precedes
    each of their ids, ``DATASET:ITEM_ID``. Between tasks, the column ``task`` distinguishes them.
    """
    alike = _numbered_alike(items)
    tables = []
    for name, table in answered:
        ids = [f"{name}:{item_id}" for item_id in table.column("item_id")] if name in alike else []
        tables.append(table.with_column("item_id", ids) if ids else table)
    return ResponseTable.concat(tables)


def joined_items(items: Mapping[str, tuple[str, Sequence[Item]]]) -> tuple[Item, ...]:
    """Return the items of several datasets with their ids in :func:`joined_responses`, each with its dataset's name."""
    alike = _numbered_alike(items)
    return tuple(
        replace(item, item_id=f"{name}:{item.item_id}" if name in alike else item.item_id, dataset=name)
        for name, (_, several) in items.items()
        for item in several
    )


def _numbered_alike(items: Mapping[str, tuple[str, Sequence[Item]]]) -> set[str]:
    owners: dict[tuple[str, str], list[str]] = {}
    for name, (task, several) in items.items():
        for item in several:
            owners.setdefault((task, item.item_id), []).append(name)
    return {name for names in owners.values() if len(names) > 1 for name in names}
