"""People and language models answer the same questions about word meaning; Lexiscope asks, keeps, compares."""

__version__ = "0.1.0"
