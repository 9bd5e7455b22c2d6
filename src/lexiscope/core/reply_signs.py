"""Signs in a reply that a number or an option in it is not the answer: a refusal, a denial, a second thought.

A line that gives an answer counts where the lines next to it do not make it a part of something else (``minus`` above a
number, ``would be wrong`` below it), and where nothing in the reply refuses or takes back. The lists are English,
Spanish and German, and short: a sign that they do not know is not seen, so a reply in other words may still mislead.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

REFUSALS: tuple[str, ...] = (
    r"\bI(?:['’]m| am) (?:(?:so|very|really) )?(?:sorry|unable|not able)\b",
    r"\bI (?:can ?not|can['’]t|won['’]t|will not|must decline)\b|\bI apologi[sz]e\b",
    r"\b(?:as|I(?:['’]m| am)) an? (?:AI|artificial intelligence|language model)\b",
    r"\b(?:lo siento|no puedo|no me es posible|como modelo de lenguaje)\b",
    r"\b(?:tut mir leid|ich kann (?:das |dies |hier )?nicht|als (?:KI|Sprachmodell))\b",
)
"""What marks a reply without an answer as a refusal, as patterns without regard to case."""

_RATE = (
    "rate|answer|give|provide|assign|judge|assess|evaluate|decide|determine|help|assist|comply|choose|score|respond|"
    "offer|continue|do (?:this|that|so)|say(?! for| that| it| if| whether| with)"
)
_VALORAR = "valorar|puntuar|responder|contestar|dar|evaluar|juzgar|decidir|decir(?! que| si)|ayudar|elegir|hacer"
REFUSALS_BESIDE: tuple[str, ...] = (
    REFUSALS[0],
    rf"\bI (?:can ?not|can['’]t|won['’]t|will not|could ?n['’]t) (?:\w+ ){{0,2}}(?:{_RATE})\b",
    r"\bI apologi[sz]e\b|\b(?:must|have to|I) (?:decline|refuse)\b|\bI give up\b",
    REFUSALS[2],
    rf"\b(?:lo siento|no me es posible|como modelo de lenguaje|no puedo (?:\w+ ){{0,2}}(?:{_VALORAR}))\b",
    REFUSALS[4],
)
"""What marks a reply as a refusal although it has an answer: *I can't see why* is none, *I can't rate this* is one."""

_WITHDRAWN = re.compile(
    r"\b(?:on second thoughts?|on reflection|scratch that|take (?:that|it) back|never ?mind|or rather|I was wrong"
    r"|correction\s*[:,]|wait\s*[,.!:;—–]|make (?:that|it) an? |actually,? (?:no|make|it)\b|disregard"
    r"|ignore (?:that|this)"
    r"|too (?:high|low|generous|harsh)|(?:(?:or|maybe|perhaps|possibly|even) )+(?:higher|lower|more|less)"
    r"|(?:not|n['’]t)(?: be)? (?:my|the|a|an) (?:\w+ )?(?:rating|answer|score|number)"
    r"|(?:that|this|it)(?:['’]s| is| was| would be) (?:wrong|incorrect|a mistake|an example|higher|lower)"
    r"|pens[aá]ndolo (?:bien|mejor)|mejor dicho|rectifico|corrijo|correcci[oó]n\s*[:,]|espera\s*[,.!:;]"
    r"|olv[ií]da(?:lo|te| eso| lo anterior)|demasiado (?:alt|baj)[oa]|(?:(?:o|quizás?|tal vez|incluso) )+(?:más|menos)"
    r"|no (?:es|era|sería) (?:mi|la|una) (?:\w+ )?(?:puntuación|valoración|calificación|respuesta|nota)"
    r"|besser gesagt|korrektur\s*[:,]|warte\s*[,.!:;]|(?:(?:oder|vielleicht|sogar) )+(?:mehr|weniger|höher|niedriger)"
    r"|zu (?:hoch|niedrig)|nicht (?:meine|die) (?:bewertung|wertung|antwort))",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    r"\b(?:not|can ?not|\w+n['’]t|no|none|nor|never|without|refuse|nunca|ningun[oa]|ni|nicht|kein\w*|nie|niemals)\b",
    re.IGNORECASE,
)
# labels of something else than the answer, or of an answer that is not given
_OTHER = re.compile(
    r"\b(?:confidence|certainty|sure|step|page|year|numbers? of|amount|count|example|others?|people|persons|some\w*|if"
    r"|might|could|may|maybe|perhaps|possibly|probably|about|around|almost|nearly|roughly|least|most|than|but|below"
    r"|above|under|over|minus|negative|min|max|minimum|maximum|wrong|incorrect|opposite|worst|previous"
    r"|confianza|seguridad|certeza|paso|página|año|números? de|cantidad|ejemplo|otr[oa]s?|gente|personas|si|quizás?"
    r"|tal vez|casi|menos|más|mínimo|máximo|excepto|pero|incorrect[oa]"
    r"|sicherheit|schritt|seite|jahr|anzahl|beispiel|andere\w*|leute|wenn|vielleicht|fast|mindestens|höchstens|aber)\b",
    re.IGNORECASE,
)
_THING = re.compile(
    r"\W*(?:the )?(?:story|item|question|option|sentence|meaning|sense|word|task|scale|there|historia|frase|pregunta"
    r"|palabra|sentido|significado|opción|tarea|escala|geschichte|satz|frage|wort|aufgabe)\s*(?::|=|is\b|es\b|ist\b)",
    re.IGNORECASE,
)
_RUNS_ON = re.compile(
    r"\b(?:minus|negative|has|have|had|there is|not|none|n['’]t|no|nor|never|but|than|or|and|between|least|most"
    r"|below|above|under|over|about"
    r"|around|almost|nearly|maybe|perhaps|probably|sorry|menos|más|más de|que|pero|o|u|y|entre|al|casi|quizás?|ni"
    r"|nunca|negativ|nicht|aber|als|oder|und|zwischen|unter|über|fast|vielleicht)\W*\Z",
    re.IGNORECASE,
)
_LEADS = re.compile(r"(?:[:=]|\b(?:is|es|ist))\W*\Z", re.IGNORECASE)
_ENDS = re.compile(r"[.!?。…)\]}\"”»]\W*\Z")
_REASON = re.compile(r"(?:because|since|as|for|porque|ya que|pues|dado que|weil|da|denn)\b", re.IGNORECASE)
_HEADED = re.compile(r"(?:[^\W\d_]++ ?){1,4}:")
_UNIT = tuple("%‰°?+€$£")
_HEADING_WORDS = 4
# "one" is a number only where it stands by itself, not in *this one* or *one of them*; nor is the "two" of *the two*
_ALONE = r"(?:(?:\A|[,.;:!?(\n—–-]|\b(?:or|to|it|be|say|o|a|oder))\s*){word}(?!\w)(?!\s+\w)"
_NO_DETERMINER = "".join(rf"(?<!\b{word} )" for word in ("the", "these", "those", "all", "los", "las", "estos", "die"))


def refuses(text: str, patterns: Sequence[str] = REFUSALS) -> bool:
    """Say whether a text declines to answer.

    >>> refuses("I'm sorry, no."), refuses("I can't see why not", REFUSALS_BESIDE)
    (True, False)
    """
    return any(re.search(pattern, text, re.IGNORECASE) for pattern in patterns)


def takes_back(text: str) -> bool:
    """Say whether a text takes back, corrects or doubts what else it says.

    >>> takes_back("On second thought, five"), takes_back("The bird fits.")
    (True, False)
    """
    return _WITHDRAWN.search(text) is not None


def labels_an_answer(label: str) -> bool:
    """Say whether the words before a number can be those before an answer: they neither deny nor name something else.

    >>> [labels_an_answer(label) for label in ("My rating is", "Rating is not", "Confidence:", "Number of senses:")]
    [True, False, False, False]
    """
    return not any((_NEGATED.search(label), _OTHER.search(label), _THING.match(label)))


def stands_alone(lines: Sequence[str], at: int) -> bool:
    """Say whether the line *at* is a sentence of its own: the lines above and below do not run on into it.

    >>> [stands_alone(lines, 1) for lines in (["minus", "4"], ["Rating is not", "4"], ["It fits.", "4"], ["", "4"])]
    [False, False, True, True]
    >>> [stands_alone(lines, 0) for lines in (["4", "would be wrong"], ["4", "", "it fits"], ["4", "It fits."])]
    [False, True, True]
    """
    headed = any(letter.isalpha() for letter in lines[at])
    return not _leads_astray(lines, at, headed=headed) and not _goes_on(lines, at)


def numbers_in_words(text: str, words: Sequence[str]) -> set[float]:
    """Return the numbers that a text names in words; *words* are those for 0, 1, 2 …

    >>> english = ("zero", "one", "two", "three")
    >>> numbers_in_words("Of two, this one.", english), numbers_in_words("Or rather, one.", english)
    ({2.0}, {1.0})
    """
    found = set()
    for number, word in enumerate(words):
        pattern = _ALONE.format(word=word) if number < 2 else rf"(?<!\w){_NO_DETERMINER}{word}\b"
        if re.search(pattern, text, re.IGNORECASE):
            found.add(float(number))
    return found


def _leads_astray(lines: Sequence[str], at: int, *, headed: bool) -> bool:
    """Say whether the text above a line runs on into it and makes it another thing than an answer."""
    above = next((number for number in range(at - 1, -1, -1) if lines[number].strip()), None)
    if above is None:
        return False
    said = re.split(r"(?<=[.!?])\s+", lines[above].strip().strip("*_`# "))[-1]
    if _RUNS_ON.search(said) and not _ENDS.search(said):
        return True
    if headed or (not _LEADS.search(said) and (_ENDS.search(said) or above < at - 1)):
        return False
    return not labels_an_answer(said) or (not _LEADS.search(said) and len(said.split()) > _HEADING_WORDS)


def _goes_on(lines: Sequence[str], at: int) -> bool:
    """Say whether the line below goes on with the sentence, other than with a reason."""
    below = lines[at + 1].strip().lstrip("*_`\"'“ ") if at + 1 < len(lines) else ""
    if not below or lines[at].rstrip("*_` ").endswith((".", "!")):
        return False
    if below.startswith(_UNIT):
        return True
    return below[0].islower() and _REASON.match(below) is None and _HEADED.match(below) is None
