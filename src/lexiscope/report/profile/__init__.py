"""The page of a profile and of several models side by side: what it shows, its sentences, its HTML."""
