"""Edits of a text that look the same and say something else: negatives of triplets, and of pairs to learn from."""
