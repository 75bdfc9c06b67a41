"""Where verdicts are looked up again: SQLite by default, PostgreSQL where a team shares it."""
