"""Answers of the Results page: a verdict, sentences and a drawing for each question, generated from results by rule."""
