"""Exports of survey and annotation programs, and of Lexiscope itself, as one table of answers."""
