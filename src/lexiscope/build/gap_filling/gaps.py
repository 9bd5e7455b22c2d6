"""Gap filling: a sentence, then "T is a synonym of", and the subject writes what comes next.

An item has one usage, the target in its sentence. Its conditions say the rest: ``prompt`` is what follows the sentence
up to the gap, ``synonym`` the curated answer, ``synset_synonyms`` the other lemmas of the target's synset (several
answers are divided by ``|``). Whether an answer is right is not stored with it:
:mod:`lexiscope.build.gap_filling.matching`.
*Source:* the synonymy study, §3.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Literal, cast, get_args

from lexiscope.core.errors import InputError, Place, SpecError
from lexiscope.core.item import Condition, Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import parse_statistic, statistic_name
from lexiscope.core.settings import Option
from lexiscope.core.subject import Decoding
from lexiscope.core.usage import Usage
from lexiscope.items.choice_sets.minimal_pairs import SynonymItem, realise_text
from lexiscope.items.choice_sets.surface import Mode, join_punctuation, published_join, with_capital
from lexiscope.items.choice_sets.templates import Template, synonymy_templates
from lexiscope.resources.lexicons.lexicon import POS_NAMES

Answers = Literal["curated", "synset"]
"""Which answers are accepted: the curated synonym, or all lemmas of the target's synset other than the target."""

SUITE = "gap_filling"
"""The suite of the items, and the task that they ask."""
PUBLISHED_TEMPLATE = "T11"
MEASURE = "completion"
MEASURE_TOKENS = "completion_tokens"
MEASURE_SEED = "completion_seed"
COLUMN_PROMPT, COLUMN_CURATED, COLUMN_SYNSET = "prompt", "synonym", "synset_synonyms"
_BETWEEN = "|"


def gap_prompt(target: str, template: Template, *, mode: Mode = "clean") -> str:
    """Return what is between the sentence and the gap: a template cut before its word.

    The sentence comes first or not at all: whether it is shown is a matter of the view.
    Errors: :class:`InputError` for a template in which more than the target, and a first ``{context}``, is before
    the gap, or not even the target.

    >>> gap_prompt("role", Template("own", "gap", 'The word "{target}" is the same as "{word}"'))
    'The word "role" is the same as "'
    """
    words = {"target": target, "Target": with_capital(target, mode=mode), "context": "", "word": ""}
    parts = _before_gap(template)
    if not parts:
        raise InputError(
            f"the template {template.name!r} makes no gap: only the target may be between sentence and gap",
            hint="write for instance {context} {Target} is a synonym of {word}.",
        )
    # no space before the gap: models begin a new word with it
    return "".join(literal + words.get(slot, "") for literal, slot in parts).strip()


def gap_template(templates: Sequence[Template]) -> Template | None:
    """Return the first template that asks for a word behind an item's sentence, if one does: it can be cut at its gap.

    >>> gap_template(synonymy_templates()).name
    'T11'
    """
    able = [template for template in templates if template.pattern.startswith("{context}") and _before_gap(template)]
    return able[0] if able else None


def gap_item(
    item_id: str,
    usage: Usage,
    *,
    dataset: str,
    synonym: str | Sequence[str],
    synset: Sequence[str] = (),
    template: Template | None = None,
    mode: Mode = "clean",
    conditions: Mapping[str, Condition] | None = None,
) -> Item:
    """Return the item that asks for a synonym of a target in its sentence.

    *usage* is the sentence to read, *synonym* the curated answer or answers, *synset* the lemmas of the
    target's synset (the target itself is excluded, ``_`` becomes a space). *template* is T11 by default,
    *mode* is the capitalisation of the target; *conditions* are further columns of the design (``sentence`` …).
    Errors: :class:`InputError` E617 without a synonym, or with the target among them; those of :func:`gap_prompt`.

    >>> usage = Usage("She has a leading role.", 18, 22, lemma="role", language="en")
    >>> item = gap_item("i1", usage, dataset="d", synonym="part", synset=["function", "office", "part", "role"])
    >>> prompt_of(item), accepted_answers(item, "curated"), accepted_answers(item, "synset")
    ('She has a leading role. Role is a synonym of', ('part',), ('part', 'function', 'office'))
    """
    curated = _distinct([synonym] if isinstance(synonym, str) else synonym)
    own = {usage.target.casefold(), (usage.lemma or usage.target).replace("_", " ").casefold()}
    wrong = [word for word in curated if word.casefold() in own]
    if not curated or wrong:
        what = "its synonym is the target itself" if wrong else "it has no synonym"
        raise InputError(f"an item of gap filling cannot be made: {what}", code="E617", place=Place(item_id=item_id))
    used = template or _published_template()
    named: dict[str, Condition] = {
        "suite": SUITE,
        "expression": used.expression,
        "mode": mode,
        "target": usage.target,
        COLUMN_PROMPT: gap_prompt(usage.target, used, mode=mode),
        COLUMN_CURATED: _BETWEEN.join(curated),
        COLUMN_SYNSET: _BETWEEN.join(word for word in _distinct(synset) if word.casefold() not in own),
    }
    return Item(item_id, dataset, (usage,), gold=curated[0], conditions=named | dict(conditions or {}))


