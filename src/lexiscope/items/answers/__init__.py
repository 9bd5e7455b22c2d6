"""What can be answered about an item, and how a text is read as an answer: options, entries, points of a scale."""
