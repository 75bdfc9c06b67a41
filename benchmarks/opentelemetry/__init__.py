"""OpenTelemetry's spans under attack, and through kills."""
