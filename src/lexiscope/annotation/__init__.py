"""Where people will answer in a browser. Nothing here yet: a study takes ratings from a file."""
