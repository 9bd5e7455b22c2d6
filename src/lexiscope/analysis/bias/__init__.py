"""Scores by view: context bias and word bias, people and models view by view, the verdict on a dataset."""
