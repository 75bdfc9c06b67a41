"""Putting rewritten sentences in the place of the old ones; everything else stays as it is, byte for byte."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from schemas import JudgedSentence, SentenceFinding


def fits(response: str, findings: Sequence[SentenceFinding]) -> bool:
    """True if `findings` are about `response`: each at its offsets, in order, none overlapping another."""
    return all(
        0 <= found.start < found.end and response[found.start : found.end] == found.text for found in findings
    ) and all(before.end <= after.start for before, after in pairwise(findings))


def spliced(
    response: str,
    findings: Sequence[SentenceFinding],
    rewrites: Mapping[int, str],
    others: Sequence[JudgedSentence] = (),
) -> str:
    """`response` with each sentence of `rewrites` (by its index in `findings`) replaced by the text given there.

    `others` are the sentences that have no finding; they stay.

    A sentence whose text is empty is taken out, with the list marker that stood before it alone, and one of the two
    stretches of white space around it: that with fewer line breaks. Where all are taken out nothing is left, as a list
    marker alone would read as a sentence.
    """
    if findings and not others and len(rewrites) == len(findings) and not any(rewrites.values()):
        return ""
    # From the end, so that the offsets of what is still to be replaced hold.
    for index in sorted(rewrites, reverse=True):
        found = findings[index]
        if rewrites[index]:
            response = response[: found.start] + rewrites[index] + response[found.end :]
        else:
            ends = [one.end for one in (*findings, *others) if one.end <= found.start]
            response = _without(response, found, free_from=max(ends, default=0))
    return response


def _without(text: str, found: SentenceFinding, *, free_from: int) -> str:
    """`free_from` is where the sentence before ends: between the two there are markers and white space only."""
    start, end = found.start, found.end
    run_end = len(text) - len(text[end:].lstrip())
    lead = f"{text[free_from:start]}|".splitlines()[-1]
    begins_line = free_from == 0 or _breaks(text[free_from:start]) > 0
    ends_line = run_end == len(text) or _breaks(text[end:run_end]) > 0
    if begins_line and ends_line:
        start -= len(lead) - 1
    left = len(text[:start].rstrip())
    if left == 0:
        return text[:start] + text[_before_indentation(text, end, run_end) :]
    if run_end == len(text):
        return text[:left] + text[end:]
    right = _before_indentation(text, end, run_end)
    before, behind = text[left:start], text[end:right]
    kept = before if _breaks(before) >= _breaks(behind) else behind
    return text[:left] + kept + text[right:]


def _before_indentation(text: str, start: int, end: int) -> int:
    """The white space from `start` to `end` belongs to what stood before it up to here, then to the next line."""
    lines = f"{text[start:end]}|".splitlines()
    return end if len(lines) == 1 else end - (len(lines[-1]) - 1)


def _breaks(space: str) -> int:
    return len(f"{space}|".splitlines()) - 1
