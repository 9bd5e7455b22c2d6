"""The vocabulary: usages, items, scales, responses, subjects, tasks, results, runs, and the catalog of names."""
