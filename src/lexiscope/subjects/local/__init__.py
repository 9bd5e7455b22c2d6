"""Models that run here: encoders, causal and masked language models. Files with an underscore serve the others."""
