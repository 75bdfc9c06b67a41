"""The overview: whom to trust, what is wrong, whether the service is well."""

from panels import Section, a_second, figure, growth, lines, listing, page, share

SUBJECT = "{{source}} · {{model}} · {{checker}}"
BY_SUBJECT = "by (checker, source, model)"

_NOW: Section = (
    "",
    [
        figure("Workers", 'count(up{job="assay"} == 1)', (1, "green"), base="red", about="Workers that answer."),
        figure(
            "Alerts firing",
            'count(ALERTS{alertname=~"Assay.*", alertstate="firing"}) or vector(0)',
            (1, "orange"),
            about="Alerts of Prometheus; drops of trust, which the monitor posts itself, stand beside.",
        ),
        figure(
            "Subjects dropped",
            f"count(max {BY_SUBJECT} (assay_trust_dropped) == 1) or vector(0)",
            (1, "red"),
        ),
        figure(
            "Success, last hour",
            share("subject:assay_accepted:increase1h", "subject:assay_decided:increase1h"),
            unit="percentunit",
            about="Of all verdicts that decided.",
        ),
        figure(
            "Could not decide, last hour",
            share("subject:assay_abstained:increase1h", "subject:assay_verdicts:increase1h"),
            (0.1, "orange"),
            (0.3, "red"),
            unit="percentunit",
        ),
        figure(
            "Oldest last verdict",
            "max(checker:assay_last_verdict_age_seconds:min)",
            unit="s",
            about="Of the quietest checker; it grows where a checker has stopped, or nothing arrives.",
        ),
    ],
)

_TRUST: Section = (
    "Trust",
    [
        listing(
            "Subjects, last hour",
            {
                "Success": "subject:assay_success:ratio_rate1h",
                "at least": "subject:assay_success:wilson_lower1h",
                "at most": "subject:assay_success:wilson_upper1h",
                "Baseline": f"max {BY_SUBJECT} (assay_trust_baseline)",
                "Evidence": f"max {BY_SUBJECT} (assay_trust_evidence_ratio)",
                "Dropped": f"max {BY_SUBJECT} (assay_trust_dropped)",
                "Decided": "subject:assay_decided:increase1h",
                "Abstained": "subject:assay_abstained:ratio_rate1h",
            },
            shares=["Success", "at least", "at most", "Baseline", "Evidence", "Abstained"],
            about="With the 95% interval. Evidence for a drop: at 100% an alert is raised.",
            height=9,
        ),
        lines(
            "Success rate, an hour at a time",
            ("subject:assay_success:ratio_rate1h", SUBJECT),
            unit="percentunit",
            maximum=1,
        ),
        lines(
            "Evidence for a drop",
            (f"max {BY_SUBJECT} (assay_trust_evidence_ratio)", SUBJECT),
            unit="percentunit",
            about="Of the trust monitor's sequential test; at 100% it raises an alert.",
        ),
        lines("Verdicts a second", (a_second("assay_verdicts_total", "outcome"), "{{outcome}}")),
        lines(
            "Could not decide, 15 minutes at a time",
            ("checker_source:assay_abstained:ratio_rate15m", "{{source}} · {{checker}}"),
            unit="percentunit",
            maximum=1,
        ),
        lines("Drops and recoveries", (growth("assay_trust_alerts_total", "checker", "kind"), "{{checker}}: {{kind}}")),
        lines("Improvements", (growth("assay_improvements_total", "status"), "{{status}}")),
    ],
)

_SERVICE: Section = (
    "Service",
    [
        lines("Records behind", ("agent:assay_consumer_lag_records:sum", "{{agent}}")),
        lines(
            "Time to work the backlog off",
            ("agent:assay_consumer_lag_drain_seconds:deriv15m < +Inf", "{{agent}}"),
            unit="s",
            about="At the pace of the last 15 minutes; nothing is shown where the backlog does not shrink.",
        ),
        lines(
            "Dead letters",
            (growth("assay_dead_letters_total", "agent", "reason"), "{{agent}}: {{reason}}"),
            about="They are brought back with `assay replay`.",
        ),
        lines(
            "Paused",
            ("max by (agent) (assay_intake_paused)", "{{agent}}"),
            about="1 while an agent waits for the judge or the target that it asks.",
            maximum=1,
        ),
        lines(
            "Left out on purpose",
            (a_second("assay_left_out_total", "checker", "reason"), "{{checker}}: {{reason}}"),
            about="Records a second that routing, sampling or a budget kept from a checker.",
        ),
        lines(
            "Deliveries",
            (growth("assay_webhook_deliveries_total", "webhook", "outcome"), "{{webhook}}: {{outcome}}"),
            (growth("assay_alertmanager_posts_total", "outcome"), "Alertmanager: {{outcome}}"),
        ),
    ],
)


def overview() -> str:
    """The dashboard's JSON."""
    about = "Success rates by subject, drops of trust, and whether the service itself is well."
    return page("assay", "assay: overview", about, [], _NOW, _TRUST, _SERVICE)
