"""Benchmarks of the difference between versions."""
