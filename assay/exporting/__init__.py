"""Rejected outputs as files for those who improve models: verdicts with records, corrections, preferences."""
