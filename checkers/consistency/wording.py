"""What the wording of a judge's reason gives away, without a model: whether it may say something else than its boolean.

No opening is read and nothing is decided here. A reason is compared with its boolean by words that approve and words
that find fault. Whatever may be turned the other way is for AMC to read: a needless question costs less than a wrong
mark.
"""

import re

_FAULT = re.compile(
    r"""
    \b(?:not|no|nor|none|never|nothing|nobody|neither|nowhere|cannot|without|hardly|barely|scarcely)\b | n[’']t\b
  | \b(?:but|however|although|though|except|apart\ from|aside\ from|unless|yet|while|whereas|instead|rather|despite
      |otherwise|only|partly|partially|mostly|largely|merely|mainly|almost|nearly|half)\b
  | \b(?:wrong\w*|incorrect\w*|inaccura\w*|inconsisten\w*|inexact\w*|untrue|false\w*|mistak\w*|error\w*|fault\w*
      |flaw\w*|contradict\w*|conflict\w*|clash\w*|differ\w*|diverg\w*|deviat\w*|discrepan\w*|mismatch\w*|disagree\w*
      |den(?:y|ies|ied)|oppos\w*|revers\w*|swap\w*|confus\w*|mix(?:es|ed)?\ up|mis\w{4,}|problem\w*|issue\w*
      |questionable|doubt\w*)\b
  | \b(?:missing|absent|lack\w*|omit\w*|omission\w*|unsupported|unstated|unmentioned|unverif\w*|unconfirmed|unproven
      |unfounded|unclear|uncertain\w*|unknown|unrelated|ungrounded|groundless|baseless|beyond|outside|exceeds?)\b
  | \b(?:invent\w*|fabricat\w*|hallucinat\w*|made[\ -]up|makes?\ up|add(?:s|ed|ing|itions?|itional(?:ly)?)?|extra
      |embellish\w*|exaggerat\w*|overstat\w*|understat\w*|overgenerali[sz]\w*|generali[sz]\w*|assum\w*
      |infer(?:s|red|ence)?|speculat\w*|guess\w*|chang(?:e[sd]?|ing)|alter\w*|replac\w*|substitut\w*|turns?
      |distort\w*|twist\w*|goes\ further|too\ \w+)\b
  | \b(?:fails?|failed|fall\w*\ short|reject\w*|refut\w*|dispute[sd]?|rules?\ out|ruled\ out)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Words that find fault, or that may turn what stands before them."""

_APPROVAL = re.compile(
    r"""
    \b(?:consistent|support\w*|confirm\w*|match\w*|agree\w*|accurate\w*|correct\w*|true|truthful\w*|faithful\w*
      |exact(?:ly)?|right(?:ly)?|precise\w*|verbatim|word\ for\ word|identical|same|equivalent|in\ line|accord\w*
      |align\w*|correspond\w*|borne\ out|bears?\ out|backed|back(?:s|ing)?\ up|based\ on|grounded|justified|warranted
      |entail\w*|implie[sd]|follows?|restat\w*|repeats?|paraphras\w*|summari[sz]es|reflects?|captures?|fine|okay|ok|good
      |valid|verified)\b
  | \b(?:is|are|was|were|as)\ (?:\w+ly\ )?(?:stated|said|told|given|mentioned|reported|found|noted|described|written)\b
  | \b(?:states?|says?|reports?|mentions?|notes?|tells?|gives?|writes?)\ (?:this|that|so|it|as\ much|just)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Words that approve."""

_DENIED = re.compile(
    r"(?:\b(?:not|no|nor|never|nothing|neither|cannot|without|hardly|barely|nowhere|fails?\ to|lacks?)\b|n[’']t\b)"
    r"(?:\W+\w+){0,3}\W+$",
    re.IGNORECASE,
)
"""A denial that reaches over a few words to the end of the text."""

_DENIED_FAULT = re.compile(
    r"(?:\b(?:no|not|nothing|none|never|neither|without|free of)\b|n[’']t\b)(?:\W+\w+){0,3}?\W+"
    r"(?:wrong|incorrect|inaccura\w*|inconsisten\w*|untrue|false|mistak\w*|errors?|faults?|contradict\w*|conflict\w*|differ\w*"
    r"|discrepan\w*|missing|unsupported|invent\w*|fabricat\w*|add(?:s|ed|itions?)?|problems?|issues?|doubt\w*|chang\w*"
    r"|disput\w*|object\w*)\b",
    re.IGNORECASE,
)

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")

_SILENT = re.compile(
    r"(?:\b(?:no|not|nothing|never|nowhere|neither|without)\b|n[’']t\b)(?:\W+\w+){0,4}?\W+"
    r"(?:mention\w*|stat\w*|sa(?:y|id|ys)|giv\w*|told|tells?|speaks?|spoken|address\w*|discuss\w*|cover\w*|information|found"
    r"|contain\w*|includ\w*|refer\w*|appear\w*|report\w*|there|present|describ\w*)\b"
    r"|\b(?:unmentioned|unstated|absent|silent|missing)\b",
    re.IGNORECASE,
)
_CONTRAST = re.compile(r"\b(?:but|instead|rather|while|whereas|however|contradict\w*|actually)\b|;", re.IGNORECASE)


def may_disagree(reason: str, *, consistent: bool) -> bool:
    """Whether `reason` may say something else than the boolean that stands beside it."""
    if consistent:
        # Two figures in one reason: perhaps the reference's and the sentence's.
        return _FAULT.search(reason) is not None or len(set(_NUMBER.findall(reason))) > 1
    if _DENIED_FAULT.search(reason):
        return True
    return any(not _DENIED.search(reason, 0, found.start()) for found in _APPROVAL.finditer(reason))


def is_silence(reason: str) -> bool:
    """Whether `reason` finds a sentence not mentioned, rather than contradicted."""
    return _SILENT.search(reason) is not None and _CONTRAST.search(reason) is None
