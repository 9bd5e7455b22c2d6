"""A relation turned round: *dirt means soil* beside *soil means dirt*. Synonymy holds both ways: so should scores.

The words of a choice set stay its options, in their order; each now stands in front, the target behind. Only where the
word stands differs, so a subject that knows the relation decides the same way. What a text turned round looks like is
said by its template (``turned``); a relation that does not hold both ways (*is a kind of*) has none.
"""

from __future__ import annotations

from collections.abc import Sequence

from lexiscope.core.item import Item
from lexiscope.items.choice_sets.minimal_pairs import SynonymItem, choice_sets
from lexiscope.items.choice_sets.surface import Mode
from lexiscope.items.choice_sets.templates import Template, synonymy_templates


def turned_sets(
    items: Sequence[SynonymItem],
    templates: Sequence[Template] | None = None,
    *,
    mode: Mode = "clean",
    dataset: str = "synonymy",
) -> tuple[Item, ...]:
    """Return the controlled choice sets of a collection turned round, of the templates that can be and are controlled.

    *templates* are those of the synonymy study unless given. Ids and suites end in ``_turned``.
    Errors: those of :func:`~lexiscope.items.choice_sets.minimal_pairs.choice_sets`.

    >>> oak = SynonymItem.from_tokens("1", "An oak fell .".split(), 1, synonym="tree", distractor="wood")
    >>> item = turned_sets([oak])[1]
    >>> item.item_id, [usage.text for usage in item.usages]
    ('synonymy/1/relation_turned/means/controlled', ['An oak fell. Tree means oak.', 'An oak fell. Wood means oak.'])
    """
    given = synonymy_templates() if templates is None else templates
    turned = [each.turned_round for each in given if "controlled" in each.conditions]
    able = [each for each in turned if each is not None]
    return choice_sets(items, able, mode=mode, dataset=dataset) if able else ()
