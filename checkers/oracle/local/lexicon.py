"""Closed-class English words the local judge treats specially.

Only short, closed lists live here: function words, negations, calendar names, polar pairs. Everything open-ended
(synonyms, topics, names) is left to the embedding model.
"""

from __future__ import annotations

FUNCTION_WORDS = frozenset(
    """
    a an the this that these those it its itself he him his himself she her hers herself they them their theirs
    themselves we us our ours ourselves i me my mine myself you your yours yourself who whom whose which what there here
    and or but nor so yet if then than as because while whereas although though when where whether also both either
    of in on at by for with about against between into through during to from up down out off over under above below
    upon within among along across around toward towards per via despite since until till after before
    is are was were be been being am do does did doing have has had having will would shall should can could may might
    must very too just only even still already such own same other another each some any all more most much many
    's s t d ll re ve m one ones how why again however thus therefore hence
    """.split()
)

REPORTING = frozenset(
    """
    say says said state states stated note notes noted mention mentions mentioned emphasize emphasizes emphasized
    emphasise emphasises emphasised highlight highlights highlighted express expresses expressed describe describes
    described explain explains explained discuss discusses discussed report reports reported add adds added tell tells
    told telling saying stating noting mentioning emphasizing emphasising highlighting expressing describing explaining
    discussing reporting adding according including include includes included
    """.split()
)
"""Verbs that only hand on what someone says: a summary chooses its own."""

NEGATIONS = frozenset(
    """
    not no never false untrue none nobody nothing nowhere neither nor cannot without n't nt hardly barely
    don't doesn't didn't won't wouldn't can't couldn't shouldn't isn't aren't wasn't weren't hasn't haven't hadn't
    """.split()
)
"""Words that turn a statement round. Contractions are listed whole because words keep their apostrophe."""

NEGATIVE_WORDS = frozenset(
    """
    fail deny refuse lack avoid unable prevent reject rather instead unlike except exclude prohibit forbid oppose
    decline abstain neglect omit cease failure refusal absence
    """.split()
)
"""Base forms of words that carry a negation of their own: "failed to win" and "did not win" say the same."""

NEGATIVE_PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non")

WEEKDAYS = {
    name: index
    for index, names in enumerate(
        ("monday", "tuesday tues", "wednesday", "thursday thurs", "friday", "saturday", "sunday")
    )
    for name in names.split()
}

MONTHS = {
    name: index
    for index, names in enumerate(
        (
            "january jan",
            "february feb",
            "march",
            "april",
            "may",
            "june",
            "july",
            "august aug",
            "september sept",
            "october oct",
            "november nov",
            "december dec",
        ),
        start=1,
    )
    for name in names.split()
}

_POLAR = """
    increase:decrease,reduce,lower,decline,drop,fall rise:fall,drop,decline,decrease raise:lower,reduce,cut
    grow:shrink,decline gain:lose,loss win:lose,loss winner:loser victory:defeat up:down higher:lower high:low
    more:less,fewer most:least larger:smaller big:small large:small better:worse best:worst good:bad
    first:last before:after early:late earlier:later old:new,young older:younger begin:end start:end,stop,finish
    open:close,shut accept:reject,refuse,decline approve:reject,deny,block allow:ban,forbid,prohibit
    support:oppose agree:disagree love:hate like:dislike succeed:fail success:failure pass:fail
    true:false right:wrong correct:incorrect legal:illegal guilty:innocent alive:dead born:died
    buy:sell lend:borrow arrive:leave,depart enter:leave,exit import:export push:pull
    male:female man:woman men:women boy:girl son:daughter father:mother brother:sister husband:wife king:queen
    north:south east:west northern:southern eastern:western left:right inside:outside above:below
    positive:negative always:never hot:cold public:private major:minor maximum:minimum include:exclude
    possible:impossible likely:unlikely safe:dangerous,unsafe strong:weak rich:poor full:empty
    add:remove create:destroy remember:forget appear:disappear encourage:discourage majority:minority
    rose:fell,dropped grew:fell,shrank won:lost gained:lost bought:sold began:ended came:left
    married:divorced hired:fired home:away ally:enemy
"""


def _polar_pairs(text: str) -> frozenset[tuple[str, str]]:
    pairs: set[tuple[str, str]] = set()
    for entry in text.split():
        word, _, opposites = entry.partition(":")
        for opposite in opposites.split(","):
            pairs |= {(word, opposite), (opposite, word)}
    return frozenset(pairs)


POLAR_PAIRS = _polar_pairs(_POLAR)
"""Pairs of base forms of which one excludes the other, in both orders."""

APPROXIMATORS = frozenset(
    "about around approximately roughly nearly almost over under some more less than least exceeding circa".split()
)
"""Words that allow the number behind them to be rounded."""

CONFUSABLES = str.maketrans(
    "аеорсухіјѕԁһӏАВЕКМНОРСТУХІЈЅαοιυνκτρΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcyxijsdhlABEKMHOPCTYXIJSaoiuvktpABEZHIKMNOPTYX",
)
"""Cyrillic and Greek letters that look like Latin ones; applied only to words that hold Latin letters or digits too."""
