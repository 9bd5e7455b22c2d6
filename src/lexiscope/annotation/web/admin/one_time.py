"""Texts that are given out once."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field


@dataclass(slots=True)
class OneTimeTexts:
    """Texts that are shown once and may be fetched once more as a file: links, whose tokens the store cannot tell."""

    _texts: OrderedDict[str, str] = field(default_factory=OrderedDict)

    def put(self, key: str, text: str) -> None:
        """Keep a text until it is fetched; only the last ones are kept."""
        self._texts[key] = text
        while len(self._texts) > 10:
            self._texts.popitem(last=False)

    def take(self, key: str) -> str | None:
        """Return a text and forget it."""
        return self._texts.pop(key, None)
