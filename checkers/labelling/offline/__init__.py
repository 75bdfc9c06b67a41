"""Trust in a labeller, over a file of datapoints: the No-Data Algorithm without a stream."""
