"""Questions with passages that answer them and passages that do not, made from recorded answers and documents.

Right: a passage that holds the answer, true or not, which is not asked. Wrong, all of them near:

`elsewhere`: the rest of the same text, without the sentences that hold the answer.
`other`: the answer to the most similar other question of the set, or the same question about something else.
`opposite`: the right passage for the question with a word turned into its opposite, where the passage has the word.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.datasets import rows
from models.local.tokens import stem
from models.sentences import split_sentences

KINDS = ("right", "elsewhere", "other", "opposite")

_EVASION = re.compile(
    r"as an ai\b|language model|i (?:do not|don't|cannot|can't) (?:have|find|know|provide)|"
    r"no (?:specific )?information (?:is |was )?(?:provided|available)|not enough information|"
    r"(?:cannot|can't|can not) be determined|unclear|unknown|not specified|yes/no|please provide",
    re.IGNORECASE,
)
_LONGEST = 1200
"""Characters of a recorded answer that may be stored as one passage."""


class Pair(NamedTuple):
    """A question, a stored passage, and how they belong together."""

    source: str
    kind: str
    """One of `KINDS`."""
    question: str
    passage: str


class Row(NamedTuple):
    """A question, a text that answers it, and what in the text is the answer."""

    question: str
    passage: str
    answer: str | None
    """As it is in the passage; None where the passage as a whole is the answer."""


def hotpot(data: Path) -> list[Row]:
    """HaluEval's and SAC3's questions of HotpotQA with the passages that answer them, each question once."""
    found: dict[str, Row] = {}
    for folder, name in (("halueval", "qa_one_turn"), ("sac3", "hotpotQA_250_eval_labeled-SC")):
        for row in rows(data, folder, f"{name}.jsonl"):
            # The origin joins its paragraphs without a blank.
            passage = re.sub(r"(?<=[a-z0-9)\"”]\.)(?=[A-Z\"“])", " ", row["knowledge"]).strip()
            if row["right_answer"].lower() in passage.lower():
                found.setdefault(row["question"], Row(row["question"], passage, row["right_answer"]))
    return list(found.values())


def nq_open(data: Path) -> list[Row]:
    """SAC3's open questions with an answer by GPT, also in one other wording."""
    found = []
    for row in rows(data, "sac3", "nq_open_250_eval_labeled-SC.jsonl"):
        answer = str(row["generated_answer"][0])
        if not _EVASION.search(answer) and len(answer.split()) >= 4 and len(answer) <= _LONGEST:
            worded = re.sub(r"^\d+\.\s*", "", row["question_perturb"][0])
            found += [Row(row["question"], answer, None), Row(worded, answer, None)]
    return found


def yes_no(data: Path) -> list[Row]:
    """SAC3's questions about primes and senators with answers by GPT that name what is asked about."""
    found = []
    for name in ("prime-500-SC", "senator-500-SC"):
        for row in rows(data, "sac3", f"{name}.jsonl"):
            answers = [str(one) for one in row["self_evaluations"]]
            names = _names(row["question"])
            full = [one for one in answers if not _EVASION.search(one) and all(word in one for word in names)]
            if full:
                found.append(Row(row["question"], full[0], None))
    return found


def pairs(data: Path, half: int) -> Iterator[Pair]:
    """The pairs of every second source row: 0 the even ones, 1 the odd ones."""
    sets = {
        "HotpotQA (HaluEval, SAC3)": hotpot(data),
        "NQ-open (SAC3)": nq_open(data),
        "yes or no (SAC3)": yes_no(data),
    }
    for name, found in sets.items():
        mine = _of_half(found, half)
        for at, row in enumerate(mine):
            yield from _of_row(name, row, [*mine[at + 1 :], *mine[:at]])


def _of_half(found: Sequence[Row], half: int) -> list[Row]:
    """Rows that share a passage are in the same half."""
    passages_in_order = {passage: at for at, passage in enumerate(dict.fromkeys(row.passage for row in found))}
    return [row for row in found if passages_in_order[row.passage] % 2 == half]


def _of_row(name: str, row: Row, others: Sequence[Row]) -> Iterator[Pair]:
    rest = None
    if row.answer is not None:
        sentences = [one.text for one in split_sentences(row.passage)]
        holding = [at for at, one in enumerate(sentences) if row.answer.lower() in one.lower()]
        left = [one for at, one in enumerate(sentences) if at not in holding and row.answer.lower() not in one.lower()]
        rest = " ".join(left)
    yield Pair(name, "right", row.question, row.passage)
    if rest and len(rest.split()) >= 5:
        yield Pair(name, "elsewhere", row.question, rest)
    other = _nearest(row, others)
    if other is not None:
        yield Pair(name, "other", row.question, other)
    turned = opposite_of(row.question, row.passage)
    if turned is not None:
        yield Pair(name, "opposite", turned, row.passage)


def _nearest(row: Row, others: Iterable[Row]) -> str | None:
    """The passage of the most similar question about something else."""
    mine = _stems(row.question)

    def likeness(other: Row) -> float:
        theirs = _stems(other.question)
        return len(mine & theirs) / len(mine | theirs)

    wrong = [
        other
        for other in others
        if other.passage != row.passage and (row.answer is None or row.answer.lower() not in other.passage.lower())
    ]
    return " ".join([one.text for one in split_sentences(max(wrong, key=likeness).passage)][:3]) if wrong else None


def opposite_of(question: str, passage: str) -> str | None:
    """The question with the first word replaced that has a listed opposite, if the passage has only the word itself."""
    there = _stems(passage)
    for match in re.finditer(r"[a-z]+", question):
        word, other = match.group(), _OPPOSITES.get(match.group())
        if other and stem(word) in there and not {other, stem(other)} & there:
            return question[: match.start()] + other + question[match.end() :]
    return None


_PAIRS = (
    "first:last most:least best:worst born:died won:lost after:before home:away public:private men:women man:woman "
    "later:earlier sister:brother young:old king:queen mother:father south:north large:small began:ended east:west "
    "end:begin high:low wife:husband majority:minority early:late winner:loser southern:northern female:male "
    "bought:sold more:less hot:cold eastern:western girl:boy poor:rich daughter:son rose:fell full:empty rise:fall "
    "open:close"
)
_OPPOSITES = {one: other for pair in _PAIRS.split() for one, other in (pair.split(":"), pair.split(":")[::-1])}


def _stems(text: str) -> set[str]:
    return {stem(word.lower()) for word in re.findall(r"\w+", text)}


def _names(question: str) -> list[str]:
    """The figures and names of a question: what an answer must be about."""
    return re.findall(r"\d+|(?<=\s)[A-Z][a-z]+", question)
