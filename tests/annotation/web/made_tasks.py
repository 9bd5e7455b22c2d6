"""A small study for every task: its worked examples as items, practice and qualification."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast

from lexiscope.annotation.study_file.definition import (
    AboutYou,
    AboutYouOption,
    Anchor,
    CatchSection,
    Codes,
    DesignSection,
    KnownQuestion,
    PoolSection,
    RatingsSection,
    ScaleSection,
    StudyDefinition,
    StudyTexts,
)
from lexiscope.core import catalog
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage

TEXTS = {
    "en": StudyTexts(
        title="What words mean",
        consent="I take part of my own free will, and may stop at any time without giving a reason.",
        instructions="## What to do\n\nRead each text at your own pace.\n\n- Trust your feeling.\n- Take your time.",
        debrief="You judged words whose meaning depends on the text around them. **Thank you.**",
        screened_out="Your answers show that this study does not fit you.",
        full="All places are taken.",
        closed="The study is paused.",
        declined="You have not consented, and nothing was stored.",
    ),
    "es": StudyTexts(
        title="Lo que significan las palabras",
        consent="Participo por voluntad propia y puedo dejarlo en cualquier momento sin dar explicaciones.",
        instructions="## Qué hay que hacer\n\nLea cada texto con calma.\n\n- No hay límite de tiempo.",
        debrief="Ha valorado palabras cuyo significado depende del texto. **Gracias.**",
        screened_out="Sus respuestas indican que este estudio no es para usted.",
        full="No quedan plazas.",
        closed="El estudio está en pausa.",
        declined="No ha dado su consentimiento y no se ha guardado nada.",
    ),
    "ar": StudyTexts(
        title="معاني الكلمات",
        consent="أشارك بإرادتي الحرة، ويمكنني التوقف في أي وقت دون ذكر السبب.",
        instructions="## ما المطلوب\n\nاقرأ كل نص على مهل.\n\n- لا يوجد حد للوقت.",
        debrief="لقد قيّمت كلمات يعتمد معناها على النص. **شكرًا لك.**",
        screened_out="تدل إجاباتك على أن هذه الدراسة لا تناسبك.",
        full="لا أماكن متاحة.",
        closed="الدراسة متوقفة مؤقتًا.",
        declined="لم توافق، ولم يُحفظ شيء.",
    ),
}
ASKED = {
    "en": ("Is English your native language?", "yes", "no", "How old are you?"),
    "es": ("¿Es el español su lengua materna?", "sí", "no", "¿Cuántos años tiene?"),
    "ar": ("هل العربية لغتك الأم؟", "نعم", "لا", "كم عمرك؟"),
}
ETHICS = {
    "en": "Approved by the board of this test, no. 1, 2026-01-01.",
    "es": "Aprobado por el comité de esta prueba, n.º 1, 2026-01-01.",
    "ar": "وافقت عليها لجنة هذا الاختبار، رقم ١، ٢٠٢٦-٠١-٠١.",
}
ARABIC = (
    ("عين", "امتلأت عين الماء بعد المطر", "أغمض الطفل عين اللعبة"),
    ("عين", "شربنا من عين الماء", "جفت عين القرية في الصيف"),
)
MORE_WORDS = Item(
    "example-en-3",
    "ambiguous_sentence",
    (Usage("pen", 0, 3, lemma="pen", language="en"),),
    conditions={
        "sense_1": "a tool for writing with ink",
        "example_1": "He signed with a pen.",
        "sense_2": "a small fenced place for animals",
        "example_2": "The sheep are in the pen.",
    },
    gold="The farmer had lost the pen.",
)
ENTITIES = """\
id\ttitle\taliases\tdescription
E1\tCambridge\t\ta city in England
E2\tCambridge, Massachusetts\t\ta city in the United States
E3\tIceland\t\tan island and country in the Atlantic
E4\tIceland men's national handball team\t\ta handball team
"""
WRITTEN = ("ambiguous_sentence", "story_ending")


def examples(task: str, language: str) -> tuple[Item, ...]:
    """The items of a task in a language, made sentences all."""
    if language == "ar":
        return tuple(_pair(number, *texts) for number, texts in enumerate(ARABIC, 1))
    made = getattr(catalog.module("tasks", task), "example_items")  # noqa: B009
    items = cast(tuple[Item, ...], made(language))
    return (*items, MORE_WORDS) if (task, language) == ("ambiguous_sentence", "en") else items


def _pair(number: int, word: str, *texts: str) -> Item:
    usages = tuple(Usage(t, t.index(word), t.index(word) + len(word), lemma=word, language="ar") for t in texts)
    return Item(f"example_{number}", "relatedness", usages, gold="15"[number - 1])


def question(item: Item, name: str, *, task: str = "", explanation: str = "") -> KnownQuestion:
    """An item as a question with a known answer: its right answer is the item's."""
    several = len(item.usages) > 1
    shows = {}
    for number, usage in enumerate(item.usages, 1):
        end = f"_{number}" if several else ""
        shows |= {f"sentence{end}": usage.text, f"target{end}": usage.target}
    shows |= {key: str(value) for key, value in item.conditions.items()}
    gold = item.gold or ""
    accept = (int(gold),) if gold.isdigit() and catalog.screen(task or item.dataset).widget == "scale" else (gold,)
    return KnownQuestion(id=name, task=task, shows=shows, accept=accept, explanation=explanation)


