"""Stories around ambiguous sentences: pools of words, what a model drafts, what a set holds, errors of ratings."""
