"""The name of a subject, its spec, and the names of what subjects can do; read without loading a subject.

A spec prints and parses back: ``encoder:minilm``, ``recorded:ratings.csv``, ``chat:<model>@<url>``,
``my_subject.py:<name>``. This file imports no numpy: the options of a command are listed with it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lexiscope.core.errors import SpecError

CAPABILITY_NAMES = ("Embeds", "Scores", "Generates", "Judges", "ChoosesSense")
"""The names of the capabilities, in the order in which a subject's are listed."""


@dataclass(frozen=True, slots=True)
class SubjectSpec:
    """The name of a subject: kind, name, and for hosted models where.

    The kind is one of the catalog, or a path to the file of a kind of your own: it ends in ``.py`` or, of a folder, in
    ``/``. After a path, the name may be left out.

    >>> str(SubjectSpec.parse("encoder:minilm"))
    'encoder:minilm'
    >>> SubjectSpec.parse("chat:small@http://127.0.0.1:8000/v1").url
    'http://127.0.0.1:8000/v1'
    >>> SubjectSpec.parse("models/length.py:plain?power=2")
    SubjectSpec(kind='models/length.py', name='plain?power=2', url='')
    >>> str(SubjectSpec.parse("models/length.py?power=2"))
    'models/length.py?power=2'
    """

    kind: str
    name: str
    url: str = ""

    @classmethod
    def parse(cls, text: str) -> SubjectSpec:
        """Read ``kind:name`` or ``kind:name@url``; after a path, ``:name`` may be left out.

        Errors: :class:`SpecError`.
        """
        path = _PATH.match(text)
        kind = path.group() if path else text.partition(":")[0]
        rest = text[len(kind) :]
        name = rest[1:] if rest.startswith(":") else rest
        if not kind or (not path and not name) or rest == ":":
            raise SpecError(f"{text!r} does not name a subject", hint="write kind:name, for instance encoder:minilm")
        before, at, url = name.partition("@")
        if at and "://" in url:
            return cls(kind, before, url)
        return cls(kind, name)

    def __str__(self) -> str:
        colon = ":" if self.name and not (self.name.startswith("?") and _PATH.fullmatch(self.kind)) else ""
        return f"{self.kind}{colon}{self.name}" + (f"@{self.url}" if self.url else "")


# a drive letter may stand before the path (C:\models\length.py); otherwise the first colon ends it
_PATH = re.compile(r"(?:[A-Za-z]:(?=[\\/]))?[^:?]+?(?:\.py|[\\/])(?=$|[:?]|@[^/\\]*://)")
