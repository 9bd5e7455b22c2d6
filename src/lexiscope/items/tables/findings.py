"""Findings of the stimulus check, with code and place; and the list of entries that could not be made into items.

The first letter of a code is its severity: ``E`` (error: a number computed from this would be wrong or impossible)
or ``W`` (warning: usable, but a reader of the study would ask). The codes are listed in
``docs/reference/messages.md``.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal

from lexiscope.core.errors import InputError, Place, caret_line
from lexiscope.core.showing import counted
from lexiscope.items.tables.spreadsheet import write_sheet
from lexiscope.resources.platforms.opened import OpenedFile

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One remark of the check.

    ``line`` and ``column`` count from 1 in the file itself (a row with a quoted line break spans several lines);
    ``text`` is that line and ``caret`` a line of carets to print under it, for
    ``width`` characters.
    """

    code: str
    severity: Severity
    path: str
    line: int | None
    column: int | None
    item_id: str | None
    message: str
    text: str
    caret: str
    hint: str
    width: int = 1

    @classmethod
    def from_place(
        cls, code: str, message: str, place: Place, *, hint: str = "", item_id: str | None = None
    ) -> Finding:
        """Make a finding at a place; the severity follows from the code.

        >>> Finding.from_place("W204", "the word has one pair", Place("items.csv", 7)).severity
        'warning'
        """
        marked = place.text is not None and place.column is not None
        return cls(
            code=code,
            severity="error" if code.startswith("E") else "warning",
            path=place.path or "",
            line=place.line,
            column=place.column,
            item_id=item_id if item_id is not None else place.item_id,
            message=message,
            text=place.text or "",
            caret=caret_line(place.text or "", place.column or 1, place.width) if marked else "",
            hint=hint,
            width=max(1, place.width),
        )

    @classmethod
    def from_error(cls, error: InputError) -> Finding:
        """Make a finding of an error with a code."""
        return cls.from_place(error.code or "", error.what, error.place or Place(), hint=error.hint)

    def error(self) -> InputError:
        """Return the finding as an error that can be raised."""
        place = Place(self.path or None, self.line, self.column, self.item_id, self.text or None, self.width)
        return InputError(self.message, code=self.code, place=place, hint=self.hint)

    def __str__(self) -> str:
        where = ":".join(str(part) for part in (self.path, self.line, self.column) if part not in (None, ""))
        item = f" (item {self.item_id})" if self.item_id else ""
        lines = [f"{where}: {self.code} {self.message}{item}"]
        lines += [f"    {self.text}"] if self.text else []
        lines += [f"    {self.caret}"] if self.caret else []
        lines += [f"  what to do: {self.hint}"] if self.hint else []
        return "\n".join(lines)


Report = Callable[[Finding], None]


@dataclass(frozen=True, slots=True)
class SentenceStatistics:
    """Lengths of the sentences of a stimulus set, and how many pairs differ in length.

    ``mean_words`` is over distinct sentences. ``length_differences`` gives (difference, number of pairs), ascending.
    *Unit: words (parts between white space).* *Source: SAW-C §3.1 and footnote 4.*
    """

    n_sentences: int
    n_pairs: int
    mean_words: float | None
    length_differences: tuple[tuple[int, int], ...]

    @property
    def n_unequal_pairs(self) -> int:
        """The number of pairs whose sentences differ in their number of words."""
        return sum(n for difference, n in self.length_differences if difference)

    def __str__(self) -> str:
        mean = f"{self.n_sentences} sentences, {self.mean_words:.2f} words on average"
        if not self.n_pairs:
            return mean
        by = ", ".join(f"{n} by {difference}" for difference, n in self.length_differences if difference)
        unequal = f"{self.n_unequal_pairs} of {self.n_pairs} pairs differ in their number of words"
        return f"{mean}; {unequal}" + (f" ({by})" if by else "")


