"""Text matching: does one text entail another, both ways, asked of a judge or of a cross-encoder."""
