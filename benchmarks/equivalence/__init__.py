"""The equivalence checker: proofs on labelled pairs, parsers, and the test of a no."""
