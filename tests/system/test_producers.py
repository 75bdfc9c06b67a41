"""The example producers in Java and for the shell send what assay reads."""

from tests.examples.sending import PRODUCERS, sent_record
from tests.support.kafka import class_path
from tests.support.scenarios import Place


def test_the_java_producer_sends_a_record(prepared: Place):
    record, key = sent_record(prepared, ["java", "-cp", class_path(), PRODUCERS / "RecordProducer.java"])
    assert key == record.session


def test_kcat_sends_a_record(prepared: Place):
    record, key = sent_record(prepared, [PRODUCERS / "kcat.sh"])
    assert key == record.session
