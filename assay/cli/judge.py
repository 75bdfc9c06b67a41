"""`assay judge check` and `assay criteria check`: accuracy on built-in pairs, and of a criterion on its examples."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import click

from assay.cli.common import CannotRun, WrongUse, configured, download_models, models_of, print_report, progress
from assay.config import Configuration
from assay.wiring import wired
from checkers.checker import Models
from checkers.form_test import FormCase, MethodResult, Role, method_results
from checkers.intervals import wilson
from checkers.plugin import CheckerPlugin
from checkers.wording import plain
from models.judges import self_test
from models.judges.prompted import PromptedJudge
from models.judges.self_test import AT_ONCE, GOOD_ENOUGH, FormResult, PairOutcome, best_of, pairs
from models.protocol import Model
from models.work import Work
from schemas import Usage

INACCURATE = 1
"""Exit status if the judge is right on too few pairs."""


class _Tested(NamedTuple):
    judge: str
    results: Sequence[FormResult]
    usage: Usage
    methods: Mapping[str, Sequence[MethodResult]]


@click.group(short_help="Measure the configured judge.")
def judge() -> None:
    """Measure the configured judge before you rely on it."""


@judge.command("check", short_help="Self-test the judge.")
@click.option("--language", type=click.Choice(["German", "Spanish"]), help="Also ask about pairs in this language.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
@configured
@click.pass_context
def check_judge(ctx: click.Context, *, loaded: Configuration, language: str | None, as_json: bool) -> None:
    """Self-test the judge on built-in pairs of passages and answers, and print its accuracy.

    An endpoint is asked in the short form and, if that goes well, in the list form. The better form and the threshold
    are saved, and every worker of this machine uses them. Exit status 1 below 75%. Then the endpoint and each subject
    are asked one to six built-in questions of each method, to see whether they can follow its form.
    """
    _print(ctx, asyncio.run(_tested(loaded, language)), as_json=as_json)


@click.group(short_help="Try your own criteria on examples.")
def criteria() -> None:
    """Criteria in your own words, as the configuration has them."""


@criteria.command("check", short_help="Try a criterion on its examples.")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
@configured
@click.pass_context
def check_criterion(ctx: click.Context, *, loaded: Configuration, name: str, as_json: bool) -> None:
    """Ask about the examples of the criterion NAME, and about answers that the judge makes to break and to keep it.

    An example that is asked about is not shown to the judge as a worked one. Prints the accuracy, and on standard error
    each answer that is decided wrongly. Exit status 1 below 75%.
    """
    (plugin,) = loaded.installed.select([name])
    if plugin.section is None:
        own = ", ".join(name for name, one in loaded.installed.plugins.items() if one.section) or "none"
        raise WrongUse(f"{name} is not a criterion of yours; configured are: {own}")
    download_models(loaded)
    _print(ctx, asyncio.run(_tried(loaded, plugin)), as_json=as_json)


def _print(ctx: click.Context, tested: _Tested, *, as_json: bool) -> None:
    """The figures; exit status 1 if too few are right."""
    chosen = best_of(tested.results)
    summary = {
        "judge": tested.judge,
        "form": chosen.form,
        "threshold": chosen.threshold,
        "usage": tested.usage.model_dump(),
        "forms": [_figures(one) for one in tested.results],
        "methods": {name: [one.model_dump() for one in found] for name, found in tested.methods.items()},
    }
    print_report(summary, _lines(tested, chosen), as_json=as_json)
    if chosen.accuracy < GOOD_ENOUGH:
        ctx.exit(INACCURATE)


async def _tried(loaded: Configuration, plugin: CheckerPlugin) -> _Tested:
    """The outcomes of a criterion; tells of each that is wrong."""
    outcomes = []
    async with wired(loaded, [plugin]) as service:
        (checker,) = service.checkers
        with Work() as bill, progress(None) as shown:
            known = await checker.to_try()
            verdicts = await self_test.in_turn([record for record, _ in known], checker.check, shown.step)
            for (record, label), verdict in zip(known, verdicts, strict=True):
                odds = None if verdict.score is None else verdict.score - (verdict.outcome == "reject")
                outcomes.append(PairOutcome(f"{record.source}, {label}", label == "accept", odds))
                if verdict.outcome != label:
                    shown.say(plain(f"{label}, not {verdict.outcome}: “{record.response[:160]}” {verdict.reason}"))
    if {one.supported for one in outcomes} != {True, False}:
        raise CannotRun(f"{plugin.section}.examples: there should be some of both labels")
    return _Tested(checker.judge_name, [FormResult("own", 0.0, tuple(outcomes))], bill.usage, {})


async def _tested(loaded: Configuration, language: str | None) -> _Tested:
    asked = pairs(language)
    async with models_of(loaded) as models:
        judge = models.judge
        if judge is None:
            raise CannotRun("no judge is configured")
        tested: dict[str, self_test.Ask] = {"own": self_test.without_form(judge)}
        if isinstance(judge, PromptedJudge):
            tested = {name: form.odds for name, form in judge.forms.items()}
        with progress(len(asked) * len(tested)) as shown, Work() as bill:
            results = await self_test.run(tested, asked, shown.step)
            if isinstance(judge, PromptedJudge):
                file = self_test.kept_test(judge.name, tested)
                shown.say(f"saved in {file.path}" if file.write(results) else f"cannot be saved in {file.path}")
            plugins = loaded.installed.plugins.values()
            methods = await _methods(models, [case for one in plugins for case in one.form_cases(one.name)])
        seconds = round(sum(one.seconds for one in results), 1)
        return _Tested(judge.name, results, bill.usage.model_copy(update={"seconds": seconds}), methods)


async def _methods(models: Models, cases: Sequence[FormCase]) -> dict[str, list[MethodResult]]:
    """How each model follows the forms of the methods: the one that writes, and the subjects; or it as a subject."""
    asked: list[tuple[Model, list[Role]]] = [(subject, ["subject"]) for subject in models.subjects.values()]
    if models.writer is not None:
        asked.insert(0, (models.writer, ["writer"] if models.subjects else ["writer", "subject"]))
    found = {model.name: await method_results(model, cases, roles) for model, roles in asked}
    return {name: results for name, results in found.items() if results}


def _lines(tested: _Tested, chosen: FormResult) -> Iterator[str]:
    """The figures for a person."""
    usage = tested.usage
    yield f"{plain(tested.judge)}: {len(chosen.outcomes)} answers"
    for result in tested.results:
        low, high = _figures(result)["accuracy_interval"]
        form = "" if result.form == "own" else f"{result.form} form: "
        share = f"right on {result.accuracy:.0%} ({low:.0%} to {high:.0%})"
        yield f"  {form}{share}, AUROC {result.auroc:.2f}, threshold {result.threshold:g}"
    for kind, (right, asked) in chosen.by_kind().items():
        yield f"  {kind:<16} {right:g} of {asked}"
    tokens = (
        f"{usage.prompt_tokens:,} tokens read ({usage.cached_tokens:,} cached), {usage.completion_tokens:,} written"
    )
    yield f"{usage.calls} calls, {tokens}, {usage.seconds:g} s"
    if chosen.pace:
        yield f"about {chosen.pace:.2g} records a second, {AT_ONCE} at once"
    if chosen.accuracy < GOOD_ENOUGH:
        failed = chosen.failed or "all"
        yield f"warning: below {GOOD_ENOUGH:.0%}: do not rely on its verdicts. It fails on {failed}."
    elif chosen.form != "own":
        yield "To use this form without a self-test on each new machine, set under [judge]:"
        yield f'  form = "{chosen.form}"'
        yield f"  threshold = {chosen.threshold:g}"
    for name, methods in tested.methods.items():
        yield f"{plain(name)}, asked in the forms of the methods:"
        for one in methods:
            replies = f"{one.followed} of {one.cases} replies of the form, {one.right} right"
            yield f"  {one.method:<12} as {one.role:<8} {replies}: {one.verdict}"
            if one.answered:
                yield f"    {plain(one.answered)}"


def _figures(result: FormResult) -> dict[str, Any]:
    asked = len(result.outcomes)
    return {
        "form": result.form,
        "accuracy": result.accuracy,
        "accuracy_interval": wilson(result.accuracy * asked, asked),
        "auroc": result.auroc,
        "threshold": result.threshold,
        "kinds": {kind: {"right": right, "pairs": pairs} for kind, (right, pairs) in result.by_kind().items()},
    }
