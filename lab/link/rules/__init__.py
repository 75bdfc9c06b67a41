"""Rules: their file format, what makes a rule one that can be searched, and the sentences that it stands for."""
