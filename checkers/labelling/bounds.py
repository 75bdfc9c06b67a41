"""What the protocol promises, as formulas."""


def lie_bound(rounds: int) -> float:
    """The chance at most that an evaluator whose x' always fails one of the challenges survives `rounds` rounds.

    A cheat can prepare for either challenge and passes that one every time, so half of the draws catch it: (1/2)^r.
    """
    return 0.5**rounds


def paper_lie_bound(rounds: int) -> float:
    """The same as the paper states it (lemma 1), for lies that get lucky half of the time besides: (1/4)^r."""
    return 0.25**rounds


def expected_accuracy(accuracy: float, phi: float, undetected: float) -> float:
    """The share of right labels after flips (theorem 1), on balanced binary data.

    The evaluator lies exactly where it mislabels, and a lie stays undetected with probability `undetected`:
    1 - (1 - a)(1 - phi + phi u). The theorem puts (1/4)^r for u.
    """
    return 1 - (1 - accuracy) * (1 - phi + phi * undetected)
