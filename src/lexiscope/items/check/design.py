"""The checks that look across rows: repeated and identical sentences, cues, balance of senses, ratings per item.

Everything is gathered in one pass; what needs the whole file is reported by :meth:`DesignChecks.finish`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import combinations

from lexiscope.core.usage import Usage
from lexiscope.items.check.rows import RowQuestion, differences_beyond_cue, sentence_statistics
from lexiscope.items.tables.columns import Indices
from lexiscope.items.tables.findings import Finding, Report, SentenceStatistics
from lexiscope.resources.tables.rows import Row

UsageKey = tuple[str, int, int]
QuestionKey = tuple[UsageKey | str, ...]

# Above this many sentences per word, a list is compared with the word's first sentence only (quadratic otherwise).
_ALL_PAIRS_UP_TO = 30
# From this many pairs on, they themselves say whether they were made by changing one word.
_MANY_PAIRS = 10


def question_key(usages: tuple[Usage, ...]) -> tuple[UsageKey, ...]:
    """Return what makes two questions the same: their usages in any order."""
    return tuple(sorted(usage.key for usage in usages))


@dataclass(slots=True)
class DesignChecks:
    """Gathers the questions of one file and reports what is wrong between them.

    ``repeats_allowed`` is set where the file has a row per rating: the same question then is in many rows. ``by_page``:
    a page shows more than the sentences, so that rules for pairs and for the senses of a word do not apply.
    """

    report: Report
    indices: Indices
    repeats_allowed: bool = False
    by_page: bool = False
    _first: dict[QuestionKey, RowQuestion] = field(default_factory=dict)
    _ids: dict[str, QuestionKey] = field(default_factory=dict)
    _by_word: dict[str, list[RowQuestion]] = field(default_factory=lambda: defaultdict(list))
    _senses: dict[tuple[str, UsageKey], tuple[str, Row]] = field(default_factory=dict)
    _contradictory: set[tuple[str, UsageKey]] = field(default_factory=set)
    _beyond_cue: list[tuple[RowQuestion, str]] = field(default_factory=list)
    _n_compared: int = 0

    def add(self, question: RowQuestion, key: QuestionKey) -> None:
        """Read one question and report its faults at once; *key* identifies it."""
        self._check_id(question, key)
        earlier = self._first.setdefault(key, question)
        if earlier is not question:
            self._check_repeat(question, earlier)
            return
        self._check_senses(question)
        self._check_pair(question)
        if not question.catch:
            self._by_word[question.word].append(question)

    def finish(self) -> None:
        """Report what the whole file shows."""
        self._check_stops()
        for word, questions in self._by_word.items() if not self.by_page else ():
            self._check_word(word, questions)
        self._report_cues()

    @property
    def n_questions(self) -> int:
        """The number of distinct questions."""
        return len(self._first)

    @property
    def n_words(self) -> int:
        """The number of distinct words that items are grouped by."""
        return len(self._by_word)

    def statistics(self) -> SentenceStatistics:
        """Return sentence lengths and differences in length between the sentences of the pairs."""
        questions = [question for question in self._first.values() if not question.catch]
        sentences = (usage.text for question in questions for usage in question.usages)
        pairs = ([usage.text for usage in question.usages] for question in questions if len(question.usages) == 2)
        return sentence_statistics(sentences, pairs)

    # -- at once ------------------------------------------------------------------------------------------------

    def _check_id(self, question: RowQuestion, key: QuestionKey) -> None:
        if question.item_id is None or self._ids.setdefault(question.item_id, key) == key:
            return
        hint = "give each question a unique ID"
        self._report_fault("E211", "the item id is already used for another question", question, hint)

    def _check_repeat(self, question: RowQuestion, earlier: RowQuestion) -> None:
        if self.repeats_allowed and question.item_id == earlier.item_id:
            return
        what = "the sentence" if len(question.usages) == 1 else "the pair"
        turned = "" if question.usages[0].key == earlier.usages[0].key else ", in the other order"
        fault = f"{what} is already in line {earlier.row.line}{turned}"
        self._report_fault("E209", fault, question, "remove one of the two rows")

    def _check_senses(self, question: RowQuestion) -> None:
        for usage in question.usages:
            key = (question.word, usage.key)
            if usage.sense is None:
                continue
            sense, row = self._senses.setdefault(key, (usage.sense, question.row))
            if sense != usage.sense and key not in self._contradictory:
                self._contradictory.add(key)
                fault = f"{usage.text!r} has sense {usage.sense!r} here and {sense!r} in line {row.line}"
                self._report_fault("E210", fault, question, "file the sentence under one sense")

    def _check_pair(self, question: RowQuestion) -> None:
        if len(question.usages) != 2 or question.catch:
            return
        first, second = question.usages
        if first.key == second.key:
            hint = "remove the pair, or mark it as a catch trial (column catch = true)"
            self._report_fault("E208", "the two sentences of the pair are identical", question, hint)
            return
        if first.target.casefold() != second.target.casefold():
            fault = f"the target's wordform differs: {first.target!r} and {second.target!r}"
            self._report_fault("W207", fault, question, "use one wordform, if the design allows it")
        self._check_cue(question, first.text, second.text)

    def _check_cue(self, question: RowQuestion, first: str, second: str) -> None:
        more = differences_beyond_cue(first, second)
        self._n_compared += 1
        if more is not None:
            self._beyond_cue.append((question, more))

    def _report_cues(self) -> None:
        """Report pairs that differ in more than a cue, where most pairs of the file differ in a cue only.

        If most pairs differ in more, sentences were not made by changing one word: the rule does not apply to this
        file.
        """
        if self._n_compared >= _MANY_PAIRS and 2 * len(self._beyond_cue) > self._n_compared:
            return
        for question, more in self._beyond_cue:
            hint = "change one word only, or keep the pair and report how many differ in more"
            self._report_fault("W206", f"the pair differs in more than one word: {more}", question, hint)

    # -- at the end ---------------------------------------------------------------------------------------------

    def _check_stops(self) -> None:
        stopped: dict[bool, RowQuestion] = {}
        for question in self._first.values():
            for usage in question.usages:
                stopped.setdefault(usage.text.rstrip().endswith((".", "!", "?", "…")), question)
        if len(stopped) == 2:
            fault = "some sentences of the file end in a full stop and some do not (this is the first that does not)"
            hint = "write all of them in one way: a final stop changes the answers of some models"
            self._report_fault("W111", fault, stopped[False], hint)

    def _check_word(self, word: str, questions: list[RowQuestion]) -> None:
        pairs = [question for question in questions if len(question.usages) == 2]
        if len(pairs) == 1:
            hint = "give every word at least two pairs, one of each kind; otherwise word and pair are confounded"
            self._report_fault("W204", f"the word {word!r} has one pair only", pairs[0], hint)
        self._check_balance(word, questions)
        single = [question for question in questions if len(question.usages) == 1]
        others = list(combinations(single, 2)) if len(single) <= _ALL_PAIRS_UP_TO else [(single[0], q) for q in single]
        for first, second in others:
            self._check_cue(second, first.usages[0].text, second.usages[0].text)

    def _check_balance(self, word: str, questions: list[RowQuestion]) -> None:
        filed = {usage.key: usage.sense for q in questions for usage in q.usages if usage.sense is not None}
        n_by_sense = Counter(filed.values())
        if not n_by_sense or (len(n_by_sense) > 1 and len(set(n_by_sense.values())) == 1):
            return
        counts = ", ".join(f"sense {sense}: {n}" for sense, n in sorted(n_by_sense.items()))
        fault = f"the senses of {word!r} are not balanced (sentences per {counts})"
        hint = "give every sense the same number of sentences, and every word two senses or more"
        self._report_fault("W205", fault, questions[0], hint)

    def _report_fault(self, code: str, message: str, question: RowQuestion, hint: str) -> None:
        # the sentence that comes last is the one that breaks a rule set by what is before it
        part = "item_id" if code == "E211" else "sentence_2" if len(question.usages) == 2 else "sentence_1"
        place = question.row.place(
            self.indices.get(part), width=len(question.usages[-1].text) if part != "item_id" else 1
        )
        self.report(Finding.from_place(code, message, place, hint=hint, item_id=question.item_id))
