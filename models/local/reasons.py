"""Why a sentence is supported or not, in words, and the passage that says most about it."""

from collections.abc import Sequence

from models.claims import Judgement
from models.local.alignment import WordPath
from models.local.encoded_text import Encoded
from models.local.faults import ClaimFault, main_passage

NO_WORDS = 0.02
"""Support of a sentence without words, or by a reference without any."""


def nothing_to_compare(reference: Encoded) -> Judgement:
    """The judgement where the sentence or the reference has no words."""
    return Judgement(NO_WORDS, "there is nothing to compare" if reference.words else "the reference is empty", None)


def reason_of(
    claim: Encoded, reference: Encoded, path: WordPath, found: Sequence[ClaimFault], *, supported: bool
) -> tuple[str, str]:
    """What decided, in words, and the passage it refers to."""
    passage = reference.passages[main_passage(reference, path)]
    return (_why_supported(reference, path) if supported else _why_not(claim, path, found)), passage


def _why_supported(reference: Encoded, path: WordPath) -> str:
    if (path.likeness >= 0.9).all() and not path.jumps.any():
        return "the reference says so almost word for word"
    several = len(set(reference.owners[path.reference].tolist())) > 1
    return f"its content is found in {'several passages' if several else 'one passage'} of the reference"


def _why_not(claim: Encoded, path: WordPath, found: Sequence[ClaimFault]) -> str:
    if found:
        return found[0].reason
    lost = [claim.words[i].surface for i, like in zip(path.claim, path.closest, strict=True) if like < 0.4]
    if lost:
        listed = ", ".join(f"'{word}'" for word in dict.fromkeys(lost[:4]))
        return f"nothing in the reference corresponds to {listed}"
    if path.jumps.any():
        at = int(path.jumps.argmax())
        first, second = (claim.words[path.claim[k]].surface for k in (at, at + 1))
        return f"the reference does not bring '{first}' and '{second}' together the way the sentence does"
    return "the reference says something similar but not this"
