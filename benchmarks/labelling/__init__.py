"""The No-Data Algorithm against its paper: `python -m benchmarks.labelling`."""
