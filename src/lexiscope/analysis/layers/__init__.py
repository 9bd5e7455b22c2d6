"""One statistic per layer of a model: curves, the best layer, Expected Layer, trajectories, separation of senses."""
