"""Benchmarks of long-tail probes."""
