"""Norms from people and models together: what a model is worth, valid estimates with it, allocation of items."""
