"""The claims of a response's sentences: greetings, questions, refusals and code claim nothing, data claims values."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

_FENCE = "```"
_CODE_SIGN = re.compile(r"[=(){}\[\];<>]|^\s*(?:import|from|return|else|def|class|pip|npm|cd)\b")
_COMMENT = re.compile(r"(?:^|\s)(?:#|//|/\*|--|<!--)\s*(.+?)(?:\*/|-->)?$")
_JSON_VALUE = re.compile(r"\"((?:[^\"\\]|\\.)*)\"(\s*:)?|(-?\d[\d.eE+-]*)")
_ROW = re.compile(r"^\s*\|(.+)\|\s*$")
_RULE = re.compile(r"^[\s|:-]+$")
_FEWEST_WORDS = 3
"""Words that a line among code has at least if it is read as a comment whose mark was cut off."""

_COURTESY = frozenset(
    "a afternoon all am and any anything are ask assist assistance best bye can certainly chance contact course "
    "day days dear delighted don't else enjoy evening feel for free further get give glad good goodbye great greetings "
    "happy have hear hello help helped helpful helping helps here hesitate hey hi hope how i i'd i'll i'm if in is it "
    "kind know let like lovely luck me more morning need nice of ok okay our out please pleasure question questions "
    "reach reaching regards see sincerely so soon sorry sure team thank thanks that that's the there this to today "
    "touch visit was we we'll we're week weekend welcome will wishes with wonderful would yes you you're your yours "
    "absolutely".split()
)
"""Words that a sentence to the reader is made of, if it claims nothing."""
_COURTEOUS = frozenset(
    "absolutely afternoon assist assistance bye certainly course delighted evening feel glad good goodbye greetings "
    "happy hello help helped helpful helping helps hesitate hey hi hope lovely luck nice ok okay pleasure regards "
    "sincerely sorry sure thank thanks welcome wishes wonderful".split()
)
"""One of them stands in each."""
_LEAD_IN = frozenset(
    "a about above all an and answer answers are article as below brief bullet can code concise core data described do "
    "document example "
    "follow following follows for form from give given gives here here's how i in information is it json key list main "
    "of on one overview passage plan plans point points provided quick reply requested response result results short "
    "shown so some "
    "steps sum summaries summary table text that the there these this to use way what with you your".split()
)
_OPENS = frozenset("hello hi hey dear thanks thank".split())
_LONGEST_OPENING = 6
_POINTING = frozenset("here here's below".split())
_ASKS = re.compile(r"[?？]['\")]*$")
_LIST_MARK = re.compile(r"\(?(?:\d{1,2}|[a-z])[.):]\)?")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)?")

_SOURCES = (
    r"(?:documents?|passages?|texts?|contexts?|references?|sources?|articles?|pages?|informations?|materials?|reports?"
    r"|polic(?:y|ies)|files?|records?|manuals?|guides?|terms|it|this|that|they|there|contract)"
)
_SILENT = re.compile(
    # I cannot answer, I don't know, we are unable to help
    r"\b(?:i|we)\b[^.]{0,20}?\b(?:can't|cannot|can not|could not|couldn't|am not able|are not able|am unable|'m unable"
    r"|are unable|'m not able|do not|don't|won't|will not|have no|did not|didn't|must not|may not)\b[^.]{0,24}?"
    r"\b(?:answer|help|know|say|tell|find|assist|determine|confirm|provide|see|give|share|discuss|advise|information"
    r"|comment|speculate|offer|diagnose|recommend|do that|access|have)\b"
    # The documents do not say
    rf"|\b{_SOURCES}\b[^.,;]{{0,60}}?\b(?:do|does|did)(?: not|n't)\b[^.,;]{{0,20}}?\b(?:say|mention|state|specify|tell"
    r"|contain|include|provide|give|address|discuss|describe|indicate|answer|explain)\b"
    # That is not mentioned, nothing is said about
    r"|\b(?:(?:is|are|was|were) (?:not|nowhere)|isn't|aren't|wasn't|weren't) (?:mentioned|stated|specified|covered"
    r"|addressed|found|listed)\b[^.,;]{0,8}?\b(?:in|by) (?:the|my|our|these|this)\b"
    r"|\bno (?:information|mention|details?|indication|reference)(?: \w+){0,2} (?:about|of|on|regarding|to)\b",
    re.IGNORECASE,
)
_SENDS = re.compile(
    r"^(?:please )?(?:speak to|talk to|consult|see|ask|contact|call) (?:a|an|your|the) (?:doctor|physician|lawyer"
    r"|pharmacist|professional|expert|specialist|support team)[.!]?$",
    re.IGNORECASE,
)
_CLAUSES = re.compile(
    r"[,;:]?\s+(?:but|however|although|though|so|yet|because|instead|while|whereas)\b|;|:\s", re.IGNORECASE
)
_MOST_WORDS = 40
"""Words of a sentence that is taken for a refusal."""

_ENGLISH = frozenset("the and of with that are you your from were has have this these for by been which".split())
_ENGLISH_SHARE = 1 / 8
"""Share of words of grammar that only English has from which a text is English, however many names are in it."""
_LEAST_SURE = 0.6
"""The probability that a language must have to be told from English."""
_READ = 2000
"""Characters of a text that tell its language."""
_LEAST_LETTERS = 12
"""The letters of a text in Latin script at least: the language of shorter ones cannot be told."""


@dataclass(frozen=True, slots=True)
class Statement:
    """The text compared with the reference in a sentence's place."""

    text: str = ""
    """To be supported as a whole; empty if only `values` are."""
    values: tuple[str, ...] = ()
    """Each of which the reference must state, as data does without a sentence around it."""
    together: bool = False
    """The values must stand in one passage: they are a row of a table."""


