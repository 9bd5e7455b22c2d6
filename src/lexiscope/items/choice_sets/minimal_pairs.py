"""Minimal pairs of synonymy: a target in its sentence, a word that keeps its meaning there, and words that do not.

A :class:`SynonymItem` and a :class:`~lexiscope.items.choice_sets.templates.Template` make texts that differ in one
word. They come as lines (:func:`suite_lines`, the form of the published files) or as choice sets (:func:`choice_sets`),
the items of the task ``minimal_pair``. Mode ``clean`` is the default; ``published`` keeps the flaws of the published
sentences: the article of an untouched context follows the inserted word, plurals are a closed list, and two items have
typing errors.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from lexiscope.core.errors import InputError, Place, SpecError
from lexiscope.core.item import Condition, Item
from lexiscope.core.usage import Usage, check_span
from lexiscope.items.choice_sets.surface import (
    MODES,
    ArticleRule,
    Mode,
    Placed,
    is_plural,
    join_punctuation,
    place_word,
    published_article,
    published_join,
    with_capital,
)
from lexiscope.items.choice_sets.templates import CHOICES, Choice, Template, choose_templates, synonymy_templates
from lexiscope.resources.corpora.unified_wsd import POS_OF_TAG
from lexiscope.resources.lexicons.lexicon import POS_NAMES, Pos

SYNONYM, DISTRACTOR, RANDOM = 2, 1, 0
"""The flags of the published files."""
_WITH_DISTRACTOR: tuple[Choice, ...] = ("controlled", "incorrect_vs_random")
_TAG_OF_POS = {pos: tag for tag, pos in POS_OF_TAG.items()}


@dataclass(frozen=True, slots=True)
class SynonymItem:
    """A target in one sentence with a synonym of its sense there, and one of another sense.

    ``number`` is its place in the collection, from 1. ``start`` and ``end`` are the target's half-open character span
    in ``sentence``; the tokens of a ``tokenised`` sentence are one space apart. ``sentence_id`` names the distinct
    sentence (items that share one are not independent). ``synset`` are the lemmas of the target's sense;
    ``random_nouns`` compete in the random conditions; ``plurals`` are those of its words that are plural, where the
    lemmas do not show it; ``article`` says whether *a* and *an* follow the sound of a word or its letter (clean mode).
    ``pos`` is the part of speech of all of them. An item whose target has one sense (``n_senses`` 1; 0: not known) is a
    control: it may have no distractor, and is then in no condition that needs one.
    ``published_distractor`` and ``published_targets`` (what is in the target's place in the context of a template,
    by its name) are typing errors of the published sentences, empty where these are right. ``extra`` holds the other
    columns of a user's file.

    Errors: :class:`InputError` E441 (an empty word, or two of the three the same); :class:`SpanError` E101 (the span
    does not cover the target).

    >>> SynonymItem.from_tokens("1", "An oak fell .".split(), 1, synonym="tree", distractor="wood").sentence
    'An oak fell .'
    """

    item_id: str
    target: str
    synonym: str
    distractor: str
    sentence: str
    start: int
    end: int
    number: int = 1
    tokenised: bool = False
    language: str = "en"
    sentence_id: str = ""
    sense_key: str = ""
    synset: tuple[str, ...] = ()
    random_nouns: tuple[str, ...] = ()
    plurals: tuple[str, ...] = ()
    article: ArticleRule = "sound"
    published_distractor: str = ""
    published_targets: tuple[tuple[str, str], ...] = ()
    extra: tuple[tuple[str, str], ...] = ()
    pos: Pos = "n"
    n_senses: int = 0

    def __post_init__(self) -> None:
        given_words = (self.target, self.synonym) if self.is_control else (self.target, self.synonym, self.distractor)
        words = [word.strip().casefold() for word in given_words]
        if not all(words) or len(set(words)) < len(words):
            given = ", ".join(map(repr, (self.target, self.synonym, self.distractor)))
            raise InputError(
                f"target, synonym and distractor must be three different words, not {given}",
                code="E441",
                place=Place(item_id=self.item_id),
                hint="change one of them, or leave the item out; only a control (n_senses 1) has no distractor",
            )
        check_span(self.sentence, self.start, self.end, self.target, place=Place(item_id=self.item_id))

    @classmethod
    def from_tokens(
        cls, item_id: str, tokens: Sequence[str], position: int, *, synonym: str, distractor: str
    ) -> SynonymItem:
        """Return an item whose sentence is given as tokens; *position* is the target's, from 0.

        Errors: :class:`InputError` E442 for a position that is no token's, and those of the class.
        """
        start, end = token_span(tokens, position, item_id=item_id)
        return cls(item_id, tokens[position], synonym, distractor, " ".join(tokens), start, end, tokenised=True)

    @property
    def tokens(self) -> tuple[str, ...]:
        """The tokens of a tokenised sentence; those of another one are its parts between spaces."""
        return tuple(self.sentence.split(" "))

    @property
    def position(self) -> int:
        """The target's place among the tokens, from 0."""
        return self.sentence.count(" ", 0, self.start)

    @property
    def tag(self) -> str:
        """The part of speech as usages have it (``VERB``)."""
        return _TAG_OF_POS[self.pos]

    @property
    def is_control(self) -> bool:
        """Whether the target has one sense and the item no distractor."""
        return self.n_senses == 1 and not self.distractor.strip()

    @property
    def forms_of(self) -> tuple[str, ...]:
        """The lemmas of which the item's words may be forms: of its synset, and of its sense key."""
        # a sense key begins with its lemma: comfort%1:09:00::
        lemma = self.sense_key.partition("%")[0]
        return self.synset + ((lemma,) if lemma else ())

    def words(self, choice: Choice, *, mode: Mode = "clean") -> tuple[str, ...]:
        """Return the words that compete in a condition, the right one first.

        Errors: :class:`InputError` E443 for a random condition of an item without random nouns.
        """
        distractor = self.published_distractor if mode == "published" else ""
        wrong = distractor or self.distractor
        if self.is_control and choice in _WITH_DISTRACTOR:
            raise InputError(
                f"the condition {choice!r} needs a distractor and this item is a control without",
                code="E443",
                place=Place(item_id=self.item_id),
                hint=f"ask for another condition than {' and '.join(_WITH_DISTRACTOR)}",
            )
        if choice == "controlled":
            return self.synonym, wrong
        if not self.random_nouns:
            raise InputError(
                f"the condition {choice!r} needs random nouns and this item has none",
                code="E443",
                place=Place(item_id=self.item_id),
                hint="draw them: lexiscope.build.minimal_pairs.word_counts, or give a column random",
            )
        return (wrong if choice == "incorrect_vs_random" else self.synonym, *self.random_nouns)


