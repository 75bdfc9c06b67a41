"""Asking a model: one protocol, several backends, and what surrounds each of them."""
