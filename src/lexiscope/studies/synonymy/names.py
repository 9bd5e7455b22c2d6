"""What every statistic of the study is: the names in ``results.json``, without their parameters, and their meaning."""

from __future__ import annotations

MEANING: dict[str, str] = {
    # the collection
    "n_items": "items of the collection: a target in a sentence, a synonym, a distractor",
    "n_sentences": "distinct sentences of the collection (what is resampled)",
    "n_choice_sets": "choice sets that were asked",
    "n_flagged": "sentences with a word that a person should look at",
    # accuracy
    "accuracy": "percent of items right (strictly greater wins, ties wrong); per: what the log-probability is divided "
    "by; p: exact, one-sided, against chance; interval: sentences resampled",
    "wilson": "bound of the Wilson interval of an accuracy, items taken as independent (percent)",
    "chance": "chance level (percent)",
    "n_tied": "choice sets that were tied, and so counted wrong",
    "above_baseline": "accuracy minus that of the word-frequency baseline, in points, paired by item",
    "above_baseline_exact_p": "exact McNemar p of that difference",
    "accuracy_by_frequency": "percent right where the synonym is more frequent than the distractor, or less",
    # contrasts
    "difference": "difference of two accuracies on the same items, in points; interval: sentences resampled",
    "paired_t": "paired two-sided t-test on the 0/1 vectors, ddof 1",
    "paired_t_p": "its p",
    "mcnemar_p": "exact McNemar p of the same contrast",
    "discordant": "items that only the first, or only the second, has right",
    # tokens
    "accuracy_by_delta": "percent right at a token delta (tokens of the synonym minus those of the distractor)",
    "n_by_delta": "decisions at a token delta",
    "independent_t": "independent t-test of the decisions at a token delta against those at 0",
    "independent_t_p": "its p",
    "follows_delta": "percent right where the right word has more tokens minus where it has fewer, in points",
    # consistency
    "n_consistent": "items with outcome a in the first test and b in the second (1 = right)",
    "given": "P(second test = b | first test = a)",
    # further
    "best_expression": "percent right with the expression of the relation that works best",
    "margin": "log-probability of the right word's text minus that of the best other, over items; summary: median, …",
    "perplexity_ratio": "perplexity of the best other text over that of the right one, geometric mean over items",
    "same_both_ways": "percent of items decided alike when the relation is turned round",
    "direction_difference": "mean absolute difference of the two directions' margins",
    # gap filling
    "gap_accuracy": "percent of items with an accepted answer; answers: curated, synset; n: predictions per item",
    "gap_category": "percent of predictions in an error category that WordNet proposes",
    # people
    "human_accuracy": "percent right of a person in the substitution test (answers never released)",
    "human_agreement": "percent of items on which both people agree (answers never released)",
    "cohen_kappa": "Cohen's kappa of the two people (answers never released)",
    "weird_rate": "percent of items that a person marked as weird (answers never released)",
}
