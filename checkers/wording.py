"""Texts of others within a sentence for a person."""


def on_a_line(text: str, most: int = 120) -> str:
    """A text with its white space as single blanks, cut off where it has more than `most` characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
