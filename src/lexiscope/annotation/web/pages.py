"""Every page that participants see, as text: views and Markdown in, safe HTML out. No HTTP, no store, no decision.

Field names. Every form has ``csrf``. An answer form has ``client_key``, ``page_version``, ``shown_mark`` (when the page
was shown, signed), ``supersedes`` (where an answer is changed), and ``shown_at`` and ``rt_ms``, which scripts fill in
and which are empty without; what is answered ends in ``-<suffix>``: ``value``, ``option``, ``text``, ``guessed_word``,
``comment``, ``flag_<name>``. Consent sends ``consent`` (``yes``, ``no``), the questions about the participant
``<measure>-about``, the debrief ``comment-debrief``, the page for an id ``participant``; these have ``client_key`` too.
"""

from __future__ import annotations

import gettext
import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from types import CodeType

import nh3
from babel import Locale, UnknownLocaleError
from jinja2 import BytecodeCache, Environment, FunctionLoader, PackageLoader, StrictUndefined, Template
from jinja2.bccache import Bucket
from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from lexiscope.annotation.phrases import Phrase, msg
from lexiscope.annotation.study_file.page_texts import LOCALE, SOURCE_LANGUAGE, OwnTexts, catalogue
from lexiscope.annotation.web.views import AboutView, ChoiceView, ExampleView, Frame, TrialView
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.screen import Line, Screen, Shown, Words
from lexiscope.core.simulated import short_id

STATIC = Path(__file__).parent / "static"
"""The folder of the style sheet, the script and the icon."""

_SHORT_OPTION = 24
_DRAWN = 20_000


FAULTS: Mapping[str, str] = {
    "answer_missing": msg("Please give an answer."),
    "too_long": msg("This text is too long."),
    "missing": msg("Please answer this question."),
    "not_a_number": msg("Please write a number."),
    "not_in_limits": msg("Please write a number from %(low)s to %(high)s."),
    "not_whole_in_limits": msg("Please write a whole number from %(low)s to %(high)s."),
    "unknown": msg("Please choose one of the options."),
}
"""The messages about an answer that is not valid, for faults without a message of the task."""


