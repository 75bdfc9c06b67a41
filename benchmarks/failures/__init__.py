"""What rejects have in common, on recorded traffic."""
