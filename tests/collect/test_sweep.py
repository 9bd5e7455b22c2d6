"""Sweeps: the runs are those of single collections, byte for byte; the plan is told; what is wrong is said before."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.subjects.fake_chat import FakeChat, error, serving

from lexiscope.collect import collect_run
from lexiscope.collect.sweep import read_sweep, run_sweep, sweep_costs, sweep_limit_remarks, sweep_plan, swept_folders
from lexiscope.core.errors import CapabilityError, InputError, RunError
from lexiscope.core.response import ResponseTable
from lexiscope.core.run import read_json
from lexiscope.datasets.mini_relatedness import load
from lexiscope.studies.kit.verify import verify_run
from lexiscope.subjects._answer_log import AnswerLog, gather_logs

SWEEP = """\
data:
  - items: mini_relatedness
    language: en
  - items: pairs.csv
    name: own
    task: same_sense
    columns: {sentence_1: Frase}
    subjects: [baseline:random]
subjects: [baseline:random, baseline:word_overlap]
views: [full, word]
seeds: [0, 7]
"""
PAIRS = "Frase,sentence_2,target\nThe bank was steep.,The bank was muddy.,bank\nA bat flew.,The bat is wooden.,bat\n"


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pairs.csv").write_text(PAIRS)


def sweep_of(text: str, out: Path = Path("S"), *, collected: bool = True) -> list[str]:
    """Collect a sweep, or only plan it; return the folders of its runs as they end."""
    Path("sweep.yaml").write_text(text)
    folders: list[str] = []
    sweep = read_sweep("sweep.yaml")
    if collected:
        run_sweep(sweep, out=out, finished=lambda run, table: folders.append(run.folder))
    return folders


def contents(folder: Path) -> dict[str, bytes]:
    """The question, seals and answers of a run."""
    paths = (folder / "question.json", folder / "responses.parquet", *(folder / "parts").iterdir())
    return {path.name: path.read_bytes() for path in paths}


def test_a_run_of_a_sweep_is_that_of_a_single_collection() -> None:
    """Question, seals and answers have the same bytes; each dataset with each seed has a folder."""
    folders = sweep_of(SWEEP)
    first = "mini_relatedness-relatedness-seed"
    assert folders == [f"{first}0", f"{first}7", "own-seed0", "own-seed7"]
    items = tuple(item for item in load().items if item.usages[0].language == "en")
    subjects = ["baseline:random", "baseline:word_overlap"]
    collect_run(items, subjects, "relatedness", out=Path("one"), views=("full", "word"), seed=7)
    assert contents(Path("S", f"{first}7")) == contents(Path("one"))
    own = ResponseTable.read_parquet(Path("S/own-seed0/responses.parquet"))
    assert (own.unique("subject_id"), own.unique("task"), own.unique("view")) == (
        ("baseline:random",),
        ("same_sense",),
        ("full", "word"),
    )
    runs = read_json(Path("S/run.json"))["sweep"]["runs"]
    assert [run["folder"] for run in runs] == folders
    assert swept_folders(Path("S")) == [Path("S", folder) for folder in folders]
    assert swept_folders(Path("S", folders[0])) == swept_folders(Path("elsewhere")) == []
    # of the first two runs a question, eight files of parts, answers and record; of the others four of parts
    assert "S/run.json: whole; as written: 36 files" in verify_run(Path("S"))


def test_the_answers_of_a_sweep_are_read_once() -> None:
    """A scan of the folder has the rows of each run once, not also those of its parts."""
    folders = sweep_of(SWEEP)
    rows = [len(ResponseTable.read_parquet(Path("S", folder, "responses.parquet"))) for folder in folders]
    assert min(rows) > 0
    scan = ResponseTable.scan("S")
    assert (len(scan), scan.left_out) == (sum(rows), ())
    Path("S/run.json").unlink()
    assert len(ResponseTable.scan("S")) == sum(rows)


def test_a_sweep_is_continued_and_extended() -> None:
    """What is sealed is kept, what is missing is asked; a further seed or subject is another line of the file."""
    sweep_of(SWEEP)
    before = contents(Path("S/own-seed0"))
    lost = next(Path("S/own-seed7/parts").glob("*.json"))
    lost.unlink()
    sweep = read_sweep("sweep.yaml")
    missing = [row for row in sweep_plan(sweep, out=Path("S")) if not row["finished"]]
    assert [(row["folder"], row["subject"]) for row in missing] == [("own-seed7", "baseline:random")]
    costs = sweep_costs(sweep, out=Path("S"))
    probed = [run.folder for run, own in zip(sweep.runs, costs, strict=True) if any(cost.probed for cost in own)]
    assert probed == ["own-seed7"]
    assert all(cost.sends is False and cost.n_requests == 0 for own in costs for cost in own)
    assert not lost.exists()
    sweep_of(SWEEP.replace("[0, 7]", "[0, 7, 8]"))
    assert lost.is_file()
    assert contents(Path("S/own-seed0")) == before
    assert all(row["finished"] for row in sweep_plan(read_sweep("sweep.yaml"), out=Path("S")))
    assert Path("S/own-seed8/run.json").is_file()


def test_workers_change_no_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine of the environment fills every run of a sweep with the same bytes."""
    few = SWEEP.replace("[0, 7]", "[0]")
    sweep_of(few, Path("serial"))
    monkeypatch.setenv("LEXISCOPE_ENGINE", "processes:2")
    for folder in sweep_of(few, Path("shared")):
        assert contents(Path("shared", folder)) == contents(Path("serial", folder))