def task_study(
    task: str, folder: Path, *, language: str = "en", **changed: object
) -> tuple[StudyDefinition, tuple[Item, ...]]:
    """The definition and the items of the small study of a task; what is given replaces a setting."""
    items, screen = examples(task, language), catalog.screen(task)
    # nobody's writing can be checked at the door: a story is rated instead
    known = examples("plausibility", language)[0] if task in WRITTEN else items[0]
    because = "النص يقول ذلك" if language == "ar" else screen.examples(language)[-1]["because"]
    entities = folder / "entities.tsv"
    entities.write_text(ENTITIES, encoding="utf-8")
    values: dict[str, object] = {
        "name": f"study-{task}",
        "task": task,
        "language": language,
        "design": DesignSection(lists=1),
        "ratings": RatingsSection(per_item=20),
        "catch": CatchSection(per_list=1 if task == "relatedness" else 0),
        "about_you": about_you(language),
        "qualification": (question(known, "q1", task="plausibility" if task in WRITTEN else ""),),
        "practice": (question(items[-1], "p1", explanation=because[0].upper() + because[1:] + "."),),
        "pool": PoolSection(per_person=2),
        "search": str(entities) if screen.widget == "search" else "",
        "texts": TEXTS[language],
        "codes": Codes(completion="DONE1", screen_out="OUT1", no_consent="NO1"),
        "ethics": ETHICS[language],
        "contact": "team@example.org",
    }
    if screen.widget == "scale":
        anchors = tuple(Anchor(point=point, text=text) for point, text in screen.anchors[language])
        values["scale"] = ScaleSection(anchors=anchors)
    return StudyDefinition(**(values | changed)), renamed(items)  # type: ignore[arg-type]


def renamed(items: tuple[Item, ...]) -> tuple[Item, ...]:
    """The items under short names."""
    return tuple(replace(item, item_id=f"i{number}") for number, item in enumerate(items, 1))


def about_you(language: str) -> tuple[AboutYou, ...]:
    """Two questions about the participant: a choice, and a number that may be left out."""
    native, yes, no, age = ASKED[language]
    options = (AboutYouOption(value="yes", text=yes), AboutYouOption(value="no", text=no))
    return (
        AboutYou(measure="native_speaker", text=native, options=options),
        AboutYou(measure="age", text=age, kind="number", required=False),
    )
