"""The closed classes of English: the words that grammar is made of, in lower case.

A closed class is a list by its nature (Huddleston and Pullum, The Cambridge Grammar of the English Language, 2002,
chapters 3 to 9); WordNet, a lexicon of the open classes, has none of them.
"""

_BY_TAG = {
    "DT": "the a an this that these those some any no every each either neither another all both half",
    "PRP": "i you he she it we they me him her us them myself yourself himself herself itself ourselves yourselves"
    " themselves oneself mine yours hers ours theirs one none someone somebody something anyone anybody anything"
    " everyone everybody everything nobody nothing",
    "PRP$": "my your his her its our their",
    "WP": "who whom what whoever whatever whomever",
    "WP$": "whose",
    "WDT": "which that what whichever whatever",
    "WRB": "when where why how whenever wherever however",
    "IN": "of in on at by for with about against between among into through during before after above below from"
    " under over since until till upon within without across along around behind beneath beside besides beyond"
    " despite except inside like near off onto outside past per than toward towards throughout underneath unlike via"
    " as if because although though while whereas unless whether that amid amongst atop up down out off",
    "RP": "up down out off away back",
    "TO": "to",
    "CC": "and or but nor yet plus so both either neither",
    "MD": "can could may might must shall should will would ought cannot 'll 'd",
    "VBZ": "is has does 's",
    "VBP": "am are have do 're 've 'm",
    "VBD": "was were had did",
    "VB": "be have do",
    "VBG": "being having doing",
    "VBN": "been had done",
    "EX": "there",
    "POS": "'s '",
    "RB": "not n't never so too very also then there here now just only even ever still again already almost always"
    " often perhaps maybe quite rather yet thus hence hardly scarcely barely much up down out off away back",
    "CD": "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million"
    " billion trillion",
    "JJ": "many much few little several such other same own",
    "JJR": "more fewer less",
    "JJS": "most fewest least",
    "RBR": "more less",
    "RBS": "most least",
    "UH": "yes no oh ah hey hello please",
}

CLOSED_CLASS = frozenset(word for words in _BY_TAG.values() for word in words.split())
"""All of them, numerals included."""

NUMERALS = frozenset(_BY_TAG["CD"].split())

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
