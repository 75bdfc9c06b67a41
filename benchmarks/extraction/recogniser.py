"""Stanford CoreNLP's recogniser of named entities under the linearity test, on sentences of Re-DocRED.

An entity is replaced by one of the same type that CoreNLP finds in another of the sentences, as the paper does for
common classes, so that nearly all entities can be tested without a model that proposes replacements.

CoreNLP always answers the same. For the paper's correlations, which are about models that waver, each entity of its
answers is left out with a fixed probability.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random
from statistics import mean

import httpx
import orjson
from scipy.stats import spearmanr

from benchmarks.extraction.naming import sentences
from benchmarks.running import CannotRun
from benchmarks.tables import table
from checkers.extraction.answers import Pairs, consistency, is_among
from checkers.extraction.asking import Respondent, Trial, tried_fully
from checkers.extraction.evidence import statistics
from checkers.extraction.linearity import LinearityTest, Rule, draw_tests, result_of
from checkers.extraction.mentions import Located, find_mentions
from checkers.extraction.questions import ExtractionPrompts
from checkers.extraction.replacement import replaced
from checkers.extraction.schedule import finding_of
from checkers.extraction.subjects import CallableSubject
from checkers.extraction.synonyms.guards import fault_of

SENTENCES = 300
_DRAWN = 400
"""Sentences that replacements come from, and of which the first with an entity to replace are tested."""
LEFT_OUT = 0.1
"""The probability with which the noise leaves an entity out of an answer."""
LEAST_GAP = 0.1
"""Recall of accepted sentences less that of rejected ones."""

_TESTS = 5
_REPEATS = 11
_PROPERTIES = orjson.dumps(
    {
        "annotators": "tokenize,ssplit,pos,lemma,ner",
        "ner.applyFineGrained": "false",
        "ner.useSUTime": "false",
        "ssplit.isOneSentence": "true",
        "outputFormat": "json",
    }
).decode()


class Recogniser:
    """CoreNLP's entities of a text; each text is sent once."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._client = httpx.Client(timeout=120, trust_env=False)
        self._known: dict[str, dict[str, str]] = {}

    def entities(self, text: str) -> list[str]:
        """In the order of the text, each once."""
        return list(self.types(text))

    def types(self, text: str) -> dict[str, str]:
        """The same with CoreNLP's type of each."""
        if text not in self._known:
            answer = self._client.post(f"{self._url}/", params={"properties": _PROPERTIES}, content=text.encode())
            answer.raise_for_status()
            found = [one for part in answer.json()["sentences"] for one in part["entitymentions"]]
            self._known[text] = {one["text"]: one["ner"] for one in found}
        return self._known[text]

    def close(self) -> None:
        self._client.close()


@dataclass(frozen=True, slots=True)
class Tested:
    """What the tests of one sentence came to."""

    recall: float
    """Of the annotated entities, those that CoreNLP finds."""
    entities: int
    """#E, those that were tested."""
    accepted: bool
    """CoreNLP as it is."""
    share_passed: float
    """Of CoreNLP as it is: A_rate, where all answers about a text are the same."""
    noisy_strict: bool
    noisy_lenient: bool
    a_test: int
    a_rate: float
    con_o: int
    con_rs: int


async def _tested(
    text: str, gold: Sequence[str], recogniser: Recogniser, pools: Mapping[str, Sequence[str]], number: int
) -> Tested | None:
    """None if CoreNLP finds nothing that can be replaced."""
    found = recogniser.entities(text)
    located, pairs = _replaceable(text, recogniser.types(text), pools, Random(number))
    if not pairs.entities:
        return None
    tests = draw_tests(len(pairs.entities), _TESTS, Random(number))
    noise = Random(number)

    def noisy(asked: str) -> list[str]:
        return [one for one in recogniser.entities(asked) if noise.random() >= LEFT_OUT]

    bare = await _tried(recogniser.entities, located, pairs, tests, repeats=1)
    wavering = await _tried(noisy, located, pairs, tests, repeats=_REPEATS)
    measured = statistics(wavering, pairs)
    return Tested(
        recall=mean(is_among(entity, found) for entity in gold),
        entities=len(pairs.entities),
        accepted=finding_of(bare.results) == "linear",
        share_passed=mean(one.outcome == "passed" for one in bare.results),
        noisy_strict=_accepts(wavering, pairs, "strict"),
        noisy_lenient=_accepts(wavering, pairs, "lenient"),
        con_o=consistency([tuple(noisy(text)) for _ in range(_REPEATS)]),
        **measured,  # type: ignore[arg-type]
    )


def _replaceable(
    text: str, types: Mapping[str, str], pools: Mapping[str, Sequence[str]], random: Random
) -> tuple[Located, Pairs]:
    """The entities for which there is a replacement of their type without a fault; the others stay as they are."""
    located = find_mentions(text, list(types))
    chosen: dict[str, str] = {}
    for entity in located.entities:
        others = [*(one for one in types if one != entity), *chosen.values()]
        pool = random.sample(pools[types[entity]], len(pools[types[entity]]))
        fit = (one for one in pool if fault_of(one, entity, located, others, named=True, kind=None) is None)
        if (other := next(fit, None)) is not None:
            chosen[entity] = other
    located = find_mentions(text, list(chosen))
    return located, Pairs(located.entities, tuple(chosen[entity] for entity in located.entities))


