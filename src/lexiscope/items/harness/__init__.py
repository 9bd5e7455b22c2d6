"""Items as tasks of evaluation programs (lm-evaluation-harness, inspect_ai), and the logs of these programs."""
