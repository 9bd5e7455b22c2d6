"""What every statistic of the study is: the names in ``results.json``, without their parameters, and their meaning."""

from __future__ import annotations

NO_BOUNDARY = "no layer separates the senses"
"""How the note of a lowest AIC begins that is not below the AIC of the intercept alone."""

SEPARATED = "the senses are separated without error"
"""How the note of a lowest AIC begins that is undefined because a layer separates the senses perfectly."""

MEANING: dict[str, str] = {
    # stimuli and ratings
    "n_items": "usage pairs",
    "n_words": "distinct words (lemmas)",
    "n_lists": "experimental lists",
    "n_sentences": "distinct sentences",
    "items_per_word": "pairs per word; summary: min, mean, max",
    "words_per_sentence": "mean number of white-space separated words of a distinct sentence",
    "items_differing_in_word_count": "pairs whose two sentences differ in word count, by how many words",
    "n_words_with": "words with a property: gender_change, verb_cue",
    "n_participants": "participants whose ratings are analysed",
    "n_recruited": "participants recruited (printed by the paper, not in its data)",
    "age": "age of the participants (printed by the paper, not in its data)",
    "n_trials": "ratings",
    "ratings_per_item": "ratings per pair; summary: min, mean, max",
    "condition_mean": "mean rating over trials in a condition",
    "condition_sd": "SD (n − 1) of ratings over trials in a condition",
    # people
    "leave_one_out_agreement": "correlation of each rater with the mean of the others, over raters",
    "included_agreement": "the same with the rater's own rating kept in the mean: SAW-C's variant",
    "krippendorff_alpha": "Krippendorff's alpha at a level of measurement",
    "mean_rater_correlation": "ceiling: the mean agreement of raters under a variant",
    "squared_mean_rater_correlation": "ceiling: the square of that mean, the line in SAW-C's Figure 6",
    "mean_squared_rater_correlation": "ceiling: the mean of the squared agreements",
    "split_half_reliability": "ceiling: reliability of the norms: mean r of random halves, Spearman–Brown corrected",
    "group_consistency": "correlation of item means between groups of raters (the paper's groups are not published)",
    # by layer
    "aic": "AIC of the logistic regression of same sense on distance; of a mixed model where test= is given",
    "r_squared": "R² of the regression of norms on distance, unadjusted; of= names other predictors",
    "pearson": "Pearson's r of distance and norm; of=log10_parameters: of size and highest R²",
    "spearman": "Spearman's ρ of distance and norm",
    "min_aic_over_layers": "lowest AIC over layers; a sense boundary only if below aic(model=intercept_only)",
    "max_r_squared_over_layers": "highest R² over layers",
    "min_spearman_over_layers": "most negative ρ over layers",
    "best_layer": "the layer at which the statistic in by= is best; the lowest where several tie",
    "expected_layer": "mean layer, weighted by gains of cumulative fits; if signed, it may lie outside the layers",
    "last_layer_drop": "1 − R² at the last layer / highest R²",
    "last_over_max_r_squared": "R² at the last layer / highest R²",
    "raters_below_model": "share of raters whose agreement is below the model's −ρ, among a variant of agreement",
    # subjects that rate
    "rating_spearman": "Spearman's ρ of a subject's ratings with the norms",
    "coefficient": "coefficient of the ordinary least squares regression in model=",
    "n_asked": "questions that a subject that rates was asked, repetitions included",
    "n_items_asked": "pairs that a subject that rates was asked about",
    "n_items_read": "pairs with at least one readable rating: its other numbers are over these",
    "n_unreadable": "answers without value; kind: what the reply was",
    # sense beyond distance
    "chi2": "likelihood-ratio χ² of a test; its random effects stand in the note",
    "log_likelihood": "maximised log-likelihood of a test's full or reduced mixed model",
    "fixed_effect": "estimate of a fixed effect",
    "standard_error": "its standard error; of=log10_parameters: of the slope of fit on size",
    "variance": "variance component of a term over a group",
    "reduction_steps": "models fitted from the maximal one until the criterion held; 1 = the maximal model was kept",
    "unique_r_squared": "R² that one block adds to the other",
    "shared_r_squared": "R² that the blocks share; negative under suppression",
    "mean_residual": "mean of observed − fitted norm in a condition, of the regression in model=",
    # size and depth
    "slope": "slope of highest R² on log10 parameters, and on the multilingual flag",
    "slope_english": "the same for the English models (printed by the paper, not in its data)",
    "p": "p of the slope of fit on size",
    "family_mean": "mean R² of a family at a layer depth ratio, or in the paper's bins (ntile)",
    "difference": "highest R² with a final stop − without",
    "token_difference": "tokens by which the two sentences of a pair differ; summary: mean, mode, max",
    "target_tokens": "tokens of the target, mean over words (as in SAW-C) or pairs",
}
