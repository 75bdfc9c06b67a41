"""Judges that a neural network trained on grounding makes: a probability that a text supports a claim."""
