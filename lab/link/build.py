"""From rules to a corpus: the models that are configured, one rule after the other, the file at the end."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

from assay.config import Configuration
from assay.progress import Progress
from checkers.longtail.settings import LinkSettings, LongtailSettings
from checkers.patience import ModelPatience
from lab.link.answers import AnswerStore
from lab.link.direct import ask_directly
from lab.link.likelihood import CausalModel, EndpointScorer
from lab.link.models import Scorer, SearchModels
from lab.link.reranking import LikelihoodReranker, RandomReranker
from lab.link.rules.reading import BUNDLED, bundled_rules, read_rules
from lab.link.rules.rule import Rule
from lab.link.search import search
from lab.link.statements import RuleStatements, statements_of
from lab.link.tokens import EndpointTokenizer
from models.build import build_oracle
from models.protocol import Oracle, oracle_of
from models.settings import OMIT, CacheSettings, EndpointSettings, JudgeSettings, SubjectSettings

Method = Literal["link", "random", "direct", "post-hoc"]
"""The search; the same with beams that are kept at random; all values in one prompt; and those reranked afterwards."""

JUDGE = "judge"
_AT_ENDPOINT = "endpoint:"
_STEPS = 100
"""Steps of the progress bar for each variable."""


class CannotBuild(ValueError):
    """The build that is asked for is impossible; the message says what is wrong and what is allowed."""


def rules_named(rules: str, only: Sequence[str]) -> tuple[Rule, ...]:
    """The rules of a file, or those that come with assay; `only` are the names of those to take, all if empty.

    Raises:
        BadRules: the file cannot be used.
        CannotBuild: there is no rule of such a name, or one is still a meta-rule.
    """
    found = bundled_rules() if rules == BUNDLED else read_rules(Path(rules))
    names = {rule.name for rule in found}
    for name in only:
        if name not in names:
            raise CannotBuild(f"--only {name}: there is no such rule in {rules}; there are {', '.join(sorted(names))}")
    chosen = tuple(rule for rule in found if not only or rule.name in only)
    if meta := [rule.name for rule in chosen if rule.expand is not None]:
        raise CannotBuild(f"{', '.join(meta)}: to be expanded first (assay probes expand {rules} --out FILE)")
    return chosen


def link_settings(configured: Configuration) -> LinkSettings:
    """The section `longtail.link` of the configuration."""
    section = configured.checkers.get("longtail")
    return section.link if isinstance(section, LongtailSettings) else LinkSettings()


def knowledge_model(configured: Configuration, settings: LinkSettings) -> Oracle:
    """The model that names things, with a sampling temperature.

    Raises:
        CannotBuild: it is not configured, or none that can be asked.
    """
    endpoint = endpoint_of(configured, settings.knowledge, "knowledge")
    temperature = OMIT if endpoint.temperature == OMIT else settings.temperature
    # The same words are asked again where nothing was found, and are to be sampled anew.
    sampled = endpoint.model_copy(update={"temperature": temperature, "cache": CacheSettings(entries=0)})
    return oracle_of(build_oracle(sampled, section=_section(settings.knowledge)))


@asynccontextmanager
async def search_models(
    configured: Configuration, settings: LinkSettings, store: AnswerStore, say: Callable[[str], None]
) -> AsyncIterator[SearchModels]:
    """The models that the settings name, for as long as the context lasts; what must be loaded is loaded first.

    Raises:
        CannotBuild: a model is not configured, or is none that can be asked.
        ModelUnusable: the scorer cannot be loaded.
    """
    knowledge = endpoint_of(configured, settings.knowledge, "knowledge")
    critic = endpoint_of(configured, settings.critic, "critic")
    # First what may fail, as the others are to be closed.
    scorer = _scorer(configured, settings.scorer, say)
    models = SearchModels(
        knowledge_model(configured, settings),
        oracle_of(build_oracle(critic, section=_section(settings.critic))),
        scorer,
        EndpointTokenizer(knowledge),
        store=store,
        patience=ModelPatience(say),
        concurrency=knowledge.concurrency,
    )
    try:
        yield models
    finally:
        await models.close()


async def build(
    rules: Sequence[Rule],
    models: SearchModels,
    settings: LinkSettings,
    *,
    method: Method,
    seed: int,
    shown: Progress,
) -> list[RuleStatements]:
    """Make the statements of each rule, in order; `seed` is that of the method `random`.

    Raises:
        ModelLost: a model was away for too long.
        OracleFailed: the scorer gives no likelihoods.
    """
    reranker = RandomReranker(seed) if method == "random" else LikelihoodReranker(models)
    done = 0
    found: list[RuleStatements] = []
    for rule in rules:

        def watch(variable: str, searches: int, total: int, rule: Rule = rule, done: int = done) -> None:
            place = rule.searched.index(variable)
            at = done + place * _STEPS + searches * _STEPS // total
            shown.at(at, f"{rule.name}, {rule.types[variable]} {variable}: {searches} of {total} beams")

        if method in ("direct", "post-hoc"):
            searched = await ask_directly(rule, models, reranker if method == "post-hoc" else None, settings)
        else:
            searched = await search(rule, models, reranker, settings, watch=watch)
        found.append(await statements_of(rule, searched, models, reranker, wrong_share=settings.wrong_share))
        done += len(rule.searched) * _STEPS
        shown.at(done, f"{rule.name}: {len(found[-1].statements)} statements")
    return found


def steps(rules: Sequence[Rule]) -> int:
    """The length of the progress bar."""
    return sum(len(rule.searched) for rule in rules) * _STEPS


def endpoint_of(configured: Configuration, name: str, role: str) -> JudgeSettings | SubjectSettings:
    """The settings of `judge`, or of a subject, as the model for this role.

    Raises:
        CannotBuild: there is no such model, or it reads no prompts.
    """
    if name == JUDGE:
        if configured.judge.backend == "local":
            raise CannotBuild(
                f"longtail.link.{role} is the judge, and the local judge compares texts: it knows nothing and writes "
                "nothing. Configure an endpoint (judge.backend = 'openai'), or name one of subjects"
            )
        return configured.judge
    subject = configured.subjects.get(name)
    if subject is None:
        names = ", ".join([JUDGE, *configured.subjects])
        raise CannotBuild(f"longtail.link.{role}: there is no model {name!r}; configured are {names}")
    if subject.backend == "service":
        raise CannotBuild(f"longtail.link.{role}: {name!r} is a service, and no model that reads prompts")
    return subject


def _section(name: str) -> str:
    return JUDGE if name == JUDGE else f"subjects.{name}"


def _scorer(configured: Configuration, name: str, say: Callable[[str], None]) -> Scorer:
    if not name.startswith(_AT_ENDPOINT):
        return CausalModel(name, say)
    settings: EndpointSettings = endpoint_of(configured, name.removeprefix(_AT_ENDPOINT), "scorer")
    if settings.base_url is None:
        raise CannotBuild(f"longtail.link.scorer: {name!r} has no base_url")
    return EndpointScorer(settings)
