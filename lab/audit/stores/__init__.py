"""Vector stores behind one adapter, asked as MeTMaP asks them: a fresh collection a case, k = 1.

The libraries are imported when a store of theirs is opened; each is an extra of its own.
"""
