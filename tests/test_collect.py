"""Collect: refused before any work, kept part by part, continued with the same bytes, one writer at a time."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lexiscope.collect import collect, collect_run, kept_besides
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import CapabilityError, InputError, RunError
from lexiscope.core.item import Item, items_sha256
from lexiscope.core.response import ResponseTable
from lexiscope.core.run import folder_lock
from lexiscope.core.usage import Usage
from lexiscope.studies.kit.verify import verify_run

TEXTS = ["The bank of the river was wet", "The bank of the lake was wet", "She robbed the bank in town", "A bank lends"]
USAGES = [Usage(text, text.index("bank"), text.index("bank") + 4) for text in TEXTS]
ITEMS = [
    Item(f"{a}-{b}", "test", (USAGES[a], USAGES[b]), conditions={"same": a + b == 1})
    for a in range(4)
    for b in range(a)
]


class Fake:
    """An encoder whose vectors depend on the text and on its own name; it counts how often it is asked."""

    kind = "encoder"

    def __init__(self, name: str, revision: str = "1", *, breaks: bool = False) -> None:
        self.subject_id, self.revision, self.breaks, self.calls = f"encoder:{name}", revision, breaks, 0

    @property
    def layers(self) -> tuple[int, ...]:
        return (0, 1)

    @property
    def facts(self) -> SubjectFacts:
        return SubjectFacts(self.subject_id, revision=self.revision)

    def embed(self, usages: Sequence[Usage], *, work: Path | None = None, progress: Any = None) -> np.ndarray:
        self.calls += 1
        if self.breaks:
            raise KeyboardInterrupt
        rows = [random.Random(f"{self.subject_id} {self.revision} {usage.key}") for usage in usages]
        if progress is not None:
            progress(len(usages), len(usages))
        return np.array([[[r.random() for _ in range(3)] for _ in self.layers] for r in rows], dtype=np.float32)


class Mute:
    subject_id, kind, facts = "mute:x", "mute", SubjectFacts("mute:x")


def bytes_of(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != ".lock"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_rows_are_ordered_by_subject_view_item_layer(tmp_path: Path) -> None:
    """The order is that of the arguments; with and without a folder the answers are the same."""
    views = ("full+final_stop", "full")
    table = collect(ITEMS, [Fake("b"), Fake("a")], "relatedness", views=views, out=tmp_path)
    expected = [
        (subject, view, item.item_id, layer)
        for subject in ("encoder:b", "encoder:a")
        for view in views
        for item in ITEMS
        for layer in (0, 1)
    ]
    assert [(r.subject_id, r.view, r.item_id, r.layer) for r in table.rows()] == expected
    assert table == collect(ITEMS, [Fake("b"), Fake("a")], "relatedness", views=views)
    assert table == ResponseTable.read_parquet(tmp_path / "responses.parquet")


def test_who_cannot_answer_is_refused_before_any_work(tmp_path: Path) -> None:
    """The second subject cannot answer: the first one is not asked, and nothing is written."""
    fake = Fake("a")
    with pytest.raises(CapabilityError, match="mute:x"):
        collect(ITEMS, [fake, Mute()], "relatedness", out=tmp_path / "run")
    assert fake.calls == 0
    assert not (tmp_path / "run").exists()


def test_a_finished_run_is_not_repeated(tmp_path: Path) -> None:
    """The same call again asks nobody and changes no byte."""
    collect(ITEMS, [Fake("a")], "relatedness", out=tmp_path)
    before = bytes_of(tmp_path)
    again = Fake("a")
    collect(ITEMS, [again], "relatedness", out=tmp_path)
    assert again.calls == 0
    assert bytes_of(tmp_path) == before


def test_a_broken_run_continues_with_the_same_bytes(tmp_path: Path) -> None:
    """Broken in the second subject: the first is not asked again, and the folder ends as an unbroken one."""
    collect(ITEMS, [Fake("a"), Fake("b")], "relatedness", out=tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        collect(ITEMS, [Fake("a"), Fake("b", breaks=True)], "relatedness", out=tmp_path / "broken")
    assert not (tmp_path / "broken" / "responses.parquet").exists()
    first = Fake("a")
    collect(ITEMS, [first, Fake("b")], "relatedness", out=tmp_path / "broken")
    assert first.calls == 0
    assert bytes_of(tmp_path / "broken") == bytes_of(tmp_path / "whole")


def test_a_run_may_grow(tmp_path: Path) -> None:
    """A further subject or view is asked beside the finished ones, which are not asked again."""
    collect(ITEMS, [Fake("a")], "relatedness", out=tmp_path / "grown")
    old = Fake("a")
    views = ("full", "full+final_stop")
    collect(ITEMS, [old, Fake("b")], "relatedness", views=views, out=tmp_path / "grown")
    collect(ITEMS, [Fake("a"), Fake("b")], "relatedness", views=views, out=tmp_path / "at_once")
    assert old.calls == 1, "only the new view is asked"
    assert bytes_of(tmp_path / "grown") == bytes_of(tmp_path / "at_once")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"items": ITEMS[:-1]}, "n_items was 6 and is now 5"),
        ({"subjects": [Fake("a", revision="2")]}, "revision was '1' and is now '2'"),
        ({"subjects": [Fake("b")]}, "subject was 'encoder:a'"),
        ({"views": ("full+final_stop",)}, "view was 'full'"),
        ({"seed": 5}, "seed was 0 and is now 5"),
    ],
)
def test_another_question_is_refused(tmp_path: Path, changed: dict[str, Any], said: str) -> None:
    """Other items, another revision, another seed, nothing of what was asked: the folder has another question."""
    asked: dict[str, Any] = {"items": ITEMS, "subjects": [Fake("a")], "task": "relatedness", "out": tmp_path}
    collect(**asked)
    before = bytes_of(tmp_path)
    with pytest.raises(RunError, match=f"another question[\\s\\S]*{said}"):
        collect(**(asked | changed))
    assert bytes_of(tmp_path) == before


def test_a_subject_can_be_dropped_and_asked_again(tmp_path: Path) -> None:
    """A part of what a folder has answered is no other question: the other answers are kept, and taken up again."""
    both, one = ["baseline:word_overlap", "baseline:random"], ["baseline:word_overlap"]
    collect_run(ITEMS, both, "relatedness", out=tmp_path / "run")
    whole = bytes_of(tmp_path / "run")
    collect_run(ITEMS, one, "relatedness", out=tmp_path / "alone")
    assert kept_besides(tmp_path / "run") == []
    table = collect_run(ITEMS, one, "relatedness", out=tmp_path / "run")
    assert table.unique("subject_id") == ("baseline:word_overlap",)
    assert kept_besides(tmp_path / "run") == ["baseline:random, full"]
    # the run is the one that was asked alone; what is kept is no file of it
    for name in ("run.json", "responses.parquet", "question.json"):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "alone" / name).read_bytes()
    lines = verify_run(tmp_path / "run")
    assert any("put together again from 1 part" in line for line in lines)
    assert sum("not part of the run" in line for line in lines) == 2
    collect_run(ITEMS, both, "relatedness", out=tmp_path / "run")
    again = bytes_of(tmp_path / "run")
    assert {name: content for name, content in again.items() if name != "machine.json"} == {
        name: content for name, content in whole.items() if name != "machine.json"
    }


def test_a_failing_subject_can_be_replaced(tmp_path: Path) -> None:
    """What was asked and not answered is nothing to protect, also after its file or revision was changed."""
    for changed in (Fake("b", revision="2"), Fake("c")):
        out = tmp_path / changed.subject_id[-1]
        with pytest.raises(KeyboardInterrupt):
            collect(ITEMS, [Fake("a"), Fake("b", breaks=True)], "relatedness", out=out)
        first = Fake("a")
        table = collect(ITEMS, [first, changed], "relatedness", out=out)
        assert (first.calls, table.unique("subject_id")) == (0, ("encoder:a", changed.subject_id))


def test_kept_answers_are_no_answers_of_another_revision(tmp_path: Path) -> None:
    """A subject that was dropped and has changed is another question when it is asked again."""
    collect(ITEMS, [Fake("a"), Fake("b")], "relatedness", out=tmp_path)
    collect(ITEMS, [Fake("a")], "relatedness", out=tmp_path)
    with pytest.raises(RunError, match="revision was '1' and is now '2'") as caught:
        collect(ITEMS, [Fake("a"), Fake("b", revision="2")], "relatedness", out=tmp_path)
    assert "delete" not in caught.value.hint


def test_a_run_does_not_replace_the_record_of_others(tmp_path: Path) -> None:
    """A folder that holds run folders is no run folder."""
    collect_run(ITEMS, [Fake("a")], "relatedness", out=tmp_path / "one")
    with pytest.raises(RunError, match="holds other run folders, such as one"):
        collect_run(ITEMS, [Fake("a")], "relatedness", out=tmp_path)


def test_every_damage_to_a_part_is_found(tmp_path: Path) -> None:
    """Any flipped bit or cut of a finished part is an error that names the file and both checksums."""
    collect(ITEMS, [Fake("a")], "relatedness", out=tmp_path)
    (part,) = (tmp_path / "parts").glob("*.parquet")
    good, rng = part.read_bytes(), random.Random(5)
    for _ in range(100):
        bad = bytearray(good)
        bad[rng.randrange(len(bad))] ^= 1 << rng.randrange(8)
        for content in (bytes(bad), good[: rng.randrange(len(good))]):
            part.write_bytes(content)
            with pytest.raises(RunError, match=f"{part.name}[\\s\\S]*sha256 .*, expected "):
                collect(ITEMS, [Fake("a")], "relatedness", out=tmp_path)


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    """While one process writes, another is refused and told the number of the first; after its end it may write."""
    script = (
        "import sys, time; from pathlib import Path; from lexiscope.core.run import folder_lock\n"
        f"with folder_lock(Path({str(tmp_path)!r})): print('held', flush=True); time.sleep(60)"
    )
    holder = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(RunError, match=f"another process \\(pid {holder.pid}\\)"):
            collect(ITEMS, [Fake("a")], "relatedness", out=tmp_path)
    finally:
        holder.kill()
        holder.wait()
    assert len(collect(ITEMS, [Fake("a")], "relatedness", out=tmp_path)) == len(ITEMS) * 2


def test_the_lock_is_given_back(tmp_path: Path) -> None:
    """After the block, also after an error in it, the folder can be locked again."""
    with pytest.raises(ZeroDivisionError), folder_lock(tmp_path):
        raise ZeroDivisionError
    with folder_lock(tmp_path):
        assert (tmp_path / ".lock").read_text() == f"pid {os.getpid()}\n"


def test_empty_and_double_questions_are_refused() -> None:
    """No items, no subjects, the same subject or item twice: refused."""
    for items, subjects in (([], [Fake("a")]), (ITEMS, []), (ITEMS, [Fake("a"), Fake("a")]), (ITEMS * 2, [Fake("a")])):
        with pytest.raises(InputError):
            collect(items, subjects, "relatedness")


def test_items_hash_sees_every_change() -> None:
    """Another letter, span, condition or order is another hash."""
    usage = USAGES[0]
    base = Item("i", "d", (usage, USAGES[1]), conditions={"same": True})
    others = [
        Item("j", "d", (usage, USAGES[1]), conditions={"same": True}),
        Item("i", "d", (Usage(usage.text, 4, 7), USAGES[1]), conditions={"same": True}),
        Item("i", "d", (Usage(usage.text + "!", 4, 8), USAGES[1]), conditions={"same": True}),
        Item("i", "d", (usage, USAGES[1]), conditions={"same": False}),
    ]
    assert len({items_sha256([item]) for item in [base, *others]}) == 5
    assert items_sha256(ITEMS) != items_sha256(ITEMS[::-1])


def test_run_record(tmp_path: Path) -> None:
    """run.json holds the command, seed, checksums, versions and the counts in and out of every subject."""
    subjects = [Fake("a"), "baseline:random"]
    table = collect_run(ITEMS, subjects, "relatedness", out=tmp_path, seed=7, command=["lexiscope", "collect"])
    record = json.loads((tmp_path / "run.json").read_text())
    assert (record["command"], record["seed"], record["items"]["n"]) == (["lexiscope", "collect"], 7, len(ITEMS))
    assert record["items"]["sha256"] == items_sha256(ITEMS)
    assert [count["rows"] for count in record["counts"]] == [len(ITEMS) * 2, len(ITEMS)]
    assert sum(count["rows"] for count in record["counts"]) == len(table)
    assert record["subjects"][1]["facts"]["revision"] == "1 seed=7"
    parts = {f"parts/{path.name}" for path in (tmp_path / "parts").iterdir()}
    assert (set(record["files"]), len(parts)) == ({"responses.parquet", "question.json", *parts}, 4)


def test_run_record_is_the_same(tmp_path: Path) -> None:
    """Two runs of the same question have the same run.json; how long they took stands in machine.json."""
    records = []
    for name in ("one", "two"):
        collect_run(ITEMS, [Fake("a")], "relatedness", out=tmp_path / name)
        record = json.loads((tmp_path / name / "run.json").read_text())
        machine = json.loads((tmp_path / name / "machine.json").read_text())
        assert machine["seconds_of_last_attempt"] >= 0
        records.append(record)
    assert records[0] == records[1]


def test_asking_again_leaves_the_record_as_it_was(tmp_path: Path) -> None:
    """A finished run that is asked again keeps what its subjects said of themselves when they answered."""
    collect_run(ITEMS, [Fake("a")], "relatedness", out=tmp_path)
    before = (tmp_path / "run.json").read_bytes()
    collect_run(ITEMS, [Fake("a")], "relatedness", out=tmp_path)
    assert (tmp_path / "run.json").read_bytes() == before


def test_progress_names_the_part() -> None:
    """Progress is told per subject and view."""
    seen: list[tuple[str, int, int]] = []
    collect(ITEMS, [Fake("a")], "relatedness", progress=lambda *each: seen.append(each))
    assert seen == [("encoder:a, full", 4, 4)]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on the size of files")
def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path) -> None:
    """Whichever file no longer fits, the error names it, no part of it stays, and the run continues afterwards."""
    import resource

    whole = collect(ITEMS, [Fake("a")], "relatedness", out=tmp_path / "whole")
    out, refused = tmp_path / "run", set()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    # from one step to the next, the first file that does not fit is refused
    for size in (0, 100, 1_000, 2_000, 3_000, 100_000):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
        try:
            collect(ITEMS, [Fake("a")], "relatedness", out=out)
        except RunError as error:
            refused.add(Path(str(error.place and error.place.path)).suffix)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert bytes_of(out).items() <= bytes_of(tmp_path / "whole").items()
    assert refused == {".json", ".parquet"}
    assert collect(ITEMS, [Fake("a")], "relatedness", out=out) == whole
    assert bytes_of(out) == bytes_of(tmp_path / "whole")


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """A file where the run folder should be is an error of the run, not a traceback."""
    (tmp_path / "taken").write_text("x", encoding="utf-8")
    with pytest.raises(RunError, match="cannot be made or written to"):
        collect(ITEMS, [Fake("a")], "relatedness", out=tmp_path / "taken")


def test_a_folder_without_answers_can_be_taken_over(tmp_path: Path) -> None:
    """A run whose only subject failed holds no answer: another subject may use the folder; one with answers is kept."""
    with pytest.raises(KeyboardInterrupt):
        collect(ITEMS, [Fake("broken", breaks=True)], "relatedness", out=tmp_path)
    table = collect(ITEMS, [Fake("sound")], "relatedness", out=tmp_path)
    assert table.unique("subject_id") == ("encoder:sound",)
    with pytest.raises(RunError, match="another question"):
        collect(ITEMS, [Fake("third")], "relatedness", out=tmp_path)
