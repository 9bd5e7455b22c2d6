"""Rehearsing a study with simulated people before anybody real is asked and paid."""
