"""Triplets made from a user's own texts: by rule what rules can make, through a judge the rest."""