@dataclass(frozen=True, slots=True)
class SuiteLine:
    """One line of a suite as the published files have it: item, flag (2 synonym, 1 distractor, 0 random), word, text.

    >>> SuiteLine(1, 2, "dirt", "Soil means dirt.").text_line()
    '1\\t2\\tdirt\\tSoil means dirt.\\n'
    """

    item: int
    flag: int
    word: str
    text: str

    def text_line(self) -> str:
        """Return the line as it is in a file."""
        return f"{self.item}\t{self.flag}\t{self.word}\t{self.text}\n"


def token_span(tokens: Sequence[str], position: int, *, item_id: str | None = None) -> tuple[int, int]:
    """Return the half-open character span of a token where the tokens are one space apart.

    >>> token_span(["An", "oak", "fell"], 1)
    (3, 6)

    Errors: :class:`InputError` E442.
    """
    if not 0 <= position < len(tokens):
        raise InputError(
            f"there is no token {position} among {len(tokens)}",
            code="E442",
            place=Place(item_id=item_id),
            hint="tokens count from 0",
        )
    start = sum(len(token) + 1 for token in tokens[:position])
    return start, start + len(tokens[position])


def realise_text(item: SynonymItem, template: Template, word: str, *, mode: Mode = "clean") -> Placed:
    """Return the text of an item with one word, and where the word is in it.

    >>> oak = SynonymItem.from_tokens("1", "An oak fell .".split(), 1, synonym="tree", distractor="wood")
    >>> substitution, relation = (each for each in synonymy_templates() if each.name in ("T12", "T14"))
    >>> realise_text(oak, relation, "tree").text, realise_text(oak, relation, "tree", mode="published").text
    ('An oak fell. Oak means tree.', 'An oak fell. Oak means tree.')
    """
    if template.substitutes:
        inserted = place_word(
            item.sentence,
            (item.start, item.end),
            word,
            tokenised=item.tokenised,
            language=item.language,
            article=item.article,
            mode=mode,
        )
    else:
        shown = with_capital(word, mode=mode) if "{Word}" in template.pattern else word
        inserted = Placed(shown, 0, len(shown))
    # what the pattern does not ask for is not made: a context costs more than all the rest
    plural = (mode == "clean" and word in item.plurals) or is_plural(word, item.forms_of, mode=mode)
    slots = {
        "context": _context(item, template, word, mode) if "{context}" in template.pattern else "",
        "target": item.target,
        "Target": with_capital(item.target, mode=mode),
        "determiner": template.plural if plural else template.singular,
    }
    return template.fill(slots, inserted)


