"""Learns to judge from labelled pairs, and compares what is learned with the rules of the local judge."""
