"""What deserves a second look before a study is launched, and stops nothing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from lexiscope.annotation.study_file.definition import StudyDefinition
from lexiscope.annotation.study_file.material import SETUP
from lexiscope.annotation.study_file.problem import Problem
from lexiscope.core import catalog
from lexiscope.core.item import Item

_BOLD = re.compile(r"\*\*\[?([^\s*\[\]]+)\]?\*\*")


def launch_warnings(definition: StudyDefinition, items: Sequence[Item], *, merged: str = "") -> tuple[Problem, ...]:
    """Return what a researcher should have seen before the launch; none of it stands in the way.

    *merged* says what became of rows that are one item together. Codes: W630 nobody is paid, W631 nobody can be
    written to, W632 nothing says what happens to the answers, W634 rows of the item file are one item together, W635
    questions before the place are shown in one view to all arms, W636 variants of one story may meet in a list, W637 a
    word that the guidelines explain is among the targets.

    >>> study = StudyDefinition(name="s", task="relatedness", language="en")
    >>> [warning.code for warning in launch_warnings(study, [])]
    ['W630', 'W631', 'W632']
    """
    checks: tuple[Callable[[StudyDefinition, Sequence[Item]], Iterator[Problem]], ...] = (
        _promises,
        _arms,
        _stories,
        _explained,
    )
    found = tuple(problem for check in checks for problem in check(definition, items))
    if not merged:
        return found
    hint = "give each row an item_id of its own, where they are different items"
    return (*found, Problem("W634", ("items",), merged, hint))


def _promises(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    if not definition.payment.amount and definition.platform.kind != "lab":
        hint = "write payment.amount, or make sure that the consent says so"
        yield Problem("W630", ("payment", "amount"), "participants are paid nothing", hint)
    if not definition.contact.strip():
        yield Problem("W631", ("contact",), "the study names nobody whom a participant can write to", "name somebody")
    if not definition.retention.answers.strip():
        what = "nothing says what happens to the answers"
        yield Problem("W632", ("retention", "answers"), what, "say who keeps them, how long, and where they appear")


def _arms(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    first = definition.views[0] if definition.views else "full"
    if len(definition.views) > 1 and first != "full" and (definition.qualification or definition.examples):
        what = f"examples and qualification are shown in the view {first!r} to the participants of every arm"
        yield Problem("W635", ("views",), what, "name the view first that all may see: full")


def _stories(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    if catalog.screen(definition.task).drawn or SETUP in {one.condition for one in definition.design.confusion}:
        return
    most = max(Counter(str(item.conditions[SETUP]) for item in items if SETUP in item.conditions).values(), default=0)
    if most > 1:
        what = f"up to {most} items are variants of one story, and nothing keeps them out of one list"
        hint = "add to design.confusion: {condition: setup, at_most: 1}"
        yield Problem("W636", ("design", "confusion"), what, hint)


def _explained(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    """The guidelines stand on the pages whatever the instructions say: whose word they explain is told its answer."""
    screen = catalog.screen(definition.task)
    if "guidelines" not in screen.fold_outs or definition.language.partition("-")[0] not in screen.languages:
        return
    targets = {usage.target.casefold() for item in items for usage in item.usages}
    shown = screen.guidelines(definition.language, views=definition.views)
    words = [word for word in dict.fromkeys(_BOLD.findall(shown)) if word.casefold() in targets]
    if words:
        what = f"the task's guidelines explain words that are among the targets: {', '.join(words)}"
        yield Problem("W637", ("items",), what, "leave these items out")
