"""Crossed linear mixed models: formula, data, fit, tests, reduction, and the same in R."""
