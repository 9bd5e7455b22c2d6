"""What every statistic of the study is: the names in ``results.json``, without their parameters, and their meaning."""

from __future__ import annotations

MEANING: dict[str, str] = {
    # the stories
    "n_samples": "samples: one meaning judged in one story",
    "n_stories": "stories: precontext, ambiguous sentence, ending or none",
    "n_setups": "setups: precontext and ambiguous sentence",
    "n_forms": "distinct forms of the ambiguous word, case kept",
    "n_lemmas": "distinct lemmas of the forms; guessed, they were never published",
    "n_ratings": "ratings of people",
    "n_nonsensical": "ticks of 'the text is nonsensical'; nothing is filtered by them",
    "n_sense_pairs": "distinct pairs of meanings of a form, a pair counted once in each split",
    "sentences_per_form": "ambiguous sentences for each form",
    "setups_of_form": "setups of one form (condition)",
    "mean_words": "mean number of words between white space; of: the part of the story",
    # people
    "krippendorff_alpha": "Krippendorff's alpha of all ratings; interval: setups resampled",
    "mean_sd": "mean standard deviation of the ratings of a sample",
    "form_mean_sd": "mean standard deviation of the samples of one form (condition)",
    "best_rater_correlation": "ceiling of Gehring & Roth (2025): mean over groups of the best rater's rho with others",
    "best_rater_accuracy_within_sd": "the same with the best rater's accuracy within SD of the others",
    "shuffled_best_rater": "the same recipe where ratings are shuffled among raters: what selection alone gives",
    "reliability_of_means": "reliability of the mean of several ratings, by Spearman-Brown from alpha",
    "single_rater_rho": "one rater against the mean of the others; over: all ratings at once, or mean over raters",
    "single_rater_accuracy_within_sd": "share of ratings within SD of the other ratings of the sample",
    "variance": "variance component of ratings within groups of raters; of: sample, rater, residual",
    "icc": "intraclass correlation, raters as a sample; ratings: of one rating, or of the mean of several",
    "rater_effect_f": "F of the raters' leniency within groups",
    # endings and the scale
    "absolute_difference": "mean absolute difference of mean ratings; interval: words resampled",
    "absolute_difference_sd": "its standard deviation; ddof: what is taken off n",
    "intended_above_other": "percent of ended stories whose intended meaning is above, equal to, below the other",
    "ending_raises_intended": "percent in which the ending puts its meaning above, equal to, below the open story",
    "rating_share": "percent of all ratings at a point",
    "label_share": "percent of samples with a label: rounded means of people, predictions of a subject",
    "sense_count_rho": "Spearman's rho of WordNet's tag count of the sense with the mean, or the SD, of the ratings",
    # subjects
    "spearman": "Spearman's rho of predictions with people's mean ratings; interval: words resampled",
    "nearness_spearman": "the same of an encoder's nearness of story and meaning (minus cosine distance), at a layer",
    "accuracy_within_sd": "share of predictions within max(1, SD) of the mean; in the name: sd, edge, form, unread",
    "expected_accuracy_within_sd": "its expectation for guesses",
    "n_asked": "questions that a subject was asked, repetitions included",
    "n_items_asked": "samples that a subject was asked about",
    "n_items_read": "samples with at least one readable answer: rho and accuracy are over these",
    "n_unreadable": "answers without value; kind: what the reply was",
    # open and ended, before and after
    "kind_mean_sd": "mean standard deviation of the ratings of open, or of ended, stories",
    "rank_sum": "Wilcoxon's rank-sum test of the SDs of open against ended stories: U, or its p; ties: ignored",
    "mean_absolute_error": "mean absolute error of predictions; of: base, tuned",
    "signed_rank": "Wilcoxon's signed-rank test of the absolute errors of base and tuned model",
    "accuracy_difference": "accuracy within SD of the tuned model minus that of the base model",
    "error_tag_share": "percent of the largest errors of a subject, or of all, that a coder gave a tag",
    "error_tag_same": "percent of errors on which two coders agree about a tag",
    "error_tag_kappa": "Cohen's kappa of two coders on a tag",
    "item_mean": "mean rating of one sample (condition)",
}
