"""Norms from people and models together: what a model is worth, valid estimates with it, which items to ask about
next."""
