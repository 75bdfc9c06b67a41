"""The front door: command line, configuration and wiring. Nothing imports it."""
