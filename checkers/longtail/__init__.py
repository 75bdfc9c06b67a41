"""Long-tail probes: statements made from logic rules (LINK), and asked of a deployed model (LINT)."""
