"""Audits of embedding models, stores and text matchers over triplets: the offline half of the retrieval checker."""
