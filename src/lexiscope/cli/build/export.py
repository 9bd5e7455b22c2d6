"""``lexiscope export``: write items as a task of another evaluation program."""

from __future__ import annotations

from pathlib import Path

import click

from lexiscope.cli import options
from lexiscope.cli.check import read_map
from lexiscope.cli.output import remark, say
from lexiscope.cli.verb import Verb, check_new
from lexiscope.core import catalog
from lexiscope.core.scale import Scale
from lexiscope.items.arrange.view_names import VIEW_NAMES
from lexiscope.items.harness.asked import AskedAs
from lexiscope.items.harness.inspect_ai import write_inspect_task
from lexiscope.items.harness.lm_eval import write_lm_eval_task
from lexiscope.items.read.item_source import load_items, task_of_items
from lexiscope.tasks import DEFAULT

_NEXT = {
    "lm-eval": "lm_eval run --model hf --model_args pretrained=MODEL,add_bos_token=False --tasks {name} "
    "--include_path {out} --output_path LOGS --log_samples",
    "inspect": "inspect eval {out}/{name}.py --model PROVIDER/MODEL",
}
_LOGS = {"lm-eval": "LOGS", "inspect": "logs/FILE.eval"}


@click.command(cls=Verb)
@click.option("--items", required=True, metavar="DATASET|FILE", help="A dataset of the catalog, or a file of items.")
@options.column_map
@options.of_arguments(load_items, "language")
@options.scale("For a file: lowest and highest rating of its people, as 1 100. Models are asked on it.")
@click.option("--task", help=f"The question that is asked. Default: that of the dataset, or {DEFAULT} for a file.")
@click.option(
    "--to",
    "program",
    type=click.Choice(tuple(_NEXT)),
    required=True,
    help="lm-eval: log-probabilities of options; inspect: replies of chat models.",
)
@click.option("--wording", default="", metavar="NAME", help="The wording of the question. Default: the task's first.")
@click.option("--shots", type=click.IntRange(min=0), default=0, show_default=True, help="Worked examples before it.")
@click.option(
    "--view", type=click.Choice(VIEW_NAMES), default="full", show_default=True, help="Part of the input to show."
)
@options.path("--out", metavar="FOLDER", about="A new folder for the exported task.", required=True)
@options.quiet
def export(
    *,
    items: str,
    pairs: tuple[str, ...],
    language: str,
    scale: Scale | None,
    task: str | None,
    program: str,
    wording: str,
    shots: int,
    view: str,
    out: Path,
    quiet: bool,
) -> None:
    """Export items as a task of lm-evaluation-harness or inspect_ai.

    The exported task keeps the IDs of the items. The log of the other program is read back as recorded answers:
    lexiscope collect --subject recorded:LOG.
    """
    check_new(out)
    name = task_of_items(items, task)
    source = load_items(items, read_map(pairs), task=name, language=language, scale=scale)
    asked = AskedAs(name, view, wording, shots=shots)
    write = write_lm_eval_task if program == "lm-eval" else write_inspect_task
    written = write(source.items, catalog.task(name), asked, out)
    say(f"Saved {out} (task {written}, {len(source.items)} items)")
    remark(f"Next: {_NEXT[program].format(name=written, out=out)}", quiet=quiet)
    back = f"lexiscope collect --items {items} --task {name} --subject recorded:{_LOGS[program]} --out RUN"
    remark(f"Then: {back}", quiet=quiet)