def fitting_templates(
    items: Sequence[SynonymItem], templates: Sequence[Template]
) -> tuple[tuple[Template, ...], dict[str, str]]:
    """Return the templates that are for the parts of speech of all items, and why the suites of the others are not.

    A suite that some of the items cannot have would compare accuracies of different items.

    >>> duck = SynonymItem("1", "duck", "dip", "avoid", "We duck now .", 3, 7, tokenised=True, pos="v")
    >>> fitting_templates([duck], synonymy_templates())[1]
    {'The suite reference': 'Its texts are for a noun, and there is a verb among the items.'}
    """
    parts = dict.fromkeys(item.pos for item in items)
    unfit = {template: [pos for pos in parts if not template.fits(pos)] for template in templates}
    reasons = {
        f"The suite {template.suite}": f"Its texts are for a {' or '.join(template.pos)}, and there is "
        f"{'an' if POS_NAMES[pos[0]][0] == 'a' else 'a'} {POS_NAMES[pos[0]]} among the items."
        for template, pos in unfit.items()
        if pos
    }
    return tuple(template for template in templates if not unfit[template]), reasons


def suite_lines(items: Sequence[SynonymItem], template: Template, *, mode: Mode = "clean") -> tuple[SuiteLine, ...]:
    """Return the lines of one suite: of every item the synonym, the distractor and the random nouns, in this order.

    Items of a part of speech that the template is not for have none.
    Errors: :class:`InputError` E443 for an item without random nouns.
    """
    return tuple(line for item in items if template.fits(item.pos) for line in _lines(item, template, mode))


def choice_sets(
    items: Sequence[SynonymItem],
    templates: Sequence[Template] | None = None,
    *,
    suites: Collection[str] | None = None,
    conditions: Collection[str] | None = None,
    mode: Mode = "clean",
    dataset: str = "synonymy",
) -> tuple[Item, ...]:
    """Return the choice sets of a collection, the items of the task ``minimal_pair``: by item, template, condition.

    *templates* are those of the synonymy study unless given; *suites* keeps those of these suites (also a template's
    name or key), *conditions* these conditions. An item of the result has the words as ``options``, the right one
    first, and one usage per option: the whole text with the word's span. Its id is
    ``<dataset>/<item>/<suite>[/<expression>]/<condition>``.
    Errors: :class:`SpecError` for an unknown suite, condition or mode, or where nothing is left; :class:`InputError`
    E454 for an item in another language than a template; those of :meth:`SynonymItem.words`.
    """
    chosen = choose_templates(synonymy_templates() if templates is None else templates, suites)
    for what, given, known in (("condition", conditions or (), CHOICES), ("mode", (mode,), MODES)):
        for name in given:
            if name not in known:
                raise SpecError(f"unknown {what}: {name!r}", hint=f"use {', '.join(known)}")
    plan = [
        (template, choice)
        for template in chosen
        for choice in template.conditions
        if conditions is None or choice in conditions
    ]
    if not plan:
        raise SpecError("no template has these conditions", hint=f"suites: {suites}, conditions: {conditions}")
    made = []
    for item in items:
        _check_language(item, chosen)
        # the synonym and the random nouns are in several conditions: each text is made once
        texts = {template: _texts_of(item, template, mode) for template, _ in plan}
        made += [
            _choice_set(item, template, choice, texts[template], dataset)
            for template, choice in plan
            if template.fits(item.pos) and not (item.is_control and choice in _WITH_DISTRACTOR)
        ]
    return tuple(made)


def _check_language(item: SynonymItem, templates: Sequence[Template]) -> None:
    own = item.language.partition("-")[0].lower()
    for template in templates:
        # a template that only puts the word in its place has no words of any language
        if not template.substitutes and template.language.partition("-")[0].lower() != own:
            raise InputError(
                f"the template {template.name!r} is in {template.language!r}, the item in {item.language!r}",
                code="E454",
                place=Place(item_id=item.item_id),
                hint="give templates in the language of the items, or ask for the suite substitution alone",
            )


