"""Models trained by Lexiscope as subjects. Files with an underscore serve the others. Training is in ``training``."""
