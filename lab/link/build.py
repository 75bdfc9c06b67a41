"""From rules to a corpus: the models that are configured, the critic's look at the rules, one rule after the other."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from assay.config import Configuration
from assay.progress import Progress
from lab.approval import Planned
from lab.kept_answers import KeptAnswers
from lab.link.likelihood import CausalModel, EndpointScorer
from lab.link.link_questions import VettingReply
from lab.link.rules import BUNDLED, Rule, bundled_rules, read_rules
from lab.link.search import CALLS, SearchOptions, gap_of, search
from lab.link.search_models import CRITIC_BATCH, Scorer, SearchModels
from lab.link.statements import RuleStatements, statements_of
from models.build import build_model
from models.concurrent import gather_or_cancel
from models.protocol import Model
from models.settings import OMIT, JudgeSettings, SubjectSettings
from models.wording import on_a_line

_JUDGE = "judge"
_AT_ENDPOINT = "endpoint:"
_TEMPERATURE = 0.7
"""The knowledge model's: values are to be of many sorts."""


class CannotBuild(ValueError):
    """The build that is asked for is impossible; the message says what is wrong and what is allowed."""


def rules_named(rules: str, only: Sequence[str]) -> list[Rule]:
    """The rules of a file, or those that come with assay; `only` are the names of those to take, all if empty.

    Raises:
        BadRules: the file cannot be used.
        CannotBuild: there is no rule of such a name, or one is still a meta-rule.
    """
    found = bundled_rules() if rules == BUNDLED else read_rules(Path(rules))
    names = [rule.name for rule in found]
    for name in only:
        if name not in names:
            raise CannotBuild(f"--only {name}: there is no such rule in {rules}; there are {', '.join(names)}")
    chosen = [rule for rule in found if not only or rule.name in only]
    if meta := [rule.name for rule in chosen if rule.expand is not None]:
        raise CannotBuild(f"{', '.join(meta)}: to be expanded first (assay probes expand {rules} --out FILE)")
    return chosen


def knowledge_model(configured: Configuration) -> Model:
    """The judge as the model that names things, with a sampling temperature.

    Raises:
        CannotBuild: it is none that can be asked.
    """
    endpoint = _endpoint_of(configured, _JUDGE, "the model that is asked for values")
    temperature = OMIT if endpoint.temperature == OMIT else _TEMPERATURE
    return build_model(endpoint.model_copy(update={"temperature": temperature}))


@asynccontextmanager
async def search_models(
    configured: Configuration, options: SearchOptions, kept: KeptAnswers, shown: Progress
) -> AsyncIterator[SearchModels]:
    """The models that the options name, for as long as the context lasts; what must be loaded is loaded first.

    Raises:
        CannotBuild: a model is not configured, or is none that can be asked.
        ModelUnusable: the scorer cannot be loaded.
    """
    critic = _endpoint_of(configured, _JUDGE, "the critic")
    # First what may fail, as the others are to be closed.
    if options.measurer == options.scorer:
        raise CannotBuild("--measurer is the scorer, which finds apart what it ranked; name another one")
    named = {"scorer": options.scorer, "measurer": options.measurer}
    scorers = {role: _scorer(configured, name, f"--{role}", shown) for role, name in named.items() if name is not None}
    models = SearchModels(knowledge_model(configured), build_model(critic), scorers, kept, shown)
    try:
        yield models
    finally:
        await models.close()


