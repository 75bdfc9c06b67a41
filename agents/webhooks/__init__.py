"""Webhooks: rejected verdicts, improvements and alerts as signed HTTP requests."""
