"""Words of which one excludes the other."""

from functools import lru_cache

from models.text.negation import NEGATIVE_PREFIXES, NEGATIVE_WORDS
from models.text.words import stem

_OPPOSITES = """
    increase:decrease,reduce,lower,decline,drop,fall rise:fall,drop,decline,decrease raise:lower,reduce,cut
    grow:shrink,decline gain:lose,loss win:lose,loss winner:loser victory:defeat up:down higher:lower high:low
    more:less,fewer most:least larger:smaller big:small large:small better:worse best:worst good:bad
    first:last before:after early:late earlier:later old:new,young older:younger begin:end start:end,stop,finish
    previous:later,next child:adult children:adults summer:winter day:night morning:evening dog:cat
    open:close,shut accept:reject,refuse,decline approve:reject,deny,block allow:ban,forbid,prohibit
    support:oppose agree:disagree love:hate like:dislike succeed:fail success:failure pass:fail
    true:false right:wrong correct:incorrect legal:illegal guilty:innocent alive:dead born:died,die
    buy:sell lend:borrow arrive:leave,depart enter:leave,exit import:export push:pull
    male:female man:woman men:women boy:girl son:daughter father:mother brother:sister husband:wife king:queen
    north:south east:west northern:southern eastern:western left:right inside:outside above:below
    positive:negative always:never hot:cold public:private major:minor maximum:minimum include:exclude
    possible:impossible likely:unlikely safe:dangerous,unsafe strong:weak rich:poor full:empty
    add:remove create:destroy remember:forget appear:disappear encourage:discourage majority:minority
    rose:fell,dropped grew:fell,shrank won:lost gained:lost bought:sold began:ended came:left
    married:divorced hired:fired home:away ally:enemy
"""
"""In the forms that news uses: a word, and its opposites behind the colon."""

_LISTED = tuple(
    (word, opposite)
    for entry in _OPPOSITES.split()
    for word, _, opposites in [entry.partition(":")]
    for opposite in opposites.split(",")
)

OPPOSITE_STEMS = frozenset(
    pair for one, other in _LISTED for pair in ((stem(one), stem(other)), (stem(other), stem(one)))
)
"""The listed pairs by their stems, in both orders."""


@lru_cache(maxsize=65536)
def opposed(one: str, other: str) -> bool:
    """True if two words in lower case are opposites, by the list above or by a negative prefix."""
    if (stem(one), stem(other)) in OPPOSITE_STEMS:
        return True
    shorter, longer = sorted((one, other), key=len)
    return any(longer == prefix + shorter for prefix in NEGATIVE_PREFIXES)


NEGATIVE_STEMS = frozenset(stem(word) for word in NEGATIVE_WORDS)
"""Stems of words that carry a negation of their own."""
