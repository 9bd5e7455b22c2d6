"""What every study is made of: the study object, its run, the items and ratings of its data, the one runner.

What belongs to one paper is in that paper's folder, not here.
"""
