"""English words in the form of another word: a guess in its basic form takes the features of the word it stands for.

A form is certain where the rules of spelling leave no choice and WordNet's exception lists know no other form; of the
irregular ones only everyday words whose past and participle are one. All else is a proposal for a person, with the
reason: the lists name *brethren* and *wrought* as they name *men* and *bought*, give *wrote* and *written* without
saying which is which, and know nothing of words that do not change (*put*, *sheep*).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from lexiscope.items.choice_sets.surface import PLURALS_ONLY
from lexiscope.resources.lexicons.lexicon import POS, POS_NAMES, Pos, normalised_lemma
from lexiscope.resources.lexicons.wordnet import WordNet

Feature = Literal["base", "plural", "third person", "ing", "past", "participle", "comparative", "superlative"]
_FEATURES: Mapping[Pos, tuple[Feature, ...]] = {
    "n": ("base", "plural"),
    "v": ("base", "third person", "ing", "past", "participle"),
    "a": ("base", "comparative", "superlative"),
    "r": ("base",),
}
_PARTS: Mapping[str, Pos] = {"NOUN": "n", "VERB": "v", "ADJ": "a", "ADV": "r", "n": "n", "v": "v", "a": "a", "r": "r"}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# irregular words whose one listed form is the one in use, for verbs both past and participle
_IRREGULAR_NOUNS = "man woman child foot tooth goose mouse louse wife life knife leaf half shelf thief loaf calf wolf"
_IRREGULAR_VERBS = (
    "say make find think tell feel leave hear keep hold stand mean bring meet pay sit lose fight understand send build "
    "spend win buy sell catch teach sleep lay bend lend sweep spin cling fling dig stick bind grind lead feed breed "
    "bleed shoot creep weep seek deal have strike swing slide withhold withstand uphold rebuild repay overhear mislead"
)
_IRREGULAR: Mapping[Pos, frozenset[str]] = {
    "n": _words(_IRREGULAR_NOUNS),
    "v": _words(_IRREGULAR_VERBS),
}
_SAME_PAST = _words(
    "bet bid broadcast burst bust cast cost cut fit forecast hit hurt knit let offset put quit read reset rid set shed "
    "shut slit split spread sweat thrust typeset undercut upset wed wet"
)
_SAME_PARTICIPLE = _words("become come overcome overrun outrun rerun run")
_SAME_PLURAL = _words(
    "aircraft bison crossroads deer dice fish hovercraft means moose offspring salmon series sheep shrimp spacecraft "
    "species swine trout"
)
_NO_PLURAL = _words(
    "advice baggage butter cash clothing dust electricity equipment evidence furniture garbage gold grass hardware "
    "heat homework information jewelry knowledge luck luggage machinery milk money mud music news oxygen progress "
    "research rice rubbish safety sand scenery software steam traffic trash violence weather wheat"
)
_HARD_CH = _words("eunuch epoch loch matriarch monarch oligarch patriarch stomach tech")
_GRADED = _words(
    "bold brave bright broad brown calm cheap clean clear close cold cool cruel damp dark deep dense dull faint fair "
    "fast fine firm fresh full grand great green hard harsh high kind large light long loose loud low mild narrow near "
    "neat new nice old pale plain poor proud pure quick rare rich ripe rough rude safe sharp short simple slow small "
    "smart smooth soft steep strange strict strong sweet tall tight tough vague warm weak white wide wild wise young"
)
_VERBS_IN_O = _words("do forgo go outdo redo undergo undo")
_PREFIX = re.compile("^(?:re|un|out|over|mis|under|fore|inter|pre|proof|in|sub|type|broad)")
_SHORT = re.compile(r"[^aeiou]*[aeiou][^aeiouwxy]")


@dataclass(frozen=True, slots=True)
class Inflected:
    """A word in some form. ``doubt`` is the reason why a person must check it; empty if it is certain."""

    text: str
    doubt: str = ""


class EnglishForms:
    """Forms of English words, from the rules of spelling and a lexicon's exception lists.

    *exceptions* holds inflected forms with their bases, by part of speech; *is_lemma* says which words there are.
    """

    def __init__(
        self, exceptions: Mapping[Pos, Mapping[str, tuple[str, ...]]], is_lemma: Callable[[str, Pos], bool]
    ) -> None:
        self._is_lemma = is_lemma
        self._listed: dict[Pos, dict[str, list[str]]] = {pos: {} for pos in POS}
        for pos, forms in exceptions.items():
            for form, bases in forms.items():
                for base in bases:
                    self._listed[pos].setdefault(base, []).append(form)

    @classmethod
    def of(cls, wordnet: WordNet) -> EnglishForms:
        """Return the forms by the exception lists and the lemmas of a WordNet."""
        return cls({pos: wordnet.exceptions(pos) for pos in POS}, lambda word, pos: bool(wordnet.synsets(word, pos)))

    def inflect_like(self, word: str, form: str, lemma: str | None, pos: str | None = None) -> Inflected:
        """Return *word* with the features that *form* has as a form of *lemma*: *benches* for *bench*, like *banks*.

        Without a part of speech all that fit are looked at; the form is certain where they agree.
        """
        base = normalised_lemma(word)
        if base != word or not word.isalpha():
            return Inflected(word, "not one word in lower case")
        if lemma is None:
            return Inflected(word, "the basic form of the original word is not known")
        features = self._features(form.casefold(), normalised_lemma(lemma), pos)
        if not features:
            return Inflected(word, f"which form of {lemma!r} {form!r} is, is not known")
        fitting = [reading for reading in features if self._is_lemma(word, reading[0])]
        if not fitting:
            named = " or ".join(dict.fromkeys(POS_NAMES[part] for part, _ in features))
            return Inflected(word, f"{word!r} is not known as {named}")
        forms = [self.form_of(word, *reading) for reading in fitting]
        texts = dict.fromkeys(form.text for form in forms)
        doubts = [form.doubt for form in forms if form.doubt]
        if len(texts) > 1:
            doubts.append("it may be " + " or ".join(feature for _, feature in fitting))
        return Inflected(forms[0].text, doubts[0] if doubts else "")

    def form_of(self, word: str, pos: Pos, feature: Feature) -> Inflected:
        """Return a form of a lemma in lower case, with the doubt about it."""
        if feature == "base":
            return Inflected(word)
        listed = self._of_feature(word, pos, feature)
        if pos == "n":
            return self._plural(word, listed)
        if pos == "a":
            return self._comparison(word, feature, listed)
        if feature in ("past", "participle"):
            return self._past(word, listed)
        if len(listed) == 1:
            return Inflected(listed[0])
        if listed:
            return Inflected(listed[0], f"there are {_alternatives(listed)}")
        if feature != "third person":
            return _ing(word)
        odd = (word.endswith("o") and word not in _VERBS_IN_O) or word.endswith("z")
        return Inflected(_with_s(word), "the spelling of this form follows no rule" if odd else "")

    def _features(self, form: str, lemma: str, pos: str | None) -> list[tuple[Pos, Feature]]:
        """The parts of speech and features under which *form* is a form of *lemma*."""
        known = _PARTS.get(pos or "")
        parts = (known,) if known else tuple(part for part in POS if self._is_lemma(lemma, part))
        return [
            (part, feature)
            for part in parts
            for feature in _FEATURES[part]
            if form in self._possible(lemma, part, feature)
        ]

    def _possible(self, lemma: str, pos: Pos, feature: Feature) -> set[str]:
        if feature == "base":
            return {lemma}
        same = {"past": _SAME_PAST, "participle": _SAME_PAST | _SAME_PARTICIPLE, "plural": _SAME_PLURAL | PLURALS_ONLY}
        forms = {self.form_of(lemma, pos, feature).text, *self._of_feature(lemma, pos, feature)}
        return forms | ({lemma} if lemma in same.get(feature, ()) else set())

    def _of_feature(self, word: str, pos: Pos, feature: Feature) -> list[str]:
        listed = [form for form in self._listed[pos].get(word, ()) if form != word and form.isalpha()]
        endings = {"ing": ("ing",), "third person": ("s",), "superlative": ("st",)}
        if feature in endings:
            return [form for form in listed if form.endswith(endings[feature])]
        others = ("st",) if pos == "a" else ("ing", "s") if pos == "v" else ()
        return [form for form in listed if not form.endswith(others)] if others else listed

    def _plural(self, word: str, listed: list[str]) -> Inflected:
        if word in _SAME_PLURAL | PLURALS_ONLY:
            return Inflected(word, "the plural may have the same form")
        if len(listed) == 1 and (word in _IRREGULAR["n"] or listed[0] == f"{word.removesuffix('is')}es" != f"{word}es"):
            return Inflected(listed[0])
        if listed:
            return Inflected(listed[0], f"there may be {_alternatives([*listed, _with_s(word)])}")
        if word.endswith("man"):
            return Inflected(f"{word[:-2]}en", f"there may be {_alternatives([word[:-2] + 'en', word + 's'])}")
        odd = word.endswith((*_IRREGULAR["n"], *_SAME_PLURAL, "o", "f", "fe", "z")) or re.search("[^s]s$", word)
        doubt = "this plural may be irregular" if odd or word in _HARD_CH else ""
        return Inflected(
            _with_s(word), "it may have no plural" if word in _NO_PLURAL or word.endswith("ness") else doubt
        )

    def _past(self, word: str, listed: list[str]) -> Inflected:
        if word in _SAME_PAST:
            return Inflected(word, "the past may have the same form")
        regular = _with_ed(word)
        if len(listed) == 1 and (
            word in _IRREGULAR["v"] or listed[0] in (f"{word}{word[-1]}ed", f"{word}ked", regular.text)
        ):
            return Inflected(listed[0])
        if listed:
            return Inflected(listed[0], f"past or participle: there may be {_alternatives([*listed, regular.text])}")
        prefixed = _PREFIX.sub("", word)
        if prefixed != word and (prefixed in _SAME_PAST or self._of_feature(prefixed, "v", "past")):
            return Inflected(regular.text, f"it may be irregular, as {prefixed!r} is")
        return regular

    def _comparison(self, word: str, feature: Feature, listed: list[str]) -> Inflected:
        if len(listed) == 1:
            return Inflected(listed[0])
        ending = "er" if feature == "comparative" else "est"
        text = f"{word.removesuffix('e')}{ending}"
        if word in _GRADED and not listed:
            return Inflected(text)
        return Inflected(listed[0] if listed else text, "it may be compared otherwise, or not at all")


def _ing(word: str) -> Inflected:
    if word.endswith("ie"):
        return Inflected(f"{word[:-2]}ying")
    if word.endswith("nge"):
        return Inflected(f"{word[:-1]}ing", "it may keep its e")
    if word.endswith("e") and len(word) > 2 and not word.endswith(("ee", "oe", "ye")):
        return Inflected(f"{word[:-1]}ing")
    return _doubtful_form(word, "ing")


def _with_ed(word: str) -> Inflected:
    if word.endswith("e"):
        return Inflected(f"{word}d")
    if re.search("[^aeiou]y$", word):
        return Inflected(f"{word[:-1]}ied")
    return _doubtful_form(word, "ed")


def _doubtful_form(word: str, ending: str) -> Inflected:
    """The exception lists say what doubles its last letter; a short word that is not in them is not trusted."""
    if _SHORT.fullmatch(word) or word.endswith("c"):
        return Inflected(f"{word}{'k' if word.endswith('c') else word[-1]}{ending}", "its last letter may stay single")
    return Inflected(f"{word}{ending}")


def _with_s(word: str) -> str:
    if re.search("[^aeiou]y$", word):
        return f"{word[:-1]}ies"
    if word.endswith(("s", "x", "z", "ch", "sh")) or word in _VERBS_IN_O:
        return f"{word}{'s' if word in _HARD_CH else 'es'}"
    return f"{word}s"


def _alternatives(forms: list[str]) -> str:
    return " or ".join(dict.fromkeys(forms))
