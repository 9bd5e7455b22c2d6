"""What a contract is, and how several are run: everything that is broken is told at once, by contract and item."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from lexiscope.core.errors import SpecError, nearest_name

T = TypeVar("T")
Contract = Callable[[T], Iterable[str]]
"""A rule for one thing: yields a sentence for each way in which the thing breaks it."""
_MOST_SHOWN = 5


class ContractError(AssertionError):
    """A plug-in breaks contracts of its kind.

    ``broken`` maps the name of each broken contract to the sentences that say how. It is an ``AssertionError``: in a
    test suite it is a failure of the plug-in, not an error of the test.
    """

    def __init__(self, what: str, broken: Mapping[str, tuple[str, ...]], rules: Mapping[str, str]) -> None:
        self.broken = dict(broken)
        lines = [what]
        for name, sentences in broken.items():
            lines += ["", f"{name}: {rules[name]}", *(f"  {sentence}" for sentence in sentences[:_MOST_SHOWN])]
            lines += [f"  and {len(sentences) - _MOST_SHOWN} more"] if len(sentences) > _MOST_SHOWN else []
        super().__init__("\n".join(lines))


def named(*contracts: Contract[T]) -> dict[str, Contract[T]]:
    """Return contracts by their names, which are those of their functions."""
    return {contract.__name__: contract for contract in contracts}


def hold(what: str, thing: T, contracts: Mapping[str, Contract[T]], only: str = "") -> tuple[str, ...]:
    """Run contracts on a thing and return the names of those that it keeps.

    *what* names the thing, as in ``dataset my_norms``; *only* is the name of a single contract. An exception that the
    code of the thing raises is passed on, with the contract as a note.
    Errors: :class:`ContractError` with everything that is broken; :class:`SpecError` for an unknown contract.
    """
    if only and only not in contracts:
        near = nearest_name(only, contracts)
        hint = f"did you mean {near!r}?" if near else f"Valid names: {', '.join(contracts)}"
        raise SpecError(f"there is no contract {only!r} for the {what}", hint=hint)
    broken: dict[str, tuple[str, ...]] = {}
    chosen = [only] if only else list(contracts)
    for name in chosen:
        try:
            sentences = tuple(contracts[name](thing))
        except Exception as error:
            # code of the plug-in: whatever it raises is told with the contract that ran it
            error.add_note(f"{what}, contract {name}: {rule(contracts[name])}")
            raise
        if sentences:
            broken[name] = sentences
    if broken:
        number = f"{len(broken)} contract{'s' * (len(broken) > 1)}"
        raise ContractError(f"the {what} breaks {number}:", broken, {name: rule(contracts[name]) for name in broken})
    return tuple(chosen)


def rule(contract: Contract[T]) -> str:
    """Return the rule of a contract: the first sentence of its docstring."""
    return inspect.cleandoc(contract.__doc__ or "").split("\n\n")[0].replace("\n", " ")


def repeated(values: Iterable[object]) -> Iterator[object]:
    """Yield every value that was there before.

    >>> list(repeated("abca"))
    ['a']
    """
    seen: set[object] = set()
    for value in values:
        if value in seen:
            yield value
        seen.add(value)
