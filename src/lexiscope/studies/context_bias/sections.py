"""The report of the study: the verdict first, then what was asked, of whom, what came out, and what is against it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lexiscope.analysis.verdict import Verdict, verdict
from lexiscope.core.dataset import DatasetCard, own_card
from lexiscope.core.result import Record, parse_statistic
from lexiscope.core.study import Question
from lexiscope.report.bias_sections import verdict_section
from lexiscope.report.document import Section
from lexiscope.report.part import Part
from lexiscope.report.sections import asked_in, card_section, question_section, questions_table
from lexiscope.studies.context_bias.material import AuditSet, Material
from lexiscope.studies.context_bias.protocol import LOOK_UP
from lexiscope.studies.context_bias.scores import Measured, gaps_of
from lexiscope.studies.context_bias.settings import ContextBiasSettings

METHODS = (
    "FULL is the whole input; CONTEXT has the target hidden behind a mask token, and every other place at which the "
    "texts of the item show it (its forms in any of the texts and its lemma as whole words in any case; in English "
    "also the regular forms of the lemma); WORD is the target alone in its surface form; LABEL shows nothing, "
    "candidates included. A model is trained, or its threshold chosen, on each view by itself and tested on the same "
    "view. RANDOM is a closed form.",
    "A part of the input tells answers if its score is above LABEL: the interval of the difference, on the same "
    "resampled words, lies above 0.",
    "Context bias is (CONTEXT − LABEL) / (FULL − LABEL), word bias likewise: the share of what the whole input gives "
    "over no input that can be had from one part. It may exceed 1 or be negative, and is undefined where FULL is not "
    "above LABEL.",
    "Intervals are percentiles of resampled words, the same words in all views: items of one word are not independent. "
    "The uncertainty of training (seeds) is not in them; it stands beside them where there are several seeds.",
)
LIMITS = (
    "A bias is that of a model on a dataset. Another model may find in a part of the input what this one did not, so "
    "that a low bias is no proof that the items need word and context together.",
    "Masking changes more than the target: a model that never saw such texts in its training may do badly on them for "
    "that reason alone. That is why it is trained on the masked input, and why a probe without training says less.",
    "Each interval is one of 95 %: among several parts and models, one part may be above LABEL by chance.",
)
_ZERO_SHOT = (
    "This is a first answer: no model was trained in this run. A probe sees how near two vectors are and nothing else: "
    "it underestimates what a part of the input gives to a model that learns. Its biases do not replace those of the "
    "paper's protocol (--protocol full, or --budget)."
)
_COUNTED = (
    "The learner that counts knows only what stood in training with the same texts: in real data it finds little. It "
    "proves that the measurement works where the answer is known."
)


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict on one dataset by one model."""

    dataset: str
    subject: str
    verdict: Verdict


def judged(everybody: Sequence[Measured], settings: ContextBiasSettings) -> tuple[Judged, ...]:
    """Return the verdict on every dataset by every model, beside people where there are any."""
    found = []
    for each in everybody:
        if each.human:
            continue
        human = next((one.biases for one in everybody if one.human and one.dataset == each.dataset), None)
        gaps = gaps_of(each, everybody, settings)
        found.append(
            Judged(
                each.dataset,
                each.subject,
                verdict(each.biases, human=human, gaps=gaps, blind=each.blind, name=each.subject),
            )
        )
    return tuple(found)


def built(
    material: Material,
    settings: ContextBiasSettings,
    questions: Sequence[Question],
    parts: Mapping[str, Part],
    verdicts: Sequence[Judged],
) -> tuple[Section, ...]:
    """Return the sections of the report; *parts* are the study's parts by name."""
    overview = questions_table(questions, _results(parts), parts, name="questions")
    said = tuple(
        verdict_section(f"{each.dataset}, {each.subject}", each.verdict, section_id=f"verdict_{n}")
        for n, each in enumerate(verdicts, start=1)
    )
    sections = [
        Section("verdict", "The verdict", (_PROTOCOL[_trained(material)],), subsections=said),
        Section("questions", "What was asked, and what came out", tables=(overview,)),
        _data(material, settings, parts),
        Section("methods", "How it was computed", (*METHODS, _settings_text(settings))),
    ]
    for question in questions:
        part = parts.get(question.question_id, Part())
        if part.tables or part.figures or part.paragraphs or part.remarks:
            texts = (*asked_in(question), *part.paragraphs, *part.remarks)
            sections.append(question_section(question, texts, part))
    ethics = (f"Ethics: {settings.ethics}",) if settings.ethics else ()
    sections.append(Section("limits", "Limits", (*LIMITS, *_of_models(material), *ethics)))
    return tuple(sections)


