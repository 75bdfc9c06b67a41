"""OpenTelemetry's protocol: spans and log records of applications become records, verdicts become events."""
