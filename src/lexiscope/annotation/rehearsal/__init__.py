"""Rehearsals of a study with simulated people, before participants are recruited and paid."""
