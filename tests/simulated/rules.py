"""Subjects that answer by rule, for tests only: a kind of subject by path, ``rules.py:NAME``.

``base``, ``small`` and ``large`` rate stories from a checksum of the item and their name, ``tuned`` rates what its
ending intends as plausible: as if it had been trained. Of a minimal pair all prefer the right word in two of three
items, with one token for each word of the text, two for a word of six letters or more that is chosen. A prompt is
continued with the same word each time.
"""

from __future__ import annotations

from zlib import crc32

from lexiscope import ResponseTable
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.response import Response
from lexiscope.core.subject import Continuation

CAPABILITIES = ("Judges", "Generates")
_RATINGS = {"intended": 4.0, "unintended": 2.0, "open": 3.0}
_SAID = " invoice."


class ByRule:
    """Answers by rule."""

    kind = "rule"

    def __init__(self, spec):
        self.subject_id, self.name = str(spec), spec.name

    @property
    def facts(self):
        return SubjectFacts(self.subject_id, title=self.name, kind=self.kind, revision="1")

    def judge(self, items, task):
        rows = [row for item in items for row in self._rows(item, task)]
        return ResponseTable.from_rows(rows)

    def generate(self, prompts, decoding, *, work=None, progress=None):
        return [[Continuation(_SAID)] * decoding.n for _ in prompts]

    def _rows(self, item, task):
        who = (self.subject_id, self.kind, item.item_id, task)
        if task == "plausibility":
            seed = item.item_id if self.name == "base" else f"{self.name} {item.item_id}"
            drawn = float(1 + crc32(seed.encode()) % 5)
            yield Response(*who, "rating", _RATINGS[item.conditions["intention"]] if self.name == "tuned" else drawn)
            return
        right = crc32(item.item_id.encode()) % 3 > 0
        for number in range(len(item.options)):
            option = f"incorrect_{number}" if number else "correct"
            yield Response(*who, "score", -1.0 - number * (1 if right else -0.1), option)
            # a long word is cut in two, so that the words of an item differ in tokens
            n_tokens = len(item.usages[number].text.split()) + (len(item.options[number]) > 5)
            yield Response(*who, "n_tokens", float(n_tokens), option)


def load(spec):
    return ByRule(spec)
