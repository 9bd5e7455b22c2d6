"""The texts of the researchers' pages that are not in a template: titles, states, messages about actions."""

from __future__ import annotations

from collections.abc import Mapping

from lexiscope.annotation.web.pages import msg

TITLES: Mapping[str, str] = {
    "overview": msg("Overview"),
    "items": msg("Items"),
    "participants": msg("Participants"),
    "exclusions": msg("Exclusions"),
    "agreement": msg("Agreement"),
    "comments": msg("Comments"),
    "review": msg("Review"),
    "invitations": msg("Invitations"),
    "export": msg("Export"),
    "log": msg("Log"),
    "status": msg("Status"),
}
"""The pages in the order of the navigation."""

NOTICE_SIMULATED = msg("Simulated participants: this is a rehearsal. No person gave the answers that are counted here.")

MESSAGES: Mapping[str, str] = {
    "too_many_logins": msg("Too many attempts failed. Please wait a minute and try again."),
    "wrong_login": msg("Name or password is wrong."),
    "busy": msg("Many people are logging in at the moment. Please try again in a few seconds."),
    "no_setup": msg("This set-up link was used already, is too old, or is not complete. Make a new one on the server."),
    "bad_name": msg("A name has 1 to 40 letters, digits, dots, hyphens or underscores."),
    "password_short": msg("The password is too short: use 8 characters or more, better 15."),
    "password_long": msg("The password is too long: use 256 characters or fewer."),
    "password_common": msg("This password is among the first that anybody would try. Use another one."),
    "password_names": msg("The password is little more than the name of the study or of the account. Use another one."),
    "password_pattern": msg("The password repeats a short piece or follows the keyboard. Use another one."),
    "passwords_differ": msg("The two passwords differ."),
    "logged_out": msg("You are logged out."),
    "password_set": msg("The password is set. Please log in with it."),
    "running": msg("The study is running: newcomers are taken in."),
    "paused": msg("The study is paused: nobody new is taken in, and whoever has begun may finish."),
    "closed": msg("The study is closed: nobody new is taken in, and whoever has begun may finish."),
    "places_set": msg("The places were changed."),
    "judged": msg("The exclusion rules were applied just now."),
    "judging_failed": msg("A rule could not be applied; the log says why. Nobody was excluded or included by this."),
    "state_changed": msg("The participant's state was changed."),
    "marked_away": msg("The list was applied; places that were left are free."),
    "bad_ids": msg("Please paste 1 to 2,000 ids. Nothing was changed."),
    "not_possible": msg("This is not possible in the participant's present state. Nothing was changed."),
    "reason_missing": msg("Please give a reason. Nothing was changed."),
    "forgotten": msg("The participant's identity was deleted from the study and its backups."),
    "still_written": msg(
        "The identity was deleted. The person wrote it into an answer or a comment too, and that text was kept."
    ),
    "not_typed": msg("What was typed is not the participant's pseudonym. Nothing was deleted."),
    "reviewed": msg("The decision was stored."),
    "text_missing": msg("An edited text must not be empty. Nothing was stored."),
    "bad_number": msg("Please write a whole number within the limits. Nothing was changed."),
    "not_confirmed": msg("Please confirm first. Nothing was changed."),
    "answer_refused": msg("What was sent cannot be stored. Nothing was changed."),
    "many_tokens": msg("Make 1 to 1,000 links at a time."),
    "verified": msg("The database, the log and every answer were checked: all is whole."),
    "damaged": msg("The check found problems."),
    "export_failed": msg("The export could not be made; the server's log says why. Nothing half-made was left."),
}
"""The messages about actions and errors, by the key that the code uses."""

ONE: Mapping[str, str] = {
    "participant": msg("Participant %(who)s"),
    "forget": msg("Forget %(who)s"),
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
    "backup": msg("The last backup failed; it is tried again within the hour."),
    "purge": msg("Platform ids are due to be deleted, and that failed; it is tried again within the hour."),
}
"""The message about a failed maintenance job, by its name."""
