"""Tool calls: names, arguments and results by the tools' schemas, values by what was said."""

from checkers.plugin import CheckerPlugin
from checkers.tool_call.checker import ToolCallChecker

PLUGIN = CheckerPlugin(checker=ToolCallChecker)
