"""Studies with people: their definition, lists and places, rehearsals, and the store of answers. No pages yet.

A study is one file (``definition``, ``definition_file``), checked before launch (``launch``). Its items are divided
into lists (``design``), its participants get places and trials (``assignment``, ``leases``), and simulated people go
through all of it (``simulate``).
"""
