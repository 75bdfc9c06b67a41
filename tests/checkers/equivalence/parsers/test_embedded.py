"""The embedded parser: any text has a tree, and common sentences the one that a treebank would give them."""

import string
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkers.checker import Undecidable
from checkers.equivalence.parsers import ParserSettings
from checkers.equivalence.parsers.build import build_parser
from checkers.equivalence.parsers.embedded.parser import parse_sentence
from checkers.equivalence.trees import Tree, nodes, to_brackets
from tests.checkers.equivalence.parsers.conftest import phrases

GRAMMAR = (
    "the a of in to that which who and or but , . ; : ( ) \" ' ’ “ ” -- … 's n't not because before as well such more"
    " than is was has been had will may said says made going went taken dog cities red quickly 12 $ % £5.3 U.S. Mr."
    " I he her themselves there what how many whose 中文 ñandú \u200b \x01 😀 a-b-c -x- & \ud800"
).split(" ")

mixtures = st.lists(st.sampled_from(GRAMMAR), min_size=1, max_size=40).map(" ".join)
texts = st.text(min_size=1, max_size=80)
marks = st.text(alphabet=string.punctuation + " aI1’", min_size=1, max_size=40)


def check(tree: Tree, sentence: str) -> None:
    """Every token a leaf, once and in order, and none of the text left out."""
    leaves = [node for node in nodes(tree.root) if not node.children]
    assert [(leaf.start, leaf.end) for leaf in leaves] == [(place, place + 1) for place in range(len(tree.tokens))]
    assert (tree.root.start, tree.root.end) == (0, len(tree.tokens))
    assert "".join(tree.tokens) == "".join(sentence.split())


@settings(max_examples=300, deadline=None)
@given(st.one_of(mixtures, texts, marks).filter(str.strip))
def test_any_text_has_a_tree_over_all_of_it(sentence: str) -> None:
    check(parse_sentence(sentence), sentence)


@settings(max_examples=50, deadline=None)
@given(mixtures)
def test_the_same_text_has_the_same_tree(sentence: str) -> None:
    assert parse_sentence(sentence) == parse_sentence(sentence)


