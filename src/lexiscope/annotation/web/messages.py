"""The messages to participants about errors, by the key that the code uses."""

from __future__ import annotations

from collections.abc import Mapping

from lexiscope.annotation.web.pages import msg

MESSAGES: Mapping[str, str] = {
    "no_session": msg("This browser does not know you yet. Please open the link of the study again."),
    "no_link": msg("This link does not lead to a study. Please check that it is complete."),
    "bad_id": msg("This participant ID is not valid. Please open the link of the study again."),
    "form_expired": msg("This page is too old. Please reload it and answer again."),
    "too_fast": msg("That was very fast. Please wait a moment."),
    "too_large": msg("This is more text than the page can take."),
    "not_a_form": msg("The page sent something that cannot be read."),
    "not_found": msg("Please check that the address is complete."),
    "answer_missing": msg("Please give an answer."),
    "answer_refused": msg("This answer cannot be taken."),
    "answered_elsewhere": msg("This question was answered already. The study goes on with the next one."),
    "not_stored": msg("Your answer could not be stored just now. Please wait a moment and send it again."),
    "internal": msg("Something went wrong here. Your stored answers are safe."),
}
"""The texts in English; :meth:`Pages.translate` translates them."""
