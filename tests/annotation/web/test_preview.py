"""A look at a study before anybody is asked: every kind of page, for every task, and nothing is stored."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from lexiscope.annotation.rehearsal.browser import Browser
from lexiscope.annotation.study_file.definition import StudyDefinition
from lexiscope.annotation.study_file.definition_file import definition_yaml, parse_definition
from lexiscope.annotation.study_file.study_folder import StudyOnDisk
from lexiscope.annotation.study_file.template import draft_definition
from lexiscope.annotation.web.pages import Pages
from lexiscope.annotation.web.preview import preview_app, preview_pages
from lexiscope.annotation.web.security import ServerSettings
from lexiscope.core import catalog
from lexiscope.core.item import Item

from .made_web import made_definition, made_items

ORIGIN = "http://127.0.0.1:8000"
ASKED = [name for name in catalog.names("tasks") if getattr(catalog.module("tasks", name), "SCREEN", None)]


def on_disk(definition: StudyDefinition, items: tuple[Item, ...]) -> StudyOnDisk:
    """A study that has no file and no folder."""
    return StudyOnDisk(parse_definition(definition_yaml(definition)), items, Path("nowhere"))


@pytest.mark.parametrize("task", ASKED)
def test_every_task_can_be_looked_at(task: str) -> None:
    """A draft of any task has a page for each list of each arm; missing texts are shown as missing."""
    items = tuple(catalog.module("tasks", task).example_items("en"))  # type: ignore[attr-defined]
    draft = draft_definition(items, task=task, items_file="", language="en", name=task)
    study = on_disk(draft.model_copy(update={"search": "entities.tsv"}), items)
    pages = {page.name: page for page in preview_pages(study.freeze(), Pages())}
    for list_id in study.freeze().record.places:
        assert f"list_{list_id}_1" in pages
    assert "this text is missing" in pages["consent"].html
    assert all(page.html.startswith("<!doctype html>") for page in pages.values())


def test_a_gallery_shows_each_page_and_stores_nothing() -> None:
    """Known questions, feedback of practice, catch trial and attention check have pages; a form leads back."""

    async def look() -> None:
        app = preview_app(on_disk(made_definition(), made_items()), ServerSettings(ORIGIN))
        browser = Browser(app, ORIGIN)
        index = await browser.get("/")
        links = re.findall(r'href="(/page/[^"]+)"', index.text)
        names = {link.removeprefix("/page/") for link in links}
        assert {"qualification_1", "practice_1", "practice_1_feedback", "end_screened_out"} <= names
        assert "catch" in index.text
        assert "attention" in index.text
        for link in links:
            page = await browser.get(link)
            assert page.status == 200
            for address in re.findall(r'(?:href|src)="(/static/[^"]+)"', page.text):
                assert (await browser.get(address)).status == 200
        assert (await browser.post("/trial/trials/0", {"value-trials-0": "3"})).path == "/"
        assert (await browser.get("/page/none")).status == 404

    asyncio.run(look())
