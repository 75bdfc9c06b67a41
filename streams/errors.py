"""Failures between this service and Kafka: whatever asks a broker raises one of these."""


class StreamError(Exception):
    """An operation on Kafka failed; the message names the cause and what to do."""


class BrokerUnavailable(StreamError):
    """No broker answered."""


class ExtraMissing(StreamError):
    """An optional dependency that is needed is not installed."""
