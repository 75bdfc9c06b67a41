"""One checker, or some, on the sources and models chosen."""

from overview import BY_SUBJECT, SUBJECT
from panels import Section, a_second, choice, figure, growth, lines, page, quantile, share

CHECKER = 'checker=~"$checker"'
CHOSEN = f'{CHECKER}, source=~"$source", model=~"$model"'
AGENT = 'agent=~"$checker"'

_NOW: Section = (
    "",
    [
        figure(
            "Success, last hour",
            share(f"subject:assay_accepted:increase1h{{{CHOSEN}}}", f"subject:assay_decided:increase1h{{{CHOSEN}}}"),
            unit="percentunit",
            width=6,
        ),
        figure(
            "Could not decide, last hour",
            share(f"subject:assay_abstained:increase1h{{{CHOSEN}}}", f"subject:assay_verdicts:increase1h{{{CHOSEN}}}"),
            (0.1, "orange"),
            (0.3, "red"),
            unit="percentunit",
            width=6,
        ),
        figure("Last verdict", f"max(checker:assay_last_verdict_age_seconds:min{{{CHECKER}}})", unit="s", width=6),
        figure("Records behind", f"sum(agent:assay_consumer_lag_records:sum{{{AGENT}}})", width=6),
    ],
)

_SUCCESS: Section = (
    "Success rate, with its 95% interval",
    [
        lines(
            f"{title} at a time",
            (f"subject:assay_success:ratio_rate{window}{{{CHOSEN}}}", SUBJECT),
            (f"subject:assay_success:wilson_lower{window}{{{CHOSEN}}}", f"{SUBJECT}, at least"),
            (f"subject:assay_success:wilson_upper{window}{{{CHOSEN}}}", f"{SUBJECT}, at most"),
            (f"max {BY_SUBJECT} (assay_trust_baseline{{{CHOSEN}}})", f"{SUBJECT}, baseline"),
            unit="percentunit",
            width=8,
            maximum=1,
        )
        for title, window in (("5 minutes", "5m"), ("An hour", "1h"), ("A day", "1d"))
    ],
)

_VERDICTS: Section = (
    "Verdicts",
    [
        lines("Verdicts a second", (a_second("assay_verdicts_total", "outcome", where=CHOSEN), "{{outcome}}")),
        lines(
            "Evidence for a drop",
            (f"max {BY_SUBJECT} (assay_trust_evidence_ratio{{{CHOSEN}}})", SUBJECT),
            unit="percentunit",
            about="At 100% an alert is raised.",
        ),
        lines(
            "Could not decide, an hour at a time",
            (f"subject:assay_abstained:ratio_rate1h{{{CHOSEN}}}", SUBJECT),
            unit="percentunit",
            maximum=1,
        ),
        lines("Left out on purpose", (a_second("assay_left_out_total", "reason", where=CHOSEN), "{{reason}}")),
    ],
)

_WORK: Section = (
    "Work",
    [
        lines(
            "Duration of a check",
            *(
                (quantile(part, "assay_check_duration_seconds", "checker", CHECKER), f"{{{{checker}}}}, {name}")
                for part, name in ((0.5, "half"), (0.95, "95 of 100"), (0.99, "99 of 100"))
            ),
            unit="s",
        ),
        lines(
            "Records a second",
            (a_second("assay_records_total", "checker", "kind", where=CHECKER), "{{checker}}: {{kind}}"),
            (a_second("assay_skipped_total", "checker", "kind", where=CHECKER), "{{checker}}: {{kind}}, not its kind"),
        ),
        lines(
            "In flight, held, behind",
            (f"sum by (agent) (assay_records_in_flight{{{AGENT}}})", "{{agent}}: in flight"),
            (f"sum by (agent) (assay_records_held{{{AGENT}}})", "{{agent}}: held"),
            (f"agent:assay_consumer_lag_records:sum{{{AGENT}}}", "{{agent}}: behind"),
        ),
        lines("Dead letters", (growth("assay_dead_letters_total", "reason", where=AGENT), "{{reason}}")),
    ],
)


def by_checker() -> str:
    """The dashboard's JSON."""
    variables = [
        choice("checker", "Checker", "label_values(assay_last_verdict_timestamp_seconds, checker)"),
        choice("source", "Source", f"label_values(assay_verdicts_total{{{CHECKER}}}, source)"),
        choice("model", "Model", f'label_values(assay_verdicts_total{{{CHECKER}, source=~"$source"}}, model)'),
    ]
    about = "What a checker decides on whom, how quickly, and whether it keeps up."
    return page("assay-checker", "assay: by checker", about, variables, _NOW, _SUCCESS, _VERDICTS, _WORK)
