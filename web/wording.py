"""Words of the page that several templates share."""

from datetime import datetime, timedelta

NAMED = ("source", "model", "checker")
"""Names of what lists are narrowed down by."""

OUTCOMES = {
    "accept": ("✓", "accepted"),
    "reject": ("✗", "rejected"),
    "abstain": ("○", "undecided"),
}
"""Sign and word of each outcome."""

ALERTS = {
    "trust_drop": ("reject", "▼", "dropped"),
    "trust_recovery": ("accept", "▲", "recovered"),
    "series_anew": ("abstain", "◆", "began anew"),
    "true_rate": ("reject", "◆", "true rate"),
}
"""Look, sign and word of each kind of alert."""

REASON = 160
"""Characters of a reason in a list."""

FINDINGS = {
    "fine": ("✓", "consistent"),
    "fault": ("✗", "not consistent"),
    "open": ("○", "left open"),
}
"""Sign and word of each look of a sentence."""

CAUSES = {
    "no_checker": "No running checker takes records of this kind.",
    "no_reference": "The record has nothing that the response could be held against.",
    "no_subject": "The model that gave the answer would have to be asked again, and no endpoint is configured for it.",
    "no_rubric": "The rubric that the record names is not configured.",
    "unknown_label": "The record's label is none of the rubric's labels.",
    "no_candidate": "None of the examples could be picked as a similar datapoint.",
    "no_entity": "The record lists no entity that could be tested.",
    "no_replacement": "No replacement was found for the entities.",
    "no_paraphrase": "No other wording of the text was found.",
    "empty_response": "The response is empty.",
    "empty_text": "The text is empty.",
    "unparsable": "A text could not be taken apart.",
    "judge_failed": "The judge's endpoint failed on this question, again and again.",
    "judge_unusable": "The judge's replies did not have the form that was asked for.",
    "judge_refused": "The judge declined to answer.",
    "judge_filtered": "A content filter of the judge's endpoint stopped the question.",
    "judge_cut_off": "The judge's reply was cut off by its token limit.",
    "judge_slow": "The judge did not answer in time, though it answered other questions.",
    "judge_misled": "The judge agreed to a control sentence that is certainly false: the text may have talked it over.",
    "too_long": "The texts are longer than the model can read.",
    "budget": "The budget for questions is used up.",
    "no_claim": "The response claims nothing that could be true or false.",
    "unsupported_language": "The judge of this machine cannot read the language.",
    "between_thresholds": "The score lies between the threshold of acceptance and that of rejection.",
    "subject_failed": "The endpoint of the model under test failed on this question, again and again.",
    "subject_unusable": "The replies of the model under test did not have the form that was asked for.",
    "subject_refused": "The model under test declined to answer.",
    "subject_filtered": "A content filter of the endpoint of the model under test stopped the question.",
    "subject_cut_off": "The reply of the model under test was cut off by its token limit.",
    "subject_slow": "The model under test did not answer in time.",
    "timeout": "The check took longer than its deadline allows.",
}
"""Causes of abstentions."""

FAULTS = {
    "weak": "is found now and then only",
    "merged": "is given in one with another entity",
    "split": "is given in several parts",
    "partial": "is given only in part, or with words around it",
    "replacement_fault": "is mostly not found when another stands in its place",
    "assumed_knowledge": "is given, though it does not stand in the text",
    "never_named": "is never found when another stands in its place",
    "not_given": "is not given for the text as it is",
    "dependent": "is found or not, depending on what stands around it",
    "wording": "is not given when the text is worded differently",
}
"""Faults of an extraction, said of an entity."""

UNTESTED = {
    "blank": "it has no letter and no digit",
    "repeated": "the list has it twice",
    "not_in_text": "it does not stand in the text",
    "other_form": "it stands in the text in another form",
    "not_contiguous": "its words stand apart",
    "nested": "it stands within a longer entity",
    "crossing": "another entity has a part of it",
}

ROUND_FAULTS = {
    "echo": "x′ is x again",
    "unmatched_part": "a part of x has nothing like it in x′",
    "other_encoding": "other criteria hold for x′ than for x",
    "too_far": "the criteria of x′ differ from those of x in more places than allowed",
}


def clock(moment: datetime) -> str:
    """Date and time, UTC."""
    return f"{moment:%Y-%m-%d %H:%M:%S}"


def ago(time: timedelta) -> str:
    """A time that has passed, roughly."""
    seconds = int(time.total_seconds())
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= 2 * length:
            return f"{seconds // length} {unit}s ago"
    return f"{max(seconds, 0)} seconds ago"


def percent(share: float) -> str:
    """A share with one digit behind the point; only all of it is 100%."""
    shown = f"{100 * share:.1f}%"
    return "99.9%" if shown == "100.0%" and share < 1 else shown.replace(".0%", "%")