class Pages:
    """The pages of the app in every language that has a catalogue; templates are compiled once.

    *own* are a study's own texts of the pages in its language, by the English ones.
    """

    def __init__(self, *, static: str = "/static/", own: Mapping[str, OwnTexts] | None = None) -> None:
        self._static, self._own = static, own or {}
        self._environments: dict[str, Environment] = {}
        self._drawn: dict[tuple[Path, int, Shown, str], tuple[Item, Markup]] = {}
        self._instructions: dict[int, tuple[object, Markup]] = {}

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages of the app's own texts."""
        return (SOURCE_LANGUAGE, *sorted(path.name for path in LOCALE.iterdir() if path.is_dir()))

    def translate(self, text: str, language: str, **values: object) -> str:
        """Return a text of the program in a language, ``%(name)s`` filled in.

        Errors: :class:`InputError` E633 for a language without a catalogue.
        """
        translation = self._texts(language).gettext(text)
        return translation % values if values else translation

    def phrase(self, phrase: Phrase, language: str) -> str:
        """Return a phrase in a language.

        Errors: :class:`InputError` E633 for a language without a catalogue.
        """
        return phrase.translated(self._texts(language))

    def fault(self, key: str, language: str, words: Words, **values: object) -> str:
        """Return the message about an answer that cannot be accepted: that of the task, otherwise that of the app.

        *values* are filled in.

        Errors: :class:`InputError` E633 for a language without a catalogue; ``KeyError`` for a key without words.
        """
        return words[key] if key in words else self.translate(FAULTS[key], language, **values)

    def render(self, template: str, language: str, **values: object) -> str:
        """Return a page of a template in ``templates/``; researchers' pages are rendered through this.

        Errors: :class:`InputError` E633 for a language without a catalogue.
        """
        return self._environment(language).get_template(template).render(values)

    def stimulus(self, screen: Screen, item: Item, shown: Shown, language: str) -> Markup:
        """Return what a page shows of an item, drawn by the task's own ``screen.html``.

        Errors: :class:`InputError` E616 for a language in which the task has no words.
        """
        key = (screen.folder, id(item), shown, language)
        cached = self._drawn.get(key)
        # the item is kept too: its id is unique only as long as it exists
        if cached is not None and cached[0] is item:
            return cached[1]
        context = {"words": screen.words(language), "shown": shown, "language": language}
        html = Markup(_screen_template(screen.folder).render({**screen.stimulus(item, shown), **context}))
        if len(self._drawn) >= _DRAWN:
            self._drawn.clear()
        self._drawn[key] = (item, html)
        return html

    def instructions(
        self, owner: object, language: str, make: Callable[[], tuple[str, Sequence[ExampleView]]]
    ) -> Markup:
        """Return the instructions of a study with their examples, to be read again; made once for each *owner*.

        *make* returns the text as HTML and the examples.
        """
        known = self._instructions.get(id(owner))
        # the owner is kept too: its id is unique only as long as it exists
        if known is not None and known[0] is owner:
            return known[1]
        html, examples = make()
        drawn = Markup(self.render("instructions_text.html", language, html=html, examples=examples))
        self._instructions[id(owner)] = (owner, drawn)
        return drawn

    def consent_page(self, frame: Frame, *, text_html: str, action: str) -> str:
        """Return the page that asks for consent."""
        return self._page("consent.html", frame, text=text_html, action=action)

    def about_you_page(self, frame: Frame, *, questions: Sequence[AboutView], action: str) -> str:
        """Return the page with the questions about the participant."""
        return self._page("about_you.html", frame, questions=questions, action=action)

    def instructions_page(self, frame: Frame, *, html: str, examples: Sequence[ExampleView], action: str) -> str:
        """Return the instructions with their worked examples."""
        return self._page("instructions.html", frame, html=html, examples=examples, action=action)

    def trial_page(self, frame: Frame, trial: TrialView) -> str:
        """Return one trial."""
        if trial.widget == "scale":
            # words at the two ends fit above a row of numbers; words in between need a line each
            layout = "list" if any(point.text for point in trial.points[1:-1]) else "row"
        else:
            layout = "grid" if len(trial.choices) > 3 and all(map(_is_short, trial.choices)) else "list"
        return self._page("trial.html", frame, trial=trial, layout=layout)

    def feedback_page(
        self,
        frame: Frame,
        *,
        stimulus: str,
        question: str,
        given: str,
        right: Sequence[str],
        is_right: bool | None,
        explanation: str,
        action: str,
    ) -> str:
        """Return what practice says about an answer: what was given, what would have been right, and why.

        ``is_right`` is ``None`` where no program can say so. ``action`` is the address of the next page, a link.
        """
        values = {"given": given, "right": right, "is_right": is_right, "explanation": explanation}
        return self._page("feedback.html", frame, stimulus=stimulus, question=question, action=action, **values)

    def debrief_page(self, frame: Frame, *, html: str, action: str, comment: bool) -> str:
        """Return the page after the last answer; ``comment`` says whether it has a field for remarks."""
        return self._page("debrief.html", frame, html=html, action=action, comment=comment)

    def end_page(self, frame: Frame, *, kind: str, html: str, code: str, return_url: str) -> str:
        """Return the page at an end.

        The kinds are ``finished``, ``surplus``, ``screened_out``, ``declined``, ``full`` and ``closed``. ``code`` and
        ``return_url`` may be empty.
        """
        return self._page("ended.html", frame, kind=kind, html=html, code=code, return_url=return_url)

    def error_page(self, frame: Frame, *, status: int, what: str, reference: str) -> str:
        """Return the page that says what went wrong; ``reference`` is what the log calls it, or empty."""
        return self._page("error.html", frame, status=status, what=what, reference=reference)

    def enter_id_page(self, frame: Frame, *, action: str, fault: str = "") -> str:
        """Return the page that asks for the participant's id, if the link has none."""
        return self._page("enter_id.html", frame, action=action, fault=fault)

    def static_url(self, name: str) -> str:
        """Return the address of a file in ``static/``; it changes with the content, so that it may be kept for ever."""
        return f"{self._static}{name}?v={_fingerprint(name)}"

    def _page(self, template: str, frame: Frame, **values: object) -> str:
        return self._environment(frame.language).get_template(template).render(values, frame=frame)

    def _texts(self, language: str) -> gettext.NullTranslations:
        return self._own.get(language) or catalogue(language)

    def _environment(self, language: str) -> Environment:
        # one environment per language: a text costs a look-up, and templates stay free of the language
        if language not in self._environments:
            self._environments[language] = self._make_environment(language)
        return self._environments[language]

    def _make_environment(self, language: str) -> Environment:
        environment = _base_environment(PackageLoader("lexiscope.annotation.web"))
        texts = self._texts(language)
        context = {"_": texts.gettext, "ngettext": texts.ngettext, "static_url": self.static_url}
        context["say"] = lambda phrase: phrase.translated(texts)
        environment.globals.update(context, language=language, direction=text_direction(language))
        # what is the same on every page of a language is drawn once
        for name in ("head", "banner"):
            environment.globals[name] = Markup(environment.get_template(f"{name}.html").render())
        return environment


