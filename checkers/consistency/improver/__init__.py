"""RAI, the reason-assisted improver (paper, section 3.3): rewrites what the checker rejected."""
