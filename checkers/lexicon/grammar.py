"""The closed classes of English: words that grammar is made of, with their Penn Treebank tags, likeliest first.

A closed class is a list by its nature (Huddleston and Pullum, The Cambridge Grammar of the English Language, 2002,
chapters 3 to 9): WordNet, which is a lexicon of the open classes, has none of them.
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

FUNCTION_WORDS: dict[str, tuple[str, ...]] = {
    word: tuple(tag for tag, listed in _BY_TAG.items() if word in listed.split())
    for words in _BY_TAG.values()
    for word in words.split()
}
"""Tags that a word of a closed class may have."""

NEGATORS = frozenset({"not", "n't", "no", "never", "nor", "neither", "none", "nobody", "nothing", "nowhere", "without"})
"""What makes a clause negative (Huddleston and Pullum, chapter 9): verbal and non-verbal negators."""

QUANTIFIERS = frozenset(
    {"all", "both", "half", "some", "any", "each", "every", "either", "many", "much", "more", "most", "few", "fewer"}
    | {"fewest", "several", "little", "less", "least", "enough"}
    | set(_BY_TAG["CD"].split())
)
"""How much or how many (chapter 5): the words of quantity that do not negate, and the cardinal numerals."""

AUXILIARIES = frozenset({"do", "does", "did"})
"""What a negation asks for where the verb has no auxiliary of its own (chapter 3)."""
