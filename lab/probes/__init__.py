"""Probing any endpoint with a corpus: `assay probes run`."""
