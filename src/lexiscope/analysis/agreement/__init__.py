"""How well people agree, and what agreement allows for: raters, alpha, ceilings, votes, kappa."""
