"""What a researcher takes home from a study: tables, codebook, pre-registration text, R script, orders."""
