"""How soon the trust monitor finds a drop, and how often it raises a false alarm."""
