"""Reading the reply of a chat model, strictly: a number on the scale, one option, or a text. Nothing is guessed.

A reply is read where one of its lines says the answer and nothing else, and nothing elsewhere in it contradicts. Such a
line is the answer alone (``4``), or behind a label of at most four words that ends in ``:``, ``=`` or *is*
(``Rating: 4``, ``My rating is 4``). Around it there may be marks of emphasis, quotation marks, brackets and tags
(``**4**``, ``<rating>4</rating>``), behind it a full stop (``4.``), the end of the scale (``4/5``, ``4 out of 5``) or
an explanation after a dash, in brackets or with *because* (``4 – it fits``). A label that denies or names something
else (``Not: 4``, ``Confidence: 4``) is none. A line of what a model thinks (``<think>``) is not an answer, though a
number there may contradict one. The scale itself (``Rating (1-5): 4``) is passed over. A number may be a word, for the
points that :data:`NUMBER_WORDS` lists, where the line is the word.

What contradicts is another number, in digits or words; the words at another point of the scale; a refusal; a second
thought; and a sentence that runs on into the line or out of it (``minus`` above it, ``would be wrong`` below):
the signs are below. All else is unreadable, and counted by its kind.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from lexiscope.core.foreign import is_text
from lexiscope.core.prompt import ChatQuestion, ChatReply, PromptOption
from lexiscope.core.scale import Scale

ReplyKind = Literal[
    "ok", "refusal", "several", "off_scale", "empty", "prose", "in_prose", "truncated", "garbled", "fault"
]
KINDS: tuple[ReplyKind, ...] = get_args(ReplyKind)
"""The kinds of replies, in the order of tables.

