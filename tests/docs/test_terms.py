"""Code, documents and templates use the field's words: no phrase of this list is anywhere."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
TERMS = {
    r"reckon\w*": "estimate",
    r"(?:a|re)?mend(?:s|ed|ing)?": "fix, correct",
    r"(?<!series-)anew": "again, or: is reset",
    r"in earnest": "for production",
    r"as companies run it": "in production",
    r"bears? (?:it|them|this|that) out|borne out": "support",
    r"hangs? on": "depends on",
    r"rests? on": "is based on, or: sources",
    r"com(?:e|es|ing) to rest|came to rest": "settle, or: stop rebalancing",
    r"hand(?:s|ed|ing)? round": "reassign",
    r"whoever": "anyone who, or: a user who",
    r"wherever": "where",
    r"whence|thence|hence|thereof|hereof|whereof": "plain words: from, so, of it",
    r"lest": "so that … not",
    r"upon": "on",
    r"taken in(?= by| from|,|\.|;|$)|take in(?:to account)?\b(?= records| messages| spans)": "received",
    r"com(?:e|es|ing) upon|came upon": "find",
    r"beside": "next to, with",
    r"(?:held|holds?|holding) (?:it |them )?against": "compared with",
    r"(?<!none )of (?:one's|its|their|our|your|my) own": "own, custom, separate",
    r"beg(?:in|ins|an|un|inning) (?:a)?new": "is reset",
    r"put to (?:a|the) self-test": "self-tested",
    r"(?:have|has|had) (?:\w+ )?asked small": "sends a health probe",
    r"oracle_\w+": "judge_…",
    r"front door": "command line",
    r"who listens": "subscribers",
    r"who is told|what is told": "alert routing, outputs",
    r"tells? (?:it|them|one|the two) (?:apart )?from": "distinguishes",
    r"give(?:s|n)? (?:them|it|records) round": "reassign",
    r"left out on purpose": "skipped",
    r"(?<!there )is no (?:record|claim|proof|probability|promise|verdict|outcome|language model|refusal)": "is not a …",
    r"what it cannot \w+, it": "it …: the subject first",
    r"of which nobody|of whom": "the subject first",
    r"shall(?: not)?": "must, will",
    r"nigh|ere|amongst|whilst|whither": "plain words",
    r"somebody": "someone, people",
    r"stand(?:s|ing)? in for": "replaces",
    r"as it stands|as they stand": "unchanged, as it is",
    r"makes? do with": "uses",
    r"sought|seeks? out": "searched for",
}
"""A phrase as whole words, in any case, and what to write instead."""

ALLOWED = {
    # Lists of English words.
    "checkers/equivalence/trees.py",
    "checkers/retrieval/questions.py",
    "models/local/text.py",
    # Texts of prompts.
    "checkers/longtail/questions.py",
    "models/prompts.py",
}
SUFFIXES = {".py", ".md", ".html", ".toml", ".yml", ".yaml", ".json", ".js"}
# A word's beginning is looked for first, once for all.
ANY = "|".join(rf"(?P<t{number}>{term})" for number, term in enumerate(TERMS))
PATTERN = re.compile(rf"\b(?:{ANY})\b", re.IGNORECASE)


def test_everything_is_said_in_standard_terms():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = [name for name in listed.split("\0") if Path(name).suffix in SUFFIXES and name not in ALLOWED]
    instead, found = list(TERMS.values()), []
    for name in files:
        # Of JSON only what is deployed: records quote what models wrote.
        if name.startswith("tests/") or (name.endswith(".json") and not name.startswith("deploy/")):
            continue
        for number, line in enumerate((ROOT / name).read_text("utf-8").splitlines(), start=1):
            found += [
                f"{name}:{number}: “{match[0]}”, write: {instead[int(str(match.lastgroup)[1:])]}"
                for match in PATTERN.finditer(line)
            ]
    assert len(TERMS) >= 40
    assert not found, "\n".join(found)
