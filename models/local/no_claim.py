"""Sentences that claim nothing: words to the reader, lead-ins, questions, refusals."""

import re

_MOST_CHARACTERS = 240
"""Of a sentence that may claim nothing."""

_REFUSAL = (
    # I cannot answer, we don't know
    r"[^.]*\b(?:i|we)(?:'m| am| are|)\b[^.]{0,20}?(?:can't|cannot|can not|could not|couldn't|unable to|not able to"
    r"|don't|do not|did not|didn't|won't|will not|have no)\b[^.]{0,24}?\b(?:answer|help|know|say|tell|find|assist"
    r"|determine|confirm|provide|see|give|share|discuss|advise|diagnose|recommend|information)\b[^.]*"
    # The documents do not say
    r"|[^.]*\b(?:it|they|there|(?:the|these|this|your|our|my)(?: [\w-]+){1,2})\b (?:do|does|did)(?:n't| not)"
    r" (?:say|mention|state|specify|tell|contain|include|provide|give|address|discuss|describe|explain)\b[^.,]*"
    # That is not mentioned in the text, there is no information about it
    r"|[^.]*(?:\b(?:is|are|was|were) not|n't) (?:mentioned|stated|specified|covered|addressed|found|listed) (?:in|by) "
    r"(?:the|my|our|these|this)\b[^.]*"
    r"|[^.]*\bno (?:information|mention|details?|indication)(?: \w+){0,2} (?:about|of|on|regarding)\b[^.]*"
)
_COURTESY = (
    r"(?:hello|hi|hey|dear|thanks|thank you|welcome|sorry|goodbye|bye|sure|of course|certainly)\b[^.:;\d]{0,40}"
    r"|you(?:'re| are) (?:very )?welcome[^.:;\d]{0,40}|(?:have|enjoy) (?:a|the|your) [^.:;\d]{0,30}"
    r"|(?:i|we)(?:'m| am| are|) (?:hope|happy|glad|sorry)\b[^.:;\d]{0,60}"
    r"|(?:please )?(?:let me know|feel free|speak to|talk to|consult|ask) [^.:;\d]{0,60}"
    r"|(?:here (?:is|are)|here's|in short|in summary|below)\b[^.\d]*:"
)
_CLAIMS_NOTHING = re.compile(
    rf"[^?？]*[?？]['\")]*|(?:{_COURTESY})[.!,]*"
    rf"|(?:(?:i'm |i am )?sorry,? (?:but )?)?(?!.*(?:, but|; |however|although)\b)(?:{_REFUSAL})[.!]*",
    re.IGNORECASE,
)


def claims_nothing(sentence: str) -> bool:
    """True for words to the reader, lead-ins, questions, refusals, and that a text does not say something."""
    text = " ".join(sentence.replace("’", "'").split())
    if not re.search(r"[^\W_]", text) or re.fullmatch(r"```(?!json).*```", text):
        return True
    return len(text) <= _MOST_CHARACTERS and _CLAIMS_NOTHING.fullmatch(text) is not None
