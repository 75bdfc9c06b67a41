"""A claim held against evidence word by word, by a small network that learned from labelled pairs.

`sides` is what it reads of a text, `evidence` chooses the sentences of a reference, `network` compares.
"""
