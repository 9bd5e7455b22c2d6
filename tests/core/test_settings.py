"""Settings belong to their study: a class declares them once, and every reader learns type and meaning from it."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, asdict, replace
from typing import Literal

import pytest

from lexiscope.core import catalog
from lexiscope.core.errors import InputError, SpecError
from lexiscope.core.settings import (
    ItemSettings,
    SettingError,
    Settings,
    SeveralDatasetsSettings,
    file_option,
    files_option,
    option,
    own_settings,
    settings_from,
    settings_of,
)
from lexiscope.studies.saw_c.settings import SawCSettings


class GradedSenses(Settings):
    """What a run of a study of a user's own can vary."""

    study: str = "graded_senses"
    by: Literal["word", "sense"] = option("word", "what is resampled")
    cut: float = option(0.5, "from which share on a sense counts", least=0)
    lists: tuple[str, ...] = option((), "lists of words", flag="--list")
    weights: tuple[tuple[str, float], ...] = option((), "how much a list counts")
    strict: bool = option(False, "leave out what is in doubt")


class Unreadable(Settings):
    """A setting of a type that no option can have."""

    table: dict[str, int] | None = option(None, "a table")


def test_every_study_shares_at_most_12_settings() -> None:
    """What core knows of settings is what every study has."""
    assert len(settings_of(Settings)) <= 12
    assert not hasattr(Settings(), "mixed_models")


def test_a_subclass_is_a_frozen_dataclass() -> None:
    """No decorator is needed; values are given by name, and none changes afterwards."""
    made = GradedSenses(by="sense", seed=3)
    assert made == GradedSenses(seed=3, by="sense") != GradedSenses(seed=3)
    assert replace(made, seed=4).seed == 4
    assert list(asdict(made))[-5:] == ["by", "cut", "lists", "weights", "strict"]
    with pytest.raises(FrozenInstanceError):
        made.seed = 5  # type: ignore[misc]
    with pytest.raises(TypeError):
        GradedSenses("graded_senses")  # type: ignore[call-arg]


def test_what_is_declared_is_known() -> None:
    """Name, flag, type of one value, whether there may be several, and the meaning; a new default keeps the meaning."""
    own = {setting.name: setting for setting in own_settings(GradedSenses)}
    assert list(own) == ["by", "cut", "lists", "weights", "strict"]
    assert own["by"].choices() == ("word", "sense")
    assert (own["cut"].parts, own["cut"].many, own["cut"].flag) == ((float,), False, "--cut")
    assert (own["lists"].parts, own["lists"].many, own["lists"].flag) == ((str,), True, "--list")
    assert (own["weights"].parts, own["weights"].many) == ((str, float), True)
    named = next(setting for setting in settings_of(GradedSenses) if setting.name == "study")
    assert named.default == "graded_senses"
    assert named.option.about == settings_of(Settings)[0].option.about


@pytest.mark.parametrize(
    ("values", "setting", "text"),
    [
        ({"by": "wrd"}, "by", "did you mean 'word'?"),
        ({"cut": -0.1}, "cut", "cut must be 0 or more"),
        ({"cut": float("nan")}, "cut", "cut must be 0 or more"),
        ({"n_bootstrap": -1}, "n_bootstrap", "n_bootstrap must be 0 or more"),
        ({"threads": 0}, "threads", "threads must be 1 or more"),
        ({"analyses": [["Q1", "confirmatory"]]}, "analyses", "cannot be set to confirmatory"),
        ({"bye": "word"}, "bye", "did you mean 'by'? its own settings: by, cut, lists, weights, strict"),
        ({"mixed_models": "none"}, "mixed_models", "its own settings: by"),
    ],
)
def test_a_wrong_value_is_refused(values: dict[str, object], setting: str, text: str) -> None:
    """A value outside of what is declared, or a name that the study does not have, is an error that names it."""
    with pytest.raises(SettingError) as caught:
        settings_from(GradedSenses, values)
    assert caught.value.setting == setting
    assert text in str(caught.value)


def test_a_record_of_a_run_gives_the_settings_back() -> None:
    """JSON has lists where settings have tuples."""
    made = GradedSenses(lists=("a", "b"), weights=(("a", 0.5),))
    values = {"study": "graded_senses", "lists": ["a", "b"], "weights": [["a", 0.5]]}
    assert settings_from(GradedSenses, values) == made


def test_a_type_without_an_option_is_refused() -> None:
    """A mapping cannot be written on a command line."""
    with pytest.raises(SpecError, match=r"Unreadable\.table"):
        settings_of(Unreadable)


def test_a_setting_may_have_the_name_of_a_method() -> None:
    """A study may call a setting ``of``: its values are set all the same."""

    class Odd(Settings):
        """What a run of odd can vary."""

        of: str = option("nothing", "of what")  # type: ignore[assignment]

    assert settings_from(Odd, {"of": "something"}).of == "something"  # type: ignore[comparison-overlap]


def test_a_study_that_does_not_exist_names_the_nearest() -> None:
    """As every name of the catalog."""
    with pytest.raises(InputError, match="did you mean 'saw_c'"):
        catalog.settings("saw_d")


def test_study_settings_refuse_contradictions() -> None:
    """A dataset and an item file exclude each other; counts are positive."""
    with pytest.raises(InputError):
        SawCSettings(dataset="saw_c", items="x.csv")
    with pytest.raises(InputError):
        SawCSettings(starts=0)


def test_files_are_declared_in_one_way() -> None:
    """A file and several files are options of files: both must exist, and both have the placeholder FILE."""

    class WithFiles(Settings):
        table: str = file_option("a table")
        sheets: tuple[str, ...] = files_option("coded sheets", flag="--sheet")

    table, sheets = settings_of(WithFiles)[-2:]
    assert (table.flag, table.default, table.many) == ("--table", "", False)
    assert (sheets.flag, sheets.default, sheets.many) == ("--sheet", (), True)
    assert all(setting.option.file and setting.option.metavar == "FILE" for setting in (table, sheets))


def test_several_datasets_are_the_only_source() -> None:
    """Several datasets take the place of one dataset and of an item file: two sources are refused."""

    class OfItems(SeveralDatasetsSettings, ItemSettings):
        study: str = "of_items"

    assert OfItems(datasets=("wic", "scws")).datasets == ("wic", "scws")
    with pytest.raises(SettingError, match="several datasets or one dataset, not both"):
        OfItems(dataset="wic", datasets=("scws",))
    with pytest.raises(SettingError, match="several datasets or an item file, not both"):
        OfItems(items="mine.csv", datasets=("scws",))
