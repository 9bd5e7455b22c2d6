"""From proposals to suites: the collection, its random nouns, and the files that subjects are asked with."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from lexiscope.build.minimal_pairs.automatic import Proposal
from lexiscope.core.errors import InputError, SpecError
from lexiscope.core.run import write_atomically
from lexiscope.items.choice_sets.collection_file import write_collection
from lexiscope.items.choice_sets.minimal_pairs import SynonymItem, choice_sets, suite_lines
from lexiscope.items.choice_sets.surface import Mode
from lexiscope.items.choice_sets.templates import Template
from lexiscope.items.tables.tabular import write_items

COLLECTION, ITEMS, LINES = "collection.csv", "items.csv", "lines"


def synonym_items(proposals: Sequence[Proposal], *, language: str = "en") -> tuple[SynonymItem, ...]:
    """Return the items of a collection, numbered from 1; ``extra`` has the proposal's id and the flagged words.

    Ids are the numbers, as wide as the largest, so that they sort.
    """
    width = max(3, len(str(len(proposals))))
    return tuple(
        _item(proposal, number, f"{number:0{width}}", language) for number, proposal in enumerate(proposals, start=1)
    )


def check_templates(templates: Sequence[Template], language: str) -> None:
    """Check that the texts of templates are in the items' language; substitution has no text of its own.

    Errors: :class:`SpecError` naming the first that is not.
    """
    main = language.partition("-")[0].lower()
    for template in templates:
        if not template.substitutes and template.language.partition("-")[0].lower() != main:
            named = f"the template {template.name!r} ({template.suite})"
            raise SpecError(
                f"{named} is in {template.language!r}, the items are in {language!r}",
                hint="give templates in this language (--templates FILE.yaml), or only the suite substitution",
            )


def write_suites(
    folder: Path,
    items: Sequence[SynonymItem],
    templates: Sequence[Template],
    *,
    mode: Mode = "clean",
    dataset: str = "synonymy",
    conditions: Collection[str] | None = None,
) -> dict[str, int]:
    """Write the collection, its choice sets and, where items have random nouns, plain lines; return what was counted.

    ``collection.csv`` is the collection, ``items.csv`` the choice sets as items of the task ``minimal_pair``,
    ``lines/<template>.tsv`` one text a line in the form of the published files.
    Errors: :class:`InputError` E002 for no items; those of
    :func:`~lexiscope.items.choice_sets.minimal_pairs.choice_sets`.
    """
    if not items:
        raise InputError("there are no items to make suites of", code="E002", hint="loosen the filters, or accept some")
    sets = choice_sets(items, templates, conditions=conditions, mode=mode, dataset=dataset)
    write_collection(items, folder / COLLECTION)
    write_items(sets, folder / ITEMS)
    counts = {
        "items": len(items),
        "choice_sets": len(sets),
        "texts": len({usage.text for item in sets for usage in item.usages}),
    }
    if conditions is None:
        for template in templates:
            lines = suite_lines(items, template, mode=mode)
            write_atomically(folder / LINES / f"{template.name}.tsv", "".join(line.text_line() for line in lines))
            counts["lines"] = counts.get("lines", 0) + len(lines)
    return counts


def _item(proposal: Proposal, number: int, item_id: str, language: str) -> SynonymItem:
    context = proposal.context
    return SynonymItem(
        item_id=item_id,
        target=context.target,
        synonym=proposal.synonym,
        distractor=proposal.distractor,
        sentence=context.text,
        start=context.start,
        end=context.end,
        number=number,
        tokenised=context.tokenised,
        language=language,
        sentence_id=context.sentence_id,
        sense_key=proposal.candidate.sense,
        synset=proposal.candidate.synset,
        extra=(("proposal", proposal.proposal_id), ("flagged", " ".join(context.flagged))),
    )
