"""LINK: statements of the long tail (and of the head), searched for under the guidance of logic rules."""
