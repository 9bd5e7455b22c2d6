"""Norms from ratings, and predictions of them: item means, errors, examples, effects of conditions."""
