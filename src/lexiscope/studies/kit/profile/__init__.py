"""Profiles of models: batteries of lines, the answers to them, what is computed of each line, and the run folder."""
