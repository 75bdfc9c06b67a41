"""Trust in a labeller, over a file of datapoints: the offline half of the labelling checker."""
