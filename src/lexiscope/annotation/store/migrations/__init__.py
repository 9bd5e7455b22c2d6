"""The steps from each version of a study's tables to the next, run when an older study is opened (``migrate.py``)."""
