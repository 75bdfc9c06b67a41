"""The verdict store: what it costs, and what kills do to it."""
