"""English in one place: words, numbers, days, negation, opposites, what words mean, and their parts of speech."""
