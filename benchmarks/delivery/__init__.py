"""A worker's promises about delivery, and its speed."""
