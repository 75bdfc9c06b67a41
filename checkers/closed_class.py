"""The closed classes of English: the words that grammar is made of, in lower case.

A closed class is a list by its nature (Huddleston and Pullum, The Cambridge Grammar of the English Language, 2002,
chapters 3 to 9); WordNet, a lexicon of the open classes, has none of them.
"""

NUMERALS = frozenset(
    """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million
    billion trillion
    """.split()
)

CLOSED_CLASS = NUMERALS | frozenset(
    """
    ' 'd 'll 'm 're 's 've a about above across after again against ah all almost along already also although
    always am amid among amongst an and another any anybody anyone anything are around as at atop away back
    barely be because been before behind being below beneath beside besides between beyond both but by can
    cannot could despite did do does doing done down during each either even ever every everybody everyone
    everything except few fewer fewest for from had half hardly has have having he hello hence her here hers
    herself hey him himself his how however i if in inside into is it its itself just least less like little
    many may maybe me might mine more most much must my myself n't near neither never no nobody none nor not
    nothing now of off often oh on oneself only onto or other ought our ours ourselves out outside over own past
    per perhaps please plus quite rather same scarcely several shall she should since so some somebody someone
    something still such than that the their theirs them themselves then there these they this those though
    through throughout thus till to too toward towards under underneath unless unlike until up upon us very via
    was we were what whatever when whenever where whereas wherever whether which whichever while who whoever
    whom whomever whose why will with within without would yes yet you your yours yourself yourselves
    """.split()
)
"""All of them, numerals included."""

QUANTIFIERS = NUMERALS | frozenset(
    "all both half some any each every either many much more most few fewer fewest several little less least "
    "enough".split()
)
"""Words of quantity (chapter 5): words of quantity that do not negate."""

AUXILIARIES = frozenset(
    "is are was were am do does did has have had can could may might must shall should will would".split()
)
"""Words that open a question if something is so (chapter 3)."""

NEGATORS = frozenset(
    "not n't nt no never nor neither none nobody nothing nowhere without cannot hardly barely scarcely "
    "false untrue".split()
)
"""Words that make a clause negative (chapter 9)."""


def is_negator(word: str) -> bool:
    """True if the word, in lower case, is a negator or a contraction with one (don't)."""
    return word in NEGATORS or word.endswith("n't")
