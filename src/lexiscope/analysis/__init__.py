"""Statistics: numbers in, numbers out. Nothing here knows a task, a file format or a model."""
