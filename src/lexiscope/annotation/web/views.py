"""The values of the templates: plain values, every text already in the participants' language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lexiscope.core.screen import Line


@dataclass(frozen=True, slots=True)
class Frame:
    """What every participant page is given.

    ``csrf`` and ``nonce`` belong to this answer of the server; ``done`` and ``total`` count the trials of the present
    phase (both 0: no progress is shown). ``owner`` marks the participant's session (an opaque text, never the
    platform's id): in a browser that several participants use, drafts and unsent answers of one stay their own.
    """

    study_title: str
    language: str
    csrf: str
    nonce: str
    contact: str = ""
    done: int = 0
    total: int = 0
    owner: str = ""


@dataclass(frozen=True, slots=True)
class NavView:
    """One entry of the researcher's navigation."""

    url: str
    text: str
    current: bool = False


@dataclass(frozen=True, slots=True)
class AdminFrame:
    """What every researcher page is given.

    ``status`` is the study's (``open``, ``paused``, ``closed``, ``draft``: the colour of its badge),
    ``status_text`` its word. ``notice`` is what every page of the study has to say. ``flash`` says what the last
    action did; ``flash_kind`` is ``done``, ``warning`` or ``failed``.
    """

    title: str
    language: str
    csrf: str
    study_title: str = ""
    nav: tuple[NavView, ...] = ()
    status: str = ""
    status_text: str = ""
    notice: str = ""
    flash: str = ""
    flash_kind: str = "done"
    user: str = ""
    logout_url: str = ""


@dataclass(frozen=True, slots=True)
class PointView:
    """One point of a scale; ``text`` is its anchor, empty where it has none."""

    value: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class ChoiceView:
    """One option: what the form sends, and its text or its lines."""

    key: str
    text: str = ""
    lines: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True)
class FlagView:
    """A checkbox: what the form sends, and its text."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class FoldView:
    """A part of the page that opens on demand: its heading, and its content as safe HTML.

    ``open``: it is open already, at the top of the page.
    """

    name: str
    title: str
    html: str
    open: bool = False


@dataclass(frozen=True, slots=True)
class TrialView:
    """One trial: the stimulus as safe HTML, the widget with its values, and where the form goes.

    ``suffix`` ends the name of every field (``value-<suffix>``), so that no browser fills one item's answer into
    another's page. ``client_key`` is new for each page; a page without scripts sends it as it is. ``given`` holds
    the stored answer of a trial that is shown again (by field: ``value``, ``option`` (a key), ``text``,
    ``guessed_word``, ``comment``, ``flag_<name>``), ``supersedes`` its id. ``faults`` are refusals by field.
    ``shown_mark`` tells the server when the page was first shown (``showings.py``).
    ``instructions`` are those of the study as safe HTML, to be read again; ``instructions_url`` is where that is noted.
    """

    phase: str
    position: int
    action: str
    suffix: str
    client_key: str
    stimulus: str
    question: str
    widget: str
    advance: str
    points: tuple[PointView, ...] = ()
    choices: tuple[ChoiceView, ...] = ()
    flags: tuple[FlagView, ...] = ()
    folds: tuple[FoldView, ...] = ()
    placeholder: str = ""
    guess: str = ""
    comment: bool = False
    max_length: int = 1000
    may_stay_empty: bool = False
    search_url: str = ""
    back_url: str = ""
    another_url: str = ""
    another_text: str = ""
    counter: str = ""
    supersedes: int | None = None
    given: Mapping[str, str] = field(default_factory=dict)
    faults: Mapping[str, str] = field(default_factory=dict)
    page_version: str = ""
    shown_mark: str = ""
    instructions: str = ""
    instructions_url: str = ""


@dataclass(frozen=True, slots=True)
class ExampleView:
    """A worked example: the stimulus as safe HTML, the correct answer and why."""

    stimulus: str
    question: str
    answer: str
    explanation: str


@dataclass(frozen=True, slots=True)
class AboutView:
    """A question about the participant with its options, the answer given so far, and what is wrong with it."""

    measure: str
    text: str
    kind: str
    required: bool
    options: tuple[ChoiceView, ...] = ()
    given: str = ""
    fault: str = ""
