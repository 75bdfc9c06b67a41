"""What is asked of judges, what it costs, and what is left of the budgets."""

from panels import Section, a_second, figure, lines, listing, page, quantile

_HITS = "sum(increase(assay_judge_cache_hits_total[1h]))"
_CALLS = "sum(increase(assay_judge_calls_total[1h]))"

_NOW: Section = (
    "",
    [
        figure(
            "Cost, last hour",
            "sum(judge:assay_judge_cost:increase1h)",
            about="In the currency of the configured prices.",
            width=6,
        ),
        figure("Cost, last day", "sum(judge:assay_judge_cost:increase1d)", width=6),
        figure(
            "Answered from the cache, last hour", f"{_HITS} / (({_HITS} + {_CALLS}) > 0)", unit="percentunit", width=6
        ),
        figure(
            "Fullest budget",
            "max(budget:assay_budget_spent:ratio)",
            (0.8, "orange"),
            (1, "red"),
            unit="percentunit",
            width=6,
        ),
    ],
)

_BUDGETS: Section = (
    "Budgets",
    [
        lines(
            "Spent today",
            ("budget:assay_budget_spent:ratio", "{{name}}: {{unit}}"),
            unit="percentunit",
            about="The day ends at midnight UTC.",
            width=24,
        ),
        listing(
            "Budgets",
            {
                "Limit": "max by (name, unit) (assay_budget_limit)",
                "Spent": "max by (name, unit) (assay_budget_spent)",
                "Share": "budget:assay_budget_spent:ratio",
            },
            shares=["Share"],
            about="Of the day, which ends at midnight UTC.",
            height=6,
        ),
    ],
)

_JUDGES: Section = (
    "By judge",
    [
        lines("Cost of an hour", ("judge:assay_judge_cost:increase1h", "{{judge}}")),
        lines(
            "Questions a second", (a_second("assay_judge_answers_total", "judge", "outcome"), "{{judge}}: {{outcome}}")
        ),
        lines(
            "Tokens a second", (a_second("assay_judge_tokens_total", "judge", "direction"), "{{judge}}: {{direction}}")
        ),
        lines(
            "Duration of a call",
            *(
                (quantile(part, "assay_judge_duration_seconds", "judge"), f"{{{{judge}}}}, {name}")
                for part, name in ((0.5, "half"), (0.95, "95 of 100"))
            ),
            unit="s",
        ),
    ],
)

_COST_BY_CHECKER = "sum by (checker) (increase(assay_check_cost_total[1h]))"

_CHECKERS: Section = (
    "By checker",
    [
        lines("Cost of an hour", (_COST_BY_CHECKER, "{{checker}}")),
        lines(
            "Cost of a verdict",
            (f"{_COST_BY_CHECKER} / (sum by (checker) (subject:assay_verdicts:increase1h) > 0)", "{{checker}}"),
        ),
        lines(
            "Calls a second",
            (a_second("assay_check_calls_total", "checker"), "{{checker}}"),
            (a_second("assay_check_cache_hits_total", "checker"), "{{checker}}, from the cache"),
        ),
        lines(
            "Tokens a second",
            (a_second("assay_check_tokens_total", "checker", "direction"), "{{checker}}: {{direction}}"),
        ),
    ],
)


def cost() -> str:
    """The dashboard's JSON."""
    about = "Calls, tokens and money by judge and by checker; budgets."
    return page("assay-cost", "assay: cost", about, [], _NOW, _BUDGETS, _JUDGES, _CHECKERS)
