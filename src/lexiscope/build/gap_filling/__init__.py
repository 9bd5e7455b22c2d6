"""Gap filling: sentences with a gap, accepted answers, error categories, and coding by people."""
