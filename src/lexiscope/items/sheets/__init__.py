"""Questions on a spreadsheet: written, answered by hand, read back as responses. Pages are in ``annotation``."""
