"""The prompts with which probes are asked."""
