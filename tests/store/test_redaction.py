"""What a pattern matches is nowhere in the store, and everything stays where it was."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from schemas import Alert, Generation, Improvement, Label, SentenceFinding, Verdict, read_record, to_json
from schemas.evidence import PluginEvidence
from store.redaction import Redaction
from store.tables import ALERTS, EVIDENCE, IMPROVEMENTS, LABELS, RECORDS, VERDICTS
from store.writing import StoreWriter, TableEntry
from tests.support.labels import LABEL
from tests.support.rejections import alert, consistency_rejection, improvement, rejection
from tests.support.stored import Stored
from tests.support.traffic import record

ADDRESS = r"[\w.]+@[\w.]+"
SECRET = "ann@example.org"
HERE = ("t", 0)


def test_no_file_of_the_store_holds_what_is_to_be_blotted_out(sqlite_store: Stored, tmp_path: Path):
    text = f"Grüße, {SECRET} wrote 😀."
    finding = SentenceFinding(text=text, start=5, end=5 + len(text), reason=text, mark=-1, support=0.0)
    said = consistency_rejection(1, "o", finding).model_copy(
        update={"reason": text, "metadata": {"user": SECRET, SECRET: [SECRET]}}
    )
    odd = rejection(
        2, "o", evidence=PluginEvidence(checker="c", findings={"a": [{"type": SECRET}], SECRET: 1}), extra=text
    )
    messages = [
        said,
        odd,
        alert(1, summary=text),
        improvement(1, "o", before=text, after=text),
        read_record(record(1, prompt=text, session=SECRET, response=text), max_bytes=10_000),
        LABEL.model_copy(update={"note": text, "span": SECRET}),
    ]
    writer = StoreWriter(sqlite_store.engine, Redaction([ADDRESS]), cluster="c")
    entries = [TableEntry(HERE, number, to_json(each), each) for number, each in enumerate(messages)]
    writer.write(entries, writer.progress([HERE]))
    tables = (EVIDENCE, ALERTS, IMPROVEMENTS, RECORDS, LABELS)
    assert ["█" in str(sqlite_store.bodies(table)) for table in tables] == [True] * 5
    assert [SECRET in str(sqlite_store.bodies(table)) for table in tables] == [False] * 5
    assert SECRET not in str(sqlite_store.rows(VERDICTS))
    sqlite_store.close()
    assert not [file.name for file in tmp_path.iterdir() if SECRET.encode() in file.read_bytes()]


def test_offsets_stay_true():
    text = f"ÄÖ 😀 {SECRET}!"
    finding = SentenceFinding(text=text, start=7, end=7 + len(text), reason="", mark=-1, support=0.0)
    (kept,) = Redaction([ADDRESS]).of(consistency_rejection(1, "o", finding)).evidence.sentences
    assert kept.text == f"ÄÖ 😀 {'█' * len(SECRET)}!"
    assert (kept.start, kept.end) == (finding.start, finding.end)


@given(st.sampled_from([".", r"\w+", "(?s).*", "e", "r|1"]))
def test_what_a_message_is_found_by_and_read_by_stays(pattern: str):
    redaction = Redaction([pattern])
    for message, kind in (
        (consistency_rejection(1, "o"), Verdict),
        (alert(1), Alert),
        (improvement(1, "o"), Improvement),
        (LABEL, Label),
        (read_record(record(1), max_bytes=10_000), Generation),
    ):
        kept = kind.model_validate_json(to_json(redaction.of(message)))
        names = {"record_id", "verdict_id", "source", "model", "checker", "outcome", "kind", "status"}
        names |= {"annotator", "label", "rubric_version"} if kind is Label else {"id"}
        assert {name: getattr(kept, name, None) for name in names} == {
            name: getattr(message, name, None) for name in names
        }


def test_one_pattern_hides_no_match_of_another():
    kept = Redaction(["ann@", "@example secret"]).of(rejection(1, "o", reason="ann@example secret"))
    assert kept.reason == "█" * 18
