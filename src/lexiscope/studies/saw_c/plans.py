"""What differs between datasets: the mixed models and the regressions that their papers report.

Formulas are in the notation of lme4, with the column names of the exported trial table. The random-effects part
of a test is always printed beside its χ² (SAW-C's χ² for sense is 325.21 or 37.07, depending on the slopes kept).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from lexiscope.analysis.mixed import LikelihoodRatio
from lexiscope.studies.saw_c.material import Material
from lexiscope.studies.saw_c.planned import BETO
from lexiscope.studies.saw_c.settings import SawCSettings


@dataclass(frozen=True, slots=True)
class Test:
    """A likelihood-ratio test: ``effect`` is dropped from the fixed part of ``full``; the random part stays.

    ``distances`` gives the columns of distances that the formulas name: (column, subject id, layer).
    """

    name: str
    effect: str
    full: str
    reduced: str
    place: str
    question: str
    distances: tuple[tuple[str, str, int | None], ...] = ()

    @property
    def focus_subject(self) -> str:
        """The subject whose distances the test is about; empty where it uses none or several."""
        return self.distances[0][1] if len(self.distances) == 1 else ""

    @property
    def focus_layer(self) -> int | None:
        """The layer of those distances."""
        return self.distances[0][2] if len(self.distances) == 1 else None

    @property
    def is_maximal(self) -> bool:
        """Whether the full model has every slope that the design allows: where a reduction would start."""
        return self.name.endswith("_maximal")

    def possible(self, material: Material) -> bool:
        """Say whether the subjects whose distances the test needs are in the material."""
        known = {distances.subject for distances in material.distances}
        return all(subject in known for _, subject, _ in self.distances)


@dataclass(frozen=True, slots=True, eq=False)
class Tested:
    """A test of the plan with its outcome, or why there is none."""

    test: Test
    outcome: LikelihoodRatio | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Joint:
    """Subjects without layers whose distances enter one regression, and a factor of the items beside sense."""

    subjects: tuple[str, ...]
    factor: str


@dataclass(frozen=True, slots=True)
class Plan:
    """The tests of one dataset, and the subject and layer that its paper looks at most closely."""

    tests: tuple[Test, ...]
    maximal: tuple[Test, ...] = ()
    focus: str = ""
    focus_layer: int | None = None
    joint: Joint | None = None


_SENSE_35 = "(1 + Same_sense | Participant) + (1 + Same_sense | List) + (1 | Word)"
_MAXIMAL_35 = "(1 + Same_sense | Participant) + (1 + Same_sense | List) + (1 + Same_sense | Word)"
_BOTH_45 = "(1 + Same_sense + Distance | Participant) + (1 | List) + (1 | Word)"
_MAXIMAL_45 = " + ".join(f"(1 + Same_sense + Distance | {group})" for group in ("Participant", "List", "Word"))


def sense_test(name: str, random: str, place: str) -> Test:
    """Return the test of the sense boundary in people's ratings."""
    return Test(name, "Same_sense", f"Response ~ Same_sense + {random}", f"Response ~ 1 + {random}", place, "Q1")


def distance_tests(subject: str, layer: int | None, random: str, place: str, *, suffix: str = "") -> tuple[Test, Test]:
    """Return the tests of sense beyond distance and of distance beyond sense, for one subject at one layer."""
    full, columns = f"Response ~ Same_sense + Distance + {random}", (("Distance", subject, layer),)
    without = {"sense": ("Same_sense", "Distance"), "distance": ("Distance", "Same_sense")}
    first, second = (
        Test(f"{what}_beyond_{other}{suffix}", effect, full, f"Response ~ {kept} + {random}", place, "Q4", columns)
        for (what, (effect, kept)), other in zip(without.items(), ("distance", "sense"), strict=True)
    )
    return first, second


SAW_C = Plan(
    tests=(
        sense_test("sense", _SENSE_35, "SAW-C §3.5"),
        # it converges without any message, which the paper's reduction rests on its not doing: always shown beside
        sense_test("sense_maximal", _MAXIMAL_35, "SAW-C §3.5, maximal random effects"),
        *distance_tests(BETO, 12, _BOTH_45, "SAW-C §4.5"),
    ),
    maximal=distance_tests(BETO, 12, _MAXIMAL_45, "SAW-C §4.5, maximal random effects", suffix="_maximal"),
    focus=BETO,
    focus_layer=12,
)

