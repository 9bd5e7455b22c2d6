"""Which item a page shows, told by what stands on it: a simulated participant knows nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field

from lexiscope.annotation.rehearsal.page import Page, read_page, squeezed
from lexiscope.annotation.study_file.freeze import FrozenStudy
from lexiscope.annotation.web.pages import Pages
from lexiscope.core.errors import RunError
from lexiscope.core.item import Item
from lexiscope.core.screen import Screen, Shown


@dataclass(slots=True)
class Recognition:
    """The items of a study by what their pages show."""

    study: FrozenStudy
    pages: Pages
    _known: dict[tuple[str, str], str] = field(default_factory=dict)

    def item_of(self, page: Page) -> Item:
        """Return the item that a page shows.

        Errors: :class:`RunError` where the page shows none of the study's items.
        """
        if not self._known:
            self._learn()
        key = (squeezed(page.stimulus), _offered(page))
        for each in (key, (key[0], "")):
            if each in self._known:
                return self.study.items[self._known[each]]
        raise RunError("a page shows no item of the study", why=page.stimulus.strip()[:200])

    def _learn(self) -> None:
        for item_id, item in self.study.items.items():
            screen = self.study.screen_of(item_id)
            own = screen is self.study.screen
            for view in (*self.study.definition.views, "full") if own else ("full",):
                again = own and self.study.definition.reveal and view == screen.reveal_view
                for side in ("as_given", "swapped") if screen.swaps_sides else (None,):
                    for revealed in (False, True) if again else (False,):
                        self._learn_one(screen, item, Shown(view, side, revealed=revealed))

    def _learn_one(self, screen: Screen, item: Item, shown: Shown) -> None:
        language = self.study.definition.language
        html = self.pages.stimulus(screen, item, shown, language)
        stimulus = squeezed(read_page(f'<div class="stimulus">{html}</div>').stimulus)
        words = screen.words(language)
        texts = []
        for one in screen.choices(item, shown):
            lines = "".join(text for line in one.lines for text, _ in line)
            texts.append(squeezed(lines or words[f"option_{one.key}"]))
        self._known.setdefault((stimulus, "|".join(sorted(texts))), item.item_id)


def _offered(page: Page) -> str:
    name = page.answer.field_of("option")
    return "|".join(sorted(squeezed(text) for text in page.answer.labels.get(name, ())))
