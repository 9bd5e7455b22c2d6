"""A long list in pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar
from urllib.parse import urlencode

from lexiscope.annotation.web.admin.visit import PER_PAGE, ROOT, Visit

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ListPage(Generic[T]):
    """One page of a list: its rows, its number from 1, the numbers of pages and rows, and the adjacent pages."""

    rows: tuple[T, ...]
    number: int
    n_pages: int
    n_rows: int
    before: str = ""
    after: str = ""


def list_page(visit: Visit, rows: Sequence[T], *, where: str, per_page: int = PER_PAGE, **query: str) -> ListPage[T]:
    """Return the page of a list that the address names (``page=2``); the last one if there are fewer."""
    number = requested_page(visit, len(rows), per_page=per_page)
    mine = rows[(number - 1) * per_page : number * per_page]
    return page_with_rows(mine, number, n_rows=len(rows), where=where, per_page=per_page, **query)


def requested_page(visit: Visit, n_rows: int, *, per_page: int = PER_PAGE) -> int:
    """Return the number of the page that the address names."""
    return visit.number("page", most=max(1, -(-n_rows // per_page)))


def page_with_rows(
    rows: Sequence[T], number: int, *, n_rows: int, where: str, per_page: int = PER_PAGE, **query: str
) -> ListPage[T]:
    """Return a page with rows that were read before, and with the addresses of the adjacent pages."""
    n_pages = max(1, -(-n_rows // per_page))
    kept = {name: value for name, value in query.items() if value}

    def address(page: int) -> str:
        return f"{ROOT}{where}?{urlencode({**kept, 'page': str(page)})}" if 1 <= page <= n_pages else ""

    return ListPage(tuple(rows), number, n_pages, n_rows, address(number - 1), address(number + 1))
