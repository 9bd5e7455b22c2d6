"""SAW-C's files are joined by their sentences; any row that contradicts another is named with file and line."""

from __future__ import annotations

from typing import Any

import pytest

from lexiscope.core.errors import InputError, SpanError


def test_items_of_a_made_up_folder(made_up: Any) -> None:
    """An item has the word and its running number as id, two verified spans, its list and its conditions."""
    first, second = made_up.items()
    assert (first.item_id, second.item_id) == ("saw_c/muelle/1", "saw_c/muelle/2")
    assert [usage.target for usage in second.usages] == ["muelle", "muelle"]
    assert [usage.sense for usage in second.usages] == ["muelle.1", "muelle.2"]
    assert first.list_id == "1"
    assert first.condition("same_sense") is True
    assert second.condition("same_sense") is False
    assert second.condition("stimulus_2") == 3


def test_the_misspelt_gender_is_kept_and_understood(made_up: Any) -> None:
    """``same_gender`` reads femael as female; the published text and the published comparison stay as they are."""
    made_up.change("sentences.csv", "portuario,muelle,1,male", "portuario,muelle,1,female")
    made_up.change("sentences.csv", "pesquero,muelle,1,male", "pesquero,muelle,1,female")
    for name in ("pairs.csv", "trials.csv"):
        text = (made_up.folder / name).read_text(encoding="utf-8")
        text = text.replace(",male", ",female").replace('"male"', '"female"')
        (made_up.folder / name).write_text(text, encoding="utf-8")
    second = made_up.items()[1]
    assert (second.condition("gender_1"), second.condition("gender_2")) == ("female", "femael")
    assert (second.condition("same_gender"), second.condition("same_gender_published")) == (True, False)


def test_trials_become_responses_in_their_order(made_up: Any) -> None:
    """One row per participant and pair; ids are text; the order of presentation is unknown, so position is empty."""
    rows = list(made_up.responses().rows())
    assert [(r.subject_id, r.item_id, r.value) for r in rows] == [
        ("71", "saw_c/muelle/1", 5.0),
        ("71", "saw_c/muelle/2", 1.0),
        ("72", "saw_c/muelle/1", 4.0),
    ]
    kinds = {(r.subject_kind, r.task, r.measure, r.view, r.list_id, r.position) for r in rows}
    assert kinds == {("participant", "relatedness", "rating", "full", "1", None)}


def test_distances_are_joined_by_sentences_not_by_order(made_up: Any) -> None:
    """In layer 1 of the made-up file the pairs stand in the other order; each distance goes to its own pair."""
    table = made_up.distances().where(measure="cosine_distance")
    found = {(r.item_id, r.layer): r.value for r in table.rows()}
    assert found == {
        ("saw_c/muelle/1", 0): 0.0,
        ("saw_c/muelle/2", 0): 0.0,
        ("saw_c/muelle/1", 1): 0.1,
        ("saw_c/muelle/2", 1): 0.4,
    }
    assert table.unique("view") == ("full+final_stop",)
    assert made_up.distances().where(measure="n_tokens_2").column("value").tolist() == [8.0, 7.0]


def test_distances_without_final_stop(made_up: Any) -> None:
    """The same file without stops is the view ``full``; with stops it is not accepted as that, nor the reverse."""
    with pytest.raises(InputError, match=r"distances\.csv:2:1: .* must be a known key"):
        made_up.distances("full")
    path = made_up.folder / "distances.csv"
    path.write_text(path.read_text(encoding="utf-8").replace(".,", ","), encoding="utf-8")
    assert made_up.distances("full").unique("view") == ("full",)
    with pytest.raises(InputError, match=r"distances\.csv:2:1: .* must be a known key"):
        made_up.distances()


