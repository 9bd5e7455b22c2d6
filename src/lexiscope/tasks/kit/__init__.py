"""What tasks share: how a subject is asked, how its judgment is read, how usages are compared. It is not a task."""
