"""Benchmarks of the extraction checker."""
