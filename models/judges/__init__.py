"""A chat model as judge: claims are put to it in short questions with worked examples, and its words become grades."""
