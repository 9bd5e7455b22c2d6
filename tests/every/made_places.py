"""A dataset, a task, a kind of subject and a study that are not the package's own: files, or an installed distribution.

All of it is made up: the ratings are by rule, and nobody's.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

CSV = """item_id,sentence_1,sentence_2,target,participant,rating
i1,The bank of the river was wet,The bank of the lake was wet,bank,made_up_1,5
i1,The bank of the river was wet,The bank of the lake was wet,bank,made_up_2,4
i2,The bank of the river was wet,The bank lent her money,bank,made_up_1,1
i2,The bank of the river was wet,The bank lent her money,bank,made_up_2,2
"""

DATASET = '''"""Made-up norms of two pairs."""

from lexiscope import Dataset, DatasetCard, Scale, import_items
from lexiscope.core.dataset import DataFile
from lexiscope.resources import fetch

CARD = DatasetCard(
    name="{name}",
    title="Made-up norms",
    task="relatedness",
    language="en",
    licence="CC0-1.0",
    citation="Nobody, 2026.",
    source="made up",
    version="1",
    availability="download",
    summary="Two pairs.",
    files=(DataFile("norms/items.csv", url="data.csv", sha256="{sha256}"),),
    counts=(("items", 2), ("words", 1)),
    scale=Scale(1, 5),
)


def load():
    found = fetch.locate(CARD.files[0], dataset=CARD.name)
    read = import_items(found.path, dataset=CARD.name, scale=CARD.scale, language="en")
    return Dataset(CARD, read.items, read.responses, ((CARD.files[0].path, found.sha256),))
'''

TASK = '''"""Made-up question: how long is a text?"""

from lexiscope.core.response import ResponseTable
from lexiscope.core.task import Task


def by_judgment(items, subject, *, view, work=None, progress=None):
    """Takes the judgments that a subject gives."""
    return subject.judge(items, "{name}").with_column("view", view)


TASK = Task(
    name="{name}",
    summary="How long is a text?",
    scale=None,
    item_fields=("usages",),
    answers=(("Judges", by_judgment),),
    measures=(("length", "signs; unit: 1"),),
)
'''

SUBJECT = '''"""Made-up subject: counts signs."""

from lexiscope import ResponseTable
from lexiscope.core.dataset import SubjectFacts

CAPABILITIES = ("Judges",)


class Counts:
    kind = "counts"

    def __init__(self, spec):
        self.subject_id, self.power = str(spec), float(spec.name.partition("power=")[2] or 1)

    @property
    def facts(self):
        return SubjectFacts(self.subject_id, kind=self.kind, revision="1")

    def judge(self, items, task):
        signs = [float(len(item.usages[0].text)) ** self.power for item in items]
        rated = task == "relatedness"
        return ResponseTable.from_columns(
            {{
                "subject_id": self.subject_id,
                "subject_kind": self.kind,
                "item_id": [item.item_id for item in items],
                "task": task,
                "measure": "rating" if rated else "length",
                "value": [3.0 if rated else each for each in signs],
            }}
        )


def load(spec):
    return Counts(spec)
'''

STUDY = '''"""Made-up study: writes how many items a dataset has."""

from pathlib import Path

from lexiscope.core import catalog
from lexiscope.core.response import ResponseTable
from lexiscope.report.page.study_folder import Summary
from lexiscope.report.tables import Table


def run(settings, out, *, progress=None, command=""):
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    page = out / "report.html"
    page.write_text(str(len(catalog.dataset(settings.dataset or "mini_relatedness").items)))
    return Summary(page, 0, (), Table("overview", "", "", (), ()))
'''


def write_files(folder: Path, *, name: str = "made_{kind}") -> Path:
    """Write the four files, and the data of the dataset, into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "data.csv").write_text(CSV, encoding="utf-8")
    sha256 = hashlib.sha256(CSV.encode()).hexdigest()
    for kind, text in (("norms", DATASET), ("question", TASK), ("counts", SUBJECT), ("survey", STUDY)):
        written = text.format(name=name.format(kind=kind), sha256=sha256) if text is not STUDY else text
        (folder / f"{kind}.py").write_text(written, encoding="utf-8")
    return folder


def install(site: Path, *, distribution: str = "made-places", name: str = "made_{kind}") -> Path:
    """Write a distribution with its entry points, as an installer would, into a folder for ``sys.path``."""
    package = distribution.replace("-", "_")
    write_files(site / package, name=name)
    (site / package / "__init__.py").write_text("", encoding="utf-8")
    info = site / f"{package}-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.2\n", encoding="utf-8")
    rooms = {"datasets": "norms", "tasks": "question", "subjects": "counts", "studies": "survey"}
    points = [f"[lexiscope.{room}]\n{name.format(kind=kind)} = {package}.{kind}\n" for room, kind in rooms.items()]
    (info / "entry_points.txt").write_text("\n".join(points), encoding="utf-8")
    return site
