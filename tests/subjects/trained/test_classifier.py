"""Trained folders as subjects: the view of their training and no other, whole or refused, the same in any company."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lexiscope.core import catalog
from lexiscope.core.errors import RunError, SpecError, SubjectError
from lexiscope.core.run import read_json, write_json
from lexiscope.core.subject import SubjectSpec
from lexiscope.items.arrange.views import view_item
from lexiscope.report.page.stored import read_figure
from lexiscope.subjects.local._model_folder import ModelFolder
from lexiscope.subjects.trained import bi_encoder
from lexiscope.subjects.trained.classifier import Classifier, load
from lexiscope.tasks.kit.judging import ordered_judgments
from lexiscope.training._training import TrainedModel
from lexiscope.training.bi_encoder import train_bi_encoder
from lexiscope.training.classifier import train_pair_classifier

from ...training.tiny_views import QUICK, SPACE, pairs, retrievals, save_bert

ONCE = replace(QUICK, epochs=2)
ITEMS = pairs(20, start=64)


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(save_bert(tmp_path_factory.mktemp("bert")))


@pytest.fixture(scope="module")
def trained(bert: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, TrainedModel]:
    """A classifier of every view that is trained on, and bi-encoders."""
    out = tmp_path_factory.mktemp("trained")
    found = {
        view: train_pair_classifier(pairs(32), ITEMS, bert, view=view, out=out / view, settings=ONCE)
        for view in ("full", "context", "word", "label")
    }
    retrieval = retrievals(32), retrievals(16, start=32), SPACE
    for name, view in (("bi", "full"), ("bi_context", "context")):
        found[name] = train_bi_encoder(*retrieval, bert, view=view, out=out / name, settings=ONCE)
    return found


def subject(shard: TrainedModel) -> Classifier:
    return load(SubjectSpec.parse(shard.spec))


def test_the_task_asks_it_in_its_view(trained: dict[str, TrainedModel]) -> None:
    """Asked by the task in each view, each model answers its own; every row says which view it was."""
    for view in ("full", "context", "word", "label"):
        one = subject(trained[view])
        table = ordered_judgments(
            [view_item(item, view) for item in ITEMS], one, task="same_sense", measure="choice", view=view
        )
        assert table.unique("view") == (view,)
        assert set(table.unique("measure")) == {"choice", "probability"}
        assert one.settings["view"] == view
        assert f"view {view}" in one.facts.objective
        for other in {"full", "context", "word", "label"} - {view}:
            shown = [view_item(item, other) for item in ITEMS]
            with pytest.raises(SubjectError, match=f"'{view}' and is asked in the view '{other}'"):
                ordered_judgments(shown, one, task="same_sense", measure="choice", view=other)


def test_a_model_of_the_context_is_not_asked_where_nothing_is_shown(trained: dict[str, TrainedModel]) -> None:
    """Called from Python, without a view's name, it refuses the view label; one text of one word is no other view."""
    hidden = [view_item(item, "label") for item in ITEMS[:3]]
    with pytest.raises(SubjectError, match="not shown in the view 'context'"):
        subject(trained["context"]).judge(hidden, "same_sense")
    among_others = [hidden[0], *(view_item(item, "context") for item in ITEMS[1:3])]
    assert len(subject(trained["context"]).judge(among_others, "same_sense").where(measure="choice")) == 3
    bi = bi_encoder.load(SubjectSpec.parse(trained["bi_context"].spec))
    with pytest.raises(SubjectError, match="not shown in the view 'context'"):
        bi.judge([view_item(item, "label") for item in retrievals(3)], "sense_retrieval")


def test_a_guessed_word_goes_to_the_model_of_the_full_text(trained: dict[str, TrainedModel]) -> None:
    """The guess is put back in its sentence and asked of the model trained on full, of no other."""
    guessed = [replace(item, conditions={"guessed_word": "crane"}) for item in ITEMS]
    shown = [view_item(item, "guessed_word") for item in guessed]
    how = {"task": "same_sense", "measure": "choice", "view": "guessed_word"}
    assert len(ordered_judgments(shown, subject(trained["full"]), **how)) == 2 * len(ITEMS)  # type: ignore[arg-type]
    with pytest.raises(SubjectError, match="'context' and is asked in the view 'guessed_word'"):
        ordered_judgments(shown, subject(trained["context"]), **how)  # type: ignore[arg-type]


def test_company_changes_nothing(trained: dict[str, TrainedModel]) -> None:
    """One by one, backwards, or together: the same probabilities to 1e-5."""
    one = subject(trained["full"])
    together = one.judge(ITEMS, "same_sense").where(measure="probability").column("value")
    backwards = one.judge(ITEMS[::-1], "same_sense").where(measure="probability").column("value")[::-1]
    alone = [one.judge([item], "same_sense").where(measure="probability").column("value")[0] for item in ITEMS]
    np.testing.assert_allclose(backwards, together, atol=1e-5, rtol=0)
    np.testing.assert_allclose(alone, together, atol=1e-5, rtol=0)


