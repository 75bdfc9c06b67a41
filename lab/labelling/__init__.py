"""The No-Data Algorithm over a file of datapoints, without a stream."""
