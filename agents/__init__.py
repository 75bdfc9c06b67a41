"""Agents: consumers of topics, one for each checker and for what follows verdicts, and the worker that runs them."""
