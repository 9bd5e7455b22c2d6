# Read a run of Lexiscope into data frames: answers, ratings and results, with factors.
#
#   source("read_run.R")
#   run <- read_run(".")            # the folder that this file is in
#   head(run$ratings); levels(run$ratings$rating)
#
# responses.parquet is read if the package arrow is installed, responses.csv otherwise. No other package is needed.
# For an ordinal mixed model: ordinal::clmm(rating ~ condition + (1 | subject_id) + (1 | item_id), data = ...)

read_run <- function(folder = ".") {
  responses <- .read_responses(folder)
  run <- list(
    responses = responses,
    ratings = .ratings(responses),
    results = .read_results(file.path(folder, "results.csv"))
  )
  class(run) <- "lexiscope_run"
  run
}

print.lexiscope_run <- function(x, ...) {
  cat(
    nrow(x$responses), "responses,", nrow(x$ratings), "ratings by",
    nlevels(x$ratings$subject_id), "raters,", nrow(x$results), "results\n"
  )
  invisible(x)
}

# Every answer: one row for each, NA where there is no value.
.read_responses <- function(folder) {
  parquet <- file.path(folder, "responses.parquet")
  text <- file.path(folder, "responses.csv")
  if (requireNamespace("arrow", quietly = TRUE) && file.exists(parquet)) {
    responses <- as.data.frame(arrow::read_parquet(parquet))
  } else if (file.exists(text)) {
    responses <- .read_csv(text)
  } else {
    stop("no responses.csv in ", folder, ": install the package arrow, or export the run again with csv")
  }
  for (name in c("value", "rt_ms")) responses[[name]] <- as.numeric(responses[[name]])
  for (name in c("layer", "position", "repeat")) responses[[name]] <- as.integer(responses[[name]])
  names <- c("subject_id", "subject_kind", "item_id", "task", "measure", "option", "view", "list_id", "scale")
  for (name in names) responses[[name]] <- .as_read(responses[[name]])
  responses
}

# Ratings of people: one row for each rating, with the points of the scale as ordered levels.
.ratings <- function(responses) {
  people <- responses$subject_kind %in% c("participant", "simulated")
  ratings <- droplevels(responses[people & responses$measure %in% "rating", , drop = FALSE])
  points <- .points(levels(ratings$scale))
  if (length(points) > 0) {
    ratings$rating <- factor(ratings$value, levels = points, ordered = TRUE)
  }
  row.names(ratings) <- NULL
  ratings
}

# The points of one scale with steps ("1 to 5", "0 to 1 by 0.5"); none if it is continuous, not stated, or one of several.
.points <- function(scales) {
  if (length(scales) != 1 || grepl("continuous", scales)) {
    return(numeric(0))
  }
  numbers <- as.numeric(regmatches(scales, gregexpr("-?[0-9.]+(e-?[0-9]+)?", scales))[[1]])
  step <- if (length(numbers) > 2) numbers[3] else 1
  signif(seq(numbers[1], numbers[2], by = step), 12)
}

# Every number of the report: one row for each record of results.json.
.read_results <- function(path) {
  if (!file.exists(path)) {
    stop("no results.csv in ", dirname(path))
  }
  results <- .read_csv(path)
  for (name in c("value", "low", "high", "p", "published")) results[[name]] <- as.numeric(results[[name]])
  for (name in c("layer", "n")) results[[name]] <- as.integer(results[[name]])
  for (name in c("statistic", "subject", "dataset", "condition", "view", "question", "analysis", "status")) {
    results[[name]] <- .as_read(results[[name]])
  }
  results
}

.read_csv <- function(path) {
  read.csv(path, colClasses = "character", na.strings = "", check.names = FALSE, encoding = "UTF-8")
}

# A factor whose levels are in the order of the file, not of the alphabet: of the language that R runs in.
.as_read <- function(x) {
  x <- as.character(x)
  factor(x, levels = unique(x[!is.na(x)]))
}
