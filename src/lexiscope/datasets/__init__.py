"""One file or folder per dataset: its card, its items, and the answers that were published with it."""
