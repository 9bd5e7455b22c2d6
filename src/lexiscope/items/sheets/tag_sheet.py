"""A sheet on which people tag cases: several tags may apply to one, and where none does, coders say so.

An empty row is therefore one that was not looked at. What comes back is a row per case and tag, 1 or 0, of the coder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Generic, TypeVar

from lexiscope.core.errors import InputError, Place
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.result import statistic_name
from lexiscope.items.sheets.form import FilledRow, SheetForm, TextColumn, answer_column, parse_mark

T = TypeVar("T")
NONE = "none_of_these"
"""The column that coders mark where no tag applies."""
REMARK = "remark"


@dataclass(frozen=True)
class TagSheet(Generic[T]):
    """A kind of sheet of tags: what it is called in errors, the tags with what each means, and what a row shows.

    ``measure`` begins the measures of what comes back (``error_tag(tag=…)``), ``task`` is theirs. ``case_id`` gives the
    id of a case, which is the item of these rows; ``item_id`` the item that the case is about, for errors. ``remarks``
    is what the column for coders' remarks is called.
    """

    what: str
    measure: str
    task: str
    tags: Mapping[str, str]
    shown: tuple[TextColumn[T], ...]
    case_id: Callable[[T], str]
    item_id: Callable[[T], str]
    remarks: str = REMARK

    @cached_property
    def form(self) -> SheetForm[T]:
        """The columns of the sheet."""
        key = TextColumn("case_id", self.case_id)
        filled = [answer_column(name, parse_mark) for name in (*self.tags, NONE)]
        return SheetForm(self.what, (key, *self.shown, *filled, answer_column(self.remarks)), key="case_id")

    @property
    def meanings(self) -> str:
        """The tags with what each means, as text."""
        return "; ".join(f"{tag.replace('_', ' ')}: {meaning}" for tag, meaning in self.tags.items())

    def measure_of(self, tag: str) -> str:
        """Return the measure of a tag's rows. Errors: :class:`InputError` where there is no such tag."""
        if tag not in self.tags:
            raise InputError(f"there is no tag {tag!r}", hint=f"the tags are {', '.join(self.tags)}")
        return statistic_name(self.measure, tag=tag)

    def write(self, path: Path | str, cases: Sequence[T]) -> None:
        """Write the sheet of some cases; coders put an x under each tag that applies, or under ``none_of_these``.

        Errors: :class:`InputError` for a case that occurs twice, or without what a row shows;
        :class:`~lexiscope.core.errors.RunError` where the file cannot be written.
        """
        self.form.write(path, self._distinct(cases))

    def read(self, path: Path | str, cases: Sequence[T], *, coder: str) -> ResponseTable:
        """Read a coded sheet: for each case a row per tag, 1 where it applies and 0 where not, the remark in ``raw``.

        The coder is the subject and the id of the case the item; the measure names the tag.
        Errors: :class:`InputError` E475 (a mark that is none, or a tag and also ``none_of_these``), E476 (nothing is
        marked), E505 for a coder without a name, and those of :meth:`~lexiscope.items.sheets.form.SheetForm.read`.
        """
        if not coder.strip():
            raise InputError("a sheet needs the name of its coder", code="E505", hint="use a code, not a full name")
        rows: list[Response] = []
        for position, row in enumerate(self.form.read(path, self._distinct(cases))):
            rows.extend(self._tags_of(row, coder, position))
        return ResponseTable.from_rows(rows)

    def read_all(self, paths: Sequence[Path | str], cases: Sequence[T]) -> ResponseTable:
        """Read the sheets of several coders: the coder of a sheet is the name of its file, without its suffix.

        Errors: those of :meth:`read`; :class:`InputError` for two sheets of one name.
        """
        coders = {Path(path).stem: path for path in paths}
        if len(coders) < len(paths):
            raise InputError("two coded sheets have the same file name", hint="name each file after its coder")
        return ResponseTable.concat([self.read(path, cases, coder=coder) for coder, path in coders.items()])

    def _distinct(self, cases: Sequence[T]) -> Sequence[T]:
        seen: set[str] = set()
        for case in cases:
            if self.case_id(case) in seen:
                raise InputError("a case occurs twice", code="E472", place=Place(item_id=self.item_id(case)))
            seen.add(self.case_id(case))
        return cases

    def _tags_of(self, row: FilledRow[T], coder: str, position: int) -> Iterator[Response]:
        applies = {tag: row.values[tag] for tag in self.tags}
        none = row.values[NONE]
        if none and any(applies.values()):
            hint = f"take the x away from {NONE}, or from the tags"
            row.refuse(NONE, f"the case has a tag and {NONE}", code="E475", hint=hint)
        if not none and not any(applies.values()):
            hint = f"put an x under a tag, or under {NONE}"
            row.refuse(next(iter(self.tags)), "this case has no tag", code="E476", hint=hint)
        for tag, given in applies.items():
            yield Response(
                subject_id=coder,
                subject_kind="participant",
                item_id=self.case_id(row.thing),
                task=self.task,
                measure=self.measure_of(tag),
                value=float(given),
                position=position,
                raw=row.values[self.remarks] or None,
            )