def text_direction(language: str) -> str:
    """Return ``rtl`` for a language that is written from right to left, else ``ltr``.

    >>> text_direction("ar"), text_direction("es-MX")
    ('rtl', 'ltr')

    Errors: :class:`InputError` E633 for a text that is not a language tag.
    """
    try:
        return str(Locale.parse(language, sep="-").text_direction)
    except (ValueError, UnknownLocaleError):
        raise InputError(f"Unknown language code {language!r}.", code="E633", hint="Use en, es, ar, es-MX …") from None


def line_html(parts: Line) -> Markup:
    """Return a line of text as HTML, its emphasised pieces strong.

    >>> str(line_html((("1 < ", False), ("2", True))))
    '1 &lt; <strong>2</strong>'
    """
    pieces = (f"<strong>{escape(text)}</strong>" if strong else str(escape(text)) for text, strong in parts)
    return Markup("".join(pieces))


class _CompiledTemplates(BytecodeCache):
    """Keeps the code of every template, so that each is compiled once for all languages and apps of a process."""

    def __init__(self) -> None:
        self._code: dict[tuple[str, str], CodeType] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Give a template's code, where its source is the one that was compiled."""
        bucket.code = self._code.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep the code of a template."""
        assert bucket.code is not None
        self._code[bucket.key, bucket.checksum] = bucket.code


_COMPILED = _CompiledTemplates()


def _base_environment(loader: PackageLoader | FunctionLoader) -> Environment:
    environment = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        bytecode_cache=_COMPILED,
    )
    environment.globals["line"] = line_html
    environment.filters["short_id"] = short_id
    return environment


@cache
def _screen_environment() -> Environment:
    def load(name: str) -> tuple[str, str, None]:
        return Path(name).read_text(encoding="utf-8"), name, None

    return _base_environment(FunctionLoader(load))


@cache
def _screen_template(folder: Path) -> Template:
    return _screen_environment().get_template(str(folder / "screen.html"))


@cache
def _fingerprint(name: str) -> str:
    return hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:12]


def _is_short(choice: ChoiceView) -> bool:
    n_lines = len(choice.lines) or 1
    length = sum(len(text) for line in choice.lines for text, _ in line) or len(choice.text)
    return n_lines == 1 and length <= _SHORT_OPTION


# -- texts that researchers write in Markdown, as HTML that is safe to show -----------------------------------------


_TAGS = frozenset({"p", "strong", "em", "ul", "ol", "li", "h2", "h3", "blockquote", "br", "hr", "a"})
_TABLE = frozenset({"table", "thead", "tbody", "tr", "th", "td"})
_HEADINGS = {"h1": "h2", "h4": "h3", "h5": "h3", "h6": "h3"}
_SCHEMES = frozenset({"https", "mailto"})


@lru_cache(maxsize=256)
def to_html(markdown: str) -> Markup:
    """Return Markdown as HTML of a few harmless elements; HTML in the text is shown as it was written.

    The page has one first heading, which is not the text's: ``#`` becomes a second one. Links lead to ``https`` and
    ``mailto`` only.

    >>> str(to_html("Rate the *word*, not <b>it</b>."))
    '<p>Rate the <em>word</em>, not &lt;b&gt;it&lt;/b&gt;.</p>\\n'
    >>> str(to_html("[away](javascript:alert(1))"))
    '<p>[away](javascript:alert(1))</p>\\n'
    """
    tokens = _parser().parse(markdown)
    for token in tokens:
        token.tag = _HEADINGS.get(token.tag, token.tag)
    html = str(_parser().renderer.render(tokens, _parser().options, {}))
    # the parser passes no HTML through; the allow-list holds even if a later version of it did
    return Markup(
        nh3.clean(
            html,
            tags=set(_TAGS | _TABLE),
            attributes={"a": {"href"}},
            url_schemes=set(_SCHEMES),
            url_relative="deny",
            link_rel="noopener noreferrer",
        )
    )


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
