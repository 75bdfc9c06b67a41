"""What a worker promises about delivery, and how fast it is."""
