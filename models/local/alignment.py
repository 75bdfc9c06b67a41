"""Where in the reference each word of a claim comes from: the likeliest path, as in HMM word alignment.

Every content word of the claim is tied to one content word of the reference so that like words meet and neighbours
stay neighbours (Vogel, Ney and Tillmann 1996). The path tells apart what counting words cannot: the same words in
other roles, and facts from two places joined into one.
"""

from dataclasses import dataclass

import numpy as np

from models.local.encoded_text import Encoded, Indices, Numbers

CANDIDATES = 8
"""Places in the reference considered for a word; more change no path that matters."""

NEAREST, FARTHEST = 0.85, 0.45
"""Cosines of two different words in context from which they say the same, and below which nothing is shared. Middle
layers of these models put words picked at random at about 0.2 and inflections of one word at 0.8."""

SYNONYM = 0.8
"""The worth of the best different word beside the same word: also opposites and sisters come close in vectors."""

SLACK = 3
"""Words that may come in between before two neighbours count as apart."""

JUMP_FORWARD, JUMP_BACK, JUMP_STAY, JUMP_NEXT, JUMP_FAR = 0.3, 0.5, 0.6, 0.7, 1.0
"""Cost of leaving out a stretch of the sentence, turning back in it, using a word twice, going to the sentence beside,
and going anywhere else."""

JUMP_WEIGHT = 0.5
"""The cost that a jump may have before a worse word nearby is preferred."""


@dataclass(frozen=True, slots=True)
class WordPath:
    """The path, one entry per content word of the claim."""

    claim: Indices
    """Positions among the claim's words."""
    reference: Indices
    """Positions among the reference's words."""
    likeness: Numbers
    """The likeness at the places on the path: 0 (nothing like it) to 1 (the same word in the same company)."""
    closest: Numbers
    """The likeness of the likest places anywhere in the reference, on the path or not."""
    jumps: Numbers
    """One fewer than words: 0 where the reference keeps the two together as the claim does, to 1."""

    def home(self, reference: Encoded) -> int:
        """The passage of the reference that most of the claim comes from."""
        return int(np.bincount(reference.owners[self.reference], weights=self.likeness).argmax())


def align(claim: Encoded, reference: Encoded) -> WordPath | None:
    """The best path; None where either text has no words."""
    if not len(claim.content) or not len(reference.content):
        return None
    likeness = _likeness(claim, reference)
    kept = min(CANDIDATES, likeness.shape[1])
    # Stable order: among equals the earliest places are kept, whatever the numerics of a partial sort.
    columns = np.argsort(-likeness, axis=1, kind="stable")[:, :kept]
    scores = np.take_along_axis(likeness, columns, axis=1)
    places = reference.content[columns]
    owners = reference.owners[places]
    gaps = np.diff(claim.content)

    best = scores[0].copy()
    back = np.zeros((len(scores), kept), dtype=np.int64)
    for t in range(1, len(scores)):
        steps = places[t][None, :] - places[t - 1][:, None]
        crossed = owners[t][None, :] - owners[t - 1][:, None]
        total = best[:, None] - JUMP_WEIGHT * _jump(steps, crossed, gaps[t - 1])
        back[t] = total.argmax(axis=0)
        best = total.max(axis=0) + scores[t]
    path = [int(best.argmax())]
    for t in range(len(scores) - 1, 0, -1):
        path.append(int(back[t][path[-1]]))
    rows = np.arange(len(scores))
    chosen = np.array(path[::-1])
    found = places[rows, chosen]
    return WordPath(
        claim=claim.content,
        reference=found,
        likeness=scores[rows, chosen],
        closest=likeness.max(axis=1),
        jumps=_jump(np.diff(found), np.diff(reference.owners[found]), gaps),
    )


def found(claim: Encoded, reference: Encoded) -> Numbers:
    """For each content word of the claim its likeness to the likest word of the reference, 0 to 1."""
    best: Numbers = _likeness(claim, reference).max(axis=1, initial=0.0)
    return best


def _likeness(claim: Encoded, reference: Encoded) -> Numbers:
    """(claim's content words, reference's content words)."""
    cosine = claim.vectors[claim.content] @ reference.vectors[reference.content].T
    # The same text in another batch differs in the last digits; rounding keeps that from choosing another path.
    cosine = np.round(cosine, 3)
    like = SYNONYM * np.clip((cosine - FARTHEST) / (NEAREST - FARTHEST), 0.0, 1.0)
    for row, index in enumerate(claim.content):
        same = reference.positions.get(claim.words[index].stem)
        if same is not None:
            like[row, same] = 0.9 + 0.1 * np.clip(cosine[row, same], 0.0, 1.0)
    result: Numbers = like.astype(np.float32)
    return result


def _jump(steps: Indices, crossed: Indices, gap: Indices) -> Numbers:
    """Cost of a step of so many words over so many sentences, where the claim's own step is `gap` words."""
    cost: Numbers = np.select(
        [
            (steps >= 1) & (steps <= gap + SLACK),
            (steps >= 1) & (crossed == 0),
            steps == 0,
            crossed == 0,
            np.abs(crossed) == 1,
        ],
        [0.0, JUMP_FORWARD, JUMP_STAY, JUMP_BACK, JUMP_NEXT],
        JUMP_FAR,
    ).astype(np.float32)
    return cost