def planned(configured: Configuration, rules: Sequence[Rule], options: SearchOptions) -> list[Planned]:
    """The calls to knowledge model and critic, if every search finds all it may.

    Raises:
        CannotBuild: the judge is none that can be asked.
    """
    judge = _endpoint_of(configured, _JUDGE, "the model that is asked for values")
    named = judged = 0
    for rule in rules:
        known = {rule.generic: rule.general_value}
        for place, variable in enumerate(rule.searched):
            calls = CALLS * (2 * options.beams if place else 1)
            checks = 1 + len(gap_of(rule, variable, known).facts)
            named += calls
            judged += -(-calls * options.values // CRITIC_BATCH) * checks
            known[variable] = variable
        # Those that are wrong on purpose are judged as a whole; fewer than twice as many as there are beams.
        judged += (not rule.vetted) + 2 * options.beams // CRITIC_BATCH + 2
    # Of each call the number, and about the tokens read and written.
    return [
        Planned("knowledge", named, 350 + 8 * options.values, 14 * options.values, judge),
        Planned("critic", judged, 250 + 25 * CRITIC_BATCH, 12 * CRITIC_BATCH, judge),
    ]


async def build(
    rules: Sequence[Rule], models: SearchModels, options: SearchOptions, *, shown_as: str
) -> list[RuleStatements]:
    """Make the statements of each rule, in order; `shown_as` is the name of their file.

    Raises:
        CannotBuild: the critic finds that rules break a criterion.
        ModelLost: a model was away for too long.
        ModelFailed: the scorer gives no likelihoods, or the critic no usable answer about a rule.
    """
    await _vet([rule for rule in rules if not rule.vetted], models, shown_as)
    return [await statements_of(rule, await search(rule, models, options), models) for rule in rules]


async def _vet(rules: Sequence[Rule], models: SearchModels, shown_as: str) -> None:
    """Ask the critic about what the form of a rule does not tell: no paraphrase (3), facts that can be known (5)."""

    async def faults(rule: Rule) -> list[str]:
        given = [rule.typed(one) for one in rule.premise]
        subject = rule.general_value.removesuffix("X") + rule.generic
        question = models.prompts.vet(given, rule.typed(rule.conclusion), subject=subject)
        return [
            f"{shown_as}: {rule.name}.{key}: the critic finds that {what}: {on_a_line(reply.reason, 200)}"
            for reply in [await models.vetted(question)]
            for key, what in _broken(rule, reply)
        ]

    if found := [fault for some in await gather_or_cancel(map(faults, rules)) for fault in some]:
        hint = "Correct them, or write 'vetted: true' in a rule that you have looked at and find right."
        raise CannotBuild("\n".join([*found, hint]))


def _broken(rule: Rule, reply: VettingReply) -> list[tuple[str, str]]:
    found = []
    if reply.paraphrase:
        found.append(("conclusion", "it paraphrases the premise (criterion 3)"))
    # What is about the subject is assumed, and nobody need know it.
    facts = [n for n, one in enumerate(rule.rule.premise) if rule.generic not in one.variables]
    found += [(f"premise.{n}", "no model can know it (criterion 5)") for n in facts if n + 1 in reply.unknowable]
    return found


def _endpoint_of(configured: Configuration, name: str, role: str) -> JudgeSettings | SubjectSettings:
    """The settings of `judge`, or of a subject, as the model for this role.

    Raises:
        CannotBuild: there is no such model, or it reads no prompts.
    """
    if name == _JUDGE and configured.judge.backend == "local":
        raise CannotBuild(f"{role} is the judge, and the local judge compares texts: set judge.backend = 'openai'")
    endpoint = configured.judge if name == _JUDGE else configured.subjects.get(name)
    if endpoint is None:
        names = ", ".join([_JUDGE, *configured.subjects])
        raise CannotBuild(f"{role}: there is no model {name!r}; configured are {names}")
    if endpoint.backend == "service":
        raise CannotBuild(f"{role}: {name!r} is a service, and no model that reads prompts")
    return endpoint


def _scorer(configured: Configuration, name: str, role: str, shown: Progress) -> Scorer:
    if not name.startswith(_AT_ENDPOINT):
        return CausalModel(name, shown.say)
    settings = _endpoint_of(configured, name.removeprefix(_AT_ENDPOINT), role)
    if settings.base_url is None:
        raise CannotBuild(f"{role}: {name!r} has no base_url")
    return EndpointScorer(settings)
