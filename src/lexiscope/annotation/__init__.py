"""Studies with people: their definition, lists and places, rehearsals, the store of answers, and the pages.

A study is one file (``definition``, ``definition_file``), checked before launch (``launch``). Its items are divided
into lists (``design``), its participants get places and trials (``assignment``), and simulated people go through all
of it (``rehearsal``). Answers are kept in ``store``; what people see is served by ``web``.
"""
