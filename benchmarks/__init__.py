"""Measuring what the README claims."""
