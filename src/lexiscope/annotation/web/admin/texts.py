"""The texts of the researchers' pages that are not in a template: titles, states, messages about actions."""

from __future__ import annotations

from collections.abc import Mapping

from lexiscope.annotation.phrases import Phrase, msg
from lexiscope.annotation.reconciliation import LEFT_THERE
from lexiscope.annotation.study_file.exclusions import INCLUDED

TITLES: Mapping[str, str] = {
    "overview": msg("Overview"),
    "results": msg("Results"),
    "items": msg("Items"),
    "participants": msg("Participants"),
    "exclusions": msg("Exclusions"),
    "comments": msg("Comments"),
    "review": msg("Review"),
    "invitations": msg("Invitations"),
    "export": msg("Export"),
    "log": msg("Log"),
    "status": msg("Status"),
}
"""The pages in the order of the navigation."""

NOTICE_SIMULATED = msg("Simulated participants: this is a rehearsal. No person gave these answers.")

MESSAGES: Mapping[str, str] = {
    "too_many_logins": msg("Too many attempts failed. Please wait a minute and try again."),
    "wrong_login": msg("Name or password is wrong."),
    "busy": msg("Too many logins at the moment. Please try again in a few seconds."),
    "no_setup": msg("This set-up link was used before, is too old, or is incomplete. Make a new one on the server."),
    "bad_name": msg("A name has 1 to 40 letters, digits, dots, hyphens or underscores."),
    "password_short": msg("The password is too short. Use at least 8 characters; 15 or more are better."),
    "password_long": msg("The password is too long. Use at most 256 characters."),
    "password_common": msg("This password is too common. Use another one."),
    "password_names": msg("The password is too similar to the name of the study or the account. Use another one."),
    "password_pattern": msg("The password repeats a short text or follows the keyboard. Use another one."),
    "passwords_differ": msg("The two passwords differ."),
    "logged_out": msg("You are logged out."),
    "password_set": msg("The password is set. Please log in with it."),
    "running": msg("The study is running and accepts new participants."),
    "paused": msg("The study is paused and accepts no new participants. Participants who have started can finish."),
    "closed": msg("The study is closed and accepts no new participants. Participants who have started can finish."),
    "places_set": msg("The places were changed."),
    "judged": msg("The exclusion rules were applied."),
    "judging_failed": msg("A rule could not be applied. No participant was changed. For the reason, see the log."),
    "state_changed": msg("The participant's state was changed."),
    "marked_away": msg("The list was applied. The places of these participants are free."),
    "bad_ids": msg("Please paste 1 to 2,000 IDs. Nothing was changed."),
    "not_possible": msg("This is not possible in the participant's present state. Nothing was changed."),
    "reason_missing": msg("Please give a reason. Nothing was changed."),
    "forgotten": msg("The participant's identity was deleted from the study and its backups."),
    "still_written": msg(
        "The identity was deleted. An answer or a comment still contains it, typed by the participant."
    ),
    "not_typed": msg("This is not the participant's pseudonym. Nothing was deleted."),
    "reviewed": msg("The decision was stored."),
    "text_missing": msg("The final text must not be empty. Nothing was stored."),
    "bad_number": msg("Please enter a whole number within the limits. Nothing was changed."),
    "not_confirmed": msg("Please confirm first. Nothing was changed."),
    "answer_refused": msg("This entry cannot be stored. Nothing was changed."),
    "many_tokens": msg("Make 1 to 1,000 links at a time."),
    "verified": msg("The database, the log and all answers were checked. No problems were found."),
    "damaged": msg("The check found problems."),
    "export_failed": msg("The export failed, and no file was kept. For the reason, see the server's log."),
}
"""The messages about actions and errors, by the key that the code uses."""

ONE: Mapping[str, str] = {
    "participant": msg("Participant %(who)s"),
    "forget": msg("Delete the identity of %(who)s"),
    "places": msg("Places of list %(list)s"),
    "text": msg("Text %(number)s"),
}
"""The titles of pages about one thing."""

STATES: Mapping[str, str] = {
    "invited": msg("invited"),
    "declined": msg("declined"),
    "consented": msg("consented"),
    "qualified": msg("qualified"),
    "screened_out": msg("screened out"),
    "active": msg("active"),
    "finished": msg("finished"),
    "accepted": msg("accepted"),
    "excluded": msg("excluded"),
    "returned": msg("returned"),
    "timed_out": msg("timed out"),
}
"""The states of participants."""

STATUSES: Mapping[str, tuple[str, str]] = {
    "running": ("open", msg("running")),
    "paused": ("paused", msg("paused")),
    "closed": ("closed", msg("closed")),
}
"""The states of the study: the colour of the badge, and the word."""

VERDICTS: Mapping[str, str] = {
    "not reviewed": msg("not reviewed"),
    "accepted": msg("accepted"),
    "rejected": msg("rejected"),
}
"""The decisions about a text."""

KEEPING: Mapping[str, str] = {
    "backup": msg("The last backup failed. The server tries again within an hour."),
    "purge": msg("Platform IDs are due, but could not be deleted. The server tries again within an hour."),
}
"""The message about a failed maintenance job, by its name."""

VIEWS: Mapping[str, str] = {
    "full": msg("full"),
    "context": msg("context"),
    "word": msg("word"),
    "label": msg("label"),
    "guessed_word": msg("guessed word"),
}
"""The views of an item."""

FLAGS: Mapping[str, str] = {
    "nonsensical": msg("nonsensical"),
    "weird": msg("weird"),
    "undecided": msg("cannot decide"),
    "not_found": msg("not found"),
    "skipped": msg("skipped"),
}
"""The flags that participants set with an answer."""

