"""OpenTelemetry in and out: a receiver of its protocol, readers of a collector's topics, an exporter of verdicts."""
