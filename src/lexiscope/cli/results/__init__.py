"""Verbs over finished runs: report, compare, verify, sql. What makes a run is one folder up."""