``ok``: read. ``refusal``: the model or its endpoint declined. ``several``: more than one number or option.
``off_scale``: a number that is not on the scale, or an option that was not offered. ``empty``: no text. ``prose``: text
that names no answer. ``in_prose``: one number or option, but not stated as the answer: within a sentence, as a bound
(``>4``), denied or taken back. ``truncated``: cut before the answer was certain. ``garbled``: text that is not
Unicode (it holds a lone surrogate) or longer than :data:`LONGEST` characters. ``fault``: what the server sent was no
reply.
"""

LONGEST = 200_000
"""The most characters of a reply that is read; a longer one is kept and counted as ``garbled``."""

MEASURE_REPLY = "reply"
"""The measure of the row with the kind of a reply in the column option; its value is 1 if the reply was read."""

NUMBER_WORDS: dict[str, tuple[str, ...]] = {
    "en": ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    "es": ("cero", "uno", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve", "diez"),
    "de": ("null", "eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn"),
}
"""Words for 0 to 10 that are read as numbers, by the language of the question."""

_MARKS = "*_`#\"'“”„«»‘’()[]{}"
_CLOSING = ".!。"
_TOKEN = r"(?<![\w.,])[-−+]?\d+(?:[.,]\d+)*(?!\w)"
_NUMBER = re.compile(_TOKEN)
_LABEL = re.compile(r"(?:[^\W\d_]++[ -]?){1,4}\s*(?::|=|\bis\b|\bes\b|\bist\b)", re.IGNORECASE)
_BULLET = re.compile(r"\s*[-–—•]\s+")
# what a model thinks before it answers, closed or not; where a template opened it, the reply holds the end only
_THOUGHTS = re.compile(r"\A(?:(?!<think).)*</think\w*>|<think\w*>.*?(?:</think\w*>|\Z)", re.IGNORECASE | re.DOTALL)
_THOUSANDS = 3
_RUN = re.compile(r"\s{20,}")
# a pair of marks around the whole: a single one (``>4``, ``$4``) changes what the number says
_PAIRS = re.compile(r"\A(?:<([^<>]*)>|\$+([^$]*)\$+|\\boxed\{([^{}]*)\})\Z")
_OPENING_TAG, _CLOSING_TAG = re.compile(r"<([^\W\d_]\w*)>"), re.compile(r"</[^\W\d_]\w*>")
_FENCE = re.compile(r"\A\s*```\w*\s*\n(.*?)\n?```\s*\Z", re.DOTALL)
_BECAUSE = "because|since|as|porque|ya que|pues|dado que|weil|da"
_EXPLAINED = re.compile(rf"(.{{1,80}}?)(?:\s+[-–—]\s+|—|\s+(?=\()|,?\s+(?=(?:{_BECAUSE})\b))(.*)", re.IGNORECASE)
_LABELLED = re.compile(r"(\W{0,9}[^\W\d_]\D{0,60}[\d/]+)\.\s+(.*)")
# an explanation that begins like this goes on with the number, or doubts it
_DOUBTED = re.compile(
    r"\W*(?:or|to|not|no|nor|maybe|perhaps|possibly|probably|if|unless|but|at|plus|minus|wait|wrong|too|would|is|was|o"
    r"|u|a|quizás?|tal vez|si|pero|más|menos|demasiado|oder|bis|nicht|nein|vielleicht|wenn|aber|zu|wäre|ist)\b|\W*\?",
    re.IGNORECASE,
)


def split_thinking(text: str) -> tuple[str, str]:
    """Return what a model thinks in a reply, and what it answers: what stands outside ``<think>`` and ``</think>``.

    Thinking that the template opened, or that a limit cut off, is thinking, too.

    >>> split_thinking("<think>2 or 4?</think> 4"), split_thinking("2 or 4?</think>4"), split_thinking("<think>2 or")
    (('2 or 4?', '4'), ('2 or 4?', '4'), ('2 or', ''))
    >>> split_thinking("4")
    ('', '4')
    """
    thoughts = [re.sub(r"</?think\w*>", "", match.group(), flags=re.IGNORECASE) for match in _THOUGHTS.finditer(text)]
    return "\n".join(thoughts).strip(), _THOUGHTS.sub("", text).strip() if thoughts else text


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """What a reply says: its kind, and the value, the option or the text where it is ``ok``."""

    kind: ReplyKind
    value: float | None = None
    option: PromptOption | None = None
    text: str | None = None


def read_reply(reply: ChatReply, question: ChatQuestion) -> ParsedReply:
    """Read a reply as the question wants it answered.

    >>> from lexiscope.core.prompt import Message
    >>> question = ChatQuestion((Message("user", "From 1 to 5?"),), scale=Scale(1, 5))
    >>> read_reply(ChatReply("Rating: 4.", "stop"), question)
    ParsedReply(kind='ok', value=4.0, option=None, text=None)
    """
    if reply.fault:
        return ParsedReply("fault")
    if reply.refused:
        return ParsedReply("refusal")
    if is_garbled(reply.text):
        return ParsedReply("garbled")
    cut = reply.cut
    if question.scale is not None:
        return read_rating(reply.text, question.scale, language=question.language, cut=cut)
    if question.options:
        return read_choice(reply.text, question.options, cut=cut)
    return read_text(reply.text, cut=cut)


def is_garbled(text: str) -> bool:
    """Whether a reply is not a text that could be read as an answer.

    >>> is_garbled("4"), is_garbled("4" + chr(0xD800))
    (False, True)
    """
    return len(text) > LONGEST or not is_text(text)


def read_rating(text: str, scale: Scale, *, language: str = "en", cut: bool = False) -> ParsedReply:
    """Read a number on a scale. With *cut*, the reply was cut: a number on its last line may be half a number.

    >>> scale = Scale(1, 5)
    >>> [read_rating(text, scale).value for text in ("4", "**4**", "4.", "Rating: 4", "4/5", "four", "4,0")]
    [4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0]
    >>> [read_rating(text, scale).kind for text in ("3 or 4", "6", "", "hard to say", "I give it a 4 of course")]
    ['several', 'off_scale', 'empty', 'prose', 'in_prose']
    """
    if not text.strip():
        return ParsedReply("truncated" if cut else "empty")
    text = _without_runs(text)
    plain = _without_scale(_tags_as_labels(text), scale)
    words = NUMBER_WORDS.get(language.partition("-")[0], ())
    # what separate lines give, alone or with an explanation behind them
    lines = _whole_lines(plain, cut=cut)
    alone = (line for number, line in enumerate(lines) if stands_alone(lines, number))
    said = {answer for line in alone for answer in _number_on(line, scale, words)}
    numbers = {_value(number) for number in _NUMBER.findall(_without_end(plain, scale))} | said
    if said:
        numbers |= numbers_in_words(_THOUGHTS.sub("\n", plain), words)
    if len(numbers) > 1:
        return ParsedReply(_refusal(text) or "several")
    if not said:
        return ParsedReply("truncated" if cut else _refusal(text) or ("in_prose" if numbers else "prose"))
    against = _contradiction(text)
    if against is not None:
        return ParsedReply(against)
    (value,) = said
    return ParsedReply("ok", value=value) if scale.contains(value) else ParsedReply("off_scale")


def read_choice(text: str, options: Sequence[PromptOption], *, cut: bool = False) -> ParsedReply:
    """Read which one of some options a reply names.

    >>> options = (PromptOption("t", ("1", "same")), PromptOption("f", ("2", "different")))
    >>> reply = read_choice("Answer: **Same**.", options)
    >>> reply.kind, reply.option.value
    ('ok', 't')
    >>> [read_choice(text, options).kind for text in ("same or different", "3", "It seems the same to me")]
    ['several', 'off_scale', 'in_prose']
    """
    if not text.strip():
        return ParsedReply("truncated" if cut else "empty")
    text = _without_runs(text)
    known = {_fold_case(name): option for option in options for name in option.names}
    # whole words; a longer name hides a shorter
    names = sorted(known, key=len, reverse=True)
    pattern = "|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in names)
    named = {known[name].value for name in re.findall(pattern, _fold_case(text))}
    lines = _whole_lines(text, cut=cut)
    said = {_option_name_on(line, known) for number, line in enumerate(lines) if stands_alone(lines, number)}
    answers = {known[name].value: known[name] for name in said if name in known}
    if len(named) > 1:
        return ParsedReply(_refusal(text) or "several")
    if answers:
        (option,) = answers.values()
        against = _contradiction(text)
        return ParsedReply("ok", option=option) if against is None else ParsedReply(against)
    if cut:
        return ParsedReply("truncated")
    if not named and _NUMBER.fullmatch(_bare_answer(text)):
        return ParsedReply("off_scale")
    return ParsedReply(_refusal(text) or ("in_prose" if named else "prose"))


def read_text(text: str, *, cut: bool = False) -> ParsedReply:
    """Read a written answer: the reply without white space around it.

    >>> read_text(" She saw the crane. ").text
    'She saw the crane.'
    """
    written = text.strip()
    if cut or not written:
        return ParsedReply("truncated" if cut else "empty")
    refusal = _refusal(written)
    return ParsedReply(refusal) if refusal else ParsedReply("ok", text=written)


# -- numbers --------------------------------------------------------------------------------------------------


def _number_on(line: str, scale: Scale, words: Sequence[str]) -> set[float]:
    """Return the number that is all of a line, or the one that the line explains, and the point it names."""
    alone = _number_alone(line, scale, words)
    if alone is not None:
        return {alone}
    plain = re.sub(r"[*_`]", "", line)
    parts = _EXPLAINED.fullmatch(plain) or _LABELLED.fullmatch(plain)
    explained = _number_alone(parts[1], scale, words) if parts else None
    if parts is None or explained is None:
        return set()
    # the words at another point of the scale contradict the number
    named = {point for point, text in scale.anchors if _fold_case(_strip_marks(parts[2])) == _fold_case(text)}
    return named | {explained} if named or not _DOUBTED.match(parts[2]) else set()


def _number_alone(line: str, scale: Scale, words: Sequence[str]) -> float | None:
    said = _bare_answer(_without_end(line, scale))
    if _NUMBER.fullmatch(said):
        return _value(said)
    return float(words.index(said.casefold())) if said.casefold() in words else None


def _value(number: str) -> float:
    """Read a number with a decimal point or comma; three digits behind a mark are thousands, never a decimal part.

    >>> [_value(number) for number in ("4.0", "3,5", "1.000", "0.375", "−2")]
    [4.0, 3.5, 1000.0, 0.375, -2.0]
    """
    whole, *rest = re.split("[.,]", number.replace("−", "-"))
    thousands = all(len(part) == _THOUSANDS for part in rest) and whole.strip("+-") not in ("", "0")
    if len(rest) > 1 or (rest and thousands):
        return float(whole + "".join(rest)) if thousands else float("inf")
    return float(f"{whole}.{rest[0]}" if rest else whole)


def _without_scale(text: str, scale: Scale) -> str:
    """Leave out the scale where it is only named: ``(1-5)``, ``[1 to 5]``, *on a scale from 1 to 5*."""
    ends = rf"{scale.low:g}\s*(?:-|–|—|to|a|al|bis)\s*{scale.high:g}(?![\w.,]\d|\w)"
    without = re.sub(rf"[(\[]\s*{ends}\s*[)\]]", "", text)
    return re.sub(
        rf"\b(scale|escala|skala)\s+(?:(?:of|from|de|del|von)\s+)?{ends}", r"\1", without, flags=re.IGNORECASE
    )


def _without_end(text: str, scale: Scale) -> str:
    """Leave out the end of the scale behind a number: ``4/5``, ``4 out of 5``."""
    high = re.escape(f"{scale.high:g}")
    return re.sub(rf"({_TOKEN})[*_`]*\s*(?:/|out of|de|von)\s*[*_`]*{high}(?![\w.,]\d|\w)", r"\1", text)


# -- options --------------------------------------------------------------------------------------------------


def _option_name_on(line: str, known: dict[str, PromptOption]) -> str:
    """Return what a line says and nothing else: a name, or two names of the same option (``2: different``)."""
    said = _fold_case(_bare_answer(line))
    if said in known:
        return said
    first, _, rest = (part.strip() for part in re.sub(r"[:.)]\s", "\0", said, count=1).partition("\0"))
    both = first in known and rest in known and known[first] == known[rest]
    return first if both else said


def _fold_case(text: str) -> str:
    return " ".join(text.casefold().split())


# -- any reply ------------------------------------------------------------------------------------------------


def _without_runs(text: str) -> str:
    """Shorten long runs of white space, which have no content and take patterns a time that grows with their square."""
    return _RUN.sub(lambda run: ("", " ", "\n", "\n\n")[min(3, len(f"{run.group()}.".splitlines()))], text)


def _bare_answer(line: str) -> str:
    """Return a line without marks around it, its label and the full stop behind it."""
    bare = _BULLET.sub("", line, count=1) if _BULLET.match(line) else line
    bare = _strip_marks(bare)
    label = _LABEL.match(bare.translate({ord(mark): None for mark in _MARKS}))
    if label is not None and labels_an_answer(label.group()):
        bare = _strip_marks(bare.translate({ord(mark): None for mark in _MARKS})[label.end() :])
    return bare


def _strip_marks(text: str) -> str:
    inner = text.strip().strip(_MARKS + " ").rstrip(_CLOSING).strip(_MARKS + " ")
    pair = _PAIRS.fullmatch(text.strip()) or _PAIRS.fullmatch(inner)
    return _strip_marks("".join(filter(None, pair.groups()))) if pair else inner


def _tags_as_labels(text: str) -> str:
    """Write tags and the fields of a JSON object as labels: ``<rating>4</rating>``, ``{"rating": 4}``."""
    fence = _FENCE.match(text)
    try:
        fields = json.loads(fence[1] if fence else text, object_pairs_hook=tuple)
    except (ValueError, RecursionError):
        fields = ()
    if isinstance(fields, tuple) and fields and not any(isinstance(value, tuple | list) for _, value in fields):
        return "".join(f"{name}: {value}\n" for name, value in fields)
    kept = _THOUGHTS.split(text)
    thoughts = [thought.group() for thought in _THOUGHTS.finditer(text)]
    opened = [_CLOSING_TAG.sub("", _OPENING_TAG.sub(r"\1: ", part)) for part in kept]
    return opened[0] + "".join(thought + part for thought, part in zip(thoughts, opened[1:], strict=True))


def _whole_lines(text: str, *, cut: bool) -> list[str]:
    """Return the lines of a reply without its thoughts; the last of a broken one only where a closing mark ends it."""
    lines = _THOUGHTS.sub("\n", text).splitlines()
    broken = cut and not text.endswith(("\n", "*", "_", "`", '"', "”", "»", ")", "]", "}"))
    return lines[:-1] if broken else lines


def _refusal(text: str) -> ReplyKind | None:
    return "refusal" if refuses(text) else None


def _contradiction(text: str) -> ReplyKind | None:
    """Return what speaks against the answer that a reply has, thoughts aside."""
    said = _THOUGHTS.sub("\n", text)
    if refuses(said, REFUSALS_BESIDE):
        return "refusal"
    return "in_prose" if takes_back(said) else None


# -- signs that a number or an option in a reply is not the answer --------------------------------------------------
# Signs in a reply that a number or an option in it is not the answer: a refusal, a denial, a second thought.
#
# A line that gives an answer counts where the lines next to it do not make it a part of something else (``minus`` above
# a number, ``would be wrong`` below it), and where nothing in the reply refuses or takes back. The lists are English,
# Spanish and German, and short: a sign that they do not know is not seen, so a reply in other words may still mislead.


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
# "one" is a number only by itself, not in *this one* or *one of them*; nor is the "two" of *the two*
_ALONE = r"(?:(?:\A|[,.;:!?(\n—–-]|\b(?:or|to|it|be|say|o|a|oder))\s*){word}(?!\w)(?!\s+\w)"
_NO_DETERMINER = "".join(rf"(?<!\b{word} )" for word in ("the", "these", "those", "all", "los", "las", "estos", "die"))


def refuses(text: str, patterns: Sequence[str] = REFUSALS) -> bool:
    """Whether a text declines to answer.

    >>> refuses("I'm sorry, no."), refuses("I can't see why not", REFUSALS_BESIDE)
    (True, False)
    """
    return any(re.search(pattern, text, re.IGNORECASE) for pattern in patterns)


def takes_back(text: str) -> bool:
    """Whether a text takes back, corrects or doubts what else it says.

    >>> takes_back("On second thought, five"), takes_back("The bird fits.")
    (True, False)
    """
    return _WITHDRAWN.search(text) is not None


def labels_an_answer(label: str) -> bool:
    """Whether the words before a number can be those before an answer: they neither deny nor name something else.

    >>> [labels_an_answer(label) for label in ("My rating is", "Rating is not", "Confidence:", "Number of senses:")]
    [True, False, False, False]
    """
    return not any((_NEGATED.search(label), _OTHER.search(label), _THING.match(label)))


def stands_alone(lines: Sequence[str], at: int) -> bool:
    """Whether the line *at* is a separate sentence: the lines above and below do not run on into it.

    >>> [stands_alone(lines, 1) for lines in (["minus", "4"], ["Rating is not", "4"], ["It fits.", "4"], ["", "4"])]
    [False, False, True, True]
    >>> [stands_alone(lines, 0) for lines in (["4", "would be wrong"], ["4", "", "it fits"], ["4", "It fits."])]
    [False, True, True]
    """
    headed = any(letter.isalpha() for letter in lines[at])
    return not _leads_astray(lines, at, headed=headed) and not _goes_on(lines, at)


def numbers_in_words(text: str, words: Sequence[str]) -> set[float]:
    """Return the numbers that a text names as words; *words* are those for 0, 1, 2 …

    >>> english = ("zero", "one", "two", "three")
    >>> numbers_in_words("Of two, this one.", english), numbers_in_words("Or rather, one.", english)
    ({2.0}, {1.0})
    """
    numbers = set()
    for number, word in enumerate(words):
        pattern = _ALONE.format(word=word) if number < 2 else rf"(?<!\w){_NO_DETERMINER}{word}\b"
        if re.search(pattern, text, re.IGNORECASE):
            numbers.add(float(number))
    return numbers


def _leads_astray(lines: Sequence[str], at: int, *, headed: bool) -> bool:
    """Whether the text above a line runs on into it and makes it another thing than an answer."""
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
    """Whether the line below continues the sentence, other than with a reason."""
    below = lines[at + 1].strip().lstrip("*_`\"'“ ") if at + 1 < len(lines) else ""
    if not below or lines[at].rstrip("*_` ").endswith((".", "!")):
        return False
    if below.startswith(_UNIT):
        return True
    return below[0].islower() and _REASON.match(below) is None and _HEADED.match(below) is None