def test_token_counts(made_up: Any) -> None:
    """Target tokens are counted from the published list, which is kept; the space before a word is understood."""
    table = made_up.tokens()
    targets = table.where(measure="target_tokens", subject_id="toy")
    assert targets.column("value").tolist() == [2.0, 2.0]
    assert targets.column("raw").tolist() == ["[5, 17]", "[5, 17]"]
    assert targets.unique("view") == ("word",)
    assert table.where(measure="n_tokens_2", subject_id="toy", view="full").column("value").tolist() == [7.0, 6.0]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"2",71,1,', '"2",71,6,', r"trials\.csv:3:8: column 'Response': a rating from 1 to 5"),
        ('"2",71,1,', '"2",71,2.5,', r"trials\.csv:3:8: column 'Response': a rating from 1 to 5"),
        ('"2",71,1,', '"2",71,NaN,', r"trials\.csv:3:8: column 'Response': a finite number"),
        ('"2",71,1,', '"2",71,NA,', r"trials\.csv:3:8: column 'Response': a number"),
        ('"2",71,1,', '"2",71,,', r"trials\.csv:3:8: column 'Response': a number"),
        ('"3",72,4,', '"3",71,4,', r"trials\.csv:4:\d+: column 'Participant': .* are already in line 2"),
        ('"Different Sense"', '"Same Sense"', r"trials\.csv:3:\d+: column 'Same_sense': 'Different Sense' is needed"),
        ('adjective",FALSE', 'adjective",TRUE', r"trials\.csv:3:\d+: column 'Same_gender': 'FALSE' is needed"),
        ('"muelle","Era un', '"muelles","Era un', r"trials\.csv:2:\d+: column 'Word': 'muelle' is needed"),
        ('"Participant",', "", r"trials\.csv:1: .*missing 'Participant'"),
        ('"Participant",', '"Participant","Age",', r"trials\.csv:1: .*unknown 'Age'"),
        (',"adjective","adjective",FALSE', "", r"trials\.csv:3: \[E004\] the row has 13 fields, the header names 16"),
    ],
)
def test_a_bad_trial_is_named(made_up: Any, old: str, new: str, said: str) -> None:
    """Ratings that are missing, off the scale or repeated, and cells that contradict the pair, are never passed on."""
    made_up.change("trials.csv", old, new)
    with pytest.raises(InputError, match=said):
        made_up.responses()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("muelle,Era un muelle", "muelles,Era un muelle", r"target 'muelles' does not occur"),
        (
            "1,male,adjective,adjective,True",
            "2,male,adjective,adjective,True",
            r"pairs\.csv:2:\d+: column 'Same_sense'",
        ),
        (",2,Era un", ",3,Era un", r"pairs\.csv:2:\d+: column 'counts': '2' is needed"),
        ("Era un muelle pesquero,1", "Era un muelle gris,1", r"pairs\.csv:2:\d+: column 'Sentence_1'"),
        ("elástico,2,femael", "elástico,2,female", r"sentences\.csv:4:1: column 'Sentence': the item file has"),
        ("True,True,2,", "True,False,2,", r"trials\.csv:2:\d+: column 'Same_gender': 'FALSE' is needed"),
    ],
)
def test_a_bad_pair_is_named(made_up: Any, old: str, new: str, said: str) -> None:
    """A pair that contradicts its word, its senses, the list of sentences or the trials is refused."""
    made_up.change("pairs.csv", old, new)
    with pytest.raises(InputError, match=said):
        made_up.responses()


def test_a_target_that_occurs_twice_is_named(made_up: Any) -> None:
    """A word that stands twice in its sentence has no certain span: the error shows the line and the second one."""
    for name in ("pairs.csv", "sentences.csv", "trials.csv"):
        path = made_up.folder / name
        path.write_text(
            path.read_text(encoding="utf-8").replace("muelle pesquero", "muelle o muelle"), encoding="utf-8"
        )
    with pytest.raises(SpanError, match=r"pairs\.csv:2:\d+: \[E102\] target 'muelle' occurs 2 times"):
        made_up.items()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("False,0.4,1", "False,nan,1", r"distances\.csv:4:\d+: column 'Distance': a finite number"),
        ("False,0.4,1", "False,2.4,1", r"distances\.csv:4:\d+: column 'Distance': a cosine distance from 0 to 2"),
        ("False,0.4,1", "False,0.4,2", r"distances\.csv:4:\d+: column 'Layer': a layer from 0 to 1"),
        ("False,0.4,1", "False,0.4,0", r"distances\.csv:4:1: .*are already in line 3"),
        ("False,0.4,1", "True,0.4,1", r"distances\.csv:4:\d+: column 'Same_sense': 'False' is needed"),
        ("0.4,1,7,7,0,1000", "0.4,1,7,7,1,1000", r"distances\.csv:4:\d+: column 'token_diffs': '0' is needed"),
        ("0.4,1,7,7,0,1000", "0.4,1,7,7,0,999", r"distances\.csv:4:\d+: column 'n_params': '1000' is needed"),
        ("0.4,1,7,7,0,1000", "0.4,1,8,8,0,1000", r"distances\.csv:4:\d+: column 'S1_ntokens': the same number"),
        ("elástico.,muelle,False,0.4", "elastico.,muelle,False,0.4", r"distances\.csv:4:1: .* known key"),
        (
            "Era un muelle pesquero.,Era un muelle portuario.,muelle,True,0.1,1,7,8,1,1000\n",
            "",
            r"distances\.csv:4: this file has 3 rows, not 4 \(2 layers x 2 pairs\)",
        ),
    ],
)
def test_a_bad_distance_is_named(made_up: Any, old: str, new: str, said: str) -> None:
    """A distance that is no number, of an unknown pair or layer, repeated or missing is refused."""
    made_up.change("distances.csv", old, new)
    with pytest.raises(InputError, match=said):
        made_up.distances()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('toy,"[5, 17]",6,7', 'toy,"5, 17",6,7', r"tokens\.csv:2:\d+: column 'Target_tokens': a list"),
        ("0, muelle,", "0,muelle,", r"tokens\.csv:4:\d+: column 'Word': ' muelle' is needed"),
        ("0,muelle,toy", "0,puerto,toy", r"tokens\.csv:2:\d+: column 'Word': 'muelle' is needed"),
        ("0, muelle,roberta-base-bne,[8],6,6\n", "", r"tokens\.csv:4: this file has 3 rows, not 4"),
    ],
)
def test_a_bad_token_row_is_named(made_up: Any, old: str, new: str, said: str) -> None:
    """The file without key must follow the order of the pairs."""
    made_up.change("tokens.csv", old, new)
    with pytest.raises(InputError, match=said):
        made_up.tokens()
