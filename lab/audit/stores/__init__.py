"""Vector stores behind one base, asked as MeTMaP asks them: two candidates, k = 1, nothing else in the collection.

A store's library is imported when the store is opened; each is an extra of its own.
"""