_RAW_RANDOM = "(1 + Same_sense + ambiguity_type | Participant) + (1 + Same_sense | Word)"
_RAW_SAW_C = "(1 + Same_sense | Participant) + (1 + Same_sense | Word)"
_RAW_COLUMNS = (("Distance_bert", "bert", None), ("Distance_elmo", "elmo", None))
_RAW_BOTH = "Distance_bert + Distance_elmo + class"


def _raw_test(name: str, effect: str, full: str, reduced: str) -> Test:
    columns = tuple(column for column in _RAW_COLUMNS if column[0] in full)
    return Test(
        name,
        effect,
        f"Response ~ {full} + {_RAW_RANDOM}",
        f"Response ~ {reduced} + {_RAW_RANDOM}",
        "RAW-C, authors' script",
        "Q4",
        columns,
    )


_RAW_TWO, _RAW_CROSSED = "Same_sense + ambiguity_type", "Same_sense * ambiguity_type"
_RAW_FULL = f"{_RAW_BOTH} + {_RAW_CROSSED}"
RAW_C = Plan(
    tests=(
        sense_test("sense", _RAW_SAW_C, "the form of SAW-C §3.5, without lists"),
        _raw_test("same", "Same_sense", f"{_RAW_BOTH} + Same_sense", _RAW_BOTH),
        _raw_test("type_interaction", "Same_sense:ambiguity_type", _RAW_FULL, f"{_RAW_BOTH} + {_RAW_TWO}"),
        _raw_test("distance_bert", "Distance_bert", _RAW_FULL, f"Distance_elmo + class + {_RAW_CROSSED}"),
        _raw_test("distance_elmo", "Distance_elmo", _RAW_FULL, f"Distance_bert + class + {_RAW_CROSSED}"),
    ),
    focus="bert",
    joint=Joint(("bert", "elmo"), "ambiguity_type"),
)

# SAW-C's participants read no final stop, its models did; RAW-C's sentences have one in the published text
VIEWS: dict[str, tuple[str, ...]] = {"saw_c": ("full+final_stop", "full"), "raw_c": ("full",)}

PLANS: dict[str, Plan] = {"saw_c": SAW_C, "raw_c": RAW_C}


def plan_for(material: Material, settings: SawCSettings, best: Mapping[str, int | None] | None = None) -> Plan:
    """Return the plan of a dataset; for items of the user's own, SAW-C's tests with the groups that are there.

    *best* gives the layer at which each subject fits people best: with ``mixed_models="every"`` the tests with distance
    are added for every subject at that layer.
    """
    lists = all(item.list_id is not None for item in material.items)
    # a file of the user's own may be called saw_c.csv
    known = None if settings.items else PLANS.get(material.name)
    plan = known or _own_plan(material, best or {}, lists=lists)
    if settings.mixed_models != "every":
        return plan
    extra = [
        test
        for subject, layer in (best or {}).items()
        if (subject, layer) != (plan.focus, plan.focus_layer)
        for test in distance_tests(
            subject, layer, _distance_random(lists=lists), "as SAW-C §4.5" if known else "", suffix=f"_{_slug(subject)}"
        )
    ]
    return replace(plan, tests=plan.tests + tuple(extra))


def _own_plan(material: Material, best: Mapping[str, int | None], *, lists: bool) -> Plan:
    if material.same is None:
        return Plan(())
    sense = "(1 + Same_sense | Participant)" + (" + (1 + Same_sense | List)" if lists else "") + " + (1 | Word)"
    subject = next(iter(best), "")
    tests: tuple[Test, ...] = (sense_test("sense", sense, ""),)
    if subject:
        tests += distance_tests(subject, best[subject], _distance_random(lists=lists), "")
    return Plan(tests, focus=subject, focus_layer=best.get(subject))


def _distance_random(*, lists: bool) -> str:
    return "(1 + Same_sense + Distance | Participant)" + (" + (1 | List)" if lists else "") + " + (1 | Word)"


def _slug(subject: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in subject)
