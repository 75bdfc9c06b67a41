"""How it flows: Kafka topics, delivery, dead letters, metrics and health."""
