"""From rules to a corpus: the models that are configured, one rule after the other."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path

from assay.cli.common import CannotRun, Progress, progress
from assay.config import Configuration
from checkers.longtail.corpus import STATEMENTS, write_corpus
from lab.kept_answers import KeptAnswers
from lab.link.models import CausalModel, EndpointScorer, Scorer, SearchModels
from lab.link.rules import Rule
from lab.link.search import SearchOptions, search
from lab.link.statements import BuildFigures, statements_of
from models.build import build_model
from models.protocol import Model
from models.settings import OMIT, JudgeSettings, SubjectSettings

_TEMPERATURE = 0.7
"""The knowledge model's: values are to be of many sorts."""


def knowledge_model(configured: Configuration) -> Model:
    """The judge as the model that names things, with a sampling temperature."""
    endpoint = _endpoint_of(configured, "judge", "the model that is asked for values")
    temperature = OMIT if endpoint.temperature == OMIT else _TEMPERATURE
    return build_model(endpoint.model_copy(update={"temperature": temperature}))


@asynccontextmanager
async def search_models(
    configured: Configuration, options: SearchOptions, kept: KeptAnswers, shown: Progress
) -> AsyncIterator[SearchModels]:
    """The models that the options name, for as long as the context lasts; what must be loaded is loaded first."""
    critic = _endpoint_of(configured, "judge", "the critic")
    # First what may fail, as the others are to be closed.
    if options.measurer == options.scorer:
        raise CannotRun("--measurer is the scorer, which finds apart what it ranked; name another one")
    named = {"scorer": options.scorer, "measurer": options.measurer}
    scorers = {role: _scorer(configured, name, f"--{role}", shown) for role, name in named.items() if name is not None}
    models = SearchModels(knowledge_model(configured), build_model(critic), scorers, kept, shown)
    try:
        yield models
    finally:
        await models.close()


async def build(configured: Configuration, options: SearchOptions, rules: Sequence[Rule], folder: Path) -> BuildFigures:
    """Make the statements of each rule, in order, and write them into the folder; what it holds is not asked again."""
    steps = sum(len(rule.searched) for rule in rules)
    with closing(KeptAnswers(folder / "answers.sqlite")) as kept, progress(steps) as shown:
        async with search_models(configured, options, kept, shown) as models:
            found = [await statements_of(rule, await search(rule, models, options), models) for rule in rules]
            figures = BuildFigures(found, models.costs, models.failures)
    statements = [statement for one in found for statement in one.statements]
    if statements:
        write_corpus(folder / STATEMENTS, statements)
    return figures


def _endpoint_of(configured: Configuration, name: str, role: str) -> JudgeSettings | SubjectSettings:
    """The settings of `judge`, or of a subject, as the model for this role."""
    if name == "judge" and configured.judge.backend == "local":
        raise CannotRun(f"{role} is the judge, and the local judge compares texts: set judge.backend = 'openai'")
    endpoint = configured.judge if name == "judge" else configured.subjects.get(name)
    if endpoint is None:
        names = ", ".join(["judge", *configured.subjects])
        raise CannotRun(f"{role}: there is no model {name!r}; configured are {names}")
    if endpoint.backend == "service":
        raise CannotRun(f"{role}: {name!r} is a service, and no model that reads prompts")
    return endpoint


def _scorer(configured: Configuration, name: str, role: str, shown: Progress) -> Scorer:
    if not name.startswith("endpoint:"):
        return CausalModel(name, shown.say)
    settings = _endpoint_of(configured, name.removeprefix("endpoint:"), role)
    if settings.base_url is None:
        raise CannotRun(f"{role}: {name!r} has no base_url")
    return EndpointScorer(settings)
