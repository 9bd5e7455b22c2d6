"""Items as rows and columns: which column means what, what is wrong where; no rule about word meaning lives here."""
