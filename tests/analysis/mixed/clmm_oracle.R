# Fits cumulative link mixed models with ordinal::clmm and prints what a test compares, as tab-separated lines.
# Run: Rscript clmm_oracle.R TRIALS.csv LINK NAME "FORMULA" [NAME "FORMULA" ...]
# Columns of the trials: Response, numbers as they are, text as grouping factors. Formulas name the response y.
suppressPackageStartupMessages(library(ordinal))
given <- commandArgs(TRUE)
trials <- read.csv(given[1], fileEncoding = "UTF-8", stringsAsFactors = FALSE, na.strings = "")
trials$y <- factor(trials$Response, ordered = TRUE)
for (name in names(trials)) if (is.character(trials[[name]])) trials[[name]] <- factor(trials[[name]])
for (name in intersect(c("Participant", "Word", "List", "Item", "Meaning"), names(trials)))
  trials[[name]] <- factor(trials[[name]])
link <- given[2]
for (i in seq(3, length(given) - 1, by = 2)) {
  name <- given[i]
  began <- proc.time()[["user.self"]]
  model <- clmm(as.formula(given[i + 1]), data = trials, link = link)
  line <- function(what, term, ...) cat(name, link, what, term, sprintf("%.10g", c(...)), sep = "\t", fill = FALSE)
  line("log_likelihood", "", as.numeric(logLik(model)), attr(logLik(model), "df")); cat("\n")
  table <- coef(summary(model))
  for (term in rownames(table)) { line("effect", term, table[term, 1], table[term, 2]); cat("\n") }
  for (group in names(VarCorr(model))) {
    deviations <- attr(VarCorr(model)[[group]], "stddev")
    for (term in names(deviations)) { line("sd", paste0(group, ".", term), deviations[[term]]); cat("\n") }
  }
  modes <- ranef(model)$Participant
  spread <- condVar(model)$Participant
  for (rater in rownames(modes)[1:5]) {
    line("severity", rater, modes[rater, 1], sqrt(spread[rater, 1])); cat("\n")
  }
  line("seconds", "", proc.time()[["user.self"]] - began); cat("\n")
}
cat("VERSIONS", "", "", R.version.string, paste("ordinal", packageVersion("ordinal")), sep = "\t"); cat("\n")
