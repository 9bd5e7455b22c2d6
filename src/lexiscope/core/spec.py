"""The name of a subject, its spec, and the names of what subjects can do; read without loading a subject.

A spec prints and parses back: ``encoder:minilm``, ``recorded:ratings.csv``, ``chat:<model>@<url>``,
``my_subject.py:<name>``. This file imports no numpy: the options of a command are listed with it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from lexiscope.core.errors import SpecError

CAPABILITY_NAMES = ("Embeds", "Scores", "Generates", "Judges", "ChoosesSense")
"""The names of the capabilities, in the order in which a subject's are listed."""


@dataclass(frozen=True, slots=True)
class SubjectSpec:
    """The name of a subject: kind, name, and for hosted models where.

    The kind is one of the catalog, or a path to the file of your kind: it ends in ``.py``, or in ``/`` for a
    folder. After a path, the name may be omitted.

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
        """Read ``kind:name`` or ``kind:name@url``; after a path, ``:name`` may be omitted.

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


# -- options of a spec: NAME?key=value&key=value --------------------------------------------------------------------


def plain_name(spec: str) -> str:
    """Return a name without its options.

    >>> plain_name("am2ico?language=zh"), plain_name("wic")
    ('am2ico', 'wic')
    """
    return spec.partition("?")[0]


def split_options(spec: str) -> tuple[str, dict[str, str]]:
    """Return a name and its options, of a subject, a dataset or a server's address.

    In a value, ``&`` is written ``%26``; another ``%`` stands for itself.

    >>> split_options("org/model?dtype=bf16&bos_token=<a%26b>")
    ('org/model', {'dtype': 'bf16', 'bos_token': '<a&b>'})

    Errors: :class:`SpecError` for no name, an option that is not key=value, and one that is given twice. It repeats
    no value: it may be a secret.
    """
    name, _, query = spec.partition("?")
    options: dict[str, str] = {}
    for part in filter(None, query.split("&")):
        key, _, value = part.partition("=")
        if not key or not value:
            raise SpecError(f"the option {key!r} has no value", hint=_FORM)
        if key in options:
            raise SpecError(f"the option {key!r} is given twice", hint="keep one of them")
        options[key] = value.replace("%26", "&").replace("%25", "%")
    if not name:
        raise SpecError("there is no name before the options", hint=_FORM)
    return name, options


def with_options(spec: str, options: Mapping[str, object]) -> str:
    """Return a spec with more options; :func:`split_options` gives them back as text.

    >>> with_options("causal_lm:tiny?dtype=bf16", {"bos_token": "<a&b>"}), with_options("wic", {})
    ('causal_lm:tiny?dtype=bf16&bos_token=<a%26b>', 'wic')
    """
    written = [f"{key}={str(value).replace('%', '%25').replace('&', '%26')}" for key, value in options.items()]
    mark = "" if not written else "&" if "?" in spec else "?"
    return spec + mark + "&".join(written)


def without_option(spec: str, key: str) -> tuple[str, str]:
    """Return a spec without one of its options, and the option's value, empty where it has none.

    >>> without_option("chat:m@http://h/v1?variant=a%26b.yaml&shots=1", "variant")
    ('chat:m@http://h/v1?shots=1', 'a&b.yaml')
    """
    name, _, query = spec.partition("?")
    options = split_options(spec)[1] if query else {}
    value = options.pop(key, "")
    return with_options(name, options), value


_FORM = "write NAME?key=value&key=value"
