"""A subject's own answers to pairs of sentences, without a stream."""
