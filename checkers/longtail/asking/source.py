"""Probes as a source of records: the next statement is asked, and the answer is a record."""

from collections.abc import Mapping

import structlog

from checkers.checker import Models
from checkers.longtail.asking.asker import Asker
from checkers.longtail.asking.sample import OneSided, Sample
from checkers.longtail.checker import UNANSWERED
from checkers.longtail.corpus import read_corpus
from checkers.longtail.settings import LongtailSettings
from models.protocol import Model, ModelFailed
from schemas import Probe, ProbeStatement

_log = structlog.get_logger(__name__)


class ProbeSource:
    """Asks the subjects about the statements of a corpus, all of them in the same order."""

    name = source = "probe-scheduler"

    def __init__(self, settings: LongtailSettings, models: Models) -> None:
        """Read the corpus.

        Raises:
            ValueError: a subject is not configured, or (as BadCorpus) the file cannot be used.
        """
        probes = settings.probes
        if probes.corpus is None:
            raise ValueError("longtail.probes.corpus is not set: there is nothing to ask about")
        self.seconds_between = probes.seconds_between
        self.models = probes.models or tuple(models.subjects)
        self._subjects = _subjects(self.models, models.subjects)
        self._asker = Asker(probes.way)
        try:
            self._sample = Sample(read_corpus(probes.corpus))
        except OneSided as error:
            raise ValueError(f"longtail.probes.corpus = {probes.corpus}: {error}") from None
        if self._sample.left_out:
            _log.warning("rules without head or without tail are not asked about", statements=self._sample.left_out)

    async def record(self, model: str, number: int, id_: str) -> Probe:
        """Ask the probe with a number, from 0; its answer may be missing.

        Raises:
            ModelUnavailable: the subject cannot be reached.
        """
        statement, template = self._sample.at(number)
        answer, reasoning, metadata = "", None, {"statement": statement.id}
        try:
            reply = (await self._subjects[model].ask(self._asker.question(statement, template))).reply
            answer, reasoning = reply.answer, getattr(reply, "reasoning", None)
        except ModelFailed as error:
            metadata[UNANSWERED] = error.cause_of_subject
        return Probe(
            kind="probe",
            id=id_,
            source=self.source,
            model=model,
            metadata=metadata,
            statement=ProbeStatement(
                premise=statement.premise,
                conclusion=statement.conclusion,
                domain=statement.domain,
                distribution=statement.distribution,
            ),
            template=template.number,
            question=template.question(statement),
            expected=template.answer(statement),
            answer=answer,
            reasoning=reasoning,
        )


def _subjects(names: tuple[str, ...], known: Mapping[str, Model]) -> dict[str, Model]:
    configured = ", ".join(known) or "none"
    if not names:
        raise ValueError("longtail.probes: no subject is configured in subjects, so there is nobody to ask")
    for name in names:
        if name not in known:
            raise ValueError(
                f"longtail.probes.models: no subject {name!r} is configured in subjects, so it has no endpoint to ask; "
                f"configured are: {configured}"
            )
    return {name: known[name] for name in names}
