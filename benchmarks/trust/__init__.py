"""The trust monitor's delays and false alarms."""
