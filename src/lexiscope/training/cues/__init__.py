"""Cues in a part of the input: the words that carry answers, and the items that such cues solve. No models."""
