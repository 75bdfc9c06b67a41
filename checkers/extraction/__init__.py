"""Entity extraction: the linearity test."""
