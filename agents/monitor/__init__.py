"""Monitors of verdicts, on one counter by partition: whether a success rate dropped, and what people say of it."""