@pytest.mark.parametrize(
    "unit",
    ["of ", "and ", "( ", "who ", "that he said ", "to go ", "big, red, ", "in the house of the man ", "a.", "'"],
)
def test_time_grows_with_the_text_and_no_faster(unit: str) -> None:
    sentence = unit * (10_000 // max(len(unit.split()), 1))
    begun = time.perf_counter()

    check(parse_sentence(sentence), sentence)

    # One that grew with the square would take minutes.
    assert time.perf_counter() - begun < 20


CASES = [
    ("The old man who fed the birds went home.", {"The old man", "who fed the birds", "went home"}),
    ("She put the key under the mat.", {"the key", "under the mat", "put the key under the mat"}),
    ("A friend of my sister has bought a house.", {"A friend of my sister", "of my sister", "bought a house"}),
    ("They will not be told before Friday.", {"will not be told before Friday", "told before Friday"}),
    ("He said that the train was late.", {"that the train was late", "the train was late", "was late"}),
    ("He said the train was late.", {"the train was late", "was late"}),
    ("The cook, a cousin of ours, smiled.", {"a cousin of ours", "The cook, a cousin of ours"}),
    ("We want to sell the boat and buy a tent.", {"sell the boat", "buy a tent", "to sell the boat and buy a tent"}),
    ("Apples, pears and ripe plums were sold.", {"Apples, pears and ripe plums", "ripe plums"}),
    ("If it rains, the match will be moved.", {"If it rains", "it rains", "be moved"}),
    ("My neighbour's dog chased more than 20 hens.", {"My neighbour's", "My neighbour's dog", "more than 20"}),
    ('"The bridge is safe," said the engineer.', {"The bridge is safe", "the engineer"}),
    ("The bridge is safe, the engineer said.", {"The bridge is safe", "the engineer"}),
    ("The letter sent by the bank was lost.", {"The letter sent by the bank", "sent by the bank"}),
    ("It rained because of the warm wind.", {"because of the warm wind", "the warm wind"}),
    ("Dr. Weber met us on Monday.", {"Dr. Weber", "on Monday"}),
    ("Nobody knew which road she took.", {"which road", "which road she took", "she took"}),
    ("The well-known singer left.", {"well-known", "The well-known singer"}),
    ("Prices fell by $4 million last year.", {"by $4 million", "$4 million", "last year"}),
    ("We sat in the shade of a tree (an oak).", {"of a tree (an oak"}),
]


@pytest.mark.parametrize(("sentence", "expected"), CASES, ids=[sentence for sentence, _ in CASES])
def test_phrases_of_common_sentences(sentence: str, expected: set[str]) -> None:
    found = {phrase.rstrip(",.)\"'") for phrase in phrases(parse_sentence(sentence))}

    assert expected <= found


RULES = [
    (
        "because of",
        "The game ended because of rain.",
        "(S (NP (DT The) (NN game)) (VP (VBD ended) (PP (IN because) (IN of) (NP (NN rain)))) (. .))",
    ),
    (
        "such as",
        "A choir such as ours needs money.",
        "(S (NP (NP (DT A) (NN choir)) (PP (JJ such) (IN as) (NP (PRP ours)))) (VP (VBZ needs) (NP (NN money))) (. .))",
    ),
    (
        "as well as",
        "The men as well as the women sang.",
        (
            "(S (NP (NP (DT The) (NN men)) (CONJP (IN as) (RB well) (IN as)) (NP (DT the) (NNS women))) (VP "
            "(VBD sang)) (. .))"
        ),
    ),
    (
        "relative clause apart",
        "He met Anna, who paints.",
        (
            "(S (NP (PRP He)) (VP (VBD met) (NP (NP (NNP Anna)) (, ,) (SBAR (WHNP (WP who)) (S (VP "
            "(VBZ paints)))))) (. .))"
        ),
    ),
    (
        "apposition",
        "He met Anna, a doctor.",
        "(S (NP (PRP He)) (VP (VBD met) (NP (NP (NNP Anna)) (, ,) (NP (DT a) (NN doctor)))) (. .))",
    ),
    (
        "two appositions, one comma between",
        "He met Anna, a doctor, who paints.",
        (
            "(S (NP (PRP He)) (VP (VBD met) (NP (NP (NNP Anna)) (, ,) (NP (DT a) (NN doctor)) (, ,) (SBAR (WHNP "
            "(WP who)) (S (VP (VBZ paints)))))) (. .))"
        ),
    ),
    (
        "participle apart",
        "The bridge, built by monks, fell.",
        (
            "(S (NP (NP (DT The) (NN bridge)) (, ,) (VP (VBN built) (PP (IN by) (NP (NNS monks)))) (, ,)) (VP "
            "(VBP fell)) (. .))"
        ),
    ),
    (
        "reduced participle",
        "The songs written in May sold well.",
        (
            "(S (NP (NP (DT The) (NNS songs)) (VP (VBN written) (PP (IN in) (NP (NNP May))))) (VP (VBD sold) "
            "(ADVP (RB well))) (. .))"
        ),
    ),
    (
        "reduced past tense before by",
        "Boats built by hand cost more.",
        (
            "(S (NP (NP (NNS Boats)) (VP (VBD built) (PP (IN by) (NP (NN hand))))) (VP (VBD cost) (ADVP "
            "(RBR more))) (. .))"
        ),
    ),
    (
        "reduced past tense of an object",
        "He runs firms based in Rome.",
        "(S (NP (PRP He)) (VP (VBZ runs) (NP (NP (NNS firms)) (VP (VBD based) (PP (IN in) (NP (NNP Rome)))))) (. .))",
    ),
    (
        "reduced -ing",
        "The man singing songs left.",
        "(S (NP (NP (DT The) (NN man)) (VP (VBG singing) (NP (NNS songs)))) (VP (VBD left)) (. .))",
    ),
    (
        "contact clause",
        "He sold the house she bought.",
        (
            "(S (NP (PRP He)) (VP (VBD sold) (NP (NP (DT the) (NN house)) (SBAR (S (NP (PRP she)) (VP "
            "(VBD bought)))))) (. .))"
        ),
    ),
    (
        "infinitive of a subject",
        "The plan to sell failed.",
        "(NP (NP (DT The) (NN plan)) (S (VP (TO to) (VP (VB sell) (S (VP (VBN failed)))))) (. .))",
    ),
    (
        "one determiner for both",
        "Her mother and brother left.",
        "(S (NP (PRP$ Her) (NN mother) (CC and) (NN brother)) (VP (VBD left)) (. .))",
    ),
    (
        "so is an adverb",
        "It was cold, so very cold.",
        "(S (S (NP (PRP It)) (VP (VBD was) (ADJP (JJ cold)))) (, ,) (ADJP (RB so) (RB very) (JJ cold)) (. .))",
    ),
    (
        "'s is the verb",
        "The dog's barking at the cat.",
        "(S (DT The) (NN dog) (POS 's) (VP (VBG barking) (PP (IN at) (NP (DT the) (NN cat)))) (. .))",
    ),
    (
        "' is an owner's",
        "The dogs' owner left.",
        "(S (NP (NP (DT The) (NNS dogs) (POS ')) (NN owner)) (VP (VBD left)) (. .))",
    ),
    (
        "capitals make a name",
        "Mark Weber runs.",
        "(S (NP (NNP Mark) (NNP Weber)) (VP (VBZ runs)) (. .))",
    ),
    (
        "US is no pronoun",
        "The US sent ships.",
        "(S (NP (DT The) (NNP US)) (VP (VBD sent) (NP (NNS ships))) (. .))",
    ),
    (
        "noun behind an owner",
        "The boy's find was a coin.",
        "(S (NP (NP (DT The) (NN boy) (POS 's)) (NN find)) (VP (VBD was) (NP (DT a) (NN coin))) (. .))",
    ),
    (
        "participle behind have",
        "She has closed doors.",
        "(S (NP (PRP She)) (VP (VBZ has) (VP (VBN closed) (NP (NNS doors)))) (. .))",
    ),
    (
        "opening infinitive",
        "To win the game is hard.",
        "(S (S (VP (TO To) (VP (VB win) (NP (DT the) (NN game))))) (VP (VBZ is) (ADVP (RB hard))) (. .))",
    ),
    (
        "said the captain",
        "The ship sank, said the captain.",
        "(SINV (S (NP (DT The) (NN ship)) (VP (VBD sank))) (, ,) (VP (VBD said)) (NP (DT the) (NN captain)) (. .))",
    ),
    (
        "the engineer said",
        "The bridge is safe, the engineer said.",
        (
            "(S (S (NP (DT The) (NN bridge)) (VP (VBZ is) (ADJP (JJ safe)))) (, ,) (NP (DT the) (NN engineer)) "
            "(VP (VBD said)) (. .))"
        ),
    ),
    (
        "adjectives joined",
        "The soup was hot and salty.",
        "(S (NP (DT The) (NN soup)) (VP (VBD was) (ADJP (ADJP (JJ hot)) (CC and) (ADJP (JJ salty)))) (. .))",
    ),
    (
        "adjective with a preposition",
        "The dog was fond of bones.",
        "(S (NP (DT The) (NN dog)) (VP (VBD was) (ADJP (ADJP (JJ fond)) (PP (IN of) (NP (NN bones))))) (. .))",
    ),
    (
        "adjective with an infinitive",
        "She was ready to leave.",
        "(S (NP (PRP She)) (VP (VBD was) (ADJP (ADJP (JJ ready)) (S (VP (TO to) (VP (VBP leave)))))) (. .))",
    ),
    (
        "clause behind a preposition",
        "He left by selling his boat.",
        "(S (NP (PRP He)) (VP (VBD left) (PP (IN by) (S (VP (VBG selling) (NP (PRP$ his) (NN boat)))))) (. .))",
    ),
    (
        "year of a date",
        "It ended on April 21, 2003.",
        "(S (NP (PRP It)) (VP (VBD ended) (PP (IN on) (NP (NNP April) (CD 21) (, ,) (CD 2003)))) (. .))",
    ),
    (
        "time apart",
        "They began the talks Monday.",
        "(S (NP (PRP They)) (VP (VBD began) (NP (DT the) (NN talks)) (NP (NNP Monday))) (. .))",
    ),
    (
        "time within",
        "They met at the office Monday morning.",
        "(S (NP (PRP They)) (VP (VBD met) (PP (IN at) (NP (DT the) (NN office) (NNP Monday) (NN morning)))) (. .))",
    ),
    (
        "adjectives before a noun, joined",
        "Political and social aims failed.",
        "(S (NP (ADJP (JJ Political) (CC and) (JJ social)) (NNS aims)) (VP (VBD failed)) (. .))",
    ),
    (
        "adjective with its adverb",
        "The very old boat sank.",
        "(S (NP (DT The) (ADJP (RB very) (JJ old)) (NN boat)) (VP (VBD sank)) (. .))",
    ),
    (
        "quantity",
        "He sold more than 20 boats.",
        "(S (NP (PRP He)) (VP (VBD sold) (NP (QP (RBR more) (IN than) (CD 20)) (NNS boats))) (. .))",
    ),
    (
        "names joined by a sign",
        "He owns Smith & Sons.",
        "(S (NP (PRP He)) (VP (VBZ owns) (NP (NNP Smith) (CC &) (NNP Sons))) (. .))",
    ),
    (
        "noun behind a name and an adjective",
        "The U.S. federal court ruled.",
        "(S (NP (DT The) (NNP U.S.) (JJ federal) (NN court)) (VP (VBD ruled)) (. .))",
    ),
    (
        "determiner alone",
        "She likes these.",
        "(S (NP (PRP She)) (VP (VBZ likes) (NP (DT these))) (. .))",
    ),
    (
        "verbs joined",
        "He ran and jumped.",
        "(S (NP (PRP He)) (VP (VP (VBD ran)) (CC and) (VP (VBN jumped))) (. .))",
    ),
    (
        "adjunct behind a comma",
        "He left the town, pushed by hunger.",
        (
            "(S (NP (PRP He)) (VP (VBD left) (NP (DT the) (NN town)) (, ,) (S (VP (VBN pushed) (PP (IN by) (NP "
            "(NN hunger)))))) (. .))"
        ),
    ),
    (
        "how with an adjective",
        "She asked how old it was.",
        "(S (NP (PRP She)) (VP (VBD asked) (SBAR (WHADJP (WRB how) (JJ old)) (S (NP (PRP it)) (VP (VBD was))))) (. .))",
    ),
    (
        "whose with a noun",
        "She asked whose boat sank.",
        "(S (NP (PRP She)) (VP (VBD asked) (SBAR (WHNP (WP$ whose) (NN boat)) (S (VP (VBD sank))))) (. .))",
    ),
    (
        "only before a determiner",
        "He sold only the boat.",
        "(S (NP (PRP He)) (VP (VBD sold) (NP (RB only) (DT the) (NN boat))) (. .))",
    ),
    (
        "all before a determiner",
        "He sold all the boats.",
        "(S (NP (PRP He)) (VP (VBD sold) (NP (DT all) (DT the) (NNS boats))) (. .))",
    ),
    (
        "adjectives and a comma",
        "The big, red boat sank.",
        "(S (NP (DT The) (JJ big) (, ,) (JJ red) (NN boat)) (VP (VBD sank)) (. .))",
    ),
    (
        "from one number to another",
        "He sold 20 to 30 boats.",
        "(S (NP (PRP He)) (VP (VBD sold) (NP (QP (CD 20) (TO to) (CD 30)) (NNS boats))) (. .))",
    ),
    (
        "two clauses said",
        "He said that she left and he stayed.",
        (
            "(S (NP (PRP He)) (VP (VBD said) (SBAR (WHNP (WDT that)) (S (S (NP (PRP she)) (VP (VBD left))) "
            "(CC and) (S (NP (PRP he)) (VP (VBD stayed)))))) (. .))"
        ),
    ),
    (
        "a clause said, without that",
        "He knew she left.",
        "(S (NP (PRP He)) (VP (VBD knew) (SBAR (S (NP (PRP she)) (VP (VBD left))))) (. .))",
    ),
    (
        "a clause joined, no noun",
        "The songs were sung by men and the women danced.",
        (
            "(S (S (NP (DT The) (NNS songs)) (VP (VBD were) (VP (VBN sung) (PP (IN by) (NP (NN men)))))) "
            "(CC and) (S (NP (DT the) (NNS women)) (VP (VBD danced))) (. .))"
        ),
    ),
    (
        "time behind a period",
        "She met the man last week Friday.",
        "(S (NP (PRP She)) (VP (VBD met) (NP (DT the) (NN man)) (NP (JJ last) (NN week) (NNP Friday))) (. .))",
    ),
]
"""One sentence a rule, whose tree is another without the rule; what the rules make now, right or not."""


@pytest.mark.parametrize(("sentence", "expected"), [case[1:] for case in RULES], ids=[case[0] for case in RULES])
def test_each_rule_makes_its_tree(sentence: str, expected: str) -> None:
    assert to_brackets(parse_sentence(sentence)) == expected


@pytest.mark.parametrize(
    ("sentence", "tokens"),
    [
        ("I can't, he'd say.", "I ca n't , he 'd say ."),
        ("We’ve seen O'Neil’s car.", "We ’ve seen O'Neil ’s car ."),
        ("At 5:30 p.m. Mr. Roy paid $1,250.50 (or 3%).", "At 5:30 p.m. Mr. Roy paid $ 1,250.50 ( or 3 % ) ."),
        ("A 65-year-old e-mailed me@example.org.", "A 65 - year - old e-mailed me@example.org ."),
        ("Wait... what?!", "Wait ... what ? !"),
    ],
)
def test_words_are_cut_as_a_treebank_cuts_them(sentence: str, tokens: str) -> None:
    assert " ".join(parse_sentence(sentence).tokens) == tokens


async def test_many_sentences_come_in_order() -> None:
    parser = build_parser(ParserSettings())
    sentences = [f"The cat slept for {number} hours." for number in range(50)]

    trees = await parser.parse(sentences)
    await parser.close()

    assert [tree.sentence for tree in trees] == sentences


async def test_a_blank_text_has_no_tree() -> None:
    parser = build_parser(ParserSettings())

    with pytest.raises(Undecidable):
        await parser.parse(["  \n"])
    await parser.close()