def test_a_subject_that_cannot_answer_stops_a_sweep_before_it_begins() -> None:
    """The last dataset is checked before the first is asked: no folder is made."""
    text = SWEEP.replace("task: same_sense", "task: minimal_pair").replace("pairs.csv", "mini_synonymy")
    text = text.replace("    columns: {sentence_1: Frase}\n", "").replace("    subjects: [baseline:random]\n", "")
    with pytest.raises((CapabilityError, InputError)):
        sweep_of(text.replace("baseline:word_overlap", "encoder:minilm"))
    assert not Path("S").exists()


@pytest.mark.parametrize(
    ("old", "new", "code", "place"),
    [
        ("seeds:", "seed:", "E611", "sweep.yaml:11:1"),
        ("[0, 7]", "[0, -1]", "E612", "sweep.yaml:11:12"),
        ("[0, 7]", "[true]", "E612", "sweep.yaml:11:9"),
        ("[0, 7]", "[0, 0]", "E612", "sweep.yaml:11:12"),
        ("[full, word]", "[full, wrd]", "E612", "sweep.yaml:10:15"),
        ("[full, word]", "full", "E612", "sweep.yaml:10:8"),
        ("subjects: [baseline:random, baseline:word_overlap]\n", "", "E613", "sweep.yaml:1:1"),
        ("    name: own\n", "    name: mini_relatedness-relatedness\n", "E612", "sweep.yaml:4:12"),
    ],
)
def test_a_mistake_is_named_with_its_place(old: str, new: str, code: str, place: str) -> None:
    """Unknown names, wrong values, what is missing and two runs for one folder are errors with line and column."""
    with pytest.raises(InputError) as caught:
        sweep_of(SWEEP.replace(old, new), collected=False)
    assert (caught.value.code, str(caught.value.place)) == (code, place)


def test_the_example_of_the_page_is_collected(pytestconfig: pytest.Config) -> None:
    """docs/models/several-processors.md: its file is read, and gives the folders that the page names."""
    page = (pytestconfig.rootpath / "docs/models/several-processors.md").read_text(encoding="utf-8")
    text = page.split("```yaml\n")[1].split("```")[0].replace("encoder:minilm, ", "")
    assert "mini_senses-same_sense-seed0" in sweep_of(text)
    assert "my_sweep/mini_senses-same_sense-seed0" in page


# -- what the runs of a sweep share -----------------------------------------------------------------------------------

CHAT = """\
data:
  - items: pairs.csv
    name: first
    columns: {sentence_1: Frase}
  - items: pairs.csv
    name: second
    task: same_sense
    columns: {sentence_1: Frase}
"""


