"""Files of the field: tables that are read without guessing, and data that are fetched and verified."""