class _TemplateTexts:
    """The texts of one item and template by word, each made when it is first asked for."""

    def __init__(self, item: SynonymItem, template: Template, mode: Mode) -> None:
        self.item, self.template, self.mode = item, template, mode
        self._usages: dict[str, Usage] = {}

    def usage(self, word: str) -> Usage:
        if word not in self._usages:
            placed = realise_text(self.item, self.template, word, mode=self.mode)
            self._usages[word] = Usage(
                placed.text, placed.start, placed.end, lemma=word, pos=self.item.tag, language=self.item.language
            )
        return self._usages[word]


@lru_cache(maxsize=4096)
def _texts_of(item: SynonymItem, template: Template, mode: Mode) -> _TemplateTexts:
    """The texts of an item and template. A study makes the choice sets of its dataset twice: loading and asking."""
    return _TemplateTexts(item, template, mode)


def _choice_set(item: SynonymItem, template: Template, choice: Choice, texts: _TemplateTexts, dataset: str) -> Item:
    words = item.words(choice, mode=texts.mode)
    about: dict[str, Condition] = {
        "suite": template.suite,
        "expression": template.expression,
        "condition": choice,
        "mode": texts.mode,
        "item": item.number,
        "target": item.target,
        "synonym": item.synonym,
        "distractor": item.published_distractor if texts.mode == "published" else "",
        "sentence": item.sentence_id or item.item_id,
        "part_of_speech": POS_NAMES[item.pos],
        "senses": "one" if item.is_control else "several",
    }
    about["distractor"] = about["distractor"] or item.distractor
    return Item(
        item_id=f"{dataset}/{item.item_id}/{template.key}/{choice}",
        dataset=dataset,
        usages=tuple(texts.usage(word) for word in words),
        options=words,
        gold=words[0],
        conditions=about,
    )


def _lines(item: SynonymItem, template: Template, mode: Mode) -> Iterator[SuiteLine]:
    # the order of the released files
    flagged = [(SYNONYM, item.synonym)]
    flagged += [(DISTRACTOR, item.words("controlled", mode=mode)[1])] if not item.is_control else []
    flagged += [(RANDOM, word) for word in item.words("random", mode=mode)[1:]]
    for flag, word in flagged:
        yield SuiteLine(item.number, flag, word, realise_text(item, template, word, mode=mode).text)


def _context(item: SynonymItem, template: Template, word: str, mode: Mode) -> str:
    """The sentence of an item as it is before a prompt. Published: its article follows the inserted word."""
    # in clean mode nothing here may depend on the word, or the texts of a choice set would differ in two places
    if mode == "clean":
        return join_punctuation(item.sentence, quotes="straight") if item.tokenised else item.sentence
    before, after = published_article(item.sentence[: item.start], word), item.sentence[item.end :]
    written = before + dict(item.published_targets).get(template.name, item.sentence[item.start : item.end]) + after
    return published_join(written) if item.tokenised else written


# -- relations asked the other way round ------------------------------------------------------------------------------
# *Dirt means soil* instead of *soil means dirt*. Synonymy holds both ways, so that scores should too.
#
# The words of a choice set stay its options, in their order; each now is in front, the target behind. Only where
# the word stands differs, so a subject that knows the relation decides the same way. What a text turned round looks
# like is said by its template (``turned``); a relation that does not hold both ways (*is a kind of*) has none.


def reversed_sets(
    items: Sequence[SynonymItem],
    templates: Sequence[Template] | None = None,
    *,
    mode: Mode = "clean",
    dataset: str = "synonymy",
) -> tuple[Item, ...]:
    """Return the controlled choice sets of a collection turned round, of the templates that can be and are controlled.

    *templates* are those of the synonymy study unless given. Ids and suites end in ``_turned``.
    Errors: those of :func:`~lexiscope.items.choice_sets.minimal_pairs.choice_sets`.

    >>> oak = SynonymItem.from_tokens("1", "An oak fell .".split(), 1, synonym="tree", distractor="wood")
    >>> item = reversed_sets([oak])[1]
    >>> item.item_id, [usage.text for usage in item.usages]
    ('synonymy/1/relation_turned/means/controlled', ['An oak fell. Tree means oak.', 'An oak fell. Wood means oak.'])
    """
    given = synonymy_templates() if templates is None else templates
    turned = [template.reversed_template for template in given if "controlled" in template.conditions]
    able = [template for template in turned if template is not None]
    return choice_sets(items, able, mode=mode, dataset=dataset) if able else ()
