"""Audit of what matches texts: whether it finds the text that means the same, or one that only looks the same."""
