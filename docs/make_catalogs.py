"""Extract the app's texts from its templates and programs, bring the catalogues up to date, and compile them.

`python docs/make_catalogs.py` merges new texts into every `annotation/web/locale/<language>/LC_MESSAGES/messages.po`,
writes the `.mo` files beside them, and says what is not translated. A translator edits the `.po` files and runs it
again. `python docs/make_catalogs.py fr` begins a language. Templates mark texts by `_("…")` and programs by `msg("…")`;
texts that count are in `ngettext("… one …", "… more …", n)` or `plural("… one …", "… more …", n)`. Every language has
the participants' pages; researchers' pages (`admin…`) and phrases (`phrases.py`) are in English and Spanish.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import DEFAULT_KEYWORDS, extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parents[1]
ANNOTATION = ROOT / "src" / "lexiscope" / "annotation"
LOCALE = ANNOTATION / "web" / "locale"
METHODS = [("**.html", "jinja2"), ("**.py", "python")]
RESEARCHERS = ("es",)
ADMIN = ("admin", "phrases.py")
"""Parts of the names of files whose texts only researchers read."""
HEADER = "# PROJECT: the texts of the app (docs/make_catalogs.py).\n#"
# a catalogue changes only where a text changes
STEADY = datetime(2026, 1, 1, tzinfo=UTC)


def extracted() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each place that says a text: its file, and the text; of one that counts, for one and for more."""
    marks = DEFAULT_KEYWORDS | {"msg": None, "plural": (1, 2)}
    for name, _line, text, _comments, _context in extract_from_dir(ANNOTATION, METHODS, keywords=marks):
        yield name, (text,) if isinstance(text, str) else tuple(text)


def texts() -> dict[str, set[str]]:
    """Return every text of the app, singular and plural each by itself, with the files that say it."""
    found: dict[str, set[str]] = {}
    for name, forms in extracted():
        for text in forms:
            found.setdefault(text, set()).add(name)
    return found


def plurals() -> dict[str, str]:
    """Return what is said of more, by what is said of one."""
    return {forms[0]: forms[1] for _, forms in extracted() if len(forms) == 2}


def participants() -> set[str]:
    """Return the texts of the participants' side; those of the researchers' alone are in files of :data:`ADMIN`."""
    return {text for text, files in texts().items() if not all(any(part in name for part in ADMIN) for name in files)}


def owed(language: str) -> set[str]:
    """Return the texts that a language must have."""
    return set(texts()) if language in RESEARCHERS else participants()


def translated(language: str) -> dict[str, str]:
    """Return the translations that a language's catalogue has."""
    said = {}
    for message in _messages(language):
        ids, strings = _forms(message.id), _forms(message.string)
        said |= {ids[0]: strings[0], ids[-1]: strings[-1]}
    return said


def _messages(language: str) -> list[Message]:
    path = _path(language)
    if not path.exists():
        return []
    with path.open("rb") as file:
        return [message for message in read_po(file, locale=language) if message.id]


def _forms(text: str | Sequence[str]) -> tuple[str, ...]:
    return (text,) if isinstance(text, str) else tuple(text)


def write(language: str) -> None:
    """Merge the texts into one language's catalogue (begun where there is none) and compile it."""
    known = {_forms(message.id): message.string for message in _messages(language)}
    more = plurals()
    made = Catalog(
        language, project="Lexiscope", version=" ", header_comment=HEADER, creation_date=STEADY, revision_date=STEADY
    )
    made.fuzzy = False
    made.last_translator = made.language_team = made.msgid_bugs_address = ""
    for text in sorted(owed(language) - set(more.values())):
        forms = (text, more[text]) if text in more else (text,)
        flags = ("python-format",) if "%(" in text else ()
        made.add(forms if len(forms) == 2 else text, known.get(forms, ""), flags=flags)
    path = _path(language)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        write_po(file, made, width=120)
    with path.with_suffix(".mo").open("wb") as file:
        write_mo(file, made)


def main(new: list[str]) -> int:
    """Bring every catalogue up to date; the exit status says whether something is not translated."""
    missing = 0
    for language in sorted({path.name for path in LOCALE.iterdir() if path.is_dir()} | set(new)):
        write(language)
        for text in sorted(owed(language)):
            if not translated(language)[text]:
                missing += 1
                sys.stdout.write(f"{language}: not translated: {text}\n")
    return int(missing > 0)


def _path(language: str) -> Path:
    return LOCALE / language / "LC_MESSAGES" / "messages.po"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
