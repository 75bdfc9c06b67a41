"""Checkers, a folder a method. No Kafka; usable from a notebook."""
