"""The true success rate: people's labels of a few verdicts correct what the judge says of all."""