def test_the_collected_answers_are_kept(trained: dict[str, TrainedModel]) -> None:
    """The task ``same_sense`` takes a classifier as it takes people."""
    task = catalog.task("same_sense")
    one = subject(trained["full"])
    table = task.answer_function(one)(ITEMS, one, view="full")
    assert {row.option for row in table.where(measure="choice").rows()} <= {"t", "f"}
    assert len(table.where(measure="choice")) == len(ITEMS)


def test_another_task_is_refused(trained: dict[str, TrainedModel]) -> None:
    """It answers what it was trained for."""
    with pytest.raises(SubjectError, match="'same_sense' and is asked 'relatedness'"):
        subject(trained["full"]).judge(ITEMS, "relatedness")
    with pytest.raises(SubjectError, match="'sense_retrieval' and is asked 'entity_link'"):
        bi_encoder.load(SubjectSpec.parse(trained["bi"].spec)).judge(retrievals(3), "entity_link")


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("encoder/model.safetensors", "missing or damaged"),
        ("head.safetensors", "missing or damaged"),
        ("run.json", "not finished"),
        ("run.json training.json", "holds no trained classifier"),
    ],
)
def test_a_damaged_folder_is_refused(trained: dict[str, TrainedModel], tmp_path: Path, damage: str, said: str) -> None:
    """A file that is missing or changed is named before anything is answered."""
    copy = shutil.copytree(trained["full"].folder, tmp_path / "copy")
    for name in damage.split():
        (copy / name).unlink()
    with pytest.raises(SubjectError, match=said):
        load(SubjectSpec.parse(f"classifier:{copy}")).judge(ITEMS, "same_sense")


def test_a_changed_byte_is_seen(trained: dict[str, TrainedModel], tmp_path: Path) -> None:
    """The weights are compared with the checksum of the training."""
    copy = shutil.copytree(trained["full"].folder, tmp_path / "copy")
    weights = copy / "head.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x01")
    with pytest.raises(SubjectError, match=r"head\.safetensors.*missing or damaged"):
        load(SubjectSpec.parse(f"classifier:{copy}")).judge(ITEMS, "same_sense")


@pytest.mark.parametrize("sealed", [True, False])
def test_a_record_that_was_edited_is_refused(trained: dict[str, TrainedModel], tmp_path: Path, *, sealed: bool) -> None:
    """Another view in run.json would change what an answer means: the seal, or training.json, tells."""
    copy = shutil.copytree(trained["context"].folder, tmp_path / "copy")
    record = read_json(copy / "run.json")
    record["training"]["view"] = "label"
    if not sealed:
        del record["seal"]
    write_json(copy / "run.json", record)
    with pytest.raises(SubjectError, match="not as the training wrote it"):
        load(SubjectSpec.parse(f"classifier:{copy}")).judge([view_item(ITEMS[0], "label")], "same_sense")


def test_a_folder_is_loaded_as_what_it_is(trained: dict[str, TrainedModel]) -> None:
    """A classifier's folder is no bi-encoder, and options that it does not have are refused."""
    with pytest.raises(SubjectError, match="holds a 'classifier', not a 'bi_encoder'"):
        bi_encoder.load(SubjectSpec.parse(f"bi_encoder:{trained['full'].folder}")).judge([], "sense_retrieval")
    for wrong in ("classifier:x?rank=3", "classifier:x?device=tpu", "bi_encoder:x?ranks=0"):
        with pytest.raises(SpecError):
            catalog.subject(wrong)


def test_the_revision_follows_the_weights(trained: dict[str, TrainedModel], tmp_path: Path) -> None:
    """At another place it is the same model; of another view it is another."""
    copy = shutil.copytree(trained["full"].folder, tmp_path / "copy")
    revision = subject(trained["full"]).facts.revision
    assert load(SubjectSpec.parse(f"classifier:{copy}")).facts.revision == revision
    assert subject(trained["word"]).facts.revision != revision
    assert read_json(copy / "run.json")["training"]["seed"] == 0


def test_what_cannot_be_read_says_what_to_do(tmp_path: Path) -> None:
    """A model folder without weights, a record that is cut off: each error has a hint."""
    with pytest.raises(SubjectError, match="holds no weights") as caught:
        _ = ModelFolder(tmp_path).weights
    assert "save_pretrained" in caught.value.hint
    (tmp_path / "run.json").write_text("{", encoding="utf-8")
    with pytest.raises(RunError, match="cannot be read") as damaged:
        read_json(tmp_path / "run.json")
    assert "run again into another folder" in damaged.value.hint
    with pytest.raises(RunError, match="cannot be read") as absent:
        read_figure("figure_1", tmp_path)
    assert absent.value.hint
