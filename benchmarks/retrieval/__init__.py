"""MeTMaP: false matches of embeddings and stores, the live check, tagging, triplets from texts."""
