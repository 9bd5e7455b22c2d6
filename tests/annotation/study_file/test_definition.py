"""The file of a study with people: reads back what was written, shows mistakes in place, and says what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexiscope.annotation.study_file.definition import (
    AboutYou,
    AboutYouOption,
    Anchor,
    CatchSection,
    Codes,
    Confusion,
    DesignSection,
    KnownQuestion,
    Payment,
    Planned,
    Platform,
    RatingsSection,
    ScaleSection,
    StudyDefinition,
    StudyTexts,
    text_versions,
)
from lexiscope.annotation.study_file.definition_file import (
    definition_yaml,
    parse_definition,
    read_definition,
    setting_descriptions,
)
from lexiscope.annotation.study_file.items import is_right, question_item
from lexiscope.annotation.study_file.launch import launch_problems
from lexiscope.annotation.study_file.template import draft_definition
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.scale import Scale
from lexiscope.core.usage import Usage

CATCH = "failed_catch(items=catch,expected=5)"
AGREE = "low_agreement(r_squared=0.1,ignore_items=catch,missing=exclude)"
NATIVE = AboutYou(
    measure="native_speaker",
    text="¿Es el español su lengua materna?",
    options=(AboutYouOption(value="yes", text="sí"), AboutYouOption(value="no", text="no")),
)


def question(name: str = "q1", target: str = "banco", accept: Sequence[int] = (1, 2)) -> KnownQuestion:
    """A question about a word that is no target of :func:`items`."""
    shows = {"target": target, "sentence_1": f"El {target} está cerrado.", "sentence_2": f"Se sentó en un {target}."}
    return KnownQuestion(id=name, shows=shows, accept=tuple(accept))


def items(n: int = 24) -> tuple[Item, ...]:
    """Pairs of two sentences of four words, half of them of one sense."""
    made = []
    for k in range(n):
        word = f"palabra{'abcd'[k % 4]}"
        usages = (Usage(f"Una {word} {k}", 4, 12, lemma=word), Usage(f"La {word} {k}", 3, 11, lemma=word))
        made.append(Item(f"i{k:03d}", "d", usages, conditions={"same_sense": (k // 4) % 2 == 0}))
    return tuple(made)


READY = StudyDefinition(
    name="normas",
    task="relatedness",
    language="es",
    items="items.csv",
    columns={"sentence_1": "Frase 1"},
    scale=ScaleSection(
        anchors=(Anchor(point=1, text="totalmente sin relación"), Anchor(point=5, text="mismo significado"))
    ),
    design=DesignSection(lists=3, balance=("same_sense",)),
    ratings=RatingsSection(per_item=5),
    examples=(question("e1", "mango"),),
    qualification=(question("q1"),),
    attention=(question("a1", "planta", (4, 5)),),
    about_you=(NATIVE,),
    exclusions=(CATCH, "too_slow(sd=3)", AGREE, "self_report(measure=native_speaker,value=no)", "attention_check()"),
    planned=Planned(model="rating ~ same_sense + (1 | participant) + (1 | item)", effect="same_sense"),
    texts=StudyTexts(
        title="Palabras", consent="Acepto\nparticipar.\n", instructions="Lea **bien**.", debrief="Gracias."
    ),
    codes=Codes(completion="AAA", screen_out="BBB", no_consent="CCC", full="DDD"),
    payment=Payment(amount=2.5, currency="EUR", minutes=15, hourly_least=9),
    ethics='Comité "X", n.º 1: aprobado',
)


def test_round_trip_is_exact(tmp_path: Path) -> None:
    """Definition → YAML → definition → YAML changes nothing, through a file as through a text."""
    (tmp_path / "study.yaml").write_text(definition_yaml(READY), encoding="utf-8")
    assert read_definition(tmp_path / "study.yaml").definition == READY
    assert definition_yaml(parse_definition(definition_yaml(READY)).definition) == definition_yaml(READY)


@settings(max_examples=80, deadline=None)
@given(st.text(st.characters(exclude_categories=("Cs",))), st.text("ab \n\t#:-'\"|>ñ\u2028\r", max_size=12))
def test_any_text_survives(ethics: str, consent: str) -> None:
    """Whatever a researcher writes comes back letter for letter, in a line or in a block of lines."""
    wanted = READY.model_copy(update={"ethics": ethics, "texts": StudyTexts(consent=consent, debrief=ethics)})
    assert parse_definition(definition_yaml(wanted)).definition == wanted


def test_every_setting_is_written_under_its_meaning() -> None:
    """The file names every setting, also those left at their default, and no setting lacks a meaning."""
    text = definition_yaml(StudyDefinition(name="s", task="relatedness", language="en"))
    top = {name for name in setting_descriptions() if "." not in name}
    assert all(setting_descriptions().values())
    assert all(f"\n{name}:" in text and f"# {setting_descriptions()[name]}\n{name}:" in text for name in top)
    assert "  # minutes without a saved answer" in text
    assert "consent: |\n    Acepto\n    participar.\n" in definition_yaml(READY)


def test_versions_follow_the_texts() -> None:
    """A changed text has another version, an equal one the same, an empty one none."""
    changed = READY.model_copy(update={"texts": READY.texts.model_copy(update={"consent": "Acepto."})})
    before, after = text_versions(READY), text_versions(changed)
    assert [name for name in before if before[name] != after[name]] == ["consent"]
    assert before["full"] == ""
    assert len(before["consent"]) == 12


def test_a_task_may_be_a_path(tmp_path: Path) -> None:
    """A study asks people the question of a file or folder outside the package, as `init --task PATH` writes it."""
    (tmp_path / "novelty").mkdir()
    (tmp_path / "novelty" / "__init__.py").touch()
    (tmp_path / "study.yaml").write_text(f"name: s\ntask: {tmp_path}/novelty\nlanguage: en\n", encoding="utf-8")
    assert read_definition(tmp_path / "study.yaml").definition.task == f"{tmp_path}/novelty"


BASE = "name: s\ntask: relatedness\nlanguage: es\n"
FAULTS = [
    ("name: s\nlanguage: es\n", "E613", 1, "'task' is missing"),
    (BASE + "desing:\n  lists: 2\n", "E611", 4, "did you mean 'design'"),
    (BASE + "design:\n  list: 2\n", "E611", 5, "did you mean 'lists'"),
    (BASE + "design:\n  lists: 0\n", "E612", 5, "greater than or equal to 1"),
    (BASE + "design:\n  lists: two\n", "E612", 5, "a whole number"),
    (BASE + "design:\n  balance: same_sense\n", "E612", 5, "write [same_sense]"),
    (BASE + "design:\n  confusion:\n    - condition: word\n      most: 1\n", "E611", 7, "did you mean 'at_most'"),
    (BASE + "scale:\n  low: 5\n  high: 1\n", "E612", 5, "low < high"),
    (BASE + "scale:\n  anchors:\n    - point: 7\n      text: x\n", "E612", 6, "not on the scale"),
    (BASE + "scale:\n  anchors:\n    - point: 1\n", "E613", 6, "'text' is missing"),
    (BASE + "scale:\n  anchors:\n    - point: 1\n      text: 3\n", "E612", 7, "quotation marks"),
    (BASE + "catch:\n  answer: 6\n", "E612", 5, "not on the scale"),
    (BASE + "exclusions:\n  - too_slow(sd=3)\n  - to_slow(sd=3)\n", "E614", 6, "no exclusion rule"),
    (BASE + "exclusions:\n  - failed_catch(items=catch)\n", "E614", 5, "needs expected"),
    (BASE + "exclusions:\n  - too_slow(sd=three)\n", "E614", 5, "sd is a number"),
    (BASE + "columns:\n  sentense_1: Frase\n", "E614", 5, "no part of an item"),
    ("name: s\ntask: relatednes\nlanguage: es\n", "E614", 2, "Did you mean 'relatedness'"),
    (BASE + "dataset: mini_relatednes\n", "E614", 4, "Did you mean"),
    (BASE + "items: a.csv\ndataset: mini_relatedness\n", "E612", 5, "Both items and dataset are set"),
    (BASE + "side: ramdom\n", "E612", 4, "did you mean 'random'"),
    (BASE + "back: maybe\n", "E612", 4, "boolean"),
    (BASE + "lease:\n  minutes: .nan\n", "E612", 5, "finite"),
    (BASE + "lease:\n  minutes: 0\n", "E612", 5, "greater than 0"),
    (BASE + "payment:\n  amount: -1\n", "E612", 5, "greater than or equal to 0"),
    (BASE + "qualification:\n  - id: q\n", "E613", 5, "'shows' is missing"),
    (BASE + "texts: hello\n", "E612", 4, "lines of the form"),
    (BASE + "name: t\n", "E607", 4, "given twice"),
    (BASE + "ethics: &a x\n", "E604", 4, "anchors"),
    (BASE + "design:\n lists: 2\n  seed: 1\n", "E603", 6, "not YAML"),
    (BASE + "about_you:\n  - measure: mother-tongue\n    text: x\n", "E612", 5, "digits and _"),
    (BASE + "about_you:\n  - measure: Age\n    text: x\n", "E612", 5, "digits and _"),
    (BASE + "platform:\n  kind: mturk\n", "E612", 5, "'prolific', 'panel' or 'lab'"),
]


@pytest.mark.parametrize(("text", "code", "line", "said"), FAULTS)
def test_faults_are_shown_in_place(text: str, code: str, line: int, said: str) -> None:
    """A mistake has its code, its line and a caret, and the message says what was wrong or what to write."""
    with pytest.raises(InputError) as caught:
        parse_definition(text, path="study.yaml")
    error = caught.value
    assert error.code == code
    assert error.place is not None
    assert error.place.line == line
    assert said in str(error)
    assert str(error).startswith(f"study.yaml:{line}:")
    assert "^" in error.place.caret()


def test_items_that_were_rated_on_another_scale_are_refused() -> None:
    """E638: people would rate on 1 to 5 what others rated on 0 to 4, and models are asked on."""
    rated = [replace(item, scale=Scale(0, 4)) for item in items()]
    (found,) = launch_problems(READY, rated)
    assert (found.code, found.keys) == ("E638", ("scale", "low"))
    assert "is 0 to 4; the scale of the study is 1 to 5" in found.what
    assert launch_problems(READY, [replace(item, scale=Scale(1, 5)) for item in items()]) == ()


def test_a_complete_study_is_ready() -> None:
    """A study in which everything is written has no errors to fix."""
    assert launch_problems(READY, items()) == ()


def _but(**changes: object) -> StudyDefinition:
    return READY.model_copy(update=changes)


def _asked(name: str) -> AboutYou:
    return AboutYou(measure=name, text="?", kind="text")


PROBLEMS = [
    (_but(texts=READY.texts.model_copy(update={"consent": " \n"})), "E621", ("texts", "consent")),
    (_but(about_you=(*READY.about_you, AboutYou(measure="sex", text="?"))), "E621", ("about_you", 1)),
    *(
        (_but(about_you=(*READY.about_you, _asked(name))), "E636", ("about_you", 1, "measure"))
        for name in ("csrf", "client_key", "completion_time", "rating", "native_speaker")
    ),
    (_but(ethics=""), "E622", ("ethics",)),
    (_but(examples=(question("e1", "palabraa"),)), "E623", ("examples", 0, "shows", "target")),
    (_but(texts=READY.texts.model_copy(update={"instructions": "**Palabrab**"})), "E623", ("texts", "instructions")),
    (_but(codes=Codes(completion="A", screen_out="A", no_consent="C")), "E624", ("codes", "completion")),
    (_but(codes=Codes(completion="A", screen_out="B")), "E624", ("codes", "no_consent")),
    (_but(codes=Codes(completion="A", screen_out="B", no_consent="C")), "E624", ("codes", "full")),
    (_but(codes=Codes(completion="A", no_consent="C", full="D")), "E624", ("codes", "screen_out")),
    (_but(ratings=RatingsSection(per_item=5, people_at_most=14)), "E625", ("ratings", "people_at_most")),
    (_but(design=DesignSection(lists=25)), "E407", ("design",)),
    (_but(design=DesignSection(lists=2, per_list=20)), "E421", ("design",)),
    (_but(design=DesignSection(lists=2, shared=5)), "E421", ("design",)),
    (_but(design=DesignSection(lists=3, confusion=(Confusion(at_most=1),))), "E421", ("design",)),
    (_but(design=DesignSection(lists=3, balance=("gender",))), "E402", ("design",)),
    (_but(catch=CatchSection(per_list=0)), "E626", ("exclusions", 0)),
    (_but(catch=CatchSection(answer=4)), "E626", ("exclusions", 0)),
    (_but(exclusions=("low_agreement(ignore_items=catch)",)), "E626", ("exclusions", 0)),
    (_but(exclusions=("low_agreement(missing=keep)",)), "E626", ("exclusions", 0)),
    (_but(exclusions=("self_report(measure=age,value=no)",)), "E626", ("exclusions", 0)),
    (_but(exclusions=("self_report(measure=native_speaker,value=never)",)), "E626", ("exclusions", 0)),
    (_but(attention=()), "E626", ("exclusions", 4)),
    (_but(exclusions=("failed_qualification(minimum=1)",), qualification=()), "E626", ("exclusions", 0)),
    (_but(exclusions=("threshold(measure=mood,side=below,bound=1)",)), "E626", ("exclusions", 0)),
    (_but(planned=Planned(model="rating ~ same_sense + (1 | item)", effect="gender")), "E627", ("planned", "effect")),
    (_but(planned=Planned(model="rating ~ ~ x", effect="same_sense")), "E627", ("planned", "model")),
    (
        _but(planned=Planned(model="rating ~ same_sense + (1 | school)", effect="same_sense")),
        "E627",
        ("planned", "model"),
    ),
    (_but(qualification=(question(accept=()),)), "E628", ("qualification", 0)),
    (_but(qualification=(question(accept=(9,)),)), "E628", ("qualification", 0, "accept", 0)),
    (_but(attention=(question("i003"),)), "E628", ("attention", 0, "id")),
    (
        _but(practice=(KnownQuestion(id="p", shows={"target": "sol", "sentence_1": "El sol"}),)),
        "E628",
        ("practice", 0, "shows"),
    ),
    (
        _but(practice=(KnownQuestion(id="p", shows={"target": "sol", "sentence_1": "Luna"}),)),
        "E628",
        ("practice", 0, "shows"),
    ),
    (_but(scale=ScaleSection(anchors=READY.scale.anchors[:1])), "E629", ("scale", "high")),
    (_but(payment=Payment(amount=1, minutes=20, hourly_least=9)), "E630", ("payment", "amount")),
]


@pytest.mark.parametrize(("definition", "code", "keys"), PROBLEMS)
def test_launch_is_refused(definition: StudyDefinition, code: str, keys: tuple[str | int, ...]) -> None:
    """What would harm participants, data or analysis is a problem with a code and its setting."""
    found = launch_problems(definition, items())
    assert (code, keys) in [(problem.code, problem.keys) for problem in found]
    assert all(problem.what and problem.hint for problem in found)
    place = parse_definition(definition_yaml(definition)).place(keys)
    assert place.line is not None


def test_codes_of_a_study_without_qualification() -> None:
    """Nobody is screened out where there is no qualification: neither that code nor the one for a full study is due."""
    plain = _but(qualification=(), exclusions=(), codes=Codes(completion="A", no_consent="C"))
    assert launch_problems(plain, items()) == ()


def test_what_cannot_be_put_together_is_found_before_the_launch() -> None:
    """What only the whole study shows is found by the check, not when it is served: two equal codes, in a lab."""
    lab = _but(codes=Codes(completion="A", no_consent="A"), platform=Platform(kind="lab"))
    assert [(problem.code, "code" in problem.what) for problem in launch_problems(lab, items())] == [("E637", True)]


def test_a_study_in_the_lab_needs_no_codes() -> None:
    """Codes belong to platforms that pay by them."""
    lab = _but(codes=Codes(), platform=Platform(kind="lab"))
    assert launch_problems(lab, items()) == ()


@pytest.mark.parametrize(("answer", "right"), [(4, True), (5.0, True), ("5", True), (3, False), ("cinco", False)])
def test_accept_sets(answer: int | float | str, right: bool) -> None:
    """An answer is right if it is in the accept set, whichever way the number is written."""
    assert is_right(question(accept=(4, 5)), answer) is right


def test_a_question_becomes_an_item() -> None:
    """A question's sentences are usages with checked spans; what else it shows is kept."""
    shown = KnownQuestion(
        id="q", shows={"target": "sol", "sentence_1": "El sol.", "sentence_2": "Un sol.", "note": "x"}
    )
    item = question_item(shown, "study", "es")
    assert [usage.target for usage in item.usages] == ["sol", "sol"]
    assert item.conditions == {"note": "x"}


@pytest.mark.parametrize("language", ["es", "en", "es-MX"])
def test_a_draft_lacks_only_what_the_researcher_must_write(language: str) -> None:
    """The draft of `init` is a study but for consent, ethics and codes."""
    draft = draft_definition(items(), task="relatedness", items_file="items.csv", language=language, name="s")
    missing = {problem.keys for problem in launch_problems(draft, items())}
    codes = {("codes", name) for name in ("completion", "no_consent")}
    assert missing == {("texts", "consent"), ("ethics",), *codes}
    assert parse_definition(definition_yaml(draft)).definition == draft


def test_a_draft_in_a_language_that_nobody_wrote_asks_for_its_texts() -> None:
    """No English reaches participants of a study in another language: what is not written is asked for."""
    draft = draft_definition(items(), task="relatedness", items_file="items.csv", language="fi", name="s")
    missing = {problem.keys for problem in launch_problems(draft, items())}
    assert {("scale", "low"), ("scale", "high"), ("texts", "instructions"), ("texts", "debrief")} <= missing
    assert draft.about_you == ()
