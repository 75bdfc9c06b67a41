"""The flow: Kafka topics, delivery, dead letters, metrics and health."""
