"""The senses of the words that the settings name: in the report, and for each subject on a page with a search box."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lexiscope.items.sense_examples import ReadsSenses
from lexiscope.report.document import Section
from lexiscope.report.sense_explorer import Exploration, ExplorerSettings, explore, explorer_section, write_explorer
from lexiscope.resources.running_text import corpus_files
from lexiscope.studies.sense_induction.material import LeftOut, Material
from lexiscope.studies.sense_induction.settings import SenseInductionSettings
from lexiscope.studies.sense_induction.usages import NEIGHBOURS

_EXPLORER = "The explorer"


def explorations(
    material: Material, settings: SenseInductionSettings
) -> tuple[tuple[Exploration, ...], tuple[LeftOut, ...]]:
    """Collect senses, neighbours and examples of the words for every subject that knows one of them.

    Examples come from the files of ``settings.corpus``; without them there are none. What is left out of the maps for
    want of a subject or a word is not said here again. Errors: those of the corpus's files.
    """
    files = corpus_files([Path(name) for name in settings.corpus])
    shown = ExplorerSettings(NEIGHBOURS, seed=settings.seed, language=settings.language)
    found: list[Exploration] = []
    left_out: list[LeftOut] = []
    for subject in material.subjects if settings.words else ():
        title = material.title_of(subject.subject_id)
        if not isinstance(subject, ReadsSenses):
            left_out.append(LeftOut(_EXPLORER, subject.subject_id, "It gives no vectors of its senses."))
        elif not any(word in subject.induced.index for word in settings.words):
            left_out.append(LeftOut(_EXPLORER, subject.subject_id, "It knows none of the words that were named."))
        else:
            about = subject.facts.title
            found.append(explore(subject, settings.words, files, subject_id=title, about=about, settings=shown))
    if found and not files:
        left_out.append(LeftOut(f"{_EXPLORER}: example sentences", "", "No corpus was named: --corpus."))
    return tuple(found), tuple(left_out)


def explorer_sections(found: Sequence[Exploration]) -> tuple[Section, ...]:
    """Return a section of the report for each subject; its maps are Figure 2, and are not drawn twice."""
    sections = []
    for number, each in enumerate(found, start=1):
        told = explorer_section(each, section_id=f"senses_{number}", title=f"Senses in {each.subject_id}")
        page = f"The file {page_name(number)} beside this report has all examples, maps and a search box."
        inner = tuple(replace(section, figures=()) for section in told.subsections)
        sections.append(replace(told, paragraphs=(*told.paragraphs, page), subsections=inner))
    return tuple(sections)


def write_pages(found: Sequence[Exploration], folder: Path) -> tuple[str, ...]:
    """Write the page of each subject into the run's folder; return their names."""
    names = []
    for number, each in enumerate(found, start=1):
        write_explorer(each, folder / page_name(number))
        names.append(page_name(number))
    return tuple(names)


def page_name(number: int) -> str:
    """Return the name of a subject's page, by its place in the run.

    >>> page_name(2)
    'senses_2.html'
    """
    return f"senses_{number}.html"
