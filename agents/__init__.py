"""Who listens: a thin agent for each checker, and the worker that runs them."""
