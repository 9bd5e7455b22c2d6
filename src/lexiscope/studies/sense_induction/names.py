"""What every statistic of the study is: the names in ``results.json``, without their parameters, and their meaning."""

from __future__ import annotations

MEANING: dict[str, str] = {
    # similarity
    "n_pairs": "pairs of a set that have a rating of people",
    "coverage": "percent of these pairs whose words the subject knows",
    "spearman_x100": "100 × Spearman's rho of a similarity with people's mean rating; over covered pairs, or over all, "
    "where uncovered says what similarity the others count as; interval: first words resampled",
    "rater_agreement_x100": "100 × mean Spearman's rho of one column of ratings with the mean of the others",
    # the same sense
    "accuracy": "percent of pairs right; of: all (random answers included), decided (those that identity decides); "
    "interval: words resampled",
    "expected_accuracy": "percent right, every random answer counted as half right: what no seed changes",
    "n_random": "answers that are random, by reason",
    "share_same": "percent of pairs whose right answer is: the same sense",
    # planted senses
    "planted_selection": "share of usages whose chosen sense has neighbours like the planted word; mean of words",
    "planted_probability": "probability of all senses that look so, together; mean of words",
    "planted_seen": "planted senses of a word that any induced sense looks like; mean of words",
    "planted_accuracy": "share of usages right where each induced sense may stand for one planted sense; mean of words",
    "planted_purity": "share of usages right where an induced sense stands for what is most frequent in it; mean of "
    "words",
    "planted_majority": "share of the most frequent planted sense: what one sense for all reaches; mean of words",
    "planted_recovered": "planted senses of a word that an induced one stands for; mean of words",
    "n_unknown": "usages of pseudo-words that the subject does not know",
    # the trainings
    "n_words": "words of the vocabulary",
    "n_senses": "senses of all words together",
    "senses_per_word": "senses of a word, mean",
    "selection_entropy": "entropy of the choice of a sense at the end of training, without noise, in nats",
    "signal_sd": "standard deviation of c̄·s at the end of training",
    "noise_sd": "standard deviation of the noise on it",
    # a synset
    "selection_share": "mean probability of the sense that is probable in that rank over a synset's usages in SemCor",
    "sentence_entropy": "mean entropy of the distributions of these usages, in nats",
    # people
    "intrusion_accuracy": "percent of senses (2 of 3 judgments) or judgments in which people find the intruder",
    "selection_accuracy": "percent of questions (2 of 3) or judgments in which people choose the model's sense",
    "model_probability": "the model's mean probability of the sense that people chose, by majority; of: judgments, of "
    "every single one",
    "agreement": "mean share of the winning answer; of: word_intrusion, sense_choice; weighted: by trust",
    "spearman": "rank correlation over words of agreement among people with consistency with the model",
    "chance": "what blind choices would reach: percent of an accuracy, share of agreement",
    "krippendorff_alpha": "nominal alpha of what people chose; of: found, of whether they found the intruder",
    "sense_overlap": "share of neighbours that two senses have in common; pairs: rivals (people's choice and the "
    "model's; where both are one, it and each other sense) or all; of: questions in which they agree, disagree, or the "
    "difference",
    "sense_cosine": "the same, mean cosine of the neighbours in vectors with one sense for a word",
    # contrast
    "n_disagreements": "pairs of subjects that a similarity and people's judgments order differently",
    "n_clear_disagreements": "those of them whose intervals overlap by neither",
    "n_orders": "pairs of subjects that both order",
}
