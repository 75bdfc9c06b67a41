"""Asking a subject a probe: prompts, worked examples, and the order in which statements come."""
