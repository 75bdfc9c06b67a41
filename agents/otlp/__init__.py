"""OpenTelemetry in and out: readers of a collector's topics, an exporter of verdicts."""
