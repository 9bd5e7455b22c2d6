"""Tables, figures and the one-file report of a run."""
