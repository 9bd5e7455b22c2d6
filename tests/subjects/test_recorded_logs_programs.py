"""Export, a run of the other program, and the way back, with the programs themselves where they are installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lexiscope.collect import ask
from lexiscope.core import catalog
from lexiscope.items.harness.asked import AskedAs
from lexiscope.items.harness.inspect_ai import write_inspect_task
from lexiscope.items.harness.lm_eval import write_lm_eval_task

from .made_logs import example_items

# what the command lm_eval run does with --log_samples, without reading the YAML files of its thousands of tasks
_LM_EVAL = """
import sys
from lm_eval import simple_evaluate
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager
model, folder, logs, *names = sys.argv[1:]
tracker = EvaluationTracker(output_path=logs)
results = simple_evaluate(
    "hf",
    model_args=f"pretrained={model},add_bos_token=False,dtype=float32",
    tasks=names,
    device="cpu",
    log_samples=True,
    evaluation_tracker=tracker,
    task_manager=TaskManager(include_path=folder, include_defaults=False),
)
samples = results.pop("samples")
tracker.save_results_aggregated(results=results, samples=samples)
for name in names:
    tracker.save_results_samples(task_name=name, samples=samples[name])
"""
_INSPECT = """
import sys
from inspect_ai import eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model
replies = [ModelOutput.from_content("mockllm/model", text) for text in ("4", "Rating: 2")]
for reply in replies:
    # without it, the mock model counts tokens with a vocabulary from the network
    reply.usage = ModelUsage(input_tokens=9, output_tokens=1, total_tokens=10)
model = get_model("mockllm/model", custom_outputs=replies)
(log,) = eval(sys.argv[1], model=model, log_dir=sys.argv[2], log_format="eval", display="none", max_connections=1)
assert log.status == "success", log.error
print({metric.name: metric.value for score in log.results.scores for metric in score.metrics.values()})
"""


@pytest.mark.published
def test_lm_eval_with_a_small_model(published: Path, tmp_path: Path) -> None:
    """Log-probabilities that lm_eval computes of an exported task are those of Lexiscope, to 1e-4."""
    pytest.importorskip("lm_eval")
    model = published.parent / "models" / "tiny-causal-en"
    names = []
    for task in ("same_sense", "word_intrusion", "minimal_pair", "relatedness"):
        folder = tmp_path / "tasks" / task
        names.append(write_lm_eval_task(example_items(task), catalog.task(task), AskedAs(task), folder))
    command = [sys.executable, "-c", _LM_EVAL, str(model), "tasks", "logs", *names]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3_000:]
    for task in ("same_sense", "word_intrusion", "minimal_pair", "relatedness"):
        policy = "&policy=bos" if task == "minimal_pair" else ""
        items = example_items(task)
        live = ask(items, f"causal_lm:{model}?self_test=no{policy}", task)
        read = ask(items, f"recorded:{tmp_path / 'logs'}", task)
        of_live = {(row.item_id, row.measure, row.option): row.value for row in live.rows() if row.value is not None}
        of_log = {(row.item_id, row.measure, row.option): row.value for row in read.rows() if row.value is not None}
        assert of_log
        assert of_log == {key: pytest.approx(of_live[key], abs=1e-4) for key in of_log}


def test_inspect_with_mock_replies(tmp_path: Path) -> None:
    """The scorer of the exported task reads what Lexiscope reads in the log."""
    pytest.importorskip("inspect_ai")
    items = example_items("relatedness")
    name = write_inspect_task(items, catalog.task("relatedness"), AskedAs("relatedness"), tmp_path / "task")
    command = [sys.executable, "-c", _INSPECT, f"task/{name}.py", "logs"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3_000:]
    assert "'mean_rating': 3.0, 'readable': 1.0" in done.stdout
    (log,) = (tmp_path / "logs").glob("*.eval")
    table = ask(items, f"recorded:{log}", "relatedness")
    assert sorted(table.where(measure="rating").column("value")) == [2.0, 4.0]