ITEM_FAULTS: Mapping[str, str] = {
    "E645": msg("An accepted sentence does not contain its word exactly once. Review it again."),
    "E648": msg(
        "Setups without an accepted ending for each meaning are incomplete. Collect more endings, or omit them."
    ),
    "E649": msg("A setup has two accepted endings of one meaning or of one participant. Reject one of them."),
    "E650": msg("There are no accepted texts yet."),
}
"""Why accepted texts make no items, by the code of the error."""
NO_ITEMS = msg("The accepted texts do not make items yet.")

EXCLUDED_BY_HAND = "excluded by hand: "
"""The prefix of the stored reason of a participant who was excluded by a researcher."""
_REASONS: Mapping[str, str] = {
    "came back": msg("returned to the study"),
    "declined the consent": msg("did not consent"),
    "begins the trials": msg("started the trials"),
    "qualification": msg("failed the qualification"),
    "ready for a place": msg("ready for a place"),
    "every trial is answered": msg("answered all trials"),
    "no rule applies any more": msg("no rule applies any more"),
    "marked by a researcher": msg("marked by a researcher"),
    "approved": msg("approved"),
    LEFT_THERE: msg("from the list of the platform"),
}
"""The stored reasons of changes of state, and what the pages show for them."""

ACTIONS: Mapping[str, str] = {
    "create": msg("study created"),
    "migrate": msg("database updated"),
    "set_status": msg("status changed"),
    "set_places": msg("places changed"),
    "sign_plan": msg("plan signed"),
    "set_password": msg("password set"),
    "make_tokens": msg("links made"),
    "change_state": msg("state changed"),
    "forget": msg("identity deleted"),
    "purge_identities": msg("platform IDs deleted"),
    "judge": msg("rules applied"),
    "judging failed": msg("rules not applied"),
    "review": msg("text reviewed"),
    "export": msg("export made"),
    "verify": msg("study checked"),
    "login": msg("login"),
    "login failed": msg("login failed"),
    "logout": msg("logout"),
    "set-up link made": msg("set-up link made"),
    "set-up link refused": msg("set-up link rejected"),
    "clock jumped": msg("clock changed"),
    "saving again": msg("responses saved again"),
    "places held again": msg("places reserved again"),
    "place take": msg("place taken"),
    "place used": msg("place filled"),
    "place expired": msg("place expired"),
    "place surplus": msg("place filled (surplus)"),
    "place release: returned": msg("place free (returned)"),
    "place release: timed_out": msg("place free (timed out)"),
    "place release: excluded": msg("place free (excluded)"),
    "place release: screened_out": msg("place free (screened out)"),
    "instructions opened": msg("instructions opened"),
}
"""The actions in the audit log."""
_DETAILS: Mapping[str, str] = {
    "actor": msg("actor"),
    "answer": msg("answer"),
    "answers": msg("answers"),
    "files": msg("files"),
    "from": msg("from"),
    "list_id": msg("list"),
    "minutes": msg("minutes"),
    "name": msg("name"),
    "participant_id": msg("participant"),
    "participants": msg("participants"),
    "phase": msg("phase"),
    "places": msg("places"),
    "position": msg("position"),
    "problems": msg("problems"),
    "questions": msg("questions"),
    "reason": msg("reason"),
    "removed": msg("deleted"),
    "seconds": msg("seconds"),
    "sha256": "SHA-256",
    "status": msg("status"),
    "study": msg("study"),
    "study_id": msg("study"),
    "surplus": msg("surplus"),
    "to": msg("to"),
    "tokens": msg("links"),
    "verdict": msg("decision"),
    "why": msg("reason"),
}
_WORDS: Mapping[str, str] = {"True": msg("yes"), "False": msg("no")}


def action_text(action: str) -> str:
    """Return an action of the audit log as the pages show it, in English; an unknown one is unchanged."""
    return ACTIONS.get(action, action)


def reason_phrase(reason: str, rules: Mapping[str, Phrase]) -> Phrase:
    """Return the stored reason of a change of state as a phrase; *rules* are the exclusion rules as declared.

    A text that a researcher wrote is quoted unchanged.

    >>> print(reason_phrase("excluded by hand: wrote no words", {}))
    excluded by hand: wrote no words
    """
    if reason in rules:
        return rules[reason]
    if reason in _REASONS:
        return Phrase(_REASONS[reason])
    for prefix, text in ((EXCLUDED_BY_HAND, _BY_HAND), (INCLUDED, _INCLUDED)):
        if reason.startswith(prefix):
            return Phrase(text, {"reason": reason.removeprefix(prefix)})
    return Phrase("%(reason)s", {"reason": reason}) if reason else Phrase("–")


_BY_HAND = msg("excluded by hand: %(reason)s")
_INCLUDED = msg("included by hand: %(reason)s")


def detail_phrases(details: Mapping[str, object], rules: Mapping[str, Phrase]) -> tuple[tuple[str, Phrase], ...]:
    """Return the details of an entry of the audit log: the name of each in English, and its value."""
    return tuple((_DETAILS.get(name, name), _detail_phrase(name, value, rules)) for name, value in details.items())


def _detail_phrase(name: str, value: object, rules: Mapping[str, Phrase]) -> Phrase:
    text = str(value)
    if name in ("reason", "why"):
        return reason_phrase(text, rules)
    known: Mapping[str, str] = {
        **_WORDS,
        **{state: word for state, (_, word) in STATUSES.items()},
        **STATES,
        **VERDICTS,
    }
    return Phrase(known[text]) if text in known else Phrase("%(value)s", {"value": text})
