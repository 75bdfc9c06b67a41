"""Work over files, never on the stream: audits, corpora, labelling runs. Nothing imports it."""
