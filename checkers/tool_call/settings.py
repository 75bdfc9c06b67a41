"""The `tool_call` section of the configuration."""

from checkers.thresholds import ScoringSettings


class ToolCallSettings(ScoringSettings):
    """The tool_call checker: whether a judge is asked, and what is accepted."""

    ask_judge: bool = True
    """Ask the judge whether the arguments' values follow from what was said, and how the response tells a failure.
    Without it only the name, the schema and structured results are tested, which costs nothing."""
