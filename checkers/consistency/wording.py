"""What the wording of a judge's reason gives away, without a model: whether it may say something else than its boolean.

No opening is read and nothing is decided here. A reason is compared with its boolean by words that approve and words
that find fault. Whatever may be turned the other way is for AMC to read: a needless question costs less than a wrong
mark.
"""

import re

_FAULTS = frozenset(
    """
    not no nor none never nothing nobody neither nowhere cannot without hardly barely scarcely
    but however although though except apart aside unless yet while whereas instead rather despite otherwise unlike only
    partly partially mostly largely merely mainly broadly roughly loosely almost nearly half insofar elsewhere here
    too past open topic theme tone spirit gist impression stronger weaker broader narrower
    untrue deny denies denied questionable missing absent unsupported unstated unmentioned unconfirmed unproven
    unfounded unclear unknown unrelated ungrounded groundless baseless beyond outside exceed exceeds contrary
    add adds added adding addition additions additional additionally extra infer infers inferred inference
    change changes changed changing turn turns fail fails failed
    """.split()
)
"""Words that find fault, or that may turn what stands before them."""
_FAULT_STEMS = tuple(
    """
    wrong incorrect inaccura inconsisten inexact false fault flaw error contradict conflict conflat clash differ diverg
    deviat discrepan disagree mismatch mistak misattribut mischarac misdat misinterpret mislead misname misplac misquot
    misread misreport misrepresent misstat misunderst oppos revers swap confus problem issue doubt lack omit omission
    unverif uncertain invent fabricat hallucinat embellish exaggerat overstat overreach understat overgeneral generali
    assum speculat guess stretch alter replac substitut distort twist reject refut dispute
    """.split()
)
_FAULT_PHRASES = (
    *("made up", "made-up", "make up", "makes up", "mixed up", "mixes up", "goes further", "going further"),
    *("fall short", "falls short", "rules out", "ruled out", "as far as", "at least", "in part"),
)

_WORD = re.compile(r"[a-z]+(?:[’'-][a-z]+)*")

_APPROVAL = re.compile(
    r"""
    \b(?:consistent|support\w*|confirm\w*|match\w*|agree\w*|accurate\w*|correct\w*|true|truthful\w*|faithful\w*
      |exact(?:ly)?|right(?:ly)?|precise\w*|verbatim|word\ for\ word|identical|same|equivalent|in\ line|accord\w*
      |align\w*|correspond\w*|borne\ out|bears?\ out|back(?:s|ed)|based\ on|grounded|justified|warranted
      |entail\w*|implie[sd]|follows?|restat\w*|repeats?|paraphras\w*|summari[sz]es|reflects?|captures?|fine|okay|ok|good
      |valid|verified|yes|in\ keeping|those\ of|in\ (?:those|these|the\ same|so\ many|its\ own)\ words)\b
  | \b(?:all|everything)\b[^.;,]*\bin\ the\b | \bbears?\ \w+\ out\b
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

_SEVERAL = re.compile(r"[.!?;]\s+\S|[–—]")
"""More than one sentence or clause: the first may approve and the second find fault."""
_OF_THE_SENTENCE = re.compile(r"^(?:it|this|that)\b|\b(?:sentence|summary|attempt|answer|claim|statement|response)\b")
_FEW, _MANY = 10, 20
"""Words of a reason that judges in words, and of one that only names what supports: the prompts ask for the latter."""

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
    """True if `reason` may say something else than the boolean that stands beside it."""
    if consistent:
        return _may_find_fault(reason.lower())
    if _DENIED_FAULT.search(reason):
        return True
    return any(not _DENIED.search(reason, 0, found.start()) for found in _APPROVAL.finditer(reason))


def _may_find_fault(reason: str) -> bool:
    words = _WORD.findall(reason)
    approves = _APPROVAL.search(reason) is not None
    judges = approves or _OF_THE_SENTENCE.search(reason) is not None
    return (
        len(words) > (_FEW if judges else _MANY)
        or (judges and not approves)
        or _SEVERAL.search(reason) is not None
        # Two figures in one reason: perhaps the reference's and the sentence's.
        or len(set(_NUMBER.findall(reason))) > 1
        or any(_finds_fault(word) for word in words)
        or any(phrase in reason for phrase in _FAULT_PHRASES)
    )


def _finds_fault(word: str) -> bool:
    return word in _FAULTS or word.startswith(_FAULT_STEMS) or word.endswith(("n't", "n’t"))


def is_silence(reason: str) -> bool:
    """True if `reason` finds a sentence not mentioned, rather than contradicted."""
    return _SILENT.search(reason) is not None and _CONTRAST.search(reason) is None
