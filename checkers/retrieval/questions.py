"""Text matching: whether a stored text entails the query, and the query the stored text; or answers it, if it asks."""

import re
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from models.protocol import ClaimKind, Claims, Judge, Judgement
from models.wording import split_sentences
from schemas.evidence import DirectionFinding

Store = Literal["cache", "knowledge"]
Direction = Literal["text_to_query", "query_to_text"]
TextFinding: TypeAlias = Mapping[Direction, DirectionFinding]
"""Whether a stored text entails the query, and the query it; or, of a text that is to answer it, the first alone."""

NEEDED: Mapping[Store, tuple[Direction, ...]] = {
    "cache": ("text_to_query", "query_to_text"),
    "knowledge": ("text_to_query",),
}
"""A cache must match the same question; for a knowledge store it is enough that the text entails the query, the order
that exposes deletions and missing evidence."""

_SAME = DirectionFinding(score=1.0, reason="both texts are the same")


async def compared(
    judge: Judge, matching: Store | Literal["question"], query: str, texts: Sequence[str]
) -> list[TextFinding]:
    """A finding for each of `texts`, in order; raises as `Judge.grade` does. `question`: it is to be answered."""
    distinct = list(dict.fromkeys(text for text in texts if text.split() != query.split()))
    task, found = f"retrieval.{matching}", dict[str, TextFinding]()
    same: TextFinding = {"text_to_query": _SAME}
    if matching == "question":
        # A stored text that asks, too, is no answer; it fits if it asks the same.
        kinds = (ClaimKind.MATCH if is_question(text) else ClaimKind.ANSWERABILITY for text in distinct)
        claims = [Claims(text, (query,), kind) for text, kind in zip(distinct, kinds, strict=True)]
        grades = (await judge.grade(task, claims)).reply if distinct else ()
        for text, (there,) in zip(distinct, grades, strict=True):
            found[text] = {"text_to_query": _finding(there)}
    else:
        same = {"text_to_query": _SAME, "query_to_text": _SAME}
        both = [(query, tuple(distinct)), *((text, (query,)) for text in distinct)]
        claims = [Claims(reference, sentences, ClaimKind.MATCH) for reference, sentences in both]
        back, *to_query = (await judge.grade(task, claims)).reply if distinct else ((),)
        for text, (there,), back_again in zip(distinct, to_query, back, strict=True):
            found[text] = {"text_to_query": _finding(there), "query_to_text": _finding(back_again)}
    return [found.get(text, same) for text in texts]


def _finding(judgement: Judgement) -> DirectionFinding:
    return DirectionFinding(score=judgement.support, reason=judgement.reason or None, passage=judgement.passage)


_QUESTION = re.compile(
    r"""\W*(
    (who | whom | whose | what | which | when | where | why | how)\b
    | (in | on | at | by | for | with | from | to | of | after | before | since | until | about | during)
      \ (what | which | whom | whose)\b
    | (is | are | was | were | am | do | does | did | has | have | had | can | could | may | might | must | shall
      | should | will | would)
      \ (i | you | he | she | it | we | they | there | this | that | these | those | the | an? | my | your | our | any
      | anyone)\ \w
    )""",
    re.VERBOSE | re.IGNORECASE,
)
"""How sentences begin that ask; queries often lack the mark."""
_ENDS = re.compile(r"[?？]['\"”’)\]]*$")


def is_question(text: str) -> bool:
    """True if the last sentence of a text asks, by its mark or, without any, by the way it begins."""
    sentences = split_sentences(text)
    last = " ".join(sentences[-1].text.split()) if sentences else "."
    return bool(_ENDS.search(last) or (last[-1] not in ".!:" and _QUESTION.match(last)))
