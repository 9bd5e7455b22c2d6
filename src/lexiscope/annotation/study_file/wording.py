"""Numbers with their noun, as they stand in what is printed for researchers."""

from __future__ import annotations


def counted(n: int, one: str, many: str = "") -> str:
    """Return a number with its noun; the plural is *many*, else the noun with an s.

    >>> counted(1, "list"), counted(3, "list"), counted(1, "person", "people")
    ('1 list', '3 lists', '1 person')
    """
    return f"{n} {one if n == 1 else many or one + 's'}"


def people(n: int) -> str:
    """Return a number of people.

    >>> people(1), people(0)
    ('1 person', '0 people')
    """
    return counted(n, "person", "people")
