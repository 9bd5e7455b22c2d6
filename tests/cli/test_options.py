"""Options of the command line are made from the settings that stand where the work is configured."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import click
import pytest
from click.testing import CliRunner

from lexiscope.cli import options
from lexiscope.core.errors import InputError
from lexiscope.core.settings import Option, arguments_of, option


@dataclass(frozen=True, slots=True)
class Weaving:
    """What a made-up verb can vary; ``loom`` is no option."""

    threads: int = option(3, "how many; 0: none", least=0, most=9)
    pattern: Literal["plain", "twill"] = option("plain", "how they cross")
    width: float = option(0.5, "in metres", flag="--width --wide")
    tight: bool = option(False, "without gaps")
    card: Path | None = option(None, "the card that is punched", metavar="FILE")
    colours: tuple[str, ...] = option((), "of the threads", flag="--colour")
    loom: str = "jacquard"

    def __post_init__(self) -> None:
        if self.tight and self.width > 1:
            raise InputError("a tight cloth is 1 m wide at most")


def run(*arguments: str) -> click.testing.Result:
    """Call a verb whose only options are those of :class:`Weaving`."""

    @click.command()
    @options.of_settings(Weaving)
    def weave(**given: Any) -> None:
        click.echo(repr(options.make_settings(Weaving, given)))

    return CliRunner().invoke(weave, arguments)


def test_without_options_the_defaults_of_the_settings_hold() -> None:
    """An option that is not given leaves the default to the settings."""
    assert run().output == f"{Weaving()!r}\n"


def test_what_is_given_is_typed_as_the_settings_say() -> None:
    """Numbers, choices, paths, second names and repeated options reach the settings with their types."""
    given = (
        "--threads",
        "0",
        "--pattern",
        "twill",
        "--wide",
        "2",
        "--card",
        "a.txt",
        "--colour",
        "red",
        "--colour",
        "blue",
    )
    expected = Weaving(threads=0, pattern="twill", width=2.0, card=Path("a.txt"), colours=("red", "blue"))
    assert run(*given).output == f"{expected!r}\n"
    assert run("--tight").output == f"{Weaving(tight=True)!r}\n"


@pytest.mark.parametrize(
    "wrong", [("--threads", "10"), ("--threads", "-1"), ("--pattern", "satin"), ("--loom", "hand")]
)
def test_a_value_out_of_range_is_wrong_usage(wrong: tuple[str, str]) -> None:
    """Ranges and choices are those of the settings; a field without an option is no option."""
    assert run(*wrong).exit_code == 2


def test_help_shows_what_the_settings_declare() -> None:
    """Text, default, range, choices and every name of an option are in its help."""
    text = " ".join(run("--help").output.split())
    assert "--threads INTEGER RANGE How many; 0: none. [default: 3; 0<=x<=9]" in text
    assert "--pattern [plain|twill] How they cross. [default: plain]" in text
    assert "--width, --wide FLOAT In metres. [default: 0.5]" in text
    assert "--tight Without gaps. " in text
    assert "--card FILE The card that is punched. " in text
    assert "--colour TEXT Of the threads. May be repeated." in text


def test_settings_are_changed_by_what_is_given_only() -> None:
    """What is given takes the place of one value of other settings; the rest of these stays."""
    before = Weaving(threads=7, colours=("red",))
    assert options.change_settings(before, {"width": 2.0, "threads": None, "colours": ()}) == Weaving(
        7, "plain", 2.0, colours=("red",)
    )


def weave(
    yarn: str,
    *,
    rows: Annotated[int, Option("rows to weave", least=1)] = 7,
    pattern: Annotated[Literal["plain", "twill"], Option("how they cross")] = "plain",
    edge: Annotated[str | None, Option("sign of the edge", flag="--sign")] = None,
    loom: str = "jacquard",
) -> str:
    """Weave a made-up cloth."""
    return f"{yarn}: {rows} {pattern} {edge} {loom}"


def run_function(*arguments: str) -> click.testing.Result:
    """Call a verb whose only options are those of :func:`weave`."""

    @click.command()
    @options.of_arguments(weave, "rows", "pattern", "edge")
    def verb(**given: Any) -> None:
        click.echo(weave("wool", **given))

    return CliRunner().invoke(verb, arguments)


def test_options_are_made_from_the_arguments_of_a_function() -> None:
    """An argument that is annotated with an option gives it name, type, range and default; others are no options."""
    assert run_function().output == "wool: 7 plain None jacquard\n"
    assert run_function("--rows", "2", "--pattern", "twill", "--sign", "x").output == "wool: 2 twill x jacquard\n"
    assert run_function("--rows", "0").exit_code == 2
    assert [argument.name for argument in arguments_of(weave)] == ["rows", "pattern", "edge"]


def test_help_of_an_argument_is_that_of_a_setting() -> None:
    """Help shows what the annotation says, the default and the range."""
    text = " ".join(run_function("--help").output.split())
    assert "--rows INTEGER RANGE Rows to weave. [default: 7; x>=1]" in text
    assert "--pattern [plain|twill] How they cross. [default: plain]" in text
    assert "--sign TEXT Sign of the edge." in text
