"""The built-in prompt templates."""
