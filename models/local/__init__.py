"""The bundled judge: support of claims by a reference, without an endpoint, a key or a network."""
