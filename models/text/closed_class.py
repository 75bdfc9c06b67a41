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

PRONOUNS = frozenset("he him his she her hers it its they them their theirs".split())
"""Personal pronouns of the third person, which stand for what has been named before."""

AUXILIARIES = frozenset(
    "is are was were am do does did has have had can could may might must shall should will would".split()
)
"""Words that open a question if something is so, and stand alone for a verb (chapter 3)."""

DO = frozenset({"do", "does", "did"})
"""The word that a negation needs if the verb has no other auxiliary (chapter 3)."""

FUNCTION_WORDS = CLOSED_CLASS - NUMERALS - {"yes"} | {"ones", "therefore"}
"""Words without a meaning of their own: numerals apart, and "yes", which may be the whole answer."""

REPORTING = frozenset(
    """
    say says said state states stated note notes noted mention mentions mentioned emphasize emphasizes emphasized
    emphasise emphasises emphasised highlight highlights highlighted express expresses expressed describe describes
    described explain explains explained discuss discusses discussed report reports reported add adds added tell tells
    told telling saying stating noting mentioning emphasizing emphasising highlighting expressing describing explaining
    discussing reporting adding according including include includes included
    """.split()
)
"""Verbs that only pass on what someone says: a summary chooses its own."""

APPROXIMATORS = frozenset(
    "about around approximately roughly nearly almost over under some more less than least exceeding circa".split()
)
"""Words that allow the number behind them to be rounded."""

_FAMILIES = {
    # Words joined by a comma say the same.
    "question": "who,whom,whose when where why",
    "quantity": "all,every,each,both,everyone,everybody,everything "
    "some,any,someone,somebody,something,anyone,anybody,anything,several no,none,neither,nobody,nothing most many,much "
    "few more less,fewer least only",
    "order": "before,until,till after,since during,while",
    "path": "to,toward,towards,into from,off",
    "place": "above,over below,under,beneath,underneath behind inside,within outside between",
    "height": "up down",
    "company": "with,including without,except,excluding",
    "side": "for against",
    "condition": "if unless although,though,despite",
    "modality": "must,shall may,might,could cannot",
}
_MEMBERS: dict[str, dict[str, int]] = {}
for _family, _groups in _FAMILIES.items():
    for _number, _group in enumerate(_groups.split()):
        for _word in _group.split(","):
            _MEMBERS.setdefault(_word, {})[_family] = _number


def changes_sense(word: str) -> bool:
    """True if another word of grammar in its place says something different: "before" and "after"."""
    return word in _MEMBERS


def clash(one: str, other: str) -> bool:
    """True if two words of grammar say different things of the same (chapters 5, 7 and 9)."""
    ones, others = _MEMBERS.get(one, {}), _MEMBERS.get(other, {})
    return any(ones[family] != others[family] for family in ones.keys() & others.keys())
