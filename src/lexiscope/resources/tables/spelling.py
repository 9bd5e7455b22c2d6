"""How a text file is written: its encoding, its form (rows or JSON), its separator. No doubt is settled silently.

A byte-order mark decides the encoding; without one, text that is UTF-8 is UTF-8, and text in a single-byte encoding is
Windows-1252 only if it reads as a Western European language. Every other case is an error that names the option.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

from lexiscope.core.errors import InputError, Place
from lexiscope.core.foreign import parse_json

Form = Literal["rows", "json_lines", "json", "comments"]
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}
"""The signs between the cells of a row, with their names."""
PARQUET = b"PAR1"
"""Begins every Parquet file."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    # the mark of UTF-32 begins like that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_NAMES = {
    "utf-8": "UTF-8",
    "utf-16-le": "UTF-16 (little-endian)",
    "utf-16-be": "UTF-16 (big-endian)",
    "utf-32-le": "UTF-32 (little-endian)",
    "utf-32-be": "UTF-32 (big-endian)",
    "cp1252": "Windows-1252",
}
_OTHER_FILES = {
    b"PK\x03\x04": "this is a spreadsheet, not a text file",
    b"\xd0\xcf\x11\xe0": "this is a spreadsheet, not a text file",
    PARQUET: "this is a Parquet file, not a text file",
}
# what a text in a language of Western Europe has outside ASCII; a text in another encoding read as Windows-1252 soon
# has others (Ž and ‡ for é and á of a Macintosh)
_WESTERN = frozenset(
    "áàâäãåæçéèêëíìîïñóòôöõøœßúùûüýÿÁÀÂÄÃÅÆÇÉÈÊËÍÌÎÏÑÓÒÔÖÕØŒÚÙÛÜÝŸªº¡¿«»‹›“”„‘’‚–—…·•€£§°´¨©®™×\xa0\xad"
)
# three letters outside ASCII in a row: no word of these languages, but every word in Cyrillic or Greek
_FOREIGN = re.compile(r"[^\W\d_\x00-\x7f]{3}")
_SAMPLE = 1 << 16
_SAMPLE_ROWS = 200
_EXCEL = re.compile(r'"?sep=(.)"?[ \t]*', re.IGNORECASE)
_COMMENTED = re.compile(r"^# 1\. Results? reception time\.?", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a file is written. ``form`` is ``rows`` (with ``separator``), JSON, or rows whose header is in comments.

    ``begin`` is the number of lines before the header (``sep=;`` and the like). ``marked``: a byte-order mark names the
    encoding. ``example`` is a word of the file that shows whether the encoding is right.
    """

    encoding: str = "utf-8"
    form: Form = "rows"
    separator: str = ","
    begin: int = 0
    marked: bool = False
    example: str = ""

    @property
    def encoding_name(self) -> str:
        """The encoding as people name it, with a word that shows it unless it is certain.

        >>> Spelling("cp1252", example="oración").encoding_name
        'Windows-1252 (it reads: oración)'
        """
        name = _NAMES.get(self.encoding, self.encoding)
        if self.encoding == "utf-8" or self.marked or not self.example:
            return name + (", with byte-order mark" if self.marked and self.encoding == "utf-8" else "")
        return f"{name} (it reads: {self.example})"

    @property
    def form_name(self) -> str:
        """What is between the cells: the name of the separator, or the form of JSON."""
        names = {"json_lines": "JSON lines", "json": "JSON", "comments": "comma, header in comments"}
        return names.get(self.form) or SEPARATORS.get(self.separator, repr(self.separator))


def read_spelled(path: Path | str, *, encoding: str = "", separator: str = "") -> tuple[Spelling, str]:
    """Return how a file is written, and its text without a byte-order mark, with its own line ends.

    *encoding* and *separator* (a name of :data:`SEPARATORS`, or the sign itself) are those that the user named.
    Bytes of a file in UTF-8 that are damaged become lone surrogates: a reader of rows names them.
    Errors: :class:`InputError` E001 (no such file), E002 (empty), E003 (an encoding that cannot be told, or that is not
    that of the file; a spreadsheet), E008 (a separator that cannot be told).
    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        what, hint = f"the file cannot be read: {error.strerror}", "check its name and its rights"
        raise InputError(what, code="E001", place=Place(str(path)), hint=hint) from error
    name, text, marked = _decoded(content, str(path), encoding)
    # a word with letters outside ASCII, to look at
    foreign = None if name == "utf-8" else re.search(r"\w*[^\W\d_\x00-\x7f]\w*", text)
    example = foreign.group()[:20] if foreign else ""
    if not text.strip():
        hint = "write a header and at least one row"
        raise InputError("the file is empty", code="E002", place=Place(str(path)), hint=hint)
    form, sign, begin = _form(text, str(path), separator_sign(separator))
    return Spelling(name, form, sign, begin, marked, example), text


def separator_sign(name: str) -> str:
    r"""Return the sign of a separator by its name, or the sign itself. Errors: :class:`InputError` for another text.

    >>> separator_sign("tab"), separator_sign(";"), separator_sign("")
    ('\t', ';', '')
    """
    signs = {own: sign for sign, own in SEPARATORS.items()} | {"\\t": "\t", "": ""}
    if name not in signs and len(name) != 1:
        raise InputError(f"{name!r} is not a separator", hint=f"use {', '.join(SEPARATORS.values())}, or one sign")
    return signs.get(name, name)


# -- encoding -------------------------------------------------------------------------------------------------------


def _decoded(content: bytes, path: str, encoding: str) -> tuple[str, str, bool]:
    for start, what in _OTHER_FILES.items():
        if content.startswith(start):
            raise InputError(what, code="E003", place=Place(path), hint="save it as CSV in UTF-8")
    mark, marked = next(((mark, name) for mark, name in _MARKS if content.startswith(mark)), (b"", ""))
    if encoding:
        return _decoded_as(content[len(mark) :], path, encoding, marked)
    if marked and marked != "utf-8":
        return marked, _strictly(content[len(mark) :], path, marked), True
    unmarked = "" if marked else _utf16_of(content[:4096])
    if unmarked:
        return unmarked, _strictly(content, path, unmarked), False
    try:
        return "utf-8", content[len(mark) :].decode("utf-8"), bool(marked)
    except UnicodeDecodeError:
        # UTF-8 with single damaged bytes has letters outside ASCII that are written as UTF-8
        if marked or any(char > "\x7f" for char in content.decode("utf-8", "ignore")):
            return "utf-8", content[len(mark) :].decode("utf-8", "surrogateescape"), bool(marked)
    return "cp1252", _western(content, path), False


def _decoded_as(content: bytes, path: str, encoding: str, marked: str) -> tuple[str, str, bool]:
    try:
        name = codecs.lookup(encoding).name
    except LookupError as error:
        hint = "use a name such as utf-8, windows-1252, utf-16-le, mac-roman, windows-1251"
        raise InputError(f"unknown encoding {encoding!r}", hint=f"--encoding: {hint}") from error
    # the mark itself says in which order the bytes are
    if name in ("utf-8-sig", "utf-16", "utf-32"):
        name = marked or name.removesuffix("-sig")
    return name, _strictly(content, path, name), bool(marked)


def _strictly(content: bytes, path: str, encoding: str) -> str:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        before = content[: error.start].decode(encoding, "replace")
        what = f"byte {error.start} of the file (0x{content[error.start]:02x}) is not {_NAMES.get(encoding, encoding)}"
        hint = "name the encoding: --encoding NAME; or save the file as UTF-8"
        raise InputError(what, code="E003", place=Place(path, before.count("\n") + 1), hint=hint) from error


def _utf16_of(start: bytes) -> str:
    """UTF-16 without its mark, by the zero bytes next to ASCII letters; empty if it is none."""
    zeros = [start[0::2].count(0), start[1::2].count(0)]
    half = max(1, len(start) // 2)
    if zeros[1] > 0.4 * half and not zeros[0]:
        return "utf-16-le"
    return "utf-16-be" if zeros[0] > 0.4 * half and not zeros[1] else ""


def _western(content: bytes, path: str) -> str:
    """The text of a single-byte encoding, if it reads as a Western European language in Windows-1252."""
    text = content.decode("cp1252", "surrogateescape")
    odd = next((at for at, char in enumerate(text) if char > "\x7f" and char not in _WESTERN), None)
    foreign = _FOREIGN.search(text)
    if odd is None and foreign is None:
        return text
    at = min(place for place in (odd, None if foreign is None else foreign.start()) if place is not None)
    begin = text.rfind("\n", 0, at) + 1
    line = text[begin:].split("\n", 1)[0].rstrip("\r").encode("cp1252", "surrogateescape").decode("cp1252", "replace")
    raise InputError(
        "the encoding of this file cannot be told: it is not UTF-8, and read as Windows-1252 it has odd letters",
        code="E003",
        place=Place(path, text.count("\n", 0, at) + 1, at - begin + 1, None, line),
        hint="name the encoding: --encoding NAME (mac-roman, windows-1250, windows-1251 …); or save the file as UTF-8",
    )


# -- form and separator ---------------------------------------------------------------------------------------------


def _form(text: str, path: str, separator: str) -> tuple[Form, str, int]:
    """The form of a text, its separator, and how many lines precede its header."""
    start = text.lstrip()
    if not separator and start[0] in "{[":
        form = _json_form(start)
        if form is not None:
            return form, "", 0
    if not separator and text.lstrip().startswith("#") and _COMMENTED.search(text[:_SAMPLE]):
        return "comments", ",", 0
    blank = len(text) - len(start)
    begin = text.count("\n", 0, blank)
    first = start.split("\n", 1)[0].rstrip("\r")
    named = _EXCEL.fullmatch(first)
    if named is not None:
        return "rows", separator or named[1], begin + 1
    sample = start[:_SAMPLE]
    if len(start) > _SAMPLE:
        sample = sample[: sample.rfind("\n") + 1]
    return "rows", separator or _separator(sample, first, path, begin + 1), begin


def _json_form(text: str) -> Form | None:
    """Whether a text that begins like JSON has a value per line, or is one value; ``None`` if it is neither."""
    first = text.split("\n", 1)[0].strip()
    try:
        value = parse_json(first)
    except ValueError:
        # one value that goes over several lines; whether it can be read is found where it is read
        return "json" if text.rstrip()[-1] == {"[": "]", "{": "}"}[text[0]] else None
    if isinstance(value, list) and "\n" not in text.strip():
        return "json"
    return "json_lines"


def _separator(sample: str, first: str, path: str, line: int) -> str:
    """The sign that divides every row of a sample into as many cells as the header; of several, the one with most."""
    widths: dict[str, int] = {}
    for sign in SEPARATORS:
        try:
            rows = list(islice(csv.reader(io.StringIO(sample, newline=""), delimiter=sign), _SAMPLE_ROWS))
        except csv.Error:
            continue
        sizes = {len(row) for row in rows if row}
        if len(sizes) == 1 and sizes != {1}:
            widths[sign] = sizes.pop()
    most = max(widths.values(), default=0)
    fitting = [sign for sign, width in widths.items() if width == most]
    if len(fitting) == 1:
        return fitting[0]
    if not fitting:
        # no sign divides all rows alike: the header says which is meant, and the rows that differ are errors
        return max(SEPARATORS, key=first.count)
    names = " or ".join(SEPARATORS[sign] for sign in fitting)
    what = f"the separator cannot be told: {names} divide every row into {most} cells"
    hint = f"name it: --separator {SEPARATORS[fitting[0]]}"
    raise InputError(what, code="E008", place=Place(path, line, text=first), hint=hint)
