"""What decides: a folder a method, and `oracle/` for asking a model. No Kafka; usable from a notebook."""
