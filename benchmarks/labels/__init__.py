"""Benchmarks of the corrected success rate."""
