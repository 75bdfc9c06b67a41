"""From rules to a corpus: the models that are configured, the critic's look at the rules, one rule after the other."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from assay.cli.front_door import CannotRun
from assay.config import Configuration
from assay.progress import Progress
from lab.kept_answers import KeptAnswers
from lab.link.models import CRITIC_BATCH, CausalModel, EndpointScorer, Scorer, SearchModels
from lab.link.rules import Rule, read_rules
from lab.link.search import CALLS, SearchOptions, gap_of, search
from lab.link.statements import RuleStatements, statements_of
from models.build import build_model
from models.protocol import Model, answering
from models.settings import OMIT, JudgeSettings, SubjectSettings

_JUDGE = "judge"
_AT_ENDPOINT = "endpoint:"
_TEMPERATURE = 0.7
"""The knowledge model's: values are to be of many sorts."""


def rules_named(rules: str, only: Sequence[str]) -> list[Rule]:
    """The rules of a file, or those that come with assay; `only` are the names of those to take, all if empty."""
    found = {rule.name: rule for rule in read_rules(rules)}
    for name in only:
        if name not in found:
            raise CannotRun(f"--only {name}: there is no such rule in {rules}; there are {', '.join(found)}")
    return [rule for name, rule in found.items() if not only or name in only]


def knowledge_model(configured: Configuration) -> Model:
    """The judge as the model that names things, with a sampling temperature."""
    endpoint = _endpoint_of(configured, _JUDGE, "the model that is asked for values")
    temperature = OMIT if endpoint.temperature == OMIT else _TEMPERATURE
    return answering(build_model(endpoint.model_copy(update={"temperature": temperature})))


@asynccontextmanager
async def search_models(
    configured: Configuration, options: SearchOptions, kept: KeptAnswers, shown: Progress
) -> AsyncIterator[SearchModels]:
    """The models that the options name, for as long as the context lasts; what must be loaded is loaded first."""
    critic = _endpoint_of(configured, _JUDGE, "the critic")
    # First what may fail, as the others are to be closed.
    if options.measurer == options.scorer:
        raise CannotRun("--measurer is the scorer, which finds apart what it ranked; name another one")
    named = {"scorer": options.scorer, "measurer": options.measurer}
    scorers = {role: _scorer(configured, name, f"--{role}", shown) for role, name in named.items() if name is not None}
    models = SearchModels(knowledge_model(configured), answering(build_model(critic)), scorers, kept, shown)
    try:
        yield models
    finally:
        await models.close()


def most_calls(rules: Sequence[Rule], options: SearchOptions) -> dict[str, int]:
    """The calls to knowledge model and critic, if every search finds all it may."""
    named = judged = 0
    for rule in rules:
        known = {rule.generic: rule.general_value}
        for place, variable in enumerate(rule.searched):
            calls = CALLS * (2 * options.beams if place else 1)
            named += calls
            judged += -(-calls * options.values // CRITIC_BATCH) * (1 + len(gap_of(rule, variable, known).facts))
            known[variable] = variable
        # Those that are wrong on purpose are judged as a whole; fewer than twice as many as there are beams.
        judged += 2 * options.beams // CRITIC_BATCH + 2
    return {"knowledge": named, "critic": judged}


async def build(
    rules: Sequence[Rule], models: SearchModels, options: SearchOptions, *, shown_as: str
) -> list[RuleStatements]:
    """Make the statements of each rule, in order; `shown_as` is the name of their file."""
    return [await statements_of(rule, await search(rule, models, options), models) for rule in rules]


def _endpoint_of(configured: Configuration, name: str, role: str) -> JudgeSettings | SubjectSettings:
    """The settings of `judge`, or of a subject, as the model for this role."""
    if name == _JUDGE and configured.judge.backend == "local":
        raise CannotRun(f"{role} is the judge, and the local judge compares texts: set judge.backend = 'openai'")
    endpoint = configured.judge if name == _JUDGE else configured.subjects.get(name)
    if endpoint is None:
        names = ", ".join([_JUDGE, *configured.subjects])
        raise CannotRun(f"{role}: there is no model {name!r}; configured are {names}")
    if endpoint.backend == "service":
        raise CannotRun(f"{role}: {name!r} is a service, and no model that reads prompts")
    return endpoint


def _scorer(configured: Configuration, name: str, role: str, shown: Progress) -> Scorer:
    if not name.startswith(_AT_ENDPOINT):
        return CausalModel(name, shown.say)
    settings = _endpoint_of(configured, name.removeprefix(_AT_ENDPOINT), role)
    if settings.base_url is None:
        raise CannotRun(f"{role}: {name!r} has no base_url")
    return EndpointScorer(settings)
