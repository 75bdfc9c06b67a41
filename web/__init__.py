"""The page people look at: verdicts with their evidence, and how trust moves."""
