"""Studies in which people write: pools, drafts, reviews, and what one stage hands to the next."""
