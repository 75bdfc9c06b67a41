"""Webhooks: rejected verdicts, improvements and alerts as signed HTTP requests to whoever works with them."""
