"""The verdict store: what it costs, and how fast its pages are."""
