"""Running text from files and folders, line by line, plain or packed, and the tokeniser that makes words of it.

Nothing is held but the line that is read, so a corpus may be larger than memory. A line ends a stretch of text: no
window of a training goes over its end. Two ways to make words:

- ``own``: letters and digits are runs; hyphens and other signs divide; clitics are split off (*do n't*, *scotland 's*,
  *they 've*); words are NFKC and lower case; a number, with its points and commas, is ``<num>``. Text that was cut so
  before has the same words.
- ``given``: the text is tokenised already; a word is what is between white space, as it is.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import unicodedata
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Literal, cast

from lexiscope.core.errors import InputError, Place

Tokenisation = Literal["own", "given"]
TOKENISATIONS: tuple[Tokenisation, ...] = ("own", "given")
#: what ``own`` makes of a text changes with this number
TOKENISER = 2
NUMBER = "<num>"

Progress = Callable[[str, int, int], None]
_REPORT_EVERY = 20_000
# a single line longer than this is no line of text but a file without line ends, or a binary one
LONGEST_LINE = 64 * 2**20
_SHOWN = 60
_DIGITS = "0123456789"


def _words(letter: str, *, negated: bool) -> re.Pattern[str]:
    """Return what a word is, where *letter* matches a letter or digit; *negated*: a line with *n't* in it."""
    end = rf"(?!{letter})"
    stem = rf"{letter}(?:{letter}|[\u0300-\u036f])*?"
    before_not = (rf"{stem}(?=n['\u2019]t{end})", rf"n['\u2019]t{end}") if negated else ()
    # accents and joiners belong to a letter before them: alone, as between the parts of an emoji, they are no word
    run = "[a-z0-9]+" if letter == "[a-z0-9]" else rf"{letter}(?:{letter}|[\u0300-\u036f\u200c\u200d])*"
    # behind a word, or behind white space, where text that was cut before has it
    clitic = rf"(?<![^\w\s])['\u2019](?:s|re|ve|ll|d|m){end}"
    return re.compile("|".join((NUMBER, rf"\d+(?:[.,]\d+)*{end}", *before_not, clitic, run)), re.IGNORECASE)


_WORD = _words(r"[^\W_]", negated=True)
# the same for what most lines are, several times faster
_PLAIN, _PLAIN_NEGATED = (_words("[a-z0-9]", negated=negated) for negated in (False, True))


def words_with_spans(text: str) -> list[tuple[str, int, int]]:
    """Return the words of a text by the ``own`` tokeniser, each with its half-open character offsets.

    >>> words_with_spans("Scotland's 1,200 banks")
    [('scotland', 0, 8), ("'s", 8, 10), ('<num>', 11, 16), ('banks', 17, 22)]
    """
    return [(_normal(match.group()), *match.span()) for match in _WORD.finditer(text)]


def numbers_in(text: str, index: Mapping[str, int]) -> list[tuple[int, int, int]]:
    """Return the words of a text by their numbers in a vocabulary, −1 for a word out of it, with half-open offsets.

    A word is looked up unchanged, then in lower case, then as the tokeniser writes it: a vocabulary may be that of
    text that something else cut, with capitals and numbers.

    >>> numbers_in("The Bank, in 1914", {"the": 0, "Bank": 1, "bank": 2, "<num>": 3})
    [(0, 0, 3), (1, 4, 8), (-1, 10, 12), (3, 13, 17)]
    """
    return [(_number(text[start:end], word, index), start, end) for word, start, end in words_with_spans(text)]


def number_of(form: str, index: Mapping[str, int]) -> int:
    """Return the number of one word in a vocabulary, −1 where it is out of it; looked up as by :func:`numbers_in`.

    A form of which the tokeniser makes several words is known where the vocabulary has it whole.

    >>> number_of("Re-open", {"re-open": 0, "re": 1}), number_of("Re-open", {"re": 0, "open": 1})
    (0, -1)
    """
    words = words_with_spans(form)
    return _number(form, words[0][0] if len(words) == 1 else form, index)


def _number(form: str, normal: str, index: Mapping[str, int]) -> int:
    return next((index[spelling] for spelling in (form, form.lower(), normal) if spelling in index), -1)


def words_of(line: str, tokenisation: Tokenisation = "own") -> list[str]:
    """Return the words of a line.

    >>> words_of("They don\u2019t re-open the \uff22ank.")
    ['they', 'do', "n't", 're', 'open', 'the', 'bank']
    >>> words_of("They don't re-open", "given")
    ['They', "don't", 're-open']
    """
    if tokenisation == "given":
        return line.split()
    if line.isascii():
        lower = line.lower()
        words = (_PLAIN_NEGATED if "n't" in lower else _PLAIN).findall(lower)
        return [NUMBER if word[0] in _DIGITS and _is_number(word) else word for word in words]
    return [_normal(word) for word in _WORD.findall(line)]