def gap_items(
    items: Sequence[SynonymItem],
    *,
    template: Template | None = None,
    mode: Annotated[Mode, Option("how texts are written")] = "clean",
    dataset: str = "synonymy",
) -> tuple[Item, ...]:
    """Return an item of gap filling for each item of a collection, with the conditions of its choice sets.

    The id is ``<dataset>/<item>/gap_filling/<expression>``. The sentence is that of the suite in this *mode*; its
    article is the target's own.
    Errors: those of :func:`gap_item`.

    >>> oak = SynonymItem.from_tokens("1", "An oak fell .".split(), 1, synonym="tree", distractor="wood")
    >>> [(item.item_id, prompt_of(item)) for item in gap_items([oak], dataset="d")]
    [('d/1/gap_filling/is_a_synonym_of', 'An oak fell. Oak is a synonym of')]
    """
    used = template or _published_template()
    expression = used.key.partition("/")[2] or used.name
    return tuple(
        gap_item(
            f"{dataset}/{item.item_id}/{SUITE}/{expression}",
            _context(item, used, mode),
            dataset=dataset,
            synonym=item.synonym,
            synset=item.synset,
            template=used,
            mode=mode,
            conditions={
                "item": item.number,
                "distractor": item.distractor,
                "sentence": item.sentence_id or item.item_id,
                "part_of_speech": POS_NAMES[item.pos],
                "senses": "one" if item.is_control else "several",
            },
        )
        for item in items
    )


def prompt_of(item: Item, *, view: str = "full") -> str:
    """Return the text that is continued: sentence and prompt, in the view ``word`` the prompt alone.

    *item* is as the view shows it. Errors: :class:`InputError` for a view that hides the target, which the prompt
    names; E402 for an item without a prompt.
    """
    if view == "context":
        what = "the view 'context' hides the target, but the prompt names it"
        raise InputError(what, place=Place(item_id=item.item_id))
    prompt = str(item.condition(COLUMN_PROMPT))
    # one space joins the two, whatever the sentence ends in (as published)
    return prompt if view == "word" else f"{item.usages[0].text} {prompt}"


def accepted_answers(item: Item, answers: Answers) -> tuple[str, ...]:
    """Return what an item accepts as an answer. ``synset`` accepts the curated ones too: the criteria are nested.

    Errors: :class:`InputError` E402 for an item without the column; E617 if it names no answer.
    """
    if answers not in get_args(Answers):
        raise SpecError(f"there are no accepted answers {answers!r}", hint=f"use {' or '.join(get_args(Answers))}")
    columns = (COLUMN_CURATED,) if answers == "curated" else (COLUMN_CURATED, COLUMN_SYNSET)
    words = _distinct([word for name in columns for word in str(item.condition(name)).split(_BETWEEN)])
    if not words:
        raise InputError("this item has no accepted answer", code="E617", place=Place(item_id=item.item_id))
    return tuple(words)


