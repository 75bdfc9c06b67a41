"""The methods, asked of one model behind an endpoint."""