_PROTOCOL = {
    True: "What the numbers below say of each dataset, judged by each model, in sentences.",
    False: _ZERO_SHOT,
}


def _trained(material: Material) -> bool:
    methods = {each.method for answers in material.answers for each in answers.trained}
    return not methods or bool(methods - {"threshold", "label"})


def _data(material: Material, settings: ContextBiasSettings, parts: Mapping[str, Part]) -> Section:
    inner = []
    for name, title in (("sets", "The datasets and their splits"), ("models", "The models")):
        part = parts[name]
        inner.append(Section(name, title, part.paragraphs, part.tables))
    for number, audit in enumerate(material.sets, start=1):
        # items that are neither published nor read from a file have no card
        if card := audit.card or _own_card(audit, settings):
            inner.append(card_section(card, section_id=f"data_{number}"))
    return Section("asked", "What was asked, of whom", subsections=tuple(inner))


def _own_card(audit: AuditSet, settings: ContextBiasSettings) -> DatasetCard | None:
    if not settings.items:
        return None
    splits = (("train", audit.train), ("dev", audit.dev), ("test", audit.test))
    counts = (("items", len(audit.test)),) if audit.folds else tuple((name, len(own)) for name, own in splits)
    return own_card(Path(settings.items), task=audit.task, language=settings.language, counts=counts)


def _of_models(material: Material) -> tuple[str, ...]:
    counted = any(answers.subject == LOOK_UP for answers in material.answers)
    return (*((_ZERO_SHOT,) if not _trained(material) else ()), *((_COUNTED,) if counted else ()))


def _settings_text(settings: ContextBiasSettings) -> str:
    protocol = "auto (a linear probe of pairs, else no training)" if settings.protocol == "auto" else settings.protocol
    how = f"budget {settings.budget}" if settings.budget else f"protocol {protocol}"
    return f"{settings.n_bootstrap} bootstrap resamples, seed {settings.seed}; {how}."


# -- one line a question --------------------------------------------------------------------------------------


def _results(parts: Mapping[str, Part]) -> dict[str, str]:
    def of(name: str, statistic: str) -> list[Record]:
        return [r for r in parts.get(name, Part()).records if r.statistic.startswith(statistic) and r.value is not None]

    above = [r for part in ("context", "word") for r in of("Q1", f"view_difference(first={part},second=label")]
    pairs = [(r, s) for r in of("Q1", "context_bias") for s in of("Q1", "word_bias")
             if (r.dataset, r.subject) == (s.dataset, s.subject)]  # fmt: skip
    found = {
        "Q1": [
            *(f"{_of(r)}: {_first_view(r)} − LABEL {100 * (r.value or 0):.1f} points" for r in above),
            *(f"{_of(r)}: context bias {r.value:.2f}, word bias {s.value:.2f}" for r, s in pairs),
        ],
        "Q2": [f"{_of(r)}: {100 * (r.value or 0):.1f} points" for r in of("Q2", "minimum_gap")],
        "Q3": [f"{_of(r)}, {r.view}: {100 * (r.value or 0):.1f} points" for r in of("Q3", "people_minus_model")],
        "Q4": [f"{r.dataset}: {r.value:.4f}" for r in of("Q4", "label_entropy")],
        "Q5": [f"{r.dataset}: {r.value:.4f}" for r in of("Q5", "sense_entropy")],
        "Q6": [f"{_of(r)}: {r.value:.0f} items" for r in of("Q6", "n_errors(wrong=full")],
        "Q7": [f"{_of(r)}: {r.value:.0f} guesses" for r in of("Q7", "n_guesses")],
    }
    return {question: "; ".join(texts) for question, texts in found.items() if texts}


def _first_view(record: Record) -> str:
    return parse_statistic(record.statistic)[1]["first"].upper()


def _of(record: Record) -> str:
    return f"{record.dataset}, {record.subject}"
