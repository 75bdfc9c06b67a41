"""A judge behind an endpoint, asked in several forms about the same rows."""