@dataclass(frozen=True, slots=True)
class CheckReport:
    """All findings of one file, in the order of its lines, with what was read.

    ``columns`` says which column was taken for what; ``unused`` names the others. ``opened`` is the file as it was
    understood (its encoding, its separator, the program that wrote it).
    ``simulated``: the raters are simulated participants. ``task`` is the one whose items they were checked as; empty:
    sentences, or pairs of sentences.
    """

    path: str
    n_rows: int
    n_items: int
    n_words: int
    findings: tuple[Finding, ...]
    statistics: SentenceStatistics
    columns: tuple[tuple[str, str], ...] = ()
    unused: tuple[str, ...] = ()
    simulated: bool = False
    task: str = ""
    opened: OpenedFile | None = field(default=None, repr=False, compare=False)

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that are errors."""
        return tuple(finding for finding in self.findings if finding.severity == "error")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings that are warnings."""
        return tuple(finding for finding in self.findings if finding.severity == "warning")

    @property
    def counts(self) -> dict[str, int]:
        """The number of findings per code, by code."""
        return dict(sorted(Counter(finding.code for finding in self.findings).items()))

    @property
    def exit_status(self) -> int:
        """0 where there is no error (warnings may remain), else 1."""
        return 1 if self.errors else 0

    def text(self, *, at_most: int | None = None) -> str:
        """Return the findings as text, with the line and a caret each, and a summary at the end.

        With *at_most*, at most that many errors per code and one warning per code are written out. One line names the
        places of the others. The summary counts all.
        """
        shown: Counter[str] = Counter()
        parts, others = [], dict[str, list[Finding]]()
        for finding in self.findings:
            shown[finding.code] += 1
            most = 1 if finding.severity == "warning" else at_most
            if at_most is None or shown[finding.code] <= min(most or at_most, at_most):
                parts.append(str(finding))
            else:
                others.setdefault(finding.code, []).append(finding)
        return "\n".join([*parts, *(_more_text(code, rest) for code, rest in sorted(others.items())), self.summary()])

    def summary(self) -> str:
        """Return what was read, how long the sentences are, and what was found, in two lines."""
        by_code = ", ".join(f"{code} {n}" for code, n in self.counts.items())
        severities = f"{counted(len(self.errors), 'error')}, {counted(len(self.warnings), 'warning')}"
        sizes = f"{counted(self.n_rows, 'row')}, {counted(self.n_items, 'item')}, {counted(self.n_words, 'word')}"
        read = f"{self.path}: {sizes}: {severities}" + (f" ({by_code})" if by_code else "")
        return f"{read}\n{self.statistics}" if self.statistics.n_sentences else read

    def json(self) -> str:
        """Return the whole report as JSON with stable keys."""
        content = asdict(replace(self, opened=None)) | {"counts": self.counts, "exit_status": self.exit_status}
        del content["opened"]
        return json.dumps(content, ensure_ascii=False, indent=2, sort_keys=True) + "\n"


_NAMED = 5


def _more_text(code: str, findings: Sequence[Finding]) -> str:
    """How many more findings of a code there are, and where the first of them are.

    >>> more = [Finding.from_place("W206", "…", Place("a.csv", line)) for line in range(5, 12)]
    >>> _more_text("W206", more)
    'W206: 7 more, in lines 5, 6, 7, 8, 9 …'
    """
    lines = [str(finding.line) for finding in findings if finding.line is not None]
    named = ", ".join(lines[:_NAMED]) + (" …" if len(lines) > _NAMED else "")
    return f"{code}: {len(findings)} more" + (f", in line{'s' if len(lines) > 1 else ''} {named}" if named else "")


# -- what could not be made into items, with the reason: a list with the items, never a silent gap ------------------


COLUMNS = ("word", "sense", "why")
"""The columns of the list."""


@dataclass(frozen=True, slots=True)
class ExcludedEntry:
    """A word that was excluded, or one excluded sense of it, and why."""

    word: str
    why: str
    sense: str = ""


def write_excluded(path: Path | str, entries: Sequence[ExcludedEntry]) -> None:
    """Write the list as CSV, its rows in the order given; a list of nothing is a file with its heading alone."""
    write_sheet(path, COLUMNS, [(entry.word, entry.sense, entry.why) for entry in entries])
