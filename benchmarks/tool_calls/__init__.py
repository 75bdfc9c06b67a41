"""The tool_call checker on sixty labelled calls of our own, without a judge and with one."""
