"""Decisions between options: choice sets in a design, consistency, gaps, retrieval, effects of tokens."""
