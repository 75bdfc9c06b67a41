"""The tool_call checker on sixty labelled calls, without a judge and with one."""
