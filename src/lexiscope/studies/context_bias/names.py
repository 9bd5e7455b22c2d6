"""What every statistic of the study is: the names in ``results.json``, without their parameters, and their meaning."""

from __future__ import annotations

MEANING: dict[str, str] = {
    # what was asked
    "n_items": "items of a dataset that were used in a split, as condition; folds: each was tested once",
    "n_words": "words among the tested items: what is resampled",
    "n_word_shown": "tested items whose texts show the word outside the target's span: hidden there too in CONTEXT",
    # scores and biases
    "accuracy": "share of right answers in a view, 0 to 1; of retrieval: at rank 1; interval: words resampled",
    "context_bias": "(CONTEXT − LABEL) / (FULL − LABEL): what the context alone gives of what the whole input gives",
    "context_span_bias": "context_bias with the target hidden in its span alone, as published",
    "word_bias": "(WORD − LABEL) / (FULL − LABEL): what the word alone gives of what the whole input gives",
    "view_difference": "score of the first view minus that of the second, on the same resampled words",
    "minimum_gap": "min(FULL − CONTEXT, FULL − WORD): what word and context give together beyond the better part",
    # training
    "n_cut": "items of a split, as condition, of which a model read a part only, being too long; none: not listed",
    "dev_mean": "mean score on dev over the seeds of a training, at the rate that was best",
    "dev_sd": "standard deviation (n − 1) over these seeds",
    # people
    "people_minus_model": "score of people minus that of a model in a view",
    "percent_agreement": "share of pairs of people who gave an item the same answer, in a view",
    "n_guesses": "words that people guessed who saw the context alone",
    "n_valid_guesses": "of these, other words that fit the context, as somebody judged",
    "n_insensitive": "valid guesses with which a person's answer changes and the model's does not",
    # words
    "label_entropy": "mean over words of the entropy of their labels in training, in nats; word: what a word is",
    "same_share": "share of these words all of whose labels are the same",
    "majority_share": "mean over these words of the share of their most frequent label",
    "sense_entropy": "mean over words of the entropy of their senses in training, in nats",
    "spearman": "rank correlation over datasets of a word's ambiguity with the word bias",
    # errors
    "n_errors": "items that are wrong in the view wrong and right in the view right",
}
