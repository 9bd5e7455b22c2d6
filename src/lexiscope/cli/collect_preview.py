"""What ``lexiscope collect --dry-run`` shows: what each subject would be sent, and what that would cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from lexiscope.collect import Seeded
from lexiscope.core import catalog
from lexiscope.core.item import Item
from lexiscope.core.prompt import Converses, Previews
from lexiscope.items.arrange.views import view_item


def preview_rows(
    items: Sequence[Item],
    subjects: Sequence[str],
    task: str,
    views: Sequence[str],
    *,
    seed: int = 0,
    out: Path | None = None,
) -> list[dict[str, object]]:
    """Return one row per subject and view: the first request, the number of all, rough tokens, the highest cost.

    Replies that the run folder *out* keeps are not asked again, and not counted.

    A subject that is sent nothing is named with ``sends`` false. Errors: :class:`CapabilityError` for a subject that
    cannot answer; those of the task's prompt.
    """
    return [row for spec in subjects for row in _of_subject(items, spec, task, views, seed, out)]


def _of_subject(
    items: Sequence[Item], spec: str, task_name: str, views: Sequence[str], seed: int, out: Path | None
) -> list[dict[str, object]]:
    subject, task = catalog.subject(spec), catalog.task(task_name)
    if isinstance(subject, Seeded):
        subject = subject.with_seed(seed)
    task.answer_function(subject)
    for item in items:
        task.check_item(item)
    if task.asks is None or not isinstance(subject, Previews) or not isinstance(subject, Converses):
        return [{"subject": subject.subject_id, "sends": False}]
    how = subject.prompting
    rows: list[dict[str, object]] = []
    for view in views:
        questions = [
            task.asks(view_item(item, view), view=view, language=how.language, variant=how.variant, shots=how.shots)
            for item in items
        ]
        found = subject.preview(questions, work=None if out is None else out / "work")
        rows.append({"subject": subject.subject_id, "sends": True, "view": view, **asdict(found)})
    return rows
