"""Verbs over finished runs (report, compare, verify, sql), and results on stdout. What makes a run is one folder up."""
