"""Run as a program: serve the small study of made_web on a port and a folder until killed."""

from __future__ import annotations

import sys
from pathlib import Path

import uvicorn

from lexiscope.annotation.store.store import Store
from lexiscope.annotation.study_file.definition import CatchSection, DesignSection, RatingsSection
from lexiscope.annotation.study_file.freeze import FrozenStudy, freeze
from lexiscope.annotation.web.app import App
from lexiscope.annotation.web.security import ServerSettings
from lexiscope.annotation.web.server import create_app

from .made_web import made_definition, made_items


def long_study() -> FrozenStudy:
    """One list of 60 items, places for everybody, no page before the trials but consent and instructions."""
    definition = made_definition(
        qualification=(),
        practice=(),
        attention=(),
        about_you=(),
        exclusions=(),
        design=DesignSection(lists=1),
        ratings=RatingsSection(per_item=10_000),
        catch=CatchSection(per_list=0),
    )
    return freeze(definition, made_items(60))


def main() -> None:
    port, folder = int(sys.argv[1]), Path(sys.argv[2])
    study = long_study()
    with Store.open(folder, study.record) as store:
        app = App.of(study, store, ServerSettings(f"http://127.0.0.1:{port}", port=port))
        app.saves.burst, app.saves.per_second = 10**6, 1e6
        uvicorn.run(create_app(app), host="127.0.0.1", port=port, log_level="error", access_log=False)


if __name__ == "__main__":
    main()
