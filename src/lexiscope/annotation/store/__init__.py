"""The store of a study: what people answered, committed before it is acknowledged, never overwritten."""
