"""How much of what people attain a model reaches: people's ceilings, shares with joint intervals, pairs of models."""