def statements(sentences: Sequence[str]) -> list[Statement | None]:
    """For each sentence of a response what it claims, None for nothing."""
    if _is_json("\n".join(sentences)):
        return [Statement(values=found) if (found := _json_values(one)) else None for one in sentences]
    reader = _Reader()
    return [reader.read(sentence) for sentence in sentences]


class _Reader:
    """Reads sentences in order: what a fence and a table's head say holds for those behind them."""

    def __init__(self) -> None:
        self._in_code = False
        self._in_table = False

    def read(self, sentence: str) -> Statement | None:
        lines = sentence.split("\n")
        if rows := [line for line in lines if _ROW.match(line)]:
            return self._row(rows)
        self._in_table = False
        if _FENCE in sentence or self._in_code:
            body = sentence.replace(_FENCE + "json", _FENCE)
            if not self._in_code and _is_json(body):
                values = _json_values(body)
                return Statement(values=values) if values else None
            prose = " ".join(self._prose(lines)).strip()
        else:
            prose = sentence
        return None if claims_nothing(prose) else Statement(prose)

    def _row(self, rows: Sequence[str]) -> Statement | None:
        head, self._in_table = not self._in_table, True
        cells = [cell for row in rows[head:] if not _RULE.match(row) for cell in _cells(row) if cell]
        return Statement(values=tuple(cells), together=True) if cells else None

    def _prose(self, lines: Sequence[str]) -> Iterator[str]:
        """The lines outside of code, and its comments."""
        for line in lines:
            if line.lstrip().startswith(_FENCE):
                self._in_code = not self._in_code
            elif not self._in_code:
                yield line
            elif comment := _COMMENT.search(line):
                yield comment[1]
            elif not _CODE_SIGN.search(line) and len(_WORD.findall(line)) >= _FEWEST_WORDS:
                yield line
            if line.rstrip().endswith(_FENCE) and not line.lstrip().startswith(_FENCE):
                self._in_code = not self._in_code


def claims_nothing(sentence: str) -> bool:
    """True for words to the reader, lead-ins, questions, refusals and statements that a text does not say something."""
    text = sentence.strip().replace("’", "'")
    found = [word.lower() for word in _WORD.findall(text)]
    if not found or _LIST_MARK.fullmatch(text) or _ASKS.search(text):
        return True
    if found[0] in _OPENS and len(found) <= _LONGEST_OPENING and _names_only(text, found):
        return True
    if (_LEAD_IN | _COURTESY).issuperset(found) and (text.endswith(":") or found[0] in _POINTING):
        return True
    return len(found) <= _MOST_WORDS and all(
        _is_silence(clause) for clause in _CLAUSES.split(text) if clause and _WORD.search(clause)
    )


def _is_silence(clause: str) -> bool:
    found = {word.lower() for word in _WORD.findall(clause)}
    if found <= _COURTESY and found & _COURTEOUS:
        return True
    return bool(_SILENT.search(clause) or _SENDS.search(clause))


def _names_only(text: str, found: Sequence[str]) -> bool:
    return all(word in _COURTESY | _OPENS or word[0].isupper() for word in _WORD.findall(text)) or _COURTESY.issuperset(
        found
    )


def rows_read(text: str) -> str:
    """A row of a table as a line that can be compared with a sentence: its cells, divided by commas."""
    return ", ".join(_cells(text)) if _ROW.match(text) else text


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def _is_json(text: str) -> bool:
    bare = text.strip().removeprefix(_FENCE + "json").strip("`\n ")
    if bare[:1] not in {"{", "["}:
        return False
    try:
        json.loads(bare)
    except (ValueError, RecursionError):
        return False
    return True


def _json_values(text: str) -> tuple[str, ...]:
    found = [string if not key else "" for string, key, _ in _JSON_VALUE.findall(text)]
    figures = [figure for _, _, figure in _JSON_VALUE.findall(text)]
    return tuple(value for pair in zip(found, figures, strict=True) for value in pair if value)


def language_of(text: str) -> str | None:
    """The language of a text other than English, by its ISO code; None if it is English, or too short to be told."""
    text = text[:_READ]
    letters = [sign for sign in text if sign.isalpha()]
    if not letters or (len(letters) < _LEAST_LETTERS and sum(map(str.isascii, letters)) > len(letters) / 2):
        return None
    found = [word.lower() for word in _WORD.findall(text)]
    if sum(word in _ENGLISH for word in found) >= _ENGLISH_SHARE * len(found):
        return None
    language, sure = _identifier().classify(text)
    return None if language == "en" or sure < _LEAST_SURE else str(language)


@cache
def _identifier() -> "LanguageIdentifier":
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
