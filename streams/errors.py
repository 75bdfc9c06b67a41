"""What can go wrong between this service and Kafka, each with what to do about it."""


class StreamError(Exception):
    """The service cannot do what was asked of it; the message names the cause and the remedy."""


class BrokerUnavailable(StreamError):
    """No broker answered."""


class TopicsMissing(StreamError):
    """Topics that must be there are not."""


class ExtraMissing(StreamError):
    """A part of the package that was not installed is needed."""
