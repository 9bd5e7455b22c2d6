"""Induced senses: several vectors for each word, chosen by context and learnt from running text alone (GASI).

From a corpus (:mod:`~lexiscope.training.gasi.vocabulary`, :mod:`~lexiscope.training.gasi.shards`) to a folder that the
subject ``gasi:FOLDER`` loads (:mod:`~lexiscope.training.gasi.train`), and on to fewer senses
(:mod:`~lexiscope.training.gasi.pruning`). *Source:* the scaled Gumbel softmax paper; its equations are named where
they are used.
"""