def chat_sweep(url: str, options: str = "", more: str = "", seeds: str = "[0, 1, 2]") -> str:
    spec = f"chat:m@{url}?backoff=0.001&retries=1&parallel=1{options}"
    return f'{CHAT}subjects: ["{spec}"{more}]\nseeds: {seeds}\n'


def test_a_request_is_sent_once_in_a_sweep() -> None:
    """The request holds no seed: later seeds have the rows of a run of that seed alone, and nothing is paid twice."""
    endpoint = FakeChat()
    with serving(endpoint) as url:
        text = chat_sweep(url)
        Path("sweep.yaml").write_text(text)
        costs = [cost for own in sweep_costs(read_sweep("sweep.yaml"), out=Path("S")) for cost in own]
        assert [cost.n_requests for cost in costs] == [2, 0, 0, 2, 0, 0]
        sweep_of(text)
        assert set(endpoint.paid.values()) == {1}
        assert sum(endpoint.paid.values()) == 4
        run = read_sweep("sweep.yaml").runs[1]
        collect_run(run.source.items, run.subjects, run.task, out=Path("one"), seed=1)
    assert contents(Path("one")) == contents(Path("S/first-seed1"))
    assert not any("not part of the run" in line for line in verify_run(Path("S")))


def test_requests_that_hold_the_seed_are_sent_for_each() -> None:
    """Where tokens are drawn, each seed is another request."""
    endpoint = FakeChat()
    with serving(endpoint) as url:
        sweep_of(chat_sweep(url, "&temperature=1", seeds="[0, 1]"))
    assert sum(endpoint.paid.values()) == 8


@pytest.mark.parametrize(
    ("options", "said"),
    [("&max_calls=5", "5 calls"), ("&price_in=1&price_out=10&budget=0.0006", "budget of 0.0006 is spent")],
)
def test_a_limit_holds_for_the_whole_sweep(options: str, said: str) -> None:
    """One account for all runs, also when the sweep is resumed; 100 and 2 tokens a reply cost 0.00012."""
    endpoint = FakeChat()
    with serving(endpoint) as url:
        text = chat_sweep(url, f"&temperature=1{options}")
        Path("sweep.yaml").write_text(text)
        sweep = read_sweep("sweep.yaml")
        (remark,) = sweep_limit_remarks(sweep, sweep_costs(sweep, out=Path("S")), out=Path("S"))
        assert "leaves" in remark
        for _ in range(2):
            with pytest.raises(RunError, match=said):
                sweep_of(text)
            assert sum(endpoint.paid.values()) == 5


def test_replies_of_single_runs_count_in_a_sweep() -> None:
    """What the run folders had before they were part of a sweep is counted and not asked again."""
    endpoint = FakeChat()
    with serving(endpoint) as url:
        text = chat_sweep(url, "&max_calls=4", seeds="[0]")
        Path("sweep.yaml").write_text(text)
        run = read_sweep("sweep.yaml").runs[0]
        collect_run(run.source.items, run.subjects, run.task, out=Path("S", run.folder), seed=0)
        shutil.rmtree(Path("S", run.folder, "parts"))
        sweep_of(text)
    assert sum(endpoint.paid.values()) == 4


def test_a_subject_without_a_seed_is_asked_once() -> None:
    """Its finished parts are taken over by the other seeds, with the bytes of a run of that seed alone."""
    Path("counts.py").write_text(COUNTS)
    text = SWEEP.replace("subjects: [baseline:random]", "subjects: [./counts.py:a]")
    text = text.replace("[baseline:random, baseline:word_overlap]", "[./counts.py:a]")
    sweep_of(text)
    # two datasets in two views
    assert Path("asked").read_text() == "x" * 4
    items = read_sweep("sweep.yaml").runs[1].source.items
    collect_run(items, ["./counts.py:a"], "relatedness", out=Path("one"), views=("full", "word"), seed=7)
    assert contents(Path("S/mini_relatedness-relatedness-seed7")) == contents(Path("one"))


