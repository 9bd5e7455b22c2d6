"""DESIGN §2: what is true of one task is said in its folder; general code asks the task and names none.

A study names its own task and a dataset that of its answers, so that ``tasks``, ``datasets`` and each study (not their
kit) are free. Elsewhere no text is the name of a task, no text holds such a name as a word, and nothing is imported
from the folder of a task. Docstrings are free: they may give examples.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from lexiscope.core import catalog

#: A file, and why it names a task by nature.
NAMED = {
    "build/forced_choice.py": "makes choice sets of forced choices and back: the items of two tasks",
    "build/gap_filling/gaps.py": "makes the items of the task that it is called after",
    "build/stories/stories.py": "makes the items of AmbiStory's last task",
    "cli/annotate/report.py": "the verb says which study analyses the answers to each task",
    "cli/annotate/writing.py": "the pool of homonyms is material of one task: a language model may draft its examples",
    "cli/build/pairs.py": "the verb that makes the items of a task says how they are asked",
    "cli/choices.py": "the verb reads the sheets of one task, the forced choice between two substitutes",
    "cli/senses/distinct.py": "the verb reads people's answers to one of GASI's two tests",
    "cli/senses/make_tests.py": "the verbs make the items of GASI's two tests of induced senses",
    "core/item.py": "the condition same_sense is called as the task that asks for it",
    "report/parts/sense_parts.py": "GASI's evaluations of senses: the measures of the tasks that answer by sense",
    "report/parts/sense_test_parts.py": "GASI's two tests of induced senses",
    "studies/kit/profile/battery.py": "the families of a profile, three of which are called as tasks are",
}

TASKS = frozenset(catalog.names("tasks"))
#: These are words of English, or the name of a condition, too: in a sentence they name no task.
WORDS = frozenset({"plausibility", "relatedness", "same_sense", "substitution"})
WITHIN = re.compile(rf"\b({'|'.join(sorted(TASKS - WORDS))})\b")


def is_free(path: str) -> bool:
    """Whether a file is of a task, a dataset or a study."""
    room, _, inner = path.partition("/")
    return room in ("tasks", "datasets") or (room == "studies" and not inner.startswith("kit/"))


def named(tree: ast.Module) -> Iterator[str]:
    """Yield the names of tasks that a file has in its texts and imports, docstrings left out."""
    documentation = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in documentation:
            yield from {node.value} & TASKS or set(WITHIN.findall(node.value))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("lexiscope.tasks"):
            within = {*(node.module or "").split("."), *(alias.name for alias in node.names)}
            yield from within & TASKS


def test_general_code_names_no_task(modules: dict[str, ast.Module]) -> None:
    """Outside tasks, datasets and studies, a file that names a task is one that does so by nature."""
    found = {path: sorted(set(named(tree))) for path, tree in modules.items() if not is_free(path)}
    assert {path: names for path, names in found.items() if names and path not in NAMED} == {}
    assert {path for path in NAMED if not found.get(path)} == set()


def test_a_name_is_seen_in_a_text_and_in_an_import() -> None:
    """Seen are a name that is a text, one within a text, and an import; not a docstring, not a word of English."""
    texts = 'a = "substitution"\nb = f"--task story_ending {a}"\n'
    seen = ast.parse(f"{texts}from lexiscope.tasks.entity_link import NAME\n")
    assert sorted(named(seen)) == ["entity_link", "story_ending", "substitution"]
    texts = '"""Of word_intrusion."""\na = "the plausibility of a meaning"\n'
    unseen = ast.parse(f"{texts}from lexiscope.tasks.kit import asking\n")
    assert list(named(unseen)) == []
