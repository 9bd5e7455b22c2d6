"""``lexiscope annotate reconcile --apply`` and ``purge``: what the platform says is noted, and what is due goes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from click.testing import Result

from lexiscope.annotation.store.answers import planned_trials
from lexiscope.annotation.store.record import BrowserAnswer, Phase, State
from lexiscope.annotation.store.store import Store
from lexiscope.annotation.study_file.study_folder import copy_inputs, read_study
from lexiscope.core.showing import counted

from .test_annotate_serve import write_study

Run = Callable[..., Result]
HEAD = "Submission id,Participant id,Status,Completion code\n"


@contextmanager
def opened(folder: Path, **options: object) -> Iterator[Store]:
    """The study's store; while it is open, the command line takes it for a running server."""
    study = read_study(folder / "study.yaml")
    frozen = study.freeze()
    with Store.open(study.folder, frozen.record, has_place=frozen.has_place, **options) as store:  # type: ignore[arg-type]
        copy_inputs(study)
        yield store


def come(store: Store, name: str, *, until: str) -> str:
    """Somebody who came with a platform id and went on to a state, answering by rule."""
    who = store.invite(name)
    if until == "invited":
        return who
    store.record_consent(who, text="I agree.", version="1")
    store.change_state(who, State.QUALIFIED, reason="test")
    store.take_place(who)
    item = store.study.items[0]
    store.lay_out(who, Phase.TRIALS, read_study(store.folder).freeze().trials("1", number=1)[:1])
    store.change_state(who, State.ACTIVE, reason="begins")
    if until == "finished":
        (trial,) = store.read(planned_trials, who)
        store.submit(BrowserAnswer(who, trial.item_id, Phase.TRIALS, "key", 0, value=3))
        store.change_state(who, State.FINISHED, reason="answered all")
    assert item.item_id
    return who


def states(store: Store, people: Mapping[str, str]) -> dict[str, str]:
    found = {one.participant_id: str(one.state) for one in store.people()}
    return {name: found[who] for name, who in people.items()}


def test_the_list_is_applied(run: Run, tmp_path: Path) -> None:
    """Returned and timed out there becomes so here, and the places are free; who has finished, who has another
    submission besides, and who is not in the list stay; applied again it marks nobody; the log notes who and whence."""
    write_study(tmp_path)
    with opened(tmp_path) as store:
        until = {
            "ret": "active",
            "out": "active",
            "both": "active",
            "new": "invited",
            "done": "finished",
            "on": "active",
        }
        people = {name: come(store, f"ID-{name}", until=state) for name, state in until.items()}
        (load,) = store.loads().values()
        assert load.active == 4
    lines = ["s1,ID-ret,RETURNED,", "s2,ID-out,TIMED-OUT,", "s3,ID-both,RETURNED,", "s4,ID-both,ACTIVE,"]
    lines += ["s5,ID-new,RETURNED,", "s6,ID-done,RETURNED,", "s7,ID-never,RETURNED,"]
    (tmp_path / "list.csv").write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")
    with opened(tmp_path):
        refused = run("annotate", "reconcile", "study", "list.csv", "--apply")
        assert (refused.exit_code, "dashboard" in refused.output) == (1, True)
        looked = run("annotate", "reconcile", "study", "list.csv")
        assert looked.exit_code == 0, looked.output
        assert looked.output.count("place_not_given_back") == 4
        content = json.loads(run("annotate", "reconcile", "study", "list.csv", "--json").stdout)
        assert [row["kind"] for row in content["differences"]].count("place_not_given_back") == 4
        assert (content["submissions"], content["marked"]) == (7, [])
    for marked in (3, 0):
        done = run("annotate", "reconcile", "study", "list.csv", "--apply")
        assert done.exit_code == 0, done.output
        assert f"Marked {counted(marked, 'participant')}." in done.output
        assert "finished_but_returned" in done.output
    with opened(tmp_path) as store:
        assert states(store, people) == {
            "ret": "returned",
            "out": "timed_out",
            "both": "active",
            "new": "returned",
            "done": "finished",
            "on": "active",
        }
        (load,) = store.loads().values()
        assert (load.active, load.valid) == (2, 1)
        logged = [json.loads(one.details) for one in store.audit_entries()[1] if one.action == "change_state"]
        assert {(one["participant_id"], one["from"], one["to"]) for one in logged} == {
            (people["ret"], "active", "returned"),
            (people["out"], "active", "timed_out"),
            (people["new"], "invited", "returned"),
        }
        assert {one.actor for one in store.audit_entries()[1] if one.action == "change_state"} == {"command line"}
        assert "ID-" not in "".join(one.details for one in store.audit_entries()[1])
        assert store.verify().problems == ()


def test_a_broken_list_changes_nothing(run: Run, tmp_path: Path) -> None:
    """A status that nobody knows stops the run before the first mark."""
    write_study(tmp_path)
    with opened(tmp_path) as store:
        who = come(store, "ID-ret", until="active")
    (tmp_path / "list.csv").write_text(HEAD + "s1,ID-ret,RETURNED,\ns2,ID-x,VANISHED,\n", encoding="utf-8")
    done = run("annotate", "reconcile", "study", "list.csv", "--apply")
    assert (done.exit_code, "VANISHED" in done.output) == (1, True)
    with opened(tmp_path) as store:
        assert states(store, {"ret": who}) == {"ret": "active"}


def test_platform_ids_that_are_due_are_said_and_deleted(run: Run, tmp_path: Path) -> None:
    """A study whose server is off: before its day nothing goes, after it `status` says so and `purge` deletes."""
    definition = write_study(tmp_path)
    days = definition.retention.platform_ids_days
    assert days is not None
    with opened(tmp_path) as store:
        store.invite("ID-ana")
    assert "not closed" in run("annotate", "purge", "study").output
    with opened(tmp_path) as store:
        store.set_status("closed", actor="ana")
    assert "No platform IDs to delete before" in run("annotate", "purge", "study").output
    assert "should have been deleted" not in run("annotate", "status", "study").output
    assert json.loads(run("annotate", "status", "study", "--json").output)["platform_ids_due"] > str(datetime.now(UTC))
    for name in ("study.sqlite", "study.sqlite-wal", "study.sqlite-shm", "secret.key", "study.mark"):
        (tmp_path / "study" / name).unlink(missing_ok=True)
    with opened(tmp_path, clock=lambda: datetime.now(UTC) - timedelta(days=days, hours=1)) as store:
        store.invite("ID-ana")
        store.set_status("closed", actor="ana")
    assert "lexiscope annotate purge study" in " ".join(run("annotate", "status", "study").output.split())
    done = run("annotate", "purge", "study")
    assert (done.exit_code, "Deleted platform IDs and tokens: 1." in done.output) == (0, True), done.output
    assert "should have been deleted" not in run("annotate", "status", "study").output
    assert json.loads(run("annotate", "status", "study", "--json").output)["platform_ids_due"] is None
    assert b"ID-ana" not in (tmp_path / "study" / "study.sqlite").read_bytes()
    with opened(tmp_path):
        assert run("annotate", "purge", "study").exit_code == 1