COUNTS = """\
from pathlib import Path

from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.response import ResponseTable

CAPABILITIES = ("Judges",)


class Counting:
    kind = "counts.py"
    subject_id = "./counts.py:a"
    facts = SubjectFacts("./counts.py:a", kind="counts.py", revision="1")

    def judge(self, items, task):
        with Path("asked").open("a") as stream:
            stream.write("x")
        names = {"subject_id": self.subject_id, "subject_kind": self.kind, "task": task}
        measure = "rating" if task == "relatedness" else "choice"
        values = {"value": [1.0] * len(items)} if measure == "rating" else {"option": ["t"] * len(items)}
        ids = [item.item_id for item in items]
        return ResponseTable.from_columns({**names, "measure": measure, "item_id": ids, **values})


def load(spec):
    return Counting()
"""


# -- failures and places ----------------------------------------------------------------------------------------------


def test_a_failing_subject_stops_no_other() -> None:
    """All others are asked in all runs; the error names subject, items and folder; without it the sweep ends."""
    endpoint = FakeChat(faults=(lambda *_: (402, error("no credit"), {}),))
    with serving(endpoint) as url:
        text = chat_sweep(url, more=", baseline:random", seeds="[0, 1]")
        with pytest.raises(RunError, match="4 parts of this sweep") as caught:
            sweep_of(text)
        for folder in ("first-seed0", "first-seed1", "second-seed0", "second-seed1"):
            assert f"pairs.csv in the run folder {folder}: " in caught.value.why
            assert len(list(Path("S", folder, "parts").glob("*.json"))) == 1
        assert f"chat:m@{url} on pairs.csv" in caught.value.why
    folders = sweep_of(f"{CHAT}subjects: [baseline:random]\nseeds: [0, 1]\n")
    assert len(folders) == 4
    assert verify_run(Path("S"))


def test_every_run_folder_is_compared_before_any_subject_is_asked() -> None:
    """The last run folder belongs to other items: nothing is asked, and a dry run says so, too."""
    sweep_of(SWEEP.replace("[0, 7]", "[7]"))
    Path("pairs.csv").write_text(PAIRS.replace("muddy", "dry"))
    with pytest.raises(RunError, match=r"the items \(read from pairs.csv\) have changed"):
        sweep_of(SWEEP)
    assert not Path("S/mini_relatedness-relatedness-seed0").exists()
    with pytest.raises(RunError, match="another question"):
        sweep_costs(read_sweep("sweep.yaml"), out=Path("S"))


def test_a_sweep_and_a_run_do_not_share_a_folder() -> None:
    """Neither replaces the record of the other, also before the sweep is finished."""
    items = load().items
    sweep_of(SWEEP)
    for _ in range(2):
        with pytest.raises(RunError, match=r"folder of a sweep|other run folders"):
            collect_run(items, ["baseline:random"], "relatedness", out=Path("S"))
        Path("S/run.json").unlink(missing_ok=True)
    collect_run(items, ["baseline:random"], "relatedness", out=Path("R"))
    record = Path("R/run.json").read_bytes()
    with pytest.raises(RunError, match="folder of a single run"):
        sweep_of(SWEEP, Path("R"))
    assert Path("R/run.json").read_bytes() == record


def test_replies_that_runs_had_by_themselves_are_shared(tmp_path: Path) -> None:
    """Each once, in any number of calls; a damaged line is named where it is, and is not copied."""
    logs = [AnswerLog(tmp_path / name, "key") for name in ("one", "two")]
    logs[0].put("q1", {"text": "é", "cost": 0.1})
    logs[1].put("q1", {"text": "another"})
    logs[1].put("q2", None)
    for _ in range(2):
        gather_logs([tmp_path / "one", tmp_path / "two", tmp_path / "none"], tmp_path / "all")
    shared = AnswerLog(tmp_path / "all", "key")
    assert (shared.get("q1"), "q2" in shared, len(shared)) == ({"text": "é", "cost": 0.1}, True, 2)
    assert shared.path is not None
    before = shared.path.read_bytes()
    assert logs[0].path is not None
    assert logs[1].path is not None
    assert before.startswith(logs[0].path.read_bytes())
    logs[1].put("q3", "x")
    logs[1].path.write_bytes(logs[1].path.read_bytes().replace(b'"x"', b'"y"'))
    with pytest.raises(RunError, match=r"two/.*: this line of stored answers is damaged"):
        gather_logs([tmp_path / "two"], tmp_path / "all")
    assert shared.path.read_bytes() == before