async def _tried(
    extract: Callable[[str], list[str]], located: Located, pairs: Pairs, tests: Sequence[LinearityTest], *, repeats: int
) -> Trial:
    async def extracted(text: str) -> list[str]:
        return extract(text)

    respondent = Respondent(CallableSubject("corenlp", extracted), ExtractionPrompts(), None)
    return await tried_fully(
        tests,
        respondent,
        pairs,
        lambda v: replaced(located, pairs.replacements, v),
        rule="strict",
        repeats=repeats,
    )


def _accepts(trial: Trial, pairs: Pairs, rule: Rule) -> bool:
    results = [
        result_of(one.test, [[pairs.read(answer) for answer in known] for known in answers], rule, pairs.mask)
        for one, answers in zip(trial.results, trial.rounds, strict=True)
    ]
    return finding_of(results) == "linear"


def _drawn(data: Path) -> Iterator[tuple[str, list[str]]]:
    """Sentences with their annotated entities, in an order drawn once."""
    every = [(one.located.text, list(one.types)) for odd in (False, True) for one in sentences(data, odd=odd)]
    Random(7).shuffle(every)
    yield from every


async def _measured(data: Path, url: str) -> list[Tested]:
    recogniser = Recogniser(url)
    found: list[Tested] = []
    try:
        drawn = [(text, gold) for text, gold in islice(_drawn(data), _DRAWN) if recogniser.entities(text)]
        pools: dict[str, list[str]] = defaultdict(list)
        for text, _ in drawn:
            for entity, kind in recogniser.types(text).items():
                pools[kind] += [entity] * (entity not in pools[kind])
        for number, (text, gold) in enumerate(drawn):
            if (one := await _tested(text, gold, recogniser, pools, number)) is not None:
                found.append(one)
            if len(found) == SENTENCES:
                break
    finally:
        recogniser.close()
    return found


def print_recogniser(data: Path, corenlp: str | None) -> bool:
    """Print shares, recalls and correlations; False if a sign or the gap of recalls is not what it should be."""
    if corenlp is None:
        raise CannotRun("--corenlp is missing: the address of a server")
    found = asyncio.run(_measured(data, corenlp))
    readings: dict[str, Callable[[Tested], bool]] = {
        "as it is": lambda one: one.accepted,
        f"{LEFT_OUT:.0%} left out, strict": lambda one: one.noisy_strict,
        f"{LEFT_OUT:.0%} left out, lenient": lambda one: one.noisy_lenient,
    }
    rows = [_row(name, found, accepts) for name, accepts in readings.items()]
    print(f"{len(found)} sentences, {sum(one.entities for one in found)} entities tested.\n")
    print(table(["CoreNLP", "accepted", "recall, accepted", "recall, rejected", "gap", "A_rate"], rows))
    right = _gap(found, readings["as it is"]) >= LEAST_GAP
    print()
    return _print_correlations(found) and right


def _row(name: str, found: Sequence[Tested], accepts: Callable[[Tested], bool]) -> list[object]:
    sides = [[one.recall for one in found if accepts(one) is side] for side in (True, False)]
    a_rate = mean(one.share_passed if name == "as it is" else one.a_rate for one in found)
    recalls = [mean(side) if side else None for side in sides]
    return [name, f"{len(sides[0]) / len(found):.1%}", *recalls, _gap(found, accepts), a_rate]


def _gap(found: Sequence[Tested], accepts: Callable[[Tested], bool]) -> float:
    accepted, rejected = ([one.recall for one in found if accepts(one) is side] for side in (True, False))
    return mean(accepted) - mean(rejected) if accepted and rejected else 0.0


def _print_correlations(found: Sequence[Tested]) -> bool:
    """Spearman's of the noisy recogniser, beside the paper's of GPT-3.5 on DocRED; False if a sign differs."""
    quantities: dict[str, list[float]] = {
        "Con_o": [one.con_o for one in found],
        "Con_rs": [one.con_rs for one in found],
        "#E": [one.entities for one in found],
    }
    paper = {"A_test": (0.447, 0.422, -0.399), "A_rate": (0.789, 0.859, -0.414), "#E": (-0.264, -0.302, 1.0)}
    ours = {
        "A_test": [one.a_test for one in found],
        "A_rate": [one.a_rate for one in found],
        "#E": quantities["#E"],
    }
    rows: list[list[object]] = []
    right = True
    for name, values in ours.items():
        measured = [float(spearmanr(values, other).statistic) for other in quantities.values()]
        rows += [[name, *measured], [f"{name}, paper", *paper[name]]]
        right &= name == "A_test" or all(
            (one > 0) == (theirs > 0) for one, theirs in zip(measured, paper[name], strict=True)
        )
    print(table(["Spearman", *quantities], rows))
    return right
