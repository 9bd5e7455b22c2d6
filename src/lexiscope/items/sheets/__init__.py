"""Sheets of named columns: those of an export, and questions that are answered by hand; pages are in ``annotation``."""
