"""Models behind an endpoint: chat and completions. Files with an underscore serve the others."""
