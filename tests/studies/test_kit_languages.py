"""A model of one language asked about items in another: a warning that names both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.studies.kit.languages import language_of, language_remarks

SPANISH = ("El banco de la plaza es muy viejo y está roto.", "Se sentó en el banco para ver los barcos.")
ENGLISH = ("She sat on the bank of the river and had a rest.", "They said that the bank had not paid for it.")


@dataclass(frozen=True)
class _Known:
    """A subject with languages that its card names."""

    languages: tuple[str, ...]
    subject_id: str = "my_model"
    kind: str = "encoder"

    @property
    def facts(self) -> SubjectFacts:
        return SubjectFacts(self.subject_id, languages=self.languages)


def _items(texts: Sequence[str], language: str = "und") -> list[Item]:
    return [Item(f"i{n}", "d", (Usage(text, 0, 2, language=language),)) for n, text in enumerate(texts * 5)]


@pytest.mark.parametrize("items", [_items(SPANISH), _items(("xx y",), "es"), _items(("xx y",), "es-MX")])
def test_both_languages_are_named(items: list[Item]) -> None:
    """The items' language is what they state, else that of their function words; both are named."""
    (warning,) = language_remarks([_Known(("en",))], items)
    assert warning.startswith("W217 my_model is a model of English, the items are in Spanish.")


@pytest.mark.parametrize(
    ("languages", "items"),
    [
        (("es",), _items(SPANISH)),
        (("en", "es"), _items(SPANISH)),
        (("multilingual",), _items(SPANISH)),
        # unknown: of the model, of the items
        ((), _items(SPANISH)),
        (("en",), _items(("bank", "seal"))),
        (("en",), _items(ENGLISH, "en-GB")),
        (("en",), _items(ENGLISH)),
    ],
)
def test_no_warning_without_two_known_languages(languages: tuple[str, ...], items: list[Item]) -> None:
    """A model of the items' language, a multilingual one, and an unknown language give no warning."""
    assert language_remarks([_Known(languages)], items) == []


def test_languages_by_their_function_words() -> None:
    """Texts are told by words that no other of the languages has; mixed or few texts are not told."""
    assert language_of(_items(ENGLISH)) == "en"
    assert language_of(_items(("Der Hund ist nicht auf der Bank, und ich bin von der Arbeit zu müde.",))) == "de"
    assert language_of(_items((*SPANISH, *ENGLISH))) == ""
