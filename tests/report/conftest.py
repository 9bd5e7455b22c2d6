"""Small seeded inputs for figures, tables and reports; none of them stands for a human judgment."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from lexiscope.analysis.layers.trajectory import family_by_depth_ratio
from lexiscope.core.result import Record
from lexiscope.report.document import Report, RichText, Section
from lexiscope.report.figures import Figure, Heading
from lexiscope.report.page.every_result import with_every_result
from lexiscope.report.plots.accuracy import Dot, accuracy_dots, accuracy_over_training, stacked_shares
from lexiscope.report.plots.bias import PlanePoint, ViewBar, bias_plane, minimum_gaps, view_bars
from lexiscope.report.plots.curves import DrawnCurve
from lexiscope.report.plots.distributions import (
    Residuals,
    agreement_histogram,
    density_by_condition,
    norms_by_distance,
    residual_ridge,
)
from lexiscope.report.plots.layers import aic_panels, distance_by_layer, families_by_depth, peak_panels, trajectories
from lexiscope.report.plots.size import Sized, SizeRegression, statistic_by_size
from lexiscope.report.tables import BOUNDED, INTEGER, Column, IntervalCell, Missing, Noted, Table

Drawer = Callable[[], Figure]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def values(count: int, *, seed: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).normal(3.0, 0.8, count)


def conditions(count: int) -> np.ndarray:
    return np.where(np.arange(count) % 3 == 0, "same sense", "different sense")


def layer_means(subject: str, layers: int = 4) -> list[DrawnCurve]:
    layer = np.arange(layers + 1)
    means = {"same sense": 0.1 * layer / layers, "different sense": 0.3 * layer / layers}
    return [DrawnCurve(subject, layer, mean, mean - 0.01, mean + 0.01, condition=name) for name, mean in means.items()]


def trajectory(subject: str, layers: int = 4, *, top: float = 0.3, group: str = "BERT") -> DrawnCurve:
    layer = np.arange(layers + 1)
    value = top * np.sin(layer / layers * 2.2)
    return DrawnCurve(subject, layer, value, value - 0.02, value + 0.02, group, expected_layer=2.5)


def sized(count: int) -> list[Sized]:
    rng = np.random.default_rng(5)
    sizes, found = 10 ** rng.uniform(6.5, 8.8, count), rng.uniform(0.1, 0.45, count)
    return [
        Sized(f"encoder-number-{i}", float(sizes[i]), float(found[i]), multilingual=i % 4 == 0) for i in range(count)
    ]


def dots(subjects: int) -> list[Dot]:
    return [
        Dot(f"suite {row}:\nrandom", f"model {n}", 40.0 + n, 35.0 + n, 45.0 + n, 100 / 11 if row else float("nan"))
        for row in range(3)
        for n in range(subjects)
    ]


DRAWERS: dict[str, Drawer] = {
    "accuracy": lambda: accuracy_dots(dots(4), Heading("accuracy", "1", "T")),
    "training": lambda: accuracy_over_training(
        [
            DrawnCurve(f"cell {n}", 10.0 ** np.arange(4), 50.0 + np.arange(4), np.full(4, 45.0), np.full(4, 60.0),
                       baseline=50.0)
            for n in range(4)
        ],
        Heading("training", "", "T"),
    ),
    "shares": lambda: stacked_shares(
        [("model", "correct", 30.0), ("model", "unrelated", 70.0)],
        Heading("shares", "3", "T"),
        order=("correct", "unrelated"),
    ),
    "plane": lambda: bias_plane(
        [PlanePoint("WiC", "BERT", 0.6, 0.1, False, 0.5, 0.7), PlanePoint("WiC", "people", 0.4, 0.0, people=True)],
        Heading("plane", "1", "T"),
    ),
    "views": lambda: view_bars(
        [ViewBar(f"set {n}", view, "BERT", 60.0 + n, 55.0, 66.0) for n in range(4) for view in ("full", "word")],
        Heading("views", "2", "T"),
        random=[("set 1", 50.0)],
    ),
    "gaps": lambda: minimum_gaps(
        [Dot("WiC", "BERT", 5.0, 2.0, 8.0), Dot("WiC", "people", 18.9, people=True)], Heading("gaps", "3", "T")
    ),
    "density": lambda: density_by_condition(values(40), conditions(40), Heading("density", "2", "T"), scale=(1, 5)),
    "ridge": lambda: residual_ridge(
        [Residuals(name, values(30), conditions(30)) for name in ("BETO", "mBERT")], Heading("ridge", "5", "T")
    ),
    "distance": lambda: distance_by_layer(layer_means("BETO"), Heading("distance", "3", "T")),
    "trajectories": lambda: trajectories(
        [trajectory("BETO"), trajectory("mBERT")], Heading("trajectories", "7", "T"), statistic="R²", interval="95 % CI"
    ),
    "depth": lambda: families_by_depth(
        family_by_depth_ratio({"m": np.linspace(0, 0.3, 5)}, {"m": "BERT"}), Heading("depth", "8", "T"), statistic="R²"
    ),
    "peaks": lambda: peak_panels([trajectory("BETO"), trajectory("mBERT")], Heading("peaks", "9", "T")),
    "aic": lambda: aic_panels([trajectory("BETO"), trajectory("mBERT")], Heading("aic", "11", "T")),
    "agreement": lambda: agreement_histogram(
        values(30) / 5, {"BETO": 0.6}, Heading("agreement", "4", "T"), definition="true leave-one-out"
    ),
    "norms": lambda: norms_by_distance(
        values(30), values(30, seed=4), conditions(30), Heading("norms", "S1", "T"),
        subject="BETO", layer="layer 12", r=-0.5, rho=-0.6,
    ),
    "scaling": lambda: statistic_by_size(
        sized(6),
        Heading("scaling", "6", "T"),
        fit=SizeRegression(-0.6, 0.1),
        ceilings={"true leave-one-out": 0.53},
    ),
}  # fmt: skip


@pytest.fixture(scope="session", params=sorted(DRAWERS))
def drawer(request: pytest.FixtureRequest) -> Drawer:
    """Each figure function in turn, with small input."""
    return DRAWERS[request.param]


@pytest.fixture(scope="session")
def figure(drawer: Drawer) -> Figure:
    """Each figure in turn, drawn once."""
    return drawer()


@pytest.fixture(scope="session")
def table() -> Table:
    """One table with every kind of cell."""
    columns = (
        Column("Model & co", language="es"),
        Column("Layer", INTEGER, note="Layer of highest R²."),
        Column("R²", BOUNDED),
        Column("Remark"),
    )
    rows = (
        ("señal_1", 1200, IntervalCell(0.3, 0.41, 0.357), "50 % <b>"),
        ("beto", np.int64(6), -0.597, Noted("not reproduced", "own rating included")),
        ("mBERT", None, Missing("constant distances"), True),
        ("xlm", 2, float("nan"), ""),
    )
    return Table("models", "2", "Agreement with people", columns, rows, ("Bootstrap over words.",))


@pytest.fixture(scope="session")
def records() -> tuple[Record, ...]:
    """Records with and without a published value."""
    return (
        Record(
            "spearman", 0.7306, subject="people", published=0.77, source="§3.4", status="not reproduced", note="why"
        ),
        Record("r_squared", 0.357, subject="BETO", layer=12, published=0.36, source="§4.3", status="reproduced"),
        Record("r_squared", 0.30, subject="BETO", layer=11),
        Record("r_squared", 0.39, subject="roberta", layer=23, low=0.33, high=0.45, n=812),
    )


@pytest.fixture(scope="session")
def report(table: Table, records: tuple[Record, ...]) -> Report:
    """A report with text, rich text, tables, figures, subsections and flags."""
    inner = Section("size", "By size", ("Larger agrees better.",), (), (DRAWERS["scaling"](),), flag="exploratory")
    people = Section("people", "People", ("Rated.", RichText("<em>Rich</em>")), (table,), (DRAWERS["density"](),))
    models = Section("models", "Models", (), (), (DRAWERS["distance"](),), (inner,), flag="confirmatory")
    run = {"seed": 7, "versions": {"numpy": "2"}, "machine": {"host": "secret-host"}}
    shown = Report("Relatedness", "en", (people, models), run, records, "A sample", ("Rivière et al. (2025).",))
    return with_every_result(shown)


# of a module: while it is open, no later test of the process may run an event loop of its own
@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """The distribution's Chromium, without a network: every request but those to files is refused and remembered."""
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()