def _normal(word: str) -> str:
    # the normal form of a few single letters has spaces in it
    plain = "".join(unicodedata.normalize("NFKC", word).lower().replace("\u2019", "'").split())
    return NUMBER if plain[0].isdigit() and _is_number(plain) else plain


def _is_number(word: str) -> bool:
    return word.replace(".", "").replace(",", "").isdecimal()


def corpus_files(paths: Sequence[Path]) -> tuple[Path, ...]:
    """Return the files of a corpus: files as they are named, folders file by file in the order of their names.

    Hidden files and the content of hidden folders are skipped.
    Errors: :class:`InputError` E701 for a path that is not there, or a folder without files.
    """
    files: list[Path] = []
    for path in paths:
        below = (file for file in path.rglob("*") if file.is_file())
        inside = sorted(file for file in below if not any(part[0] == "." for part in file.relative_to(path).parts))
        of_path = [path] if path.is_file() else inside
        if not of_path:
            raise _no_text(path)
        files += of_path
    return tuple(files)


def _no_text(path: Path) -> InputError:
    what = "this folder holds no file" if path.is_dir() else "there is no such file or folder"
    hint = "name text files, or folders of text files; they may be packed as .gz, .xz or .bz2"
    if path.exists() and not path.is_dir():
        what, hint = "this is neither a file nor a folder", "a corpus is read several times: write it to a file first"
    return InputError(what, code="E701", place=Place(str(path)), hint=hint)


def read_lines(path: Path, *, report: Callable[[int], None] | None = None) -> Iterator[str]:
    """Give the lines of a text file in UTF-8, packed or not, without their ends.

    *report* is told now and then how many bytes of the file, as it lies on disk, are read.
    Errors: :class:`InputError` E702 for a file that is no text (a zero byte, a line of more than 64 MiB, bytes that are
    no UTF-8), E703 for one that cannot be read or unpacked; both name the line.
    """
    number = 0
    try:
        with path.open("rb") as file, _decompressed_stream(file, path.suffix.lower()) as stream:
            while raw := stream.readline(LONGEST_LINE + 1):
                number += 1
                if report is not None and number % _REPORT_EVERY == 0:
                    report(file.tell())
                yield _text(raw, path, number)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        hint = "get the file again; what is packed must end in .gz, .xz or .bz2"
        place = Place(str(path), number + 1)
        raise InputError("this file cannot be read", code="E703", place=place, why=str(error), hint=hint) from error


def read_corpus(files: Sequence[Path], *, part: str = "", progress: Progress | None = None) -> Iterator[str]:
    """Give the lines of several files one after the other; *progress* hears of *part* in bytes as they lie on disk.

    Errors: those of :func:`read_lines`.
    """
    return (line for _, _, line in read_places(files, part=part, progress=progress))


def read_places(
    files: Sequence[Path], *, part: str = "", progress: Progress | None = None
) -> Iterator[tuple[Path, int, str]]:
    """Give the lines of several files as :func:`read_corpus`, each with its file and its number there, from 1."""
    total, before = sum(path.stat().st_size for path in files), 0
    for path in files:
        for number, line in enumerate(read_lines(path, report=_byte_progress(part, before, total, progress)), start=1):
            yield path, number, line
        before += path.stat().st_size
        if progress is not None:
            progress(part, before, total)


def _byte_progress(part: str, before: int, total: int, progress: Progress | None) -> Callable[[int], None] | None:
    if progress is None:
        return None
    return lambda read: progress(part, before + read, total)


def _decompressed_stream(file: IO[bytes], suffix: str) -> IO[bytes]:
    if suffix == ".gz":
        return cast(IO[bytes], gzip.GzipFile(fileobj=file))
    if suffix == ".xz":
        return lzma.LZMAFile(file)
    return bz2.BZ2File(file) if suffix == ".bz2" else file


def _text(raw: bytes, path: Path, number: int) -> str:
    hint = "a corpus is text in UTF-8: convert this file, or leave it out"
    if b"\0" in raw or len(raw) > LONGEST_LINE:
        why = "there is a zero byte in this line"
        if b"\0" not in raw:
            why, hint = "this line is longer than 64 MiB", "break it: a line is a sentence or a paragraph"
        raise InputError("this file is not text", code="E702", place=Place(str(path), number), why=why, hint=hint)
    try:
        line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        shown = repr(raw[max(0, error.start - _SHOWN // 2) : error.start + _SHOWN // 2])
        place = Place(str(path), number, error.start + 1)
        what = f"this file is not text in UTF-8: {shown}"
        raise InputError(what, code="E702", place=place, why=error.reason, hint=hint) from error
    return line.rstrip("\r\n")
