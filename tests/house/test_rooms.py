"""DESIGN §2: a folder of the package reads like a page of a table of contents."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

#: What a folder may hold. Those that still hold more are named with their number, which may only fall.
MOST = 20
#: Folders in which each file is one more thing of the same kind: they grow with what is published.
ALIKE = {"datasets"}
#: A folder's number of files besides its ``__init__.py``.
LARGER = {
    "core": 25,
}
TESTS = Path(__file__).parents[1]
#: Folders of tests that belong to no room of the package.
APART = {"every", "golden", "house", "published", "simulated", "sixth", "walks"}
#: Behaviours of several modules of a room, or of the running whole: a name that is not a module's.
BEHAVIOURS = {
    ".": {"front_door"},
    "analysis": {"coverage", "extreme_units", "nist", "units"},
    "analysis/senses": {"votes_counted_by_hand"},
    "annotation/rehearsal": {"simulated_stay_marked"},
    "annotation/store": {"durability", "killed_processes", "postgres", "postgres_killed"},
    "annotation/web": {
        "after_the_end", "arms_and_stages", "browser_pages", "browser_traps", "browser_walks", "browser_xss", "clocks",
        "failed_maintenance", "flaky_network", "foreign_lock", "full_disk", "hand_off", "interrupted_participants",
        "killed_server", "locale", "odd_requests", "outage", "own_words", "races", "running_loss", "several_workers",
        "soak", "unicode", "whole_studies",
    },
    "datasets": {"entity_linking", "pair_sets", "word_pairs"},
    "resources/vectors/multi_sense": {"damaged_files", "every_form"},
    "report/answers": {"rules"},
    "report/marks": {"marks"},
    "report/page": {"results_page"},
    "studies": {"settings_of_papers", "words_of_papers"},
    "subjects": {"any_reply", "devices", "odd_folders"},
    "tasks": {"prompts", "scale_of_the_item"},
    "training": {"planted_views"},
    "training/gasi": {"replay"},
}  # fmt: skip


def test_a_folder_holds_few_files(package: Path) -> None:
    """No folder has more than twenty files; of those that have, none grows."""
    files = Counter(
        str(path.parent.relative_to(package)) for path in package.rglob("*.py") if path.name not in ("__init__.py",)
    )
    assert {
        folder: number for folder, number in files.items() if number > LARGER.get(folder, MOST) and folder not in ALIKE
    } == {}
    assert {folder for folder in LARGER if files[folder] <= MOST} == set()


def test_each_folder_says_what_belongs_there(modules: dict[str, ast.Module]) -> None:
    """The docstring of each room begins with one line that ends a sentence."""
    first = {
        path: (ast.get_docstring(tree) or "").partition("\n")[0]
        for path, tree in modules.items()
        if path.endswith("__init__.py")
    }
    assert {path: line for path, line in first.items() if not line.endswith((".", "?"))} == {}


def test_the_tests_of_a_module_are_found_by_its_path(package: Path) -> None:
    """``tests/room/test_module.py`` or ``test_module_topic.py``; another name is a behaviour, listed above."""
    homeless, listed = set(), {(room, name) for room, names in BEHAVIOURS.items() for name in names}
    for path in TESTS.rglob("test_*.py"):
        room, name = path.parent.relative_to(TESTS), path.stem.removeprefix("test_")
        if room.parts and room.parts[0] in APART:
            continue
        modules = {file.stem.lstrip("_") for file in (package / room).glob("*.py")}
        modules |= {file.parent.name for file in (package / room).glob("*/__init__.py")}
        if not any(name == module or name.startswith(f"{module}_") for module in modules):
            homeless.add((room.as_posix(), name))
    assert homeless - listed == set(), "name these test files after the module that they test, or list the behaviour"
    assert listed - homeless == set(), "these behaviours have no test file of that name"
