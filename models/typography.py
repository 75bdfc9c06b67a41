"""Signs that models straighten when they copy a text: quotation marks, dashes, spaces."""

_STRAIGHT = str.maketrans(
    dict.fromkeys("‘’‚‛′`´", "'")
    | dict.fromkeys("“”„‟«»″", '"')
    | dict.fromkeys("‐‑‒–—―−", "-")
    | {
        "\N{SOFT HYPHEN}": None,
        "\N{ZERO WIDTH SPACE}": None,
        "\N{WORD JOINER}": None,
        "\N{ZERO WIDTH NO-BREAK SPACE}": None,
    }
)


def straightened(text: str) -> str:
    """The text with plain quotation marks, hyphens for dashes, and single blanks for all white space.

    A model that repeats a text may give any of these for the others: texts that are equal in this form are copies.
    """
    return " ".join(text.translate(_STRAIGHT).split())
