"""Evaluators: whoever claims to know the labels, as a labeller and a generator."""