def decoding_measure(name: str, decoding: Decoding) -> str:
    """Return the measure of a row that was generated: its name and how tokens were chosen.

    Errors: :class:`SpecError` for a decoding with stop texts, which a measure has no room for.

    >>> decoding_measure("completion", Decoding())
    'completion(method=greedy,max_tokens=10)'
    >>> decoding_measure("completion", Decoding("sample", n=10, top_k=10))
    'completion(method=sample,max_tokens=10,n=10,top_k=10,temperature=1,seed=0)'
    """
    if decoding.stop:
        raise SpecError("gap filling takes no stop texts", hint="cut the answers when they are matched")
    drawn = {name: getattr(decoding, name) for name in ("n", "top_k")}
    drawn |= {"temperature": f"{decoding.temperature:g}", "seed": decoding.seed}
    said = {} if decoding.method == "greedy" else drawn
    return statistic_name(name, method=decoding.method, max_tokens=decoding.max_tokens, **said)


def greedy_completions(table: ResponseTable) -> ResponseTable:
    """Return the completions of a table whose tokens were the likeliest ones."""
    own = [measure for measure in table.unique("measure") if parse_statistic(measure)[0] == MEASURE]
    greedy = [measure for measure in own if (how := read_decoding(measure)) and how.method == "greedy"]
    return table.where(measure=tuple(greedy)) if greedy else ResponseTable.empty()


def sentences_of(items: Sequence[Item]) -> dict[str, str]:
    """Return the sentence of each item, by its id: items that share one are not independent. Without one, its id."""
    return {item.item_id: str(item.conditions.get("sentence", item.item_id)) for item in items}


def is_written(measure: str) -> bool:
    """Whether the answers of a measure are in ``raw`` alone, without a value.

    >>> is_written("completion(method=greedy,max_tokens=10)"), is_written("rating")
    (True, False)
    """
    return measure.partition("(")[0] in (MEASURE, MEASURE_SEED)


def read_decoding(measure: str) -> Decoding | None:
    """Read :func:`decoding_measure` back; ``None`` for an answer that was not generated (a person's).

    Errors: :class:`SpecError` for a measure of something else.

    >>> read_decoding("completion(method=sample,max_tokens=10,n=10,top_k=10,temperature=1,seed=7)").seed
    7
    """
    name, given = parse_statistic(measure)
    if name not in (MEASURE, MEASURE_TOKENS, MEASURE_SEED):
        raise SpecError(f"{measure!r} is not a measure of gap filling")
    if not given:
        return None
    return Decoding(
        cast(Literal["greedy", "sample"], given["method"]),
        n=int(given.get("n", 1)),
        max_tokens=int(given["max_tokens"]),
        top_k=int(given.get("top_k", 0)),
        temperature=float(given.get("temperature", 1.0)),
        seed=int(given.get("seed", 0)),
    )


def _before_gap(template: Template) -> tuple[tuple[str, str], ...]:
    """The parts of a template up to its gap; empty where more than the sentence and the target is before it."""
    before, gap, _ = template.pattern.partition("{word}")
    parts = replace(template, pattern=before + "{word}", turned="").parts() if before and gap else ()
    slots = [slot for _, slot in parts[:-2]]
    inside = slots[1:] if before.startswith("{context}") else slots
    return parts if inside and set(inside) <= {"target", "Target"} else ()


def _published_template() -> Template:
    return next(template for template in synonymy_templates() if template.name == PUBLISHED_TEMPLATE)


def _context(item: SynonymItem, template: Template, mode: Mode) -> Usage:
    """The sentence of an item before the prompt, and where its target is in it."""
    bare = realise_text(item, replace(template, pattern="{context} {word}"), item.target, mode=mode)
    text = bare.text[: bare.start - 1]
    before, after = item.sentence[: item.start], item.sentence[item.end :]
    if item.tokenised:
        join = published_join if mode == "published" else partial(join_punctuation, quotes="straight")
        before, after = join(before), join(after)
    lemma = item.sense_key.partition("%")[0] or item.target
    sense = item.sense_key or None
    return Usage(
        text, len(before), len(text) - len(after), lemma=lemma, pos=item.tag, language=item.language, sense=sense
    )


def _distinct(words: Sequence[str]) -> list[str]:
    """The words as written, each once in any case, without empty ones."""
    spellings: dict[str, str] = {}
    for word in words:
        plain = " ".join(word.replace("_", " ").split())
        if plain:
            spellings.setdefault(plain.casefold(), plain)
    return list(spellings.values())
